/* Tests wire/ipc/ipc-client.c against servers that send malformed answers, stall, flood or vanish
 * (HARDENING 61, 63), and cancellation of calls. The server is
 * tests/unit/wire/ipc-fake-server.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>

#include "proto/yarn_service.pb-c.h"
#include "tests/unit/wire/ipc-client-fixture.h"
#include "wire/ipc/ipc-client-conn.h"

/* ---- Answers as bytes ---- */

static void on_bytes(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct answer *a = userdata;
    echo_message *m;

    (void)err;
    a->count++;
    a->status = r->status;
    assert_null(r->response);
    m = (echo_message *)protobuf_c_message_unpack(ECHO_DESCRIPTOR, NULL, r->body_len, r->body);
    assert_non_null(m);
    snprintf(a->echo, sizeof(a->echo), "%s", m->protocol);
    protobuf_c_message_free_unpacked(&m->base, NULL);
}

static void test_bytes(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 };
    const struct ipc_request q = { .method = "echo" };
    fixture_new(&w, NULL, NULL);
    w.fake.on_call = say_echo;
    assert_int_equal(ipc_client_start(w.client, &q, on_bytes, &a, NULL), 0);
    peer_run_until(&w, a.count);
    assert_int_equal(a.status, 0);
    assert_string_equal(a.echo, "good");
    fixture_free(&w);
}

/* ---- Cancelled calls ---- */

static void test_cancel(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 }, b = { 0 }, c = { 0 };
    fixture_new(&w, NULL, NULL);
    int32_t early = call(&w, "before there is a connection", &a);
    assert_true(ipc_client_cancel(w.client, early));
    assert_int_equal(a.count, 1);
    assert_int_equal(a.status, -ECANCELED);
    assert_false(a.sent);
    int32_t open = call(&w, "sent", &b);
    peer_run_until(&w, w.fake.calls == 1);
    assert_int_equal(w.fake.last[0].id, open);
    assert_true(ipc_client_cancel(w.client, open));
    assert_true(b.sent);
    assert_false(ipc_client_cancel(w.client, open));
    assert_false(ipc_client_cancel(w.client, 12345));
    assert_false(ipc_client_cancel(w.client, -33));
    fake_echo(&w.fake, open, "too late");
    w.fake.on_call = say_echo;
    call(&w, "next", &c);
    peer_run_until(&w, c.count);
    assert_string_equal(c.echo, "good");
    assert_int_equal(w.fake.connections, 1);
    assert_int_equal(a.count + b.count + c.count, 3);
    fixture_free(&w);
}

/* The rest of a partly sent frame is still sent, or the stream would be corrupt. */
static void test_cancel_half_sent(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 }, b = { 0 };
    const size_t size = 16 << 20;
    char *big = malloc(size + 1);
    memset(big, 'x', size);
    big[size] = 0;
    fixture_new(&w, NULL, NULL);
    w.fake.on_call = say_echo;
    int32_t id = call(&w, big, &a);
    peer_run_until(&w, w.fake.connections == 1 && w.fake.hello);
    assert_int_equal(w.fake.calls, 0);
    assert_true(ipc_client_cancel(w.client, id));
    assert_int_equal(a.count, 1);
    assert_true(a.sent);
    call(&w, "after it", &b);
    peer_run_until(&w, b.count);
    assert_int_equal(b.status, 0);
    assert_int_equal(w.fake.connections, 1);
    assert_int_equal(w.fake.last[w.fake.calls - 1].id, id + 1);
    assert_int_equal(a.count, 1);
    id = call(&w, big, &a); /* and when the connection breaks then */
    peer_run_until(&w, sv_buf_left(&w.fake.in) > 0);
    assert_true(ipc_client_cancel(w.client, id));
    fake_reset(&w.fake);
    call(&w, "on a new connection", &b);
    peer_run_until(&w, b.count == 2);
    assert_int_equal(a.count, 2);
    id = call(&w, big, &a); /* and when the client is freed then */
    peer_run_until(&w, sv_buf_left(&w.fake.in) > 0);
    assert_true(ipc_client_cancel(w.client, id));
    fixture_free(&w);
    assert_int_equal(a.count, 3);
    free(big);
}

