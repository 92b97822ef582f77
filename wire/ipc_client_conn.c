/* The IPC client's connection: name, TCP, SASL, bytes, answers. Called by ipc_client.c and the loop.
 * Hostile: what the server sends; it may be an impostor until DIGEST-MD5 has proven that it knows the
 * token's password, and a client with a token never talks to one that does not (CVE-2013-2192). */
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
#include "common/str.h"
#include "wire/frame.h"
#include "wire/ipc_client_conn.h"

typedef Hadoop__Common__RpcRequestHeaderProto request_header;
typedef Hadoop__Common__RpcResponseHeaderProto response_header;
typedef Hadoop__Common__RpcSaslProto sasl_message;
typedef Hadoop__Common__RpcSaslProto__SaslAuth sasl_auth;

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
    c->sasl = sasl_client_free(c->sasl);
    sv_buf_free(&c->in);
    sv_buf_free(&c->out);
    free(SV_TAKE(c->scratch));
}

/* ---- What is sent besides calls ---- */

static request_header header_of(const struct ipc_client *c, int32_t call_id)
{
    request_header h = HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__INIT;
    h.has_rpckind = h.has_rpcop = 1;
    h.rpckind = HADOOP__COMMON__RPC_KIND_PROTO__RPC_PROTOCOL_BUFFER;
    h.callid = call_id;
    if (call_id != IPC_CALL_SASL) {
        h.clientid.data = (uint8_t *)(uintptr_t)c->id;
        h.clientid.len = sizeof c->id;
    }
    return h;
}

static int put_sasl(struct ipc_client *c, const sasl_message *m)
{
    request_header h = header_of(c, IPC_CALL_SASL);
    return ipc_frame_put(&c->out, &h.base, &m->base, NULL, 0);
}

static int put_context(struct ipc_client *c)
{
    request_header h = header_of(c, IPC_CALL_CONTEXT);
    Hadoop__Common__IpcConnectionContextProto m =
        HADOOP__COMMON__IPC_CONNECTION_CONTEXT_PROTO__INIT;
    Hadoop__Common__UserInformationProto user = HADOOP__COMMON__USER_INFORMATION_PROTO__INIT;
    user.effectiveuser = c->user;
    m.protocol = c->protocol;
    m.userinfo = c->token ? NULL : &user;
    return ipc_frame_put(&c->out, &h.base, &m.base, NULL, 0);
}

static int put_hello(struct ipc_client *c)
{
    const uint8_t hello[7] = { 'h', 'r', 'p', 'c', IPC_VERSION, 0,
                               c->token ? IPC_AUTH_SASL : IPC_AUTH_NONE };
    int r = sv_buf_put(&c->out, hello, sizeof hello);
    if (r < 0)
        return r;
    if (!c->token)
        return put_context(c);
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    m.state = IPC_SASL_STATE(NEGOTIATE);
    return put_sasl(c, &m);
}

void ipc_client_ping(struct ipc_client *c)
{
    request_header h = header_of(c, IPC_CALL_PING);
    c->sent_ms = sv_now_ms();
    if (c->unsent)
        return; /* bytes are on their way anyway */
    int r = ipc_frame_put(&c->out, &h.base, NULL, NULL, 0);
    if (r < 0)
        broken(c, r, "ping");
    else
        ipc_client_pump(c);
}

/* ---- Out ---- */

static void events_want(struct ipc_client *c, uint32_t events)
{
    if (events != c->events && sd_event_source_set_io_events(c->io, events) >= 0)
        c->events = events;
}

