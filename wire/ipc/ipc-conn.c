/* One connection of the IPC server: input, output, pausing, closing; passes input to ipc-auth.c and
 * ipc-serve.c. Hostile: every byte and its timing. Memory grows with bytes received, never with a
 * claimed length, and an idle connection owns no buffer. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-conn.h"
#include "wire/ipc/resolve.h"

#define LINGER_MS 2000          /* time for the peer to read a last answer before the reset */
#define LINGER_BYTES (1u << 20) /* discarded meanwhile */

/* ---- Life ---- */

int ipc_conn_new(struct ipc_server *s, int fd, const struct sockaddr_storage *sa,
                 const char *address, struct ipc_address *from)
{
    struct ipc_conn *c = calloc(1, sizeof(*c));
    if (!c)
        return -ENOMEM;
    c->refs = 1;
    c->fd = fd;
    c->events = EPOLLIN;
    c->in = SV_BUF_INIT(s->limits.max_frame + 4 + 2 * IPC_READ_CHUNK);
    c->out = c->plain = SV_BUF_INIT(s->limits.max_outq_per_conn + (size_t)IPC_FRAME_MAX);
    c->inner = SV_BUF_INIT(2 * (s->limits.max_frame + 4) + IPC_READ_CHUNK);
    snprintf(c->address, sizeof(c->address), "%s", address);
    c->peer.address = c->address;
    c->peer.ip = ipc_address_ip(sa);
    c->peer.user = "";
    c->since_ms = c->active_ms = sv_now_ms();
    c->epoll = s->logins;
    if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){ c->events, { .ptr = c } }) <
        0) {
        int r = -errno;
        free(c);
        return r;
    }
    c->server = s;
    ipc_address_join(from, c);
    DL_APPEND(s->conns, c);
    s->n_conns++;
    ipc_unproved_add(s, c);
    ipc_server_wake_at(s, ipc_conn_deadline(c));
    return 0;
}

void ipc_conn_ref(struct ipc_conn *c)
{
    c->refs++;
}

void ipc_conn_unref(struct ipc_conn *c)
{
    if (--c->refs > 0)
        return;
    free(c->user);
    free(c->real_user);
    free(c->principal);
    free(c->full_user);
    free(c->token_id);
    free(c);
}

/* Removes the connection from the current batch if its event is still unhandled. */
static void leave_batch(const struct ipc_conn *c, struct ipc_batch *b)
{
    for (int i = 0; i < b->n; i++)
        if (b->ready[i].data.ptr == c)
            b->ready[i].data.ptr = NULL;
    for (int i = 0; i < b->n_logins; i++)
        if (b->logins[i].data.ptr == c)
            b->logins[i].data.ptr = NULL;
}

void ipc_conn_close(struct ipc_conn *c)
{
    struct ipc_server *s = c->server;
    if (!s)
        return;
    leave_batch(c, s->batch);
    ipc_unproved_leave(c);
    if (c->in_dirty)
        DL_DELETE2(s->dirty, c, dirty_prev, dirty_next);
    c->in_dirty = false;
    DL_DELETE(s->conns, c);
    s->n_conns--;
    s->open_calls -= c->inflight;
    s->memory -= c->charged;
    c->charged = 0;
    c->server = NULL;
    /* A child between fork and exec still has the socket: close() alone would leave it in the epoll
     * set, and its next event would refer to a freed connection. */
    (void)epoll_ctl(c->epoll, EPOLL_CTL_DEL, c->fd, NULL); /* it is in the set, ignoring */
    ipc_address_leave(s, c);
    c->fd = sv_close(c->fd);
    c->sasl = ipc_sasl_server_free(c->sasl);
    c->layer = ipc_sasl_layer_free(c->layer);
    sv_buf_free(&c->in);
    ipc_out_free(c);
    sv_buf_free(&c->inner);
    ipc_server_room(s);
    ipc_conn_unref(c);
}

void ipc_conn_set_state(struct ipc_conn *c, enum conn_state state)
{
    c->state = state;
    if (state == CONN_READY)
        ipc_unproved_ready(c);
    if (state == CONN_CLOSING) {
        ipc_unproved_leave(c);
        c->since_ms = sv_now_ms();
        c->sasl = ipc_sasl_server_free(c->sasl);
        c->computes = false;
    }
}