static void test_identity(void **state)
{
    (void)state;
    static const uint8_t id16[IPC_CLIENT_ID_LEN] = "0123456789abcdef";
    struct fixture w;
    struct answer a = { 0 };
    struct ipc_request q = {
        .method = "echo", .response = ECHO_DESCRIPTOR, .id = 4711, .retry_count = 3
    };
    fixture_new(&w, NULL, &(struct ipc_client_config){ .client_id = id16 });
    assert_int_equal(ipc_client_start(w.client, &q, on_answer, &a, NULL), 0);
    assert_int_equal(ipc_client_start(w.client, &q, on_answer, &a, NULL), -EEXIST);
    peer_run_until(&w, w.fake.calls == 1);
    assert_int_equal(w.fake.last[0].id, 4711);
    assert_int_equal(w.fake.last[0].retry_count, 3);
    assert_memory_equal(w.fake.last[0].client_id, id16, IPC_CLIENT_ID_LEN);
    fake_echo(&w.fake, 4711, "once");
    fake_echo(&w.fake, 4711, "twice"); /* dropped */
    fake_echo(&w.fake, 4712, "of a call never made");
    peer_run_until(&w, a.count);
    assert_string_equal(a.echo, "once");
    q.id = -1;
    assert_int_equal(ipc_client_start(w.client, &q, on_answer, &a, NULL), -EINVAL);
    w.fake.on_call = say_echo;
    call(&w, "x", &a);
    peer_run_until(&w, a.count == 2);
    assert_string_equal(a.echo, "good");
    fixture_free(&w);
}

/* ---- Malformed bytes ---- */

struct lie {
    const char *name;
    const char *bytes; /* sent instead of an answer to call 1 */
    size_t n;
    bool end;   /* then the server closes */
    int status; /* of the call */
};

static const struct lie *lie_now;

static void say_lie(struct fake *f, const struct fake_call *c)
{
    if (c->id < 0)
        return;
    fake_raw(f, lie_now->bytes, lie_now->n);
    if (lie_now->end)
        (void)shutdown(f->conn, SHUT_WR);
}

static void test_malformed_answers(void **state)
{
    (void)state;
    static const struct lie lies[] = {
        { "nothing", "", 0, true, -ECONNRESET },
        { "HTTP", "HTTP/1.1 400 Bad Request\r\n", 26, false, -EPROTO },
        { "length -1", "\xff\xff\xff\xff", 4, false, -EPROTO },
        { "length of 2 GiB", "\x7f\xff\xff\xff", 4, false, -EPROTO },
        { "length above the maximum", "\x08\0\0\1", 4, false, -EPROTO },
        { "length 0", "\0\0\0\0", 4, false, -EPROTO },
        { "half a length", "\0\0", 2, true, -ECONNRESET },
        { "half a frame", "\0\0\0\x20\4\x08\1\x10\0", 9, true, -ECONNRESET },
        { "header longer than its frame", "\0\0\0\2\x7f\x08", 6, false, -EPROTO },
        { "varint of eleven bytes", "\0\0\0\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 15,
          false, -EPROTO },
        { "header without call id", "\0\0\0\3\2\x10\0", 7, false, -EPROTO },
        { "header without status", "\0\0\0\3\2\x08\1", 7, false, -EPROTO },
        { "header with field 0", "\0\0\0\7\6\x08\1\x10\0\0\0", 11, false, -EPROTO },
        { "status 9", "\0\0\0\5\4\x08\1\x10\x09", 9, false, -EPROTO },
        { "answer longer than its frame", "\0\0\0\6\4\x08\1\x10\0\x7f", 10, false, -EPROTO },
        { "answer of another type", "\0\0\0\x08\4\x08\1\x10\0\2\x0a\x05", 12, false, -EBADMSG },
        { "answer cut after its header", "\0\0\0\5\4\x08\1\x10\0", 9, false, -EBADMSG },
        { "SASL after the login", "\0\0\0\x0c\x08\x08\xdf\xff\xff\xff\x0f\x10\0\2\x10\0", 16, false,
          -EACCES },
        { "wrapped without a layer", "\0\0\0\x0d\x08\x08\xdf\xff\xff\xff\x0f\x10\0\3\x10\5\x1a", 17,
          false, -EACCES },
        { "fatal without words", "\0\0\0\5\4\x08\1\x10\2", 9, false, -EREMOTEIO },
        { "error without words", "\0\0\0\5\4\x08\1\x10\1", 9, false, -EREMOTEIO },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(lies); i++) {
        struct fixture w;
        struct answer a = { 0 }, b = { 0 };
        fixture_new(&w, NULL, NULL);
        lie_now = &lies[i];
        w.fake.on_call = say_lie;
        call(&w, "x", &a);
        peer_run_until(&w, a.count);
        if (a.status != lies[i].status || !a.sent || !*a.text)
            fail_msg("%s: status %d: %s", lies[i].name, a.status, a.text);
        w.fake.on_call = say_echo; /* the client still works */
        call(&w, "y", &b);
        peer_run_until(&w, b.count);
        if (b.status < 0)
            fail_msg("after %s: %s", lies[i].name, b.text);
        assert_int_equal(a.count, 1);
        fixture_free(&w);
    }
}

