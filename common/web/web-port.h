/* Opens a daemon's web server: one port of HTTP or HTTPS, a gate in front of each page, Hadoop's
 * filters. */
#ifndef SELVEDGE_COMMON_WEB_WEB_PORT_H
#define SELVEDGE_COMMON_WEB_WEB_PORT_H

#include <systemd/sd-event.h>

#include "common/web/web-gate.h"

struct sv_conf;
struct sv_http_filters;
struct sv_https;

struct sv_web_port { /* zeroed: closed. Must not move while it is open. */
    struct sv_http *http;
    struct sv_https *https; /* NULL: HTTP */
    struct sv_web_gate gate;
};

struct sv_web_port_config {
    const char *host;
    uint16_t port;
    /* A listening socket in place of these, taken in every case; -1: none. */
    int fd;
    /* For TLS: its hadoop.ssl.*, and ssl-server.xml beside its files; NULL: HTTP. */
    struct sv_conf *https;
    struct sv_web_gate_config gate;        /* its `https` is set here */
    const struct sv_http_filters *filters; /* kept */
};

/* Reads the keys of TLS before it listens. -EADDRINUSE: may be retried. The text lacks the keys of
 * the address. */
int sv_web_port_open(sd_event *event, const struct sv_web_port_config *cfg, sv_http_handler handler,
                     void *userdata, struct sv_web_port *p, struct sv_error *err) _must_use_;
/* The acceptor of the gate's configuration is the caller's, and still needed until here. */
void sv_web_port_close(struct sv_web_port *p);

#endif
