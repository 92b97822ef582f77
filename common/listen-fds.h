/* Socket activation: listening TCP sockets that systemd holds for this process and passes to it, by
 * the names of FileDescriptorName= (sd_listen_fds(3)). Connections wait in such a socket while the
 * process restarts, and no other account can bind its port meanwhile.
 *
 * A socket is used only at the configured address: a mistake in a unit must not move a port. */
#ifndef SELVEDGE_COMMON_LISTEN_FDS_H
#define SELVEDGE_COMMON_LISTEN_FDS_H

#include "common/base.h"
#include "common/error.h"

#define SV_LISTEN_FDS_MAX 16 /* sockets of all units together */

struct sv_listen_fds;

/* Receives the sockets that systemd passed; *ret is NULL if there are none. -EINVAL, with the
 * descriptor's name, unless each is a listening TCP socket. Removes the variables from the
 * environment. */
int sv_listen_fds_receive(struct sv_listen_fds **ret, struct sv_error *err) _must_use_;
/* Returns 1 and a descriptor of the socket `name`, owned by the caller; 0 and -1 if there is none.
 * -EINVAL if it listens elsewhere than at host:port, configured by `keys`: the text names both
 * addresses. Port 0 matches any port. */
int sv_listen_fds_take(const struct sv_listen_fds *l, const char *name, const char *host,
                       uint16_t port, const char *keys, int *ret_fd, struct sv_error *err)
    _must_use_;
/* Returns the descriptor of the socket `name` to pass on to another process, or -1; this object
 * keeps ownership. */
int sv_listen_fds_find(const struct sv_listen_fds *l, const char *name);
/* -EINVAL if a socket's name is duplicate or not in `names`, which is NULL-terminated: the text has
 * its name and address. */
int sv_listen_fds_check_names(const struct sv_listen_fds *l, const char *const *names,
                              struct sv_error *err) _must_use_;
/* Shuts all sockets down, so that systemd ends their units. Otherwise the next connection would
 * start a process again that has ended for good. */
void sv_listen_fds_shut_down(struct sv_listen_fds *l);
struct sv_listen_fds *sv_listen_fds_free(struct sv_listen_fds *l); /* accepts NULL */

#endif
