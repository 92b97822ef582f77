/* Shares of client addresses in an HTTP server: connections, bytes of request bodies and of answers
 * that are held in memory, and turns of requests that wait. An address is what
 * sv_address_client() says; it is known while it has a connection. Hostile: clients, which open
 * connections, send bodies that they do not end, and do not read answers. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_SHARE_H
#define SELVEDGE_COMMON_WEB_HTTP_SHARE_H

#include <sys/socket.h>

#include "common/base.h"

#define HTTP_CONNECTIONS_MAX 512u
/* One machine has the loopback, an IPv4 and an IPv6 address: together less than all. */
#define HTTP_CONNECTIONS_OF_LOOPBACK 192u
#define HTTP_CONNECTIONS_OF_ADDRESS 128u
/* Bytes in memory, of all clients. One address has at most a quarter, and always room for one. */
#define HTTP_BODIES_MAX ((size_t)32 << 20)
#define HTTP_ANSWERS_MAX ((size_t)64 << 20)

enum http_held { HTTP_BODIES, HTTP_ANSWERS, HTTP_N_HELD };

struct MHD_Connection;
struct http_share;
struct http_shares {              /* zeroed: empty */
    struct http_share *addresses; /* uthash */
    struct http_share *turns;     /* utlist: those with waiting requests, the next one first */
    size_t held[HTTP_N_HELD];
};

struct http_waiting { /* a request's place in the queue of its address */
    struct MHD_Connection *conn;
    bool called; /* for http.c: its turn has come */
    struct http_waiting *prev, *next;
};

/* Whether the address may open another connection. */
bool http_share_has_room(const struct http_shares *all, const struct sockaddr *from);
/* Counts a connection; NULL: no memory. http_share_leave() ends it. */
struct http_share *http_share_join(struct http_shares *all, const struct sockaddr *from);
void http_share_leave(struct http_shares *all, struct http_share *s);

/* Counts `n` more bytes. -EBUSY: the sum of all or of the address is reached. */
int http_share_hold(struct http_shares *all, struct http_share *s, enum http_held what, size_t n)
    _must_use_;
void http_share_drop(struct http_shares *all, struct http_share *s, enum http_held what, size_t n);

/* Queues a request; `again`: before the others of the address, because it had its turn and could
 * not use it. */
void http_share_wait(struct http_shares *all, struct http_share *s, struct http_waiting *w,
                     bool again);
/* Dequeues a request, of each address in turn; NULL: none waits. */
struct http_waiting *http_share_next(struct http_shares *all);

#endif
