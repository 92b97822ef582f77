/* The part of the configuration that decides who sees what over HTTP: its checks, and the secret of
 * the cookies. Used by conf.c; read by the web server. */
#ifndef SELVEDGE_NODEMANAGER_CONF_WEB_H
#define SELVEDGE_NODEMANAGER_CONF_WEB_H

#include "common/base.h"
#include "common/error.h"

struct nm_conf_web {
    bool logs_enabled;
    bool acl_enabled;      /* without it the rest is neither checked nor used */
    const char *admin_acl; /* these three belong to the configuration */
    const char *auth_type; /* simple or kerberos */
    const char *secret_file;
    char *secret; /* owned; NULL = no cookie is accepted */
    size_t secret_len;
    char *daemon_user; /* owned; the account of this process */
};

/* Checks what was read and completes the rest of it; logs what an operator should know. */
int nm_conf_web_complete(struct nm_conf_web *c, struct sv_error *err) _must_use_;
void nm_conf_web_free(struct nm_conf_web *c);

#endif
