/* Configuration of selvedge-services: one row a key, read once at start. */
#ifndef SELVEDGE_SERVICE_SERVER_CONF_H
#define SELVEDGE_SERVICE_SERVER_CONF_H

#include <stdio.h>

#include "common/conf.h"
#include "common/web/web-auth.h"
#include "common/web/web-login.h"
#include "service/api/api.h"
#include "service/cluster/kerberos-conf.h"
#include "service/launcher/settings.h"

#define SVC_SOCKET_MAX 100 /* bytes; sockaddr_un holds 107 */

struct svc_conf {
    struct sv_conf *conf; /* borrowed; texts below are its */
    const char *host;
    uint16_t port;
    const char *socket;     /* for a ResourceManager of this machine */
    const char *relay_user; /* its account */
    int64_t timeout_ms;     /* of a request */
    int64_t max_requests, max_user_requests;
    const char *program; /* the master that nodes fetch */
    struct svc_settings settings;
    struct sv_web_auth auth; /* owned */
    struct sv_web_login login;
    struct svc_kerberos_conf kerberos; /* likewise */
    struct svc_lr_settings frameworks; /* likewise */
};

/* May look this host's own name up. */
int svc_conf_read(struct sv_conf *conf, struct svc_conf *ret, struct sv_error *err) _must_use_;
void svc_conf_free(struct svc_conf *c);
void svc_conf_print(struct sv_conf *conf, FILE *out); /* name, value, help: a line each */

#endif
