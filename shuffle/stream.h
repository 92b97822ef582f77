/* Byte stream of a reducer's connection: a non-blocking socket, or TLS over one. One thread at a
 * time uses a stream. */
#ifndef SELVEDGE_SHUFFLE_STREAM_H
#define SELVEDGE_SHUFFLE_STREAM_H

#include <sys/types.h>

#include "common/base.h"

struct ssl_st;
struct sv_tls;

struct shf_stream {
    int fd;
    struct ssl_st *tls; /* NULL: plain, or the handshake has not begun */
    uint32_t wants;     /* after -EAGAIN: EPOLLIN or EPOLLOUT */
};

/* Starts the handshake with `t`, or continues it. 0: done; -EAGAIN; else the connection is
 * unusable, and `ret_why` is the reason (a constant). */
int shf_stream_handshake(struct shf_stream *s, struct sv_tls *t, const char **ret_why) _must_use_;
/* Returns bytes read, 0 at end of file, -EAGAIN, or another -errno. */
ssize_t shf_stream_recv(struct shf_stream *s, void *p, size_t n) _must_use_;
/* Returns bytes written, possibly fewer, -EAGAIN, or another -errno. `more`: further data follows
 * at once. After -EAGAIN the same bytes must be passed again first. */
ssize_t shf_stream_send(struct shf_stream *s, const void *p, size_t n, bool more) _must_use_;
/* True if shf_stream_sendfile() may be used: without TLS, or where the kernel encrypts. */
bool shf_stream_takes_files(const struct shf_stream *s);
/* Sends up to n bytes of a file from `at`. Returns their number, 0 if the file ends there, -EAGAIN,
 * or another -errno. */
ssize_t shf_stream_sendfile(struct shf_stream *s, int fd, off_t at, size_t n) _must_use_;
/* True if input is buffered in TLS, for which no EPOLLIN will arrive. */
bool shf_stream_has_pending(const struct shf_stream *s);
/* Shuts down the sending side; the client may still send. */
int shf_stream_finish(struct shf_stream *s) _must_use_;
void shf_stream_close(struct shf_stream *s);

#endif