/* ---- Answers that are too deep, too many, too long ---- */

static void say_deep(struct fake *f, const struct fake_call *c)
{
    /* SerializedExceptionProto{4: cause} within itself, ten thousand times */
    if (c->id < 0)
        return;
    uint8_t *p = malloc(1 << 17), *q = p + (1 << 17);
    for (int i = 0; i < 10000; i++) {
        size_t n = (size_t)(p + (1 << 17) - q);
        for (int shift = n >= 1 << 14  ? 14
                         : n >= 1 << 7 ? 7
                                       : 0,
                 last = 1;
             shift >= 0; shift -= 7, last = 0)
            *--q = (uint8_t)((n >> shift & 0x7f) | (last ? 0 : 0x80));
        *--q = 0x22;
    }
    fake_answer(f, c->id, 0, NULL, NULL, q, (size_t)(p + (1 << 17) - q));
    free(p);
}

static void test_deep(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 }, b = { 0 };
    struct ipc_request q = { .method = "deep",
                             .response = &hadoop__yarn__serialized_exception_proto__descriptor };
    fixture_new(&w, NULL, NULL);
    w.fake.on_call = say_deep;
    assert_int_equal(ipc_client_start(w.client, &q, on_answer, &a, NULL), 0);
    peer_run_until(&w, a.count);
    assert_int_equal(a.status, -EBADMSG);
    w.fake.on_call = say_echo;
    call(&w, "x", &b);
    peer_run_until(&w, b.count);
    assert_int_equal(b.status, 0);
    assert_int_equal(w.fake.connections, 1); /* one bad answer is one failed call */
    fixture_free(&w);
}

/* Text of an exception: one line, no escape sequences, without Java's stack. */
static void say_ugly(struct fake *f, const struct fake_call *c)
{
    if (c->id < 0)
        return;
    if (f->calls == 1) {
        fake_fail(f, c->id, "org.x.E",
                  "org.x.E: no \033[31mroom\nleft\n\tat a.b(C.java:1)\n\tat d");
        return;
    }
    char *huge = malloc(1 << 20);
    memset(huge, 'e', 1 << 20);
    huge[(1 << 20) - 1] = 0;
    fake_fail(f, c->id, huge, huge);
    free(huge);
}

static void test_exception_text(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 };
    fixture_new(&w, NULL, NULL);
    w.fake.on_call = say_ugly;
    call(&w, "x", &a);
    peer_run_until(&w, a.count == 1);
    assert_int_equal(a.status, -EREMOTEIO);
    assert_string_equal(a.class, "org.x.E");
    assert_non_null(strstr(a.text, "echo: org.x.E: no  [31mroom left"));
    assert_null(strstr(a.text, "java:1"));
    call(&w, "x", &a);
    peer_run_until(&w, a.count == 2);
    assert_int_equal(strlen(a.text), SV_ERROR_TEXT_MAX - 1);
    fixture_free(&w);
}

/* A server that floods: nothing is stored, and the call's deadline still applies. */
static int on_flood(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)src, (void)revents, (void)userdata;
    static uint8_t frames[9 * 4096];
    if (!frames[3])
        for (size_t i = 0; i < 4096; i++)
            memcpy(frames + 9 * i, "\0\0\0\5\4\x08\x63\x10\0", 9);
    (void)!send(fd, frames, sizeof(frames),
                MSG_DONTWAIT | MSG_NOSIGNAL); /* may cut a frame, ignoring */
    return 0;
}

static void test_flood(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 };
    sd_event_source *flood = NULL;
    fixture_new(&w, NULL, &(struct ipc_client_config){ .call_ms = 300 });
    w.fake.deaf = true;
    call(&w, "x", &a);
    peer_run_until(&w, w.fake.connections == 1);
    struct mallinfo2 before = mallinfo2();
    int fd = dup(w.fake.conn);
    assert_true(sd_event_add_io(w.event, &flood, fd, EPOLLOUT, on_flood, NULL) >= 0);
    int64_t start = sv_now_ms();
    peer_run_until(&w, a.count);
    assert_true(a.status == -ETIMEDOUT || a.status == -EPROTO);
    assert_in_range(sv_now_ms() - start, 0, 60000);
    assert_in_range(mallinfo2().uordblks - SV_MIN(before.uordblks, mallinfo2().uordblks), 0,
                    1 << 20);
    sd_event_source_disable_unref(flood);
    sv_close(fd);
    fixture_free(&w);
}

