/* See stream.h. */
#include "shuffle/stream.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "common/tls/tls.h"

/* Translates a failed TLS call: -EAGAIN with s->wants, 0 for end of file, else -errno. */
static int outcome(struct shf_stream *s, int r)
{
    int error = errno;

    switch (SSL_get_error(s->tls, r)) {
    case SSL_ERROR_WANT_READ:
        s->wants = EPOLLIN;
        return -EAGAIN;
    case SSL_ERROR_WANT_WRITE:
        s->wants = EPOLLOUT;
        return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        return error ? -error : -ECONNRESET;
    default:
        return -EPROTO;
    }
}

/* Clears the thread's error queue, by which OpenSSL judges the next call. */
static void forget_errors(void)
{
    ERR_clear_error();
    errno = 0;
}

int shf_stream_handshake(struct shf_stream *s, struct sv_tls *t, const char **ret_why)
{
    int r;

    if (!s->tls)
        s->tls = sv_tls_session(t, s->fd);
    if (!s->tls) {
        *ret_why = "out of memory";
        return -ENOMEM;
    }
    forget_errors();
    r = SSL_accept(s->tls);
    if (r == 1)
        return 0;
    r = outcome(s, r);
    if (r == -EAGAIN)
        return r;
    *ret_why = ERR_reason_error_string(ERR_peek_error());
    if (!*ret_why)
        *ret_why = "the client has closed the connection";
    return r == 0 ? -ECONNRESET : r;
}

ssize_t shf_stream_recv(struct shf_stream *s, void *p, size_t n)
{
    ssize_t got;

    if (s->tls) {
        forget_errors();
        got = SSL_read(s->tls, p, (int)SV_MIN(n, (size_t)INT_MAX));
        return got > 0 ? got : outcome(s, (int)got);
    }
    do
        got = recv(s->fd, p, n, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        s->wants = EPOLLIN;
        return -errno;
    }
    return got;
}

ssize_t shf_stream_send(struct shf_stream *s, const void *p, size_t n, bool more)
{
    ssize_t sent;

    if (s->tls) {
        forget_errors();
        sent = SSL_write(s->tls, p, (int)SV_MIN(n, (size_t)INT_MAX));
        if (sent > 0)
            return sent;
        sent = outcome(s, (int)sent);
        return sent == 0 ? -ECONNRESET : sent;
    }
    do
        sent = send(s->fd, p, n, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        s->wants = EPOLLOUT;
        return -errno;
    }
    return sent;
}

bool shf_stream_takes_files(const struct shf_stream *s)
{
    return !s->tls || sv_tls_sends_in_kernel(s->tls);
}

ssize_t shf_stream_sendfile(struct shf_stream *s, int fd, off_t at, size_t n)
{
    ssize_t sent;

    if (s->tls) {
        forget_errors();
        sent = SSL_sendfile(s->tls, fd, at, n, 0);
        return sent >= 0 ? sent : outcome(s, (int)sent);
    }
    s->wants = EPOLLOUT;
    sent = sendfile(s->fd, fd, &at, n);
    return sent < 0 ? -errno : sent;
}

bool shf_stream_has_pending(const struct shf_stream *s)
{
    return s->tls && SSL_pending(s->tls) > 0;
}

int shf_stream_finish(struct shf_stream *s)
{
    if (s->tls) {
        forget_errors();
        (void)SSL_shutdown(s->tls); /* answers carry their length, ignoring */
    }
    return shutdown(s->fd, SHUT_WR) < 0 ? -errno : 0;
}

void shf_stream_close(struct shf_stream *s)
{
    SSL_free(s->tls);
    s->tls = NULL;
    s->fd = sv_close(s->fd);
}
