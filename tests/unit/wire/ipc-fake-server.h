/* A scripted server for clients' tests: listens on loopback, decodes frames far enough to identify
 * the call, and leaves the answer to a callback of the test. */
#ifndef SELVEDGE_TESTS_UNIT_WIRE_IPC_FAKE_SERVER_H
#define SELVEDGE_TESTS_UNIT_WIRE_IPC_FAKE_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#include "common/fd.h"
#include "proto/rpc.pb-c.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-client.h"

struct fake_call {
    int32_t id, retry_count;
    uint8_t client_id[64];
    size_t client_id_len;
    char method[64];
    Hadoop__Common__RpcSaslProto__SaslState sasl; /* with IPC_CALL_SASL */
};

struct fake {
    sd_event *event;
    sd_event_source *listener, *io;
    int fd, conn; /* one connection at a time; -1 = none */
    uint16_t port;
    bool deaf;    /* does not decode frames */
    bool hello;   /* the first seven bytes have been read */
    uint8_t auth; /* of them */
    struct sv_buf in;
    int connections, calls; /* so far */
    struct fake_call last[64];
    void (*on_connect)(struct fake *f);
    void (*on_call)(struct fake *f, const struct fake_call *call); /* also context, ping and SASL */
    void *userdata;
};

static inline void fake_raw(struct fake *f, const void *p, size_t n)
{
    if (f->conn >= 0)
        (void)!send(f->conn, p, n, MSG_NOSIGNAL); /* the client may have closed, ignoring */
}

static inline void fake_hang_up(struct fake *f)
{
    f->io = sd_event_source_disable_unref(f->io);
    f->conn = sv_close(f->conn);
    sv_buf_free(&f->in);
}

