/* See web-server.h. */
#include "rm-lite/web/web-server.h"

#include <errno.h>

#include "common/log.h"
#include "common/web/web-port.h"
#include "gss/client.h"
#include "rm-lite/security/web-rights.h"
#include "rm-lite/web/proxy/services-relay.h"
#include "rm-lite/web/web.h"

struct rm_web_server {
    struct rm *rm;
    struct sv_web_port port;
    struct sv_web_acceptor *acceptor; /* NULL: no ticket is taken */
    struct sv_web_rights rights;
};

static int make_acceptor(struct rm_web_server *s, struct sgss_client *kerberos,
                         struct sv_error *err)
{
    const char *principal = s->rm->conf.kerberos.own.web_principal;
    int r = kerberos && s->rm->conf.web_server.tickets
                ? sgss_client_web_acceptor(kerberos, principal, &s->acceptor)
                : 0;

    return r < 0 ? sv_error_errno(err, r, "principal %s of the web server", principal) : 0;
}

static int open_port(struct rm_web_server *s, struct sv_error *err)
{
    struct rm *rm = s->rm;
    const struct rm_conf_web *conf = &rm->conf.web_server;
    const char *bind = rm->conf.bind_host && *rm->conf.bind_host ? rm->conf.bind_host : NULL;
    const struct sv_web_port_config cfg = {
        .host = bind ? bind : rm->conf.web.host,
        .port = rm->conf.web.port,
        .fd = -1,
        .https = conf->https ? rm->xml : NULL,
        .filters = &conf->filters,
        .gate = { .auth = &rm->conf.auth,
                  .login = &conf->login,
                  .acceptor = s->acceptor,
                  .rules = rm->conf.kerberos.own.rules,
                  .rights = conf->tokens ? &s->rights : NULL },
    };
    int r;

    rm_web_rights_init(rm, &s->rights);
    r = sv_web_port_open(rm->event, &cfg, rm_web_handle, rm, &s->port, err);
    if (r < 0)
        return sv_error_wrap(err, "yarn.resourcemanager.webapp.%s",
                             conf->https ? "https.address" : "address");
    rm->http = s->port.http;
    rm->web_port = sv_http_port(rm->http);
    if (rm->relay)
        sv_http_set_body_max(rm->http, RM_RELAY_PREFIX, RM_RELAY_BODY_MAX);
    sv_log_info("web on %s:%u%s", cfg.host, rm->web_port, conf->https ? ", by TLS alone" : "");
    return 0;
}

int rm_web_server_open(struct rm *rm, struct sgss_client *kerberos, struct rm_web_server **ret,
                       struct sv_error *err)
{
    struct rm_web_server *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return sv_error_errno(err, -ENOMEM, "web");
    s->rm = rm;
    r = make_acceptor(s, kerberos, err);
    if (r >= 0)
        r = open_port(s, err);
    if (r < 0)
        (void)rm_web_server_close(s);
    else
        *ret = s;
    return r;
}

struct rm_web_server *rm_web_server_close(struct rm_web_server *s)
{
    if (!s)
        return NULL;
    sv_web_port_close(&s->port);
    s->rm->http = NULL;
    (void)sv_web_acceptor_free(s->acceptor);
    free(s);
    return NULL;
}
