/* One reducer's connection: reads a request, proves it, finds its map outputs, sends them. Never
 * waits for the network; may wait for a disk. One thread at a time runs a connection. */
#ifndef SELVEDGE_SHUFFLE_CONNECTION_H
#define SELVEDGE_SHUFFLE_CONNECTION_H

#include "shuffle/service.h"

struct shf_connection;
/* Takes `fd`, a non-blocking socket. `refused`: answers 429 without reading a request. NULL without
 * memory: then the socket is closed. */
struct shf_connection *shf_connection_new(struct shf_service *s, int fd, bool refused) _must_use_;
/* Tries to answer 429 where there is no TLS, and closes the socket, read or not. */
void shf_connection_reject(const struct shf_service *s, int fd);
/* TLS, before shf_connection_run. 0: it is over, and `ret_events` is what to wait for next;
 * -EAGAIN: `ret_events` is what to go on at; else the connection is to be ended, and `ret_why` (a
 * constant) says why. */
int shf_connection_handshake(struct shf_connection *c, uint32_t *ret_events, const char **ret_why)
    _must_use_;
struct shf_connection *shf_connection_free(struct shf_connection *c); /* closes the socket */
/* Goes on as far as possible, at most SHF_TURN_BYTES. `buffer` is the thread's, of conf.buffer
 * bytes, for files that are not sent by sendfile; NULL: they are. The events to wait for (EPOLLIN
 * or EPOLLOUT), or 0: the connection has ended. */
uint32_t shf_connection_run(struct shf_connection *c, char *buffer) _must_use_;
/* When the connection is to be ended if nothing happens on it (sv_now_ms). Any thread. */
int64_t shf_connection_deadline(const struct shf_connection *c);
/* Makes the thread that waits for it end it. Any thread, while the connection exists. */
void shf_connection_abort(struct shf_connection *c);

#endif
