/* See web-port.h. */
#include "common/web/web-port.h"

#include "common/fd.h"
#include "common/tls/tls.h"
#include "common/web/http-listen.h"
#include "common/web/https.h"

static int read_keys(struct sv_conf *conf, struct sv_tls **ret, struct sv_error *err)
{
    struct sv_tls_conf tls;
    int r = sv_tls_conf_load(conf, sv_conf_dir(conf), &tls, err);

    if (r >= 0)
        r = sv_tls_new(&tls, ret, err);
    else
        sv_tls_conf_free(&tls);
    return r < 0 ? sv_error_wrap(err, "yarn.http.policy=HTTPS_ONLY") : 0;
}

struct opening {
    sd_event *event;
    sv_http_handler handler;
    void *userdata;
};

/* Takes the socket and the keys. */
static int open_https(const struct opening *o, int listening, struct sv_tls *keys,
                      struct sv_web_port *p, struct sv_error *err)
{
    _cleanup_close_ int fd = listening;
    uint16_t port;
    int r = http_listen_port(fd, &port, err);

    if (r >= 0)
        r = sv_http_new_fed(o->event, port, &p->gate.http, o->handler, o->userdata, &p->http, err);
    if (r < 0) {
        (void)sv_tls_free(keys);
        return r;
    }
    return sv_https_new(o->event, sv_take_fd(&fd), keys, p->http, &p->https, err);
}

int sv_web_port_open(sd_event *event, const struct sv_web_port_config *cfg, sv_http_handler handler,
                     void *userdata, struct sv_web_port *p, struct sv_error *err)
{
    const struct opening o = { event, handler, userdata };
    _cleanup_close_ int fd = cfg->fd;
    struct sv_web_gate_config gate = cfg->gate;
    struct sv_tls *keys = NULL;
    int r = cfg->https ? read_keys(cfg->https, &keys, err) : 0;

    if (r >= 0 && fd < 0)
        r = fd = http_listen(cfg->host, cfg->port, err);
    if (r < 0) {
        (void)sv_tls_free(keys);
        return r;
    }
    gate.https = cfg->https;
    sv_web_gate_init(&p->gate, &gate);
    r = keys ? open_https(&o, sv_take_fd(&fd), keys, p, err)
             : sv_http_new_on(event, sv_take_fd(&fd), &p->gate.http, handler, userdata, &p->http,
                              err);
    if (r < 0) {
        sv_web_port_close(p);
        return r;
    }
    sv_http_set_filters(p->http, cfg->filters);
    return 0;
}

void sv_web_port_close(struct sv_web_port *p)
{
    p->https = sv_https_free(p->https);
    p->http = sv_http_free(p->http);
}
