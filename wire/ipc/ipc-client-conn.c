/* The IPC client's connection: name resolution, TCP, input, output, answers. ipc-client-sasl.c
 * authenticates the server. Hostile: all bytes of the server. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "wire/exceptions.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-client-conn.h"

typedef Hadoop__Common__RpcRequestHeaderProto request_header;
typedef Hadoop__Common__RpcResponseHeaderProto response_header;

#define IOV_MAX_CALLS 64

static int on_io(sd_event_source *src, int fd, uint32_t revents, void *userdata);
static void connect_next(struct ipc_client *c);

static void broken(struct ipc_client *c, int status, const char *what)
{
    struct sv_error err = { 0 };
    sv_error_errno(&err, status, "%s", what);
    ipc_client_broken(c, status, NULL, &err);
}

void ipc_client_disconnect(struct ipc_client *c)
{
    c->state = CLIENT_IDLE;
    c->resolve = ipc_resolve_free(c->resolve);
    c->io = sd_event_source_disable_unref(c->io);
    c->fd = sv_close(c->fd);
    c->sasl = ipc_sasl_client_free(c->sasl);
    c->computes = false;
    c->layer = ipc_sasl_layer_free(c->layer);
    sv_buf_free(&c->inner);
    sv_buf_free(&c->in);
    sv_buf_free(&c->out);
    free(SV_TAKE(c->scratch));
}

/* ---- Out ---- */

void ipc_client_ping(struct ipc_client *c)
{
    request_header h = ipc_client_header(c, IPC_CALL_PING);
    c->sent_ms = sv_now_ms();
    if (c->unsent || sv_buf_left(&c->out) > 0)
        return; /* bytes are in transit anyway */
    int r = ipc_frame_put(&c->out, &h.base, NULL, NULL, 0);
    if (r >= 0)
        r = ipc_client_layer_cover(c);
    if (r < 0)
        broken(c, r, "ping");
    else
        ipc_client_pump(c);
}

static void events_want(struct ipc_client *c, uint32_t events)
{
    if (events != c->events && sd_event_source_set_io_events(c->io, events) >= 0)
        c->events = events;
}

/* The next bytes to send: the rest of a partly sent call, else handshake, else calls. */
static int gather(struct ipc_client *c, struct iovec *iov)
{
    struct client_call *call = c->unsent;
    int n = 0;
    if (sv_buf_left(&c->out) > 0 && !(call && call->frame.pos > 0))
        iov[n++] = (struct iovec){ c->out.data + c->out.pos, sv_buf_left(&c->out) };
    if (c->state != CLIENT_READY || c->layer)
        return n;
    for (; call && n < IOV_MAX_CALLS; call = call->next)
        iov[n++] = (struct iovec){ call->frame.data + call->frame.pos, sv_buf_left(&call->frame) };
    return n;
}

static void written(struct ipc_client *c, size_t n)
{
    struct client_call *call = c->unsent;
    if (sv_buf_left(&c->out) > 0 && !(call && call->frame.pos > 0)) {
        size_t part = SV_MIN(n, sv_buf_left(&c->out));
        c->out.pos += part;
        n -= part;
        if (sv_buf_left(&c->out) == 0)
            sv_buf_free(&c->out);
    }
    while (n > 0 && c->unsent) {
        call = c->unsent;
        size_t part = SV_MIN(n, sv_buf_left(&call->frame));
        call->frame.pos += part;
        n -= part;
        if (sv_buf_left(&call->frame) == 0)
            ipc_client_sent(c, call);
    }
}

void ipc_client_write(struct ipc_client *c)
{
    struct iovec iov[IOV_MAX_CALLS + 1];
    struct msghdr msg = { .msg_iov = iov };
    int n, r;
    while ((r = ipc_client_layer_calls(c)) >= 0 && (n = gather(c, iov)) > 0) {
        msg.msg_iovlen = (size_t)n;
        ssize_t k = sendmsg(c->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0 && errno == EAGAIN)
            break;
        if (k < 0 && (errno == EPIPE || errno == ECONNRESET)) {
            n = 0; /* reading returns the server's last bytes, then end of file */
            break;
        }
        if (k < 0) {
            broken(c, -errno, "cannot send");
            return;
        }
        c->sent_ms = sv_now_ms();
        written(c, (size_t)k);
    }
    if (r < 0) {
        broken(c, r, "cannot wrap a call");
        return;
    }
    events_want(c, EPOLLIN | (n > 0 ? EPOLLOUT : 0));
    if (c->state == CLIENT_READY)
        ipc_client_wake_at(c, c->sent_ms + c->ping_ms);
}

