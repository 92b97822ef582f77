/* The server: listening sockets, connections and the threads that run them.
 *
 * All connections are in one epoll set, each event for one thread only (EPOLLONESHOT): any free
 * thread takes the next connection that can go on, for at most SHF_TURN_BYTES. So connections share
 * the line and the threads evenly, and a file that must come from a slow disk holds up one thread.
 * The main thread accepts, counts connections by address and ends those whose time is over. */
#ifndef SELVEDGE_SHUFFLE_SERVER_H
#define SELVEDGE_SHUFFLE_SERVER_H

#include "common/error.h"
#include "shuffle/service.h"

struct shf_server;
/* Listens on s->conf.port of all addresses, or takes over `fds`, sockets that listen there already:
 * -EINVAL for another port, 0 being any. Sets s->port. */
int shf_server_new(struct shf_service *s, const int *fds, size_t n_fds, struct shf_server **ret,
                   struct sv_error *err) _must_use_;
/* Starts the threads, which never end. */
int shf_server_start(struct shf_server *v, struct sv_error *err) _must_use_;
/* The listening sockets, for the main thread's poll. */
size_t shf_server_sockets(const struct shf_server *v, int ret[SHF_LISTEN_MAX]);
/* A listening socket is readable: accepts what waits, a bounded number. */
void shf_server_accept(struct shf_server *v, int socket);
unsigned shf_server_connections(struct shf_server *v); /* that are open */
/* About once a second: ends connections whose time is over. */
void shf_server_tick(struct shf_server *v);

#endif
