/* Listening TCP sockets that systemd holds for this process and passes to it, by the names of
 * FileDescriptorName= (sd_listen_fds(3)). Connections wait in such a socket while the process
 * restarts, and no other account can bind its port meanwhile.
 *
 * A socket is used only at the address that the configuration has: a mistake in a unit must not
 * move a port. */
#ifndef SELVEDGE_COMMON_LISTEN_FDS_H
#define SELVEDGE_COMMON_LISTEN_FDS_H

#include "common/base.h"
#include "common/error.h"

#define SV_LISTEN_FDS_MAX 16 /* sockets of all units together */

struct sv_listen_fds;

/* Takes what systemd has passed; *ret is NULL where that is nothing. -EINVAL, with the descriptor's
 * name, unless each is a listening TCP socket. The variables are removed from the environment. */
int sv_listen_fds_receive(struct sv_listen_fds **ret, struct sv_error *err) _must_use_;
/* 1 and a descriptor of the socket `name`, which the caller owns; 0 and -1 without one. -EINVAL
 * where it listens elsewhere than at host:port, which `keys` configure: the text names both
 * addresses. Port 0 is any port. */
int sv_listen_fds_take(const struct sv_listen_fds *l, const char *name, const char *host,
                       uint16_t port, const char *keys, int *ret_fd, struct sv_error *err)
    _must_use_;
/* The descriptor of the socket `name`, for a process that gets it; it stays this object's. -1:
 * there is none. */
int sv_listen_fds_find(const struct sv_listen_fds *l, const char *name);
/* -EINVAL where a socket's name is none of `names`, which ends with NULL, or the second of its
 * name: the text has its name and address. */
int sv_listen_fds_check_names(const struct sv_listen_fds *l, const char *const *names,
                              struct sv_error *err) _must_use_;
/* Nobody listens on them any more: systemd ends their units. Otherwise the next connection would
 * start a process again that has ended for good. */
void sv_listen_fds_shut_down(struct sv_listen_fds *l);
struct sv_listen_fds *sv_listen_fds_free(struct sv_listen_fds *l); /* accepts NULL */

#endif
