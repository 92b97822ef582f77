/* Sockets of auxiliary services: those that systemd holds and passes, and that of a service with
 * its own unit. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_CONNECT_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_CONNECT_H

#include "common/base.h"
#include "common/error.h"
#include "nodemanager/aux-services/aux-conf.h"
#include "nodemanager/aux-services/aux-process.h"

struct sv_listen_fds;

struct nm_aux_listen {
    int fds[NM_AUX_LISTEN_MAX]; /* not owned */
    const char *names[NM_AUX_LISTEN_MAX];
    size_t n;
};

/* The socket that systemd has passed to the daemon under the name of the service. */
void nm_aux_listen_find(const struct sv_listen_fds *held, const char *service,
                        struct nm_aux_listen *ret);

/* Connects to conf->socket, where conf->socket_uid must listen. The descriptor does not block. */
int nm_aux_connect(const struct nm_aux_conf *conf, int *ret_fd, struct sv_error *err) _must_use_;

#endif
