/* One reducer's connection: reads a request, verifies its hash, finds its map outputs, sends them.
 * Never blocks on the network; may block on a disk. One thread at a time runs a connection. */
#ifndef SELVEDGE_SHUFFLE_CONNECTION_H
#define SELVEDGE_SHUFFLE_CONNECTION_H

#include "shuffle/service.h"

struct shf_connection;
/* Takes ownership of `fd`, a non-blocking socket. `refused`: answers 429 without reading a request.
 * Returns NULL when out of memory; the socket is then closed. */
struct shf_connection *shf_connection_new(struct shf_service *s, int fd, bool refused) _must_use_;
/* Tries to answer 429 if TLS is off, and closes the socket without reading. */
void shf_connection_reject(const struct shf_service *s, int fd);
/* TLS handshake, before shf_connection_run. 0: done, wait for `ret_events` next; -EAGAIN: call
 * again on `ret_events`; else the caller must close the connection, and `ret_why` is the reason (a
 * constant). */
int shf_connection_handshake(struct shf_connection *c, uint32_t *ret_events, const char **ret_why)
    _must_use_;
struct shf_connection *shf_connection_free(struct shf_connection *c); /* closes the socket */
/* Makes progress without blocking, at most SHF_TURN_BYTES. `buffer`: the thread's, of conf.buffer
 * bytes, for files sent without sendfile; NULL: all are sent with sendfile. Returns the events to
 * wait for (EPOLLIN or EPOLLOUT), or 0: the connection has ended, or SHF_LOOKUP: call it again when
 * its job has a turn to read an index (lookups.h). */
#define SHF_LOOKUP UINT32_MAX
uint32_t shf_connection_run(struct shf_connection *c, char *buffer) _must_use_;
/* The job of its request, after SHF_LOOKUP. */
const char *shf_connection_job(const struct shf_connection *c);
/* Time (sv_now_ms) at which an idle connection must be ended. Any thread. */
int64_t shf_connection_deadline(const struct shf_connection *c);
/* Wakes the thread that waits for the connection, which then ends it. Any thread, while the
 * connection exists. */
void shf_connection_abort(struct shf_connection *c);

#endif
