/* See relay.h. Each direction has one buffer, filled when it is empty. */
#include "common/tls/relay.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/tls/limits.h"
#include "common/tls/tls.h"

#define PARTS 4               /* buffers moved in one step */
#define PAIR_BYTES (64 << 10) /* the kernel holds of an answer, as a socket to a client would */

struct part { /* of one direction */
    size_t at, len;
    uint8_t data[SSL3_RT_MAX_PLAIN_LENGTH];
};

struct sv_tls_relay {
    SSL *tls;
    int client, server;            /* server -1: the handshake is under way */
    uint32_t shake, reads, writes; /* what OpenSSL waits for, as events of epoll */
    bool request_ended, told;      /* the client sends no more; the server knows */
    bool answer_ended;
    bool server_gone; /* not watched any more: its bytes are read as the client takes them */
    bool client_gone;
    int64_t deadline_ms;
    struct part request, answer;
};

int sv_tls_relay_new(struct sv_tls *tls, int client, struct sv_tls_relay **ret)
{
    _cleanup_close_ int fd = client;
    struct sv_tls_relay *t = malloc(sizeof(*t)); /* its buffers are not touched before use */

    if (!t)
        return -ENOMEM;
    t->tls = sv_tls_session(tls, fd);
    if (!t->tls) {
        free(t);
        return -ENOMEM;
    }
    t->client = sv_take_fd(&fd);
    t->server = -1;
    t->shake = t->reads = EPOLLIN;
    t->writes = EPOLLOUT;
    t->request_ended = t->told = t->answer_ended = t->server_gone = t->client_gone = false;
    t->deadline_ms = sv_now_ms() + TLS_HANDSHAKE_MS;
    t->request.at = t->request.len = t->answer.at = t->answer.len = 0;
    *ret = t;
    return 0;
}

struct sv_tls_relay *sv_tls_relay_free(struct sv_tls_relay *t)
{
    if (!t)
        return NULL;
    SSL_free(t->tls);
    (void)sv_close(t->client);
    (void)sv_close(t->server);
    free(t);
    return NULL;
}

/* Translates OpenSSL's result: bytes, 0 at the end, -EAGAIN with what it waits for, -EPROTO. */
static int result(struct sv_tls_relay *t, int r, uint32_t *waits)
{
    if (r > 0)
        return r;
    switch (SSL_get_error(t->tls, r)) {
    case SSL_ERROR_WANT_READ:
        *waits = EPOLLIN;
        return -EAGAIN;
    case SSL_ERROR_WANT_WRITE:
        *waits = EPOLLOUT;
        return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        return -EPROTO;
    }
}

/* ---- The handshake ---- */

static int make_pair(struct sv_tls_relay *t, int *ret_server)
{
    int pair[2], bytes = PAIR_BYTES;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    for (int i = 0; i < 2; i++) /* else the kernel's default, ignoring */
        (void)setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    t->server = pair[0];
    *ret_server = pair[1];
    return 1;
}

static int shake_hands(struct sv_tls_relay *t, int *ret_server, const char **ret_why)
{
    const char *why;
    int r;

    ERR_clear_error();
    r = result(t, SSL_do_handshake(t->tls), &t->shake);
    if (r == -EAGAIN)
        return 0;
    if (r > 0) {
        t->deadline_ms = INT64_MAX;
        return make_pair(t, ret_server);
    }
    why = ERR_reason_error_string(ERR_peek_last_error());
    *ret_why = why ? why : "the client closed the connection";
    ERR_clear_error();
    return -EPROTO;
}

/* ---- Bytes ---- */

static int read_request(struct sv_tls_relay *t)
{
    int r;

    ERR_clear_error();
    r = result(t, SSL_read(t->tls, t->request.data, sizeof(t->request.data)), &t->reads);
    ERR_clear_error();
    if (r == 0)
        t->request_ended = true;
    if (r <= 0)
        return r;
    t->reads = EPOLLIN;
    t->request.at = 0;
    t->request.len = (size_t)r;
    return 0;
}

