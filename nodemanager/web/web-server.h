/* Opens the web server, of HTTP or HTTPS. */
#ifndef SELVEDGE_NODEMANAGER_WEB_WEB_SERVER_H
#define SELVEDGE_NODEMANAGER_WEB_WEB_SERVER_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "common/web/web-port.h"

struct nm_conf;
struct nm_web;
struct sgss_client;
struct sv_listen_fds;

struct nm_web_server { /* zeroed: closed. Must not move while it is open. */
    struct sv_web_port port;
    struct sv_web_acceptor *acceptor; /* NULL: no ticket is taken */
};

/* The name of the socket that systemd may hold. */
#define NM_WEB_SOCKET "web"

/* Listens as the configuration says, or on the socket of `held`, and serves `web`, which it makes
 * complete. Reads ssl-server.xml and the keys. `kerberos`: who judges tickets; NULL: the cluster is
 * not secure. -EADDRINUSE: may be retried. */
int nm_web_server_open(sd_event *event, const struct nm_conf *conf,
                       const struct sv_listen_fds *held, struct sgss_client *kerberos,
                       struct nm_web *web, struct nm_web_server *s, struct sv_error *err)
    _must_use_;
void nm_web_server_close(struct nm_web_server *s);

#endif
