/* See web-server.h. */
#include "nodemanager/web/web-server.h"

#include "common/listen-fds.h"
#include "gss/client.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/web/nm-web.h"

/* Takes the socket that systemd may hold; -1: it holds none. */
static int take_held(const struct nm_conf *conf, const struct sv_listen_fds *held, int *ret,
                     struct sv_error *err)
{
    const char *keys = conf->web.https ? "yarn.nodemanager.webapp.https.address and bind-host are"
                                       : "yarn.nodemanager.webapp.address and bind-host are";

    return sv_listen_fds_take(held, NM_WEB_SOCKET, conf->web_host, conf->web_port, keys, ret, err);
}

static int make_acceptor(const struct nm_conf *conf, struct sgss_client *kerberos,
                         struct nm_web_server *s, struct sv_error *err)
{
    const char *principal = conf->kerberos.own.web_principal;
    int r = kerberos && conf->web.tickets
                ? sgss_client_web_acceptor(kerberos, principal, &s->acceptor)
                : 0;

    return r < 0 ? sv_error_errno(err, r, "principal %s of the web server", principal) : 0;
}

/* Callers are identified for every page, as by the filter that Hadoop's NodeManager always has. */
int nm_web_server_open(sd_event *event, const struct nm_conf *conf,
                       const struct sv_listen_fds *held, struct sgss_client *kerberos,
                       struct nm_web *web, struct nm_web_server *s, struct sv_error *err)
{
    struct sv_web_port_config cfg = { .host = conf->web_host,
                                      .port = conf->web_port,
                                      .fd = -1,
                                      .https = conf->web.https ? conf->conf : NULL,
                                      .filters = &conf->web.filters };
    int r = make_acceptor(conf, kerberos, s, err);

    cfg.gate = (struct sv_web_gate_config){ .auth = &conf->web.auth,
                                            .login = &conf->web.login,
                                            .acceptor = s->acceptor,
                                            .rules = conf->kerberos.own.rules };
    if (r >= 0)
        r = take_held(conf, held, &cfg.fd, err);
    if (r >= 0)
        r = sv_web_port_open(event, &cfg, nm_web_handle, web, &s->port, err);
    if (r < 0) {
        nm_web_server_close(s);
        return r;
    }
    web->http = s->port.http;
    return 0;
}

void nm_web_server_close(struct nm_web_server *s)
{
    sv_web_port_close(&s->port);
    s->acceptor = sv_web_acceptor_free(s->acceptor);
}