/* True: something was moved. A server that reads no more may still have an answer to be sent. */
static bool pass_request(struct sv_tls_relay *t)
{
    struct part *p = &t->request;
    ssize_t n = send(t->server, p->data + p->at, p->len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n < 0) {
        p->len = 0;
        t->request_ended = t->told = true;
        return true;
    }
    p->at += (size_t)n;
    p->len -= (size_t)n;
    return n > 0;
}

/* 1: something was moved; 0: nothing can be. */
static int move_request(struct sv_tls_relay *t)
{
    bool moved = false;
    int r = t->request.len == 0 && !t->request_ended ? read_request(t) : 0;

    if (r < 0 && r != -EAGAIN)
        return r;
    if (t->request.len > 0)
        moved = pass_request(t);
    if (t->request_ended && t->request.len == 0 && !t->told) {
        (void)shutdown(t->server, SHUT_WR); /* it may have closed already, ignoring */
        t->told = moved = true;
    }
    return moved;
}

static void read_answer(struct sv_tls_relay *t)
{
    ssize_t n = recv(t->server, t->answer.data, sizeof(t->answer.data), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        t->answer_ended = true;
        return;
    }
    t->answer.at = 0;
    t->answer.len = (size_t)n;
    t->deadline_ms = sv_now_ms() + TLS_STALL_MS;
}

static int move_answer(struct sv_tls_relay *t)
{
    struct part *p = &t->answer;
    int r;

    if (p->len == 0 && !t->answer_ended)
        read_answer(t);
    if (p->len == 0)
        return 0;
    ERR_clear_error();
    r = result(t, SSL_write(t->tls, p->data + p->at, (int)p->len), &t->writes);
    ERR_clear_error();
    if (r == -EAGAIN)
        return 0;
    if (r <= 0)
        return -EPIPE;
    t->writes = EPOLLOUT;
    p->at += (size_t)r;
    p->len -= (size_t)r;
    t->deadline_ms = p->len > 0 ? sv_now_ms() + TLS_STALL_MS : INT64_MAX;
    return 1;
}

/* Tells the client that the answer is whole. */
static int end(struct sv_tls_relay *t)
{
    (void)SSL_shutdown(t->tls); /* a client that is gone needs no notice, ignoring */
    ERR_clear_error();
    (void)shutdown(t->client, SHUT_WR); /* the same, ignoring */
    return -ECONNRESET;
}

int sv_tls_relay_step(struct sv_tls_relay *t, int *ret_server, const char **ret_why)
{
    if (t->client_gone)
        return -ECONNRESET;
    if (t->server < 0)
        return shake_hands(t, ret_server, ret_why);
    /* A server that has closed leaves no more than the kernel holds, and nothing announces it. */
    for (int i = 0; i < PARTS || t->server_gone; i++) {
        int in = move_request(t), out = in < 0 ? in : move_answer(t);

        if (out < 0)
            return out;
        if (t->answer_ended && t->answer.len == 0)
            return end(t);
        if (in == 0 && out == 0)
            break;
    }
    return 0;
}

/* ---- For the caller's epoll ---- */

int sv_tls_relay_fd(const struct sv_tls_relay *t, enum sv_tls_side side, uint32_t *ret_events)
{
    bool reads = t->request.len == 0 && !t->request_ended;

    if (side == SV_TLS_CLIENT) {
        *ret_events =
            t->server < 0 ? t->shake : (reads ? t->reads : 0) | (t->answer.len > 0 ? t->writes : 0);
        return t->client;
    }
    *ret_events = (t->answer.len == 0 && !t->answer_ended ? (uint32_t)EPOLLIN : 0) |
                  (t->request.len > 0 ? (uint32_t)EPOLLOUT : 0);
    return t->server_gone ? -1 : t->server;
}

void sv_tls_relay_hung_up(struct sv_tls_relay *t, enum sv_tls_side side)
{
    if (side == SV_TLS_CLIENT)
        t->client_gone = true;
    else
        t->server_gone = true;
}

int64_t sv_tls_relay_deadline(const struct sv_tls_relay *t)
{
    return t->deadline_ms;
}