/* A long answer takes memory as it arrives, not as announced. */
static void say_long(struct fake *f, const struct fake_call *c)
{
    if (c->id >= 0)
        fake_raw(f, "\x07\xff\xff\xff\4\x08\1\x10\0", 9);
}

static void test_announced_size_takes_no_memory(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 };
    fixture_new(&w, NULL, &(struct ipc_client_config){ .call_ms = 100 });
    w.fake.on_call = say_long;
    struct mallinfo2 before = mallinfo2();
    call(&w, "x", &a);
    peer_run_until(&w, a.count);
    assert_int_equal(a.status, -ETIMEDOUT);
    assert_in_range(mallinfo2().uordblks, 0, before.uordblks + (1 << 20));
    fixture_free(&w);
}

/* Silent before, within and after the login. */
static void one_byte(struct fake *f, const struct fake_call *c)
{
    (void)c;
    fake_raw(f, "", 1);
}

static void test_silent(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a = { 0 };
    const struct ipc_client_config quick = { .connect_ms = 60, .call_ms = 5000 };
    fixture_new(&w, &peer_token, &quick);
    call(&w, "x", &a);
    peer_run_until(&w, a.count == 1);
    assert_int_equal(a.status, -ETIMEDOUT);
    assert_false(a.sent);
    fixture_free(&w);
    fixture_new(&w, &peer_token, &quick);
    w.fake.on_call = one_byte;
    call(&w, "x", &a);
    peer_run_until(&w, a.count == 2);
    assert_int_equal(a.status, -ETIMEDOUT);
    fixture_free(&w);
    fixture_new(&w, NULL,
                &(struct ipc_client_config){ .call_ms = 1000 }); /* long enough to be sent */
    call(&w, "x", &a);
    peer_run_until(&w, a.count == 3);
    assert_int_equal(a.status, -ETIMEDOUT);
    assert_true(a.sent);
    fixture_free(&w);
}

static void rst(struct fake *f, const struct fake_call *c)
{
    if (c->id < 0)
        return;
    fake_raw(f, "\0\0\0\x20\4\x08", 6);
    fake_reset(f);
}

/* A reset in the middle of an answer ends the calls on the wire, once each, and nothing else. */
static void test_reset(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a[50] = { 0 }, b = { 0 };
    fixture_new(&w, NULL, NULL);
    w.fake.on_call = rst;
    for (int i = 0; i < 50; i++)
        call(&w, "x", &a[i]);
    for (int i = 0; i < 50; i++) {
        peer_run_until(&w, a[i].count);
        assert_int_equal(a[i].status, -ECONNRESET);
        assert_int_equal(a[i].count, 1);
    }
    w.fake.on_call = say_echo;
    call(&w, "y", &b);
    peer_run_until(&w, b.count);
    assert_int_equal(b.status, 0);
    fixture_free(&w);
}

static void answers_and_goes(struct fake *f, const struct fake_call *c)
{
    struct fixture *w = f->userdata;
    if (c->id < 0)
        return;
    fake_echo(f, c->id, "good");
    if (f->calls > 1)
        return;
    fake_reset(f);
    call(w, "y", &((struct answer *)w->userdata)[1]);
    ipc_client_write(w->client); /* before the loop has read the input */
}

/* A server answers and closes, and the client notices it when it sends the next call: the answer
 * counts. */
static void test_answer_before_close(void **state)
{
    (void)state;
    struct fixture w;
    struct answer a[2] = { 0 };
    fixture_new(&w, NULL, NULL);
    w.userdata = a;
    w.fake.on_call = answers_and_goes;
    call(&w, "x", &a[0]);
    peer_run_until(&w, a[0].count && a[1].count);
    assert_int_equal(a[0].status, 0);
    assert_string_equal(a[0].echo, "good");
    assert_int_equal(a[1].status, 0); /* nothing of it was sent: retried */
    assert_int_equal(w.fake.connections, 2);
    fixture_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_half_sent),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_malformed_answers),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_exception_text),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_announced_size_takes_no_memory),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_answer_before_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
