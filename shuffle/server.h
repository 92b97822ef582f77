/* The server: listening sockets, connections and threads.
 *
 * All connections are in one epoll set with EPOLLONESHOT: any free thread takes the next ready
 * connection, for at most SHF_TURN_BYTES. So connections share bandwidth and threads evenly, and a
 * file on a slow disk blocks one thread only. The main thread accepts, counts connections by
 * address and ends those past their deadline. */
#ifndef SELVEDGE_SHUFFLE_SERVER_H
#define SELVEDGE_SHUFFLE_SERVER_H

#include "common/error.h"
#include "shuffle/service.h"

struct shf_server;
/* Listens on s->conf.port of all addresses, or takes ownership of `fds`, which must be listening on
 * that port (0: any), else -EINVAL. Sets s->port. */
int shf_server_new(struct shf_service *s, const int *fds, size_t n_fds, struct shf_server **ret,
                   struct sv_error *err) _must_use_;
/* Starts the threads, which never end. */
int shf_server_start(struct shf_server *v, struct sv_error *err) _must_use_;
/* The listening sockets, for the main thread's poll. */
size_t shf_server_sockets(const struct shf_server *v, int ret[SHF_LISTEN_MAX]);
/* Accepts a bounded number of pending connections of a readable listening socket. */
void shf_server_accept(struct shf_server *v, int socket);
unsigned shf_server_connections(struct shf_server *v); /* open ones */
/* Ends connections past their deadline; call about once a second. */
void shf_server_tick(struct shf_server *v);

#endif
