/* One connection of a TLS client to a server of this process that knows no TLS: the handshake, then
 * bytes in both directions between the client and one end of a socket pair. Never waits: the caller
 * watches both sockets. Hostile: the client. */
#ifndef SELVEDGE_COMMON_TLS_RELAY_H
#define SELVEDGE_COMMON_TLS_RELAY_H

#include "common/base.h"

struct sv_tls;
struct sv_tls_relay;

/* Takes the client's non-blocking socket, also on failure. */
int sv_tls_relay_new(struct sv_tls *tls, int client, struct sv_tls_relay **ret) _must_use_;
struct sv_tls_relay *sv_tls_relay_free(struct sv_tls_relay *t);
/* Does what can be done without waiting, a bounded part of it. 0: go on; 1: the handshake is over,
 * and *ret_server is the server's end of the pair, for the caller to close; negative: it has ended,
 * -EPROTO by a failed handshake (*ret_why, a static text). */
int sv_tls_relay_step(struct sv_tls_relay *t, int *ret_server, const char **ret_why) _must_use_;

enum sv_tls_side { SV_TLS_CLIENT, SV_TLS_SERVER, SV_TLS_SIDES };
/* The socket of a side and the events of epoll that it waits for; -1: not watched. */
int sv_tls_relay_fd(const struct sv_tls_relay *t, enum sv_tls_side side, uint32_t *ret_events);
/* EPOLLHUP or EPOLLERR was seen on a side; step it afterwards. */
void sv_tls_relay_hung_up(struct sv_tls_relay *t, enum sv_tls_side side);
/* When the connection is late by the monotonic clock: its handshake, or a client that does not read
 * its answer. INT64_MAX: never. */
int64_t sv_tls_relay_deadline(const struct sv_tls_relay *t);

#endif
