/* How a daemon's IPC servers take tickets: a handshake by its helper, and the account of a
 * principal by its rules. */
#ifndef SELVEDGE_GSS_DAEMON_ACCEPTOR_H
#define SELVEDGE_GSS_DAEMON_ACCEPTOR_H

#include "gss/daemon-conf.h"
#include "gss/daemon.h"
#include "wire/ipc/ipc-server.h"

/* `ipc` is for ipc_server_config.kerberos, the rest is private. Must not move while a server uses
 * it. */
struct sgss_acceptor {
    struct ipc_acceptor ipc;
    struct sgss_daemon *daemon;
    const struct sgss_conf *conf;
};

/* Both outlive the acceptor. */
void sgss_acceptor_init(struct sgss_acceptor *a, struct sgss_daemon *d,
                        const struct sgss_conf *conf);

#endif