/* ---- Connecting ---- */

static void established(struct ipc_client *c)
{
    static const int one = 1;
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    (void)setsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    c->in = SV_BUF_INIT(c->max_frame + 4 + 2 * IPC_READ_CHUNK);
    c->inner = SV_BUF_INIT(2 * (c->max_frame + 4));
    c->out = SV_BUF_INIT(c->kerberos ? IPC_FRAME_KERBEROS_MAX : IPC_FRAME_PREAUTH_MAX);
    c->scratch = malloc(IPC_READ_CHUNK);
    c->active_ms = c->sent_ms = sv_now_ms();
    int r = c->scratch ? ipc_client_put_hello(c) : -ENOMEM;
    if (r < 0) {
        broken(c, r, "handshake");
        return;
    }
    c->state = ipc_client_has_sasl(c) ? CLIENT_SASL : CLIENT_READY;
    ipc_client_write(c);
}

static int connect_one(struct ipc_client *c)
{
    const struct ipc_addresses *l = &c->addresses;
    const struct sockaddr *sa = (const struct sockaddr *)&l->sa[c->address];
    c->fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->fd < 0)
        return -errno;
    if (connect(c->fd, sa, l->len[c->address]) < 0 && errno != EINPROGRESS)
        return -errno;
    c->events = EPOLLOUT;
    return sd_event_add_io(c->event, &c->io, c->fd, EPOLLOUT, on_io, c);
}

int ipc_client_attach(struct ipc_client *c, int fd)
{
    c->fd = fd;
    c->events = EPOLLOUT;
    int r = sd_event_add_io(c->event, &c->io, fd, EPOLLOUT, on_io, c);
    if (r >= 0)
        established(c);
    return r;
}

/* Tries addresses from c->address on; after the last one all waiting calls fail. */
static void connect_next(struct ipc_client *c)
{
    c->state = CLIENT_CONNECTING;
    for (; c->address < c->addresses.n; c->address++) {
        int r = connect_one(c);
        if (r >= 0)
            return;
        c->connect_errno = r;
        c->io = sd_event_source_disable_unref(c->io);
        c->fd = sv_close(c->fd);
    }
    broken(c, c->connect_errno ? c->connect_errno : -EHOSTUNREACH, "cannot connect");
}

static void on_connect(struct ipc_client *c)
{
    int e = 0;
    socklen_t len = sizeof(e);
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &len) < 0)
        e = errno;
    if (e == 0) {
        established(c);
        return;
    }
    c->connect_errno = -e;
    c->io = sd_event_source_disable_unref(c->io);
    c->fd = sv_close(c->fd);
    c->address++;
    connect_next(c);
}

static void on_resolved(int status, const struct ipc_addresses *list, void *userdata)
{
    struct ipc_client *c = userdata;
    ipc_client_ref(c);
    c->addresses = *list;
    c->resolve = ipc_resolve_free(c->resolve);
    if (status < 0)
        broken(c, status, "the name cannot be resolved");
    else
        connect_next(c);
    ipc_client_unref(c);
}

static void connect_start(struct ipc_client *c)
{
    c->address = 0;
    c->connect_errno = 0;
    c->connect_deadline_ms = sv_now_ms() + c->connect_ms;
    ipc_client_wake_at(c, c->connect_deadline_ms);
    if (ipc_resolve_numeric(c->host, c->port, &c->addresses)) {
        connect_next(c);
        return;
    }
    c->state = CLIENT_RESOLVING;
    int r = ipc_resolve_start(c->event, c->host, c->port, on_resolved, c, &c->resolve);
    if (r < 0)
        broken(c, r, "the name cannot be resolved");
}

void ipc_client_connect_timeout(struct ipc_client *c)
{
    struct sv_error err = { 0 };
    if (!c->computes) {
        broken(c, -ETIMEDOUT, c->state == CLIENT_SASL ? "authentication" : "cannot connect");
        return;
    }
    /* The server is there. */
    sv_error_set(&err, -EAGAIN, "no Kerberos ticket for %s in time; does a KDC answer?", c->server);
    ipc_client_broken(c, -EAGAIN, NULL, &err);
}

void ipc_client_pump(struct ipc_client *c)
{
    if (c->freed)
        return;
    if (c->state == CLIENT_IDLE && c->unsent)
        connect_start(c);
    else if (c->state == CLIENT_SASL || c->state == CLIENT_READY)
        ipc_client_write(c);
}

/* ---- Answers ---- */