/* Closes with a reset instead of end of file. */
static inline void fake_reset(struct fake *f)
{
    static const struct linger now = { 1, 0 };
    (void)setsockopt(f->conn, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    fake_hang_up(f);
}

static inline void fake_answer(struct fake *f, int32_t id, int status, const char *java_class,
                               const char *text, const void *body, size_t n)
{
    Hadoop__Common__RpcResponseHeaderProto h = HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__INIT;
    struct sv_buf b = SV_BUF_INIT(IPC_FRAME_MAX);
    h.callid = (uint32_t)id;
    h.status = (Hadoop__Common__RpcResponseHeaderProto__RpcStatusProto)status;
    h.exceptionclassname = (char *)(uintptr_t)java_class;
    h.errormsg = (char *)(uintptr_t)text;
    assert_int_equal(ipc_frame_put(&b, &h.base, NULL, body, n), 0);
    fake_raw(f, b.data, b.len);
    sv_buf_free(&b);
}

/* {1: "text"}, as the echo protocol of ipc-peer.h */
static inline void fake_echo(struct fake *f, int32_t id, const char *text)
{
    uint8_t body[256] = { 0x0a, (uint8_t)strlen(text) };
    memcpy(body + 2, text, strlen(text));
    fake_answer(f, id, 0, NULL, NULL, body, 2 + strlen(text));
}

static inline void fake_fail(struct fake *f, int32_t id, const char *java_class, const char *text)
{
    fake_answer(f, id, 1, java_class, text, NULL, 0);
}

static inline void fake_sasl(struct fake *f, const Hadoop__Common__RpcSaslProto *m)
{
    uint8_t body[65536];
    assert_in_range(protobuf_c_message_get_packed_size(&m->base), 0, sizeof(body));
    fake_answer(f, IPC_CALL_SASL, 0, NULL, NULL, body, protobuf_c_message_pack(&m->base, body));
}

static inline void fake_take(struct fake *f, const uint8_t *p, size_t n)
{
    struct sv_buf b = SV_BUF_VIEW(p, n);
    struct sv_arena *a = sv_arena_new(0);
    struct fake_call c = { .sasl = -1 };
    ProtobufCMessage *m;
    const uint8_t *part;
    size_t len;
    assert_int_equal(ipc_delimited_get(&b, &part, &len), 0);
    assert_int_equal(
        ipc_unpack(a, &hadoop__common__rpc_request_header_proto__descriptor, part, len, &m), 0);
    const Hadoop__Common__RpcRequestHeaderProto *h = (const void *)m;
    c.id = h->callid;
    c.retry_count = h->retrycount;
    c.client_id_len = h->clientid.len;
    if (c.client_id_len)
        memcpy(c.client_id, h->clientid.data, SV_MIN(c.client_id_len, sizeof(c.client_id)));
    if (c.id >= 0 || c.id == IPC_CALL_SASL) {
        assert_int_equal(ipc_delimited_get(&b, &part, &len), 0);
        assert_int_equal(ipc_unpack(a,
                                    c.id >= 0 ? &hadoop__common__request_header_proto__descriptor
                                              : &hadoop__common__rpc_sasl_proto__descriptor,
                                    part, len, &m),
                         0);
    }
    if (c.id == IPC_CALL_SASL)
        c.sasl = ((const Hadoop__Common__RpcSaslProto *)m)->state;
    if (c.id >= 0) {
        snprintf(c.method, sizeof(c.method), "%s",
                 ((const Hadoop__Common__RequestHeaderProto *)m)->methodname);
        f->last[f->calls++ % 64] = c;
    }
    sv_arena_free(a);
    if (f->on_call)
        f->on_call(f, &c);
}

static int fake_on_io(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)src, (void)revents;
    struct fake *f = userdata;
    uint8_t bytes[65536];
    ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n <= 0) {
        fake_hang_up(f);
        return 0;
    }
    if (f->deaf)
        return 0;
    assert_int_equal(sv_buf_put(&f->in, bytes, (size_t)n), 0);
    if (!f->hello && sv_buf_left(&f->in) >= 7) {
        assert_memory_equal(f->in.data, "hrpc\x09", 5);
        f->auth = f->in.data[6];
        f->in.pos += 7;
        f->hello = true;
    }
    while (f->hello && f->conn >= 0) {
        const uint8_t *frame;
        size_t len, used;
        int r = ipc_frame_next(f->in.data + f->in.pos, sv_buf_left(&f->in), IPC_FRAME_MAX, &frame,
                               &len, &used);
        assert_true(r >= 0);
        if (r == 0)
            break;
        uint8_t *copy = malloc(len);
        memcpy(copy, frame, len);
        f->in.pos += used;
        fake_take(f, copy, len); /* may close */
        free(copy);
    }
    return 0;
}

static int fake_on_listen(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)src, (void)revents;
    struct fake *f = userdata;
    fake_hang_up(f);
    f->conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(f->conn >= 0);
    f->connections++;
    f->hello = false;
    f->in = SV_BUF_INIT(IPC_FRAME_MAX);
    assert_true(sd_event_add_io(f->event, &f->io, f->conn, EPOLLIN, fake_on_io, f) >= 0);
    if (f->on_connect)
        f->on_connect(f);
    return 0;
}

/* `port`: 0 = any, stored in f->port. */
static inline void fake_start(struct fake *f, sd_event *event, uint16_t port)
{
    static const int one = 1;
    struct sockaddr_in sa = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sa);
    f->event = event;
    f->conn = -1;
    f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(f->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
    assert_int_equal(bind(f->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(f->fd, 8), 0);
    assert_int_equal(getsockname(f->fd, (struct sockaddr *)&sa, &len), 0);
    f->port = ntohs(sa.sin_port);
    assert_true(sd_event_add_io(event, &f->listener, f->fd, EPOLLIN, fake_on_listen, f) >= 0);
}

static inline void fake_stop(struct fake *f)
{
    fake_hang_up(f);
    f->listener = sd_event_source_disable_unref(f->listener);
    f->fd = sv_close(f->fd);
}

#endif
