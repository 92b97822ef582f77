/* A reducer's connection as bytes: a socket that never waits, or TLS over one. One thread at a time
 * uses a stream. */
#ifndef SELVEDGE_SHUFFLE_STREAM_H
#define SELVEDGE_SHUFFLE_STREAM_H

#include <sys/types.h>

#include "common/base.h"

struct ssl_st;
struct shf_tls;

struct shf_stream {
    int fd;
    struct ssl_st *tls; /* NULL: none, or its handshake has not begun */
    uint32_t wants;     /* after -EAGAIN: EPOLLIN or EPOLLOUT */
};

/* Goes on with the handshake; begins it with `t` at the first call. 0: it is over; -EAGAIN; else
 * the connection is of no use, and `ret_why` says why (a constant). */
int shf_stream_handshake(struct shf_stream *s, struct shf_tls *t, const char **ret_why) _must_use_;
/* Bytes, 0 at the end of what the client sends, -EAGAIN, or another -errno. */
ssize_t shf_stream_recv(struct shf_stream *s, void *p, size_t n) _must_use_;
/* Bytes taken, which may be fewer, -EAGAIN, or another -errno. `more`: others follow at once. After
 * -EAGAIN the same bytes must be sent again first. */
ssize_t shf_stream_send(struct shf_stream *s, const void *p, size_t n, bool more) _must_use_;
/* Bytes wait that have left the socket: EPOLLIN would not tell. */
bool shf_stream_has_pending(const struct shf_stream *s);
/* The end of what is sent; the client may send on. */
int shf_stream_finish(struct shf_stream *s) _must_use_;
void shf_stream_close(struct shf_stream *s);

#endif