/* ---- Memory ---- */

/* Updates the memory account of the connection. False if the server's limit is exceeded. */
static bool conn_charge(struct ipc_conn *c)
{
    size_t now = c->in.cap + ipc_out_memory(c) + c->inner.cap + c->calls_memory + c->step_memory;
    c->server->memory += now - c->charged;
    c->charged = now;
    return c->server->memory <= c->server->limits.max_memory;
}

/* Closes the connection that holds the most memory: not the newest one, nor the one that needs a
 * few more bytes. */
static void close_largest(struct ipc_server *s)
{
    struct ipc_conn *c, *largest = s->conns;
    DL_FOREACH (s->conns, c)
        if (c->charged > largest->charged)
            largest = c;
    sv_log_debug("ipc %s: closed: over the memory limit: it holds %zu of %zu bytes",
                 largest->address, largest->charged, s->memory);
    s->counters.dropped++;
    ipc_conn_close(largest);
}

/* ---- Deadlines ---- */

/* Returns the size of the frame at the front of the buffer; 0 = unknown yet. */
static uint32_t frame_claim(const struct sv_buf *b)
{
    const uint8_t *p = b->data + b->pos;
    if (sv_buf_left(b) < 4)
        return 0;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Deadline of the frame that began at `since_ms` (0 = none). */
static int64_t frame_deadline(const struct ipc_conn *c, int64_t since_ms, const struct sv_buf *b)
{
    if (!since_ms)
        return INT64_MAX;
    return since_ms + c->server->limits.request_ms + (int64_t)(frame_claim(b) / 65536) * 1000;
}

int64_t ipc_conn_deadline(const struct ipc_conn *c)
{
    const struct ipc_limits *l = &c->server->limits;
    int64_t at = INT64_MAX;
    if (c->state == CONN_CLOSING)
        at = c->since_ms + LINGER_MS;
    else if (c->state == CONN_HEADER)
        at = c->since_ms + SV_MIN(l->header_ms, l->handshake_ms);
    else if (c->state != CONN_READY)
        at = c->since_ms + l->handshake_ms;
    else if (c->inflight == 0 && !c->write_ms)
        at = c->active_ms +
             (c->server->n_conns > l->crowd ? SV_MIN(l->idle_ms, l->crowd_idle_ms) : l->idle_ms);
    if (c->write_ms)
        at = SV_MIN(at, c->write_ms + l->write_ms);
    if (c->state == CONN_READY && !c->paused && !c->eof) {
        at = SV_MIN(at, frame_deadline(c, c->frame_ms, &c->in));
        at = SV_MIN(at, frame_deadline(c, c->inner_ms, &c->inner));
    }
    return at;
}

/* ---- Out ---- */

static void events_update(struct ipc_conn *c)
{
    uint32_t want = 0;
    if (!c->paused && !c->eof)
        want |= EPOLLIN;
    if (ipc_out_left(c) > 0)
        want |= EPOLLOUT;
    if (want == c->events)
        return;
    if (epoll_ctl(c->epoll, EPOLL_CTL_MOD, c->fd, &(struct epoll_event){ want, { .ptr = c } }) >= 0)
        c->events = want;
}

/* ---- In ---- */

static bool must_pause(const struct ipc_conn *c)
{
    return c->asks || c->computes || c->inflight >= c->server->limits.max_inflight_per_conn ||
           ipc_out_left(c) >= c->server->limits.max_outq_per_conn;
}

static bool may_resume(const struct ipc_conn *c)
{
    return !c->asks && !c->computes && c->inflight <= c->server->limits.max_inflight_per_conn / 2 &&
           ipc_out_left(c) <= c->server->limits.max_outq_per_conn / 2;
}

static int frame_refused(struct ipc_conn *c, const uint8_t *p, size_t max)
{
    static const struct ipc_echo none = { .call_id = IPC_CALL_INVALID, .retry_count = -1 };
    int32_t claim = (int32_t)frame_claim(&SV_BUF_VIEW(p, 4));
    ipc_conn_fatal(
        c, &none, IPC_DETAIL(FATAL_INVALID_RPC_HEADER), JAVA_IO_EXCEPTION,
        "a frame of %" PRId32 " bytes was announced; at most %zu are accepted%s", claim, max,
        c->state == CONN_READY ? " (ipc.maximum.data.length)" : " before authentication");
    return 0;
}

/* The current frame limit. */
static size_t frame_max(const struct ipc_conn *c)
{
    return c->state == CONN_READY ? c->server->limits.max_frame
                                  : c->server->limits.max_frame_preauth;
}

/* Handles the front of n bytes. 1 = *ret_used were consumed; 0 = more are needed; -errno =
 * close. */
static int conn_step(struct ipc_conn *c, const uint8_t *p, size_t n, size_t *ret_used)
{
    const uint8_t *frame;
    size_t len;
    if (c->state == CONN_HEADER) {
        int r = ipc_auth_header(c, p, n, ret_used);
        return r < 0 ? r : *ret_used > 0 || c->state == CONN_CLOSING;
    }
    size_t max = frame_max(c) + (c->layer ? IPC_WRAP_OVERHEAD : 0);
    int r = ipc_frame_next(p, n, max, &frame, &len, ret_used);
    if (r < 0) {
        *ret_used = n;
        r = frame_refused(c, p, max);
        return r < 0 ? r : 1;
    }
    if (r == 0)
        return 0;
    r = ipc_serve_frame(c, frame, len, false);
    return r < 0 ? r : 1;
}

/* Consumes complete frames of n bytes and returns the number consumed. A handler may close the
 * connection or free the whole server, and with it the bytes. */
static size_t conn_consume(struct ipc_conn *c, const uint8_t *p, size_t n)
{
    size_t used = 0;
    while (c->server && used < n && !c->paused && c->state != CONN_CLOSING) {
        size_t step = 0;
        int r = conn_step(c, p + used, n - used, &step);
        if (r < 0)
            ipc_conn_close(c);
        if (r <= 0)
            break;
        used += step;
        if (c->server)
            ipc_unproved_stepped(c);
        if (c->server && must_pause(c))
            c->paused = true;
    }
    return used;
}

/* ---- In, with a layer ---- */

/* Consumes complete frames of n unwrapped bytes until none is left or reading pauses. */
static int inner_consume(struct ipc_conn *c, const uint8_t *p, size_t n, size_t *ret_used)
{
    *ret_used = 0;
    while (c->server && *ret_used < n && !c->paused && c->state != CONN_CLOSING) {
        const uint8_t *frame;
        size_t len, step = 0;
        int r = ipc_frame_next(p + *ret_used, n - *ret_used, frame_max(c), &frame, &len, &step);
        if (r < 0)
            return frame_refused(c, p + *ret_used, frame_max(c));
        if (r == 0)
            return 0;
        *ret_used += step;
        r = ipc_serve_frame(c, frame, len, true);
        if (r < 0)
            return r;
        if (c->server && must_pause(c))
            c->paused = true;
    }
    return 0;
}

static int inner_consume_held(struct ipc_conn *c)
{
    size_t used;
    int r = inner_consume(c, c->inner.data + c->inner.pos, sv_buf_left(&c->inner), &used);
    if (r < 0 || !c->server)
        return r;
    c->inner.pos += used;
    if (used > 0)
        c->inner_ms = sv_buf_left(&c->inner) > 0 ? sv_now_ms() : 0;
    ipc_buf_trim(&c->inner);
    return 0;
}

int ipc_conn_unwrapped(struct ipc_conn *c, const uint8_t *p, size_t n)
{
    size_t used = 0;
    if (sv_buf_left(&c->inner) > 0) {
        int r = sv_buf_put(&c->inner, p, n);
        return r < 0 ? r : inner_consume_held(c);
    }
    int r = inner_consume(c, p, n, &used);
    if (r < 0 || !c->server || c->state == CONN_CLOSING || used == n)
        return r;
    c->inner_ms = sv_now_ms();
    return sv_buf_put(&c->inner, p + used, n - used);
}

/* ---- In ---- */

static void conn_consume_held(struct ipc_conn *c)
{
    if (sv_buf_left(&c->inner) > 0 && inner_consume_held(c) < 0)
        ipc_conn_close(c);
    if (!c->server)
        return;
    size_t used = conn_consume(c, c->in.data + c->in.pos, sv_buf_left(&c->in));
    if (!c->server)
        return;
    if (c->state == CONN_CLOSING) {
        sv_buf_free(&c->in);
        return;
    }
    c->in.pos += used;
    if (used > 0)
        c->frame_ms = sv_buf_left(&c->in) > 0 ? sv_now_ms() : 0;
    if (sv_buf_left(&c->in) == 0)
        sv_buf_free(&c->in);
    else if (c->in.pos > c->in.len / 2)
        sv_buf_compact(&c->in);
}

static void conn_feed(struct ipc_conn *c, const uint8_t *p, size_t n)
{
    if (sv_buf_left(&c->in) == 0) {
        size_t used = conn_consume(c, p, n);
        if (!c->server || c->state == CONN_CLOSING || used == n)
            return;
        c->frame_ms = sv_now_ms();
        if (sv_buf_put(&c->in, p + used, n - used) < 0)
            ipc_conn_close(c);
        return;
    }
    if (sv_buf_put(&c->in, p, n) < 0)
        ipc_conn_close(c);
    else
        conn_consume_held(c);
}

static void conn_receive(struct ipc_conn *c)
{
    ssize_t n = recv(c->fd, c->server->scratch, IPC_READ_CHUNK, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0) {
        ipc_conn_close(c);
        return;
    }
    if (n == 0) {
        c->eof = true;
        return;
    }
    c->active_ms = sv_now_ms();
    c->received_us = ipc_now_us();
    c->server->counters.received_bytes += (uint64_t)n;
    if (c->state != CONN_CLOSING) {
        conn_feed(c, c->server->scratch, (size_t)n);
        return;
    }
    c->discarded += (size_t)n;
    if (c->discarded > LINGER_BYTES)
        ipc_conn_close(c);
}

/* ---- All of it ---- */

/* True if everything is sent and the peer will send no more. */
static bool conn_is_done(struct ipc_conn *c)
{
    if (ipc_out_left(c) > 0)
        return false;
    if (c->state == CONN_CLOSING) {
        (void)shutdown(c->fd, SHUT_WR);
        return c->eof;
    }
    return c->eof && c->inflight == 0;
}

static void conn_settle(struct ipc_conn *c)
{
    if (!conn_charge(c))
        close_largest(c->server);
    while (c->server) {
        if (ipc_out_turn(c) < 0) {
            ipc_conn_close(c);
            return;
        }
        if (!c->paused || !may_resume(c))
            break;
        c->paused = false;
        if (sv_buf_left(&c->in) + sv_buf_left(&c->inner) == 0)
            break;
        c->frame_ms = c->frame_ms ? sv_now_ms() : 0; /* the server paused reading */
        c->inner_ms = c->inner_ms ? sv_now_ms() : 0;
        conn_consume_held(c);
    }
    if (!c->server)
        return;
    if (conn_is_done(c)) {
        ipc_conn_close(c);
        return;
    }
    (void)conn_charge(c); /* the account only decreases here, ignoring */
    events_update(c);
    ipc_server_wake_at(c->server, ipc_conn_deadline(c));
}

void ipc_conn_settle(struct ipc_conn *c)
{
    if (!c->server || c->busy)
        return;
    ipc_conn_ref(c);
    c->busy = true;
    conn_settle(c);
    c->busy = false;
    ipc_conn_unref(c);
}

void ipc_conn_io(struct ipc_conn *c, uint32_t revents)
{
    ipc_conn_ref(c);
    c->busy = true;
    if (revents & EPOLLERR || (revents & EPOLLHUP && !(c->events & EPOLLIN)))
        ipc_conn_close(c);
    else if (revents & (EPOLLIN | EPOLLHUP))
        conn_receive(c);
    if (c->server)
        conn_settle(c);
    c->busy = false;
    ipc_conn_unref(c);
}

void ipc_conn_finish(struct ipc_conn *c)
{
    if (!c->server || c->state == CONN_CLOSING)
        return;
    ipc_conn_set_state(c, CONN_CLOSING);
    ipc_server_mark_dirty(c);
}

void ipc_conn_fatal(struct ipc_conn *c, const struct ipc_echo *echo, int detail,
                    const char *java_class, const char *fmt, ...)
{
    char text[SV_ERROR_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sv_log_debug("ipc %s: %s: %s", c->address, java_class, text);
    if (ipc_answer_status(c, echo, IPC_STATUS(FATAL), detail, java_class, text) < 0)
        ipc_conn_close(c);
    else
        ipc_conn_finish(c);
}