/* A Java exception's text is its stack trace: the message is the part before the first frame,
 * joined into one line as a sv_error requires. */
static void remote_text(const char *text, char ret[SV_ERROR_TEXT_MAX])
{
    size_t n = 0;
    text = text && *text ? text : "no reason given";
    for (; *text && n < SV_ERROR_TEXT_MAX - 1 && strncmp(text, "\n\tat ", 5) != 0; text++)
        ret[n++] = (unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text;
    while (n > 0 && ret[n - 1] == ' ')
        n--;
    ret[n] = 0;
}

static void finish_with(struct ipc_client *c, struct client_call *call, int status,
                        const char *java_class, const char *text)
{
    struct sv_error err = { 0 };
    struct ipc_result r = { .status = status, .java_class = java_class, .sent = true };
    char line[SV_ERROR_TEXT_MAX];
    remote_text(text, line);
    sv_error_set(&err, status, "%s", line);
    sv_error_wrap(&err, "%s: %s", c->where, call->method);
    ipc_client_finish(c, call, &r, &err);
}

static void finish_success(struct ipc_client *c, struct client_call *call, struct sv_arena **a,
                           const uint8_t *p, size_t n)
{
    ProtobufCMessage *m = NULL;
    if (call->response && ipc_unpack(*a, call->response, p, n, &m) < 0) {
        char text[160];
        snprintf(text, sizeof(text), "the answer is not a valid %s", call->response->short_name);
        finish_with(c, call, -EBADMSG, NULL, text);
        return;
    }
    struct ipc_result r = { .status = 0, .response = m, .arena = a, .sent = true };
    if (!call->response) {
        r.body = p;
        r.body_len = n;
    }
    ipc_client_finish(c, call, &r, &(struct sv_error){ 0 });
}

static int protocol_error(struct ipc_client *c, const char *what)
{
    broken(c, -EPROTO, what);
    return -EPROTO;
}

static int on_answer(struct ipc_client *c, const response_header *h, struct sv_arena **a,
                     struct sv_buf *b)
{
    struct client_call *call;
    const uint8_t *p = (const uint8_t *)""; /* an answer without a body means an empty message */
    size_t n = 0;
    int32_t id = (int32_t)h->callid;
    HASH_FIND(hh, c->by_id, &id, sizeof(id), call);
    if (!call || !call->sent)
        return 0; /* its deadline has passed */
    if (h->status == IPC_STATUS(ERROR)) {
        finish_with(c, call, -EREMOTEIO,
                    h->exceptionclassname ? h->exceptionclassname : JAVA_IO_EXCEPTION, h->errormsg);
        return c->freed ? -ECANCELED : 0;
    }
    if (h->status != IPC_STATUS(SUCCESS))
        return protocol_error(c, "an answer with an unknown status");
    if (sv_buf_left(b) > 0 && ipc_delimited_get(b, &p, &n) < 0)
        return protocol_error(c, "a cut answer");
    finish_success(c, call, a, p, n);
    return c->freed ? -ECANCELED : 0;
}

static int on_fatal(struct ipc_client *c, const response_header *h)
{
    struct sv_error err = { 0 };
    char line[SV_ERROR_TEXT_MAX];
    remote_text(h->errormsg ? h->errormsg : "the server ended the connection", line);
    sv_error_set(&err, -EREMOTEIO, "%s", line);
    ipc_client_broken(c, -EREMOTEIO,
                      h->exceptionclassname ? h->exceptionclassname : JAVA_IO_EXCEPTION, &err);
    return -EREMOTEIO;
}

static int on_frame(struct ipc_client *c, const uint8_t *p, size_t n, bool inner);

/* Handles a WRAP message and the frames that it completes. */
static int on_wrapped(struct ipc_client *c, struct sv_arena *a, const uint8_t *p, size_t n)
{
    const uint8_t *frame;
    size_t len, step;
    int r = ipc_client_layer_read(c, a, p, n);
    if (r < 0)
        return protocol_error(c, "a wrapped packet is forged, lost, repeated or too large");
    while ((r = ipc_frame_next(c->inner.data + c->inner.pos, sv_buf_left(&c->inner), c->max_frame,
                               &frame, &len, &step)) > 0) {
        int fd = c->fd;
        r = on_frame(c, frame, len, true);
        if (r < 0 || c->fd != fd || c->state == CLIENT_IDLE)
            return -EPIPE;
        c->inner.pos += step;
    }
    if (r < 0)
        return protocol_error(c, "an answer announces more bytes than are accepted");
    if (sv_buf_left(&c->inner) == 0)
        sv_buf_free(&c->inner);
    else
        sv_buf_compact(&c->inner);
    return 0;
}

/* Handles one frame; `inner`: from a WRAP message. Negative: the connection is closed. */
static int on_frame(struct ipc_client *c, const uint8_t *p, size_t n, bool inner)
{
    struct sv_buf b = SV_BUF_VIEW(p, n);
    ProtobufCMessage *base;
    const uint8_t *part;
    size_t len;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ipc_arena_max(n));
    if (!a)
        return protocol_error(c, "out of memory");
    if (ipc_delimited_get(&b, &part, &len) < 0 ||
        ipc_unpack(a, &hadoop__common__rpc_response_header_proto__descriptor, part, len, &base) < 0)
        return protocol_error(c, "a malformed answer");
    const response_header *h = (const response_header *)base;
    bool wrapped = c->layer && !inner;
    if (wrapped && (int32_t)h->callid != IPC_CALL_SASL)
        return protocol_error(c, "an answer that is not wrapped");
    if (h->status == IPC_STATUS(FATAL))
        return on_fatal(c, h);
    if ((int32_t)h->callid == IPC_CALL_SASL) {
        if (ipc_delimited_get(&b, &part, &len) < 0)
            return protocol_error(c, "a cut SASL message");
        return wrapped ? on_wrapped(c, a, part, len) : ipc_client_on_sasl(c, a, part, len);
    }
    if (c->state != CLIENT_READY)
        return protocol_error(c, "an answer before authentication");
    return on_answer(c, h, &a, &b);
}