/* The bytes that go next: the rest of a call that has begun, else handshake, else calls. */
static int gather(struct ipc_client *c, struct iovec *iov)
{
    struct client_call *call = c->unsent;
    int n = 0;
    if (sv_buf_left(&c->out) > 0 && !(call && call->frame.pos > 0))
        iov[n++] = (struct iovec){ c->out.data + c->out.pos, sv_buf_left(&c->out) };
    if (c->state != CLIENT_READY)
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

static void client_write(struct ipc_client *c)
{
    struct iovec iov[IOV_MAX_CALLS + 1];
    struct msghdr msg = { .msg_iov = iov };
    int n;
    while ((n = gather(c, iov)) > 0) {
        msg.msg_iovlen = (size_t)n;
        ssize_t k = sendmsg(c->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0 && errno == EAGAIN)
            break;
        if (k < 0) {
            broken(c, -errno, "cannot send");
            return;
        }
        c->sent_ms = sv_now_ms();
        written(c, (size_t)k);
    }
    events_want(c, EPOLLIN | (n > 0 ? EPOLLOUT : 0));
    if (c->state == CLIENT_READY)
        ipc_client_wake_at(c, c->sent_ms + c->ping_ms);
}

/* ---- Connecting ---- */

static void established(struct ipc_client *c)
{
    static const int one = 1;
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    c->in = SV_BUF_INIT(c->max_frame + 4 + 2 * IPC_READ_CHUNK);
    c->out = SV_BUF_INIT(IPC_FRAME_PREAUTH_MAX);
    c->scratch = malloc(IPC_READ_CHUNK);
    c->active_ms = c->sent_ms = sv_now_ms();
    int r = c->scratch ? put_hello(c) : -ENOMEM;
    if (r < 0) {
        broken(c, r, "handshake");
        return;
    }
    c->state = c->token ? CLIENT_SASL : CLIENT_READY;
    client_write(c);
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

/* Tries addresses from c->address on; with none left all waiting calls fail. */
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
    socklen_t len = sizeof e;
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
    broken(c, -ETIMEDOUT, c->state == CLIENT_SASL ? "authentication" : "cannot connect");
}

void ipc_client_pump(struct ipc_client *c)
{
    if (c->freed)
        return;
    if (c->state == CLIENT_IDLE && c->unsent)
        connect_start(c);
    else if (c->state == CLIENT_SASL || c->state == CLIENT_READY)
        client_write(c);
}

/* ---- SASL ---- */

static int sasl_refuse(struct ipc_client *c, const char *text)
{
    struct sv_error err = { 0 };
    sv_error_set(&err, -EACCES, "%s", text);
    ipc_client_broken(c, -EACCES, NULL, &err);
    return -EACCES;
}

/* Answers a challenge (NULL: there is none yet). `chosen`: what the server offered, in the first
 * answer. */
static int sasl_reply(struct ipc_client *c, const uint8_t *challenge, size_t n,
                      const sasl_auth *chosen)
{
    struct sv_error err = { 0 };
    const char *text;
    sasl_message m = HADOOP__COMMON__RPC_SASL_PROTO__INIT;
    sasl_auth auth = HADOOP__COMMON__RPC_SASL_PROTO__SASL_AUTH__INIT, *auths[] = { &auth };
    if (chosen) {
        auth = *chosen;
        auth.has_challenge = 0;
        m.n_auths = 1;
        m.auths = auths;
    }
    m.state = chosen ? IPC_SASL_STATE(INITIATE) : IPC_SASL_STATE(RESPONSE);
    if (challenge) {
        if (sasl_client_step(c->sasl, challenge, n, &text, &err) < 0)
            return sasl_refuse(c, err.text);
        m.has_token = 1;
        m.token.data = (uint8_t *)(uintptr_t)text;
        m.token.len = strlen(text);
    }
    int r = put_sasl(c, &m);
    if (r < 0)
        return sasl_refuse(c, "the SASL answer is too large");
    client_write(c);
    return c->state == CLIENT_SASL ? 0 : -EPIPE;
}

static int on_negotiate(struct ipc_client *c, const sasl_message *m)
{
    const sasl_auth *found = NULL;
    if (c->sasl)
        return sasl_refuse(c, "the server negotiates twice");
    for (size_t i = 0; i < m->n_auths && !found; i++)
        if (sv_streq(m->auths[i]->method, "TOKEN") &&
            sv_streq(m->auths[i]->mechanism, SASL_MECHANISM))
            found = m->auths[i];
    if (!found)
        return sasl_refuse(c, "the server does not take tokens by " SASL_MECHANISM);
    if (found->serverid && !sv_streq(found->serverid, SASL_SERVER_ID))
        return sasl_refuse(c, "the server has an unknown SASL identity");
    if (sasl_client_new(c->token, &c->sasl) < 0)
        return sasl_refuse(c, "out of memory");
    if (found->has_challenge)
        return sasl_reply(c, found->challenge.data, found->challenge.len, found);
    return sasl_reply(c, NULL, 0, found);
}

static int on_success(struct ipc_client *c, const sasl_message *m)
{
    struct sv_error err = { 0 };
    const char *text;
    if (!c->sasl)
        return sasl_refuse(c, "the server wants no token; refused, it may be an impostor");
    if (sasl_client_step(c->sasl, m->token.data, m->token.len, &text, &err) < 0)
        return sasl_refuse(c, err.text);
    if (!sasl_client_done(c->sasl))
        return sasl_refuse(c, "the server ends the exchange too early");
    c->sasl = sasl_client_free(c->sasl);
    int r = put_context(c);
    if (r < 0)
        return sasl_refuse(c, "out of memory");
    c->state = CLIENT_READY;
    client_write(c);
    return c->state == CLIENT_READY ? 0 : -EPIPE;
}

/* 0, or negative after the connection was given up. */
static int on_sasl(struct ipc_client *c, struct sv_arena *a, const uint8_t *p, size_t n)
{
    ProtobufCMessage *base;
    if (c->state != CLIENT_SASL)
        return sasl_refuse(c, "a SASL message outside of the negotiation");
    if (ipc_unpack(a, &hadoop__common__rpc_sasl_proto__descriptor, p, n, &base) < 0)
        return sasl_refuse(c, "malformed SASL message");
    const sasl_message *m = (const sasl_message *)base;
    switch (m->state) {
    case IPC_SASL_STATE(NEGOTIATE):
        return on_negotiate(c, m);
    case IPC_SASL_STATE(CHALLENGE):
        if (!c->sasl || !m->has_token)
            return sasl_refuse(c, "a challenge out of turn");
        return sasl_reply(c, m->token.data, m->token.len, NULL);
    case IPC_SASL_STATE(SUCCESS):
        return on_success(c, m);
    default:
        return sasl_refuse(c, "an unknown SASL state");
    }
}

/* ---- Answers ---- */

static void finish_with(struct ipc_client *c, struct client_call *call, int status,
                        const char *java_class, const char *text)
{
    struct sv_error err = { 0 };
    struct ipc_result r = { .status = status, .java_class = java_class, .sent = true };
    sv_error_set(&err, status, "%s", text && *text ? text : "no reason given");
    sv_error_wrap(&err, "%s: %s", c->where, call->method);
    ipc_client_finish(c, call, &r, &err);
}

static void finish_success(struct ipc_client *c, struct client_call *call, struct sv_arena *a,
                           const uint8_t *p, size_t n)
{
    ProtobufCMessage *m;
    if (ipc_unpack(a, call->response, p, n, &m) < 0) {
        char text[160];
        snprintf(text, sizeof text, "the answer is not a valid %s", call->response->short_name);
        finish_with(c, call, -EBADMSG, NULL, text);
        return;
    }
    struct ipc_result r = { .status = 0, .response = m, .sent = true };
    ipc_client_finish(c, call, &r, &(struct sv_error){ 0 });
}

static int protocol_error(struct ipc_client *c, const char *what)
{
    broken(c, -EPROTO, what);
    return -EPROTO;
}

static int on_answer(struct ipc_client *c, const response_header *h, struct sv_arena *a,
                     struct sv_buf *b)
{
    struct client_call *call;
    const uint8_t *p = NULL;
    size_t n = 0;
    int32_t id = (int32_t)h->callid;
    HASH_FIND(hh, c->by_id, &id, sizeof id, call);
    if (!call || !call->sent)
        return 0; /* its time was over before */
    if (h->status == IPC_STATUS(ERROR)) {
        finish_with(c, call, -EREMOTEIO, h->exceptionclassname ? h->exceptionclassname
                    : JAVA_IO_EXCEPTION, h->errormsg);
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
    sv_error_set(&err, -EREMOTEIO, "%s", h->errormsg ? h->errormsg : "the server ended the connection");
    ipc_client_broken(c, -EREMOTEIO,
                      h->exceptionclassname ? h->exceptionclassname : JAVA_IO_EXCEPTION, &err);
    return -EREMOTEIO;
}

/* One frame. Negative: the connection is gone. */
static int on_frame(struct ipc_client *c, const uint8_t *p, size_t n)
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
    if (h->status == IPC_STATUS(FATAL))
        return on_fatal(c, h);
    if ((int32_t)h->callid == IPC_CALL_SASL) {
        if (ipc_delimited_get(&b, &part, &len) < 0)
            return protocol_error(c, "a cut SASL message");
        return on_sasl(c, a, part, len);
    }
    if (c->state != CLIENT_READY)
        return protocol_error(c, "an answer before authentication");
    return on_answer(c, h, a, &b);
}

/* ---- In ---- */

/* Bytes taken of n; negative: the connection is gone, and with it the bytes. */
static ssize_t consume(struct ipc_client *c, const uint8_t *p, size_t n)
{
    size_t used = 0, len, step;
    const uint8_t *frame;
    while (used < n) {
        size_t max = c->state == CLIENT_READY ? c->max_frame : IPC_FRAME_PREAUTH_MAX;
        int r = ipc_frame_next(p + used, n - used, max, &frame, &len, &step);
        if (r < 0)
            return protocol_error(c, "an answer announces more bytes than are accepted");
        if (r == 0)
            break;
        int fd = c->fd;
        r = on_frame(c, frame, len);
        if (r < 0 || c->fd != fd || c->state == CLIENT_IDLE)
            return -EPIPE;
        used += step;
    }
    return (ssize_t)used;
}

static void feed(struct ipc_client *c, size_t n)
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
    ssize_t n = recv(c->fd, c->scratch, IPC_READ_CHUNK, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0) {
        broken(c, -errno, "the connection broke");
    } else if (n == 0) {
        broken(c, -ECONNRESET, "the server closed the connection");
    } else {
        c->active_ms = sv_now_ms();
        feed(c, (size_t)n);
    }
}

static int on_io(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)src, (void)fd;
    struct ipc_client *c = userdata;
    ipc_client_ref(c);
    if (c->state == CLIENT_CONNECTING) {
        on_connect(c);
    } else {
        if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
            on_readable(c);
        if (!c->freed && c->fd == fd && revents & EPOLLOUT && c->state >= CLIENT_SASL)
            client_write(c);
        if (c->state == CLIENT_READY && !c->sent && !c->unsent && c->idle_ms >= 0)
            ipc_client_wake_at(c, SV_MAX(c->active_ms, c->sent_ms) + c->idle_ms);
    }
    ipc_client_unref(c);
    return 0;
}
