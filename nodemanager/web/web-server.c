/* See web-server.h. */
#include "nodemanager/web/web-server.h"

#include "common/fd.h"
#include "common/listen-fds.h"
#include "common/log.h"
#include "common/tls/tls.h"
#include "common/web/http-listen.h"
#include "common/web/http.h"
#include "common/web/https.h"
#include "gss/client.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/web/nm-web.h"

static int listen_as(const struct nm_conf *conf, const struct sv_listen_fds *held,
                     struct sv_error *err)
{
    const char *keys = conf->web.https ? "yarn.nodemanager.webapp.https.address and bind-host are"
                                       : "yarn.nodemanager.webapp.address and bind-host are";
    int fd,
        r = sv_listen_fds_take(held, NM_WEB_SOCKET, conf->web_host, conf->web_port, keys, &fd, err);

    if (r < 0)
        return r;
    return fd >= 0 ? fd : http_listen(conf->web_host, conf->web_port, err);
}

static int read_keys(const struct nm_conf *conf, struct sv_tls **ret, struct sv_error *err)
{
    struct sv_tls_conf tls;
    int r = sv_tls_conf_load(conf->conf, sv_conf_dir(conf->conf), &tls, err);

    if (r >= 0)
        r = sv_tls_new(&tls, ret, err);
    else
        sv_tls_conf_free(&tls);
    return r < 0 ? sv_error_wrap(err, "yarn.http.policy=HTTPS_ONLY") : 0;
}

static int open_https(sd_event *event, int listening, struct sv_tls *keys, struct nm_web *web,
                      struct nm_web_server *s, struct sv_error *err)
{
    _cleanup_close_ int fd = listening;
    uint16_t port;
    int r = http_listen_port(fd, &port, err);

    if (r >= 0)
        r = sv_http_new_fed(event, port, &s->gate.http, nm_web_handle, web, &s->http, err);
    if (r < 0) {
        (void)sv_tls_free(keys);
        return r;
    }
    return sv_https_new(event, sv_take_fd(&fd), keys, s->http, &s->https, err);
}

/* Callers are identified here for every page, as by the filter that Hadoop's NodeManager
 * always has. */
static int open_gate(const struct nm_conf *conf, struct sgss_client *kerberos,
                     struct nm_web_server *s, struct sv_error *err)
{
    const char *principal = conf->kerberos.own.web_principal;
    int r = kerberos && conf->web.tickets
                ? sgss_client_web_acceptor(kerberos, principal, &s->acceptor)
                : 0;

    if (r < 0)
        return sv_error_errno(err, r, "principal %s of the web server", principal);
    sv_web_gate_init(&s->gate, &(struct sv_web_gate_config){ .auth = &conf->web.auth,
                                                             .login = &conf->web.login,
                                                             .acceptor = s->acceptor,
                                                             .rules = conf->kerberos.own.rules,
                                                             .https = conf->web.https });
    return 0;
}

int nm_web_server_open(sd_event *event, const struct nm_conf *conf,
                       const struct sv_listen_fds *held, struct sgss_client *kerberos,
                       struct nm_web *web, struct nm_web_server *s, struct sv_error *err)
{
    struct sv_tls *keys = NULL;
    int r = conf->web.https ? read_keys(conf, &keys, err) : 0, fd;

    if (r < 0)
        return r;
    r = open_gate(conf, kerberos, s, err);
    fd = r < 0 ? r : listen_as(conf, held, err);
    if (fd < 0) {
        (void)sv_tls_free(keys);
        nm_web_server_close(s);
        return fd;
    }
    r = keys ? open_https(event, fd, keys, web, s, err)
             : sv_http_new_on(event, fd, &s->gate.http, nm_web_handle, web, &s->http, err);
    if (r < 0) {
        nm_web_server_close(s);
        return r;
    }
    sv_http_set_filters(s->http, &conf->web.filters);
    web->http = s->http;
    return 0;
}

void nm_web_server_close(struct nm_web_server *s)
{
    s->https = sv_https_free(s->https);
    s->http = sv_http_free(s->http);
    s->acceptor = sv_web_acceptor_free(s->acceptor);
}