/* ---- In ---- */

/* Returns the bytes consumed of n; negative: the connection and its buffers are freed. */
static ssize_t consume(struct ipc_client *c, const uint8_t *p, size_t n)
{
    size_t used = 0, len, step;
    const uint8_t *frame;
    while (used < n) {
        size_t max = c->state == CLIENT_READY ? c->max_frame + (c->layer ? IPC_WRAP_OVERHEAD : 0)
                                              : IPC_FRAME_PREAUTH_MAX;
        int r = ipc_frame_next(p + used, n - used, max, &frame, &len, &step);
        if (r < 0)
            return protocol_error(c, "an answer announces more bytes than are accepted");
        if (r == 0)
            break;
        int fd = c->fd;
        r = on_frame(c, frame, len, false);
        if (r < 0 || c->fd != fd || c->state == CLIENT_IDLE)
            return -EPIPE;
        used += step;
    }
    return (ssize_t)used;
}

static void handle_input(struct ipc_client *c, size_t n)
{
    ssize_t used;
    if (sv_buf_left(&c->in) == 0) {
        used = consume(c, c->scratch, n);
        if (used < 0 || (size_t)used == n)
            return;
        if (sv_buf_put(&c->in, c->scratch + used, n - (size_t)used) < 0)
            broken(c, -ENOMEM, "an answer");
        return;
    }
    if (sv_buf_put(&c->in, c->scratch, n) < 0) {
        broken(c, -ENOMEM, "an answer");
        return;
    }
    used = consume(c, c->in.data + c->in.pos, sv_buf_left(&c->in));
    if (used < 0)
        return;
    c->in.pos += (size_t)used;
    if (sv_buf_left(&c->in) == 0)
        sv_buf_free(&c->in);
    else if (c->in.pos > c->in.len / 2)
        sv_buf_compact(&c->in);
}

static void on_readable(struct ipc_client *c)
{
    struct sv_error text = { 0 };
    ssize_t n = recv(c->fd, c->scratch, IPC_READ_CHUNK, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0) {
        broken(c, -errno, "the connection broke");
    } else if (n == 0) {
        broken(c, -ECONNRESET, ipc_client_ended_words(c, &text));
    } else {
        c->active_ms = sv_now_ms();
        handle_input(c, (size_t)n);
    }
}

static int on_io(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)src, (void)fd;
    struct ipc_client *c = userdata;
    ipc_client_ref(c);
    if (c->state == CLIENT_CONNECTING) {
        on_connect(c);
    } else {
        if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
            on_readable(c);
        if (!c->freed && c->fd == fd && revents & EPOLLOUT && c->state >= CLIENT_SASL)
            ipc_client_write(c);
        if (c->state == CLIENT_READY && !c->sent && !c->unsent && c->idle_ms >= 0)
            ipc_client_wake_at(c, SV_MAX(c->active_ms, c->sent_ms) + c->idle_ms);
    }
    ipc_client_unref(c);
    return 0;
}
