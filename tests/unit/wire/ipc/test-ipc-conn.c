/* Tests wire/ipc/ipc-conn.c: peers that are slow, silent, do not read, or flood. HARDENING E58,
 * E60. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/wire/ipc-raw.h"
#include "wire/ipc/ipc-conn.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The client shuts down its writing side: its open calls are still answered. */
static void test_E60_half_close(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    int fd = raw_join(&s);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    raw_put_echo(&b, 1, "hold", "late");
    raw_send(fd, b.data, b.len);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    peer_run_until(&s, s.n_held == 1);
    peer_release(&s, 0);
    struct raw_reply r = { .n = 0 };
    peer_run_until(&s, raw_take(fd, &r));
    assert_true(raw_holds(&r, "late"));
    sv_close(fd);
    peer_server_stop(&s);
}

static void test_E58_deadlines(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .header_ms = 30,
                                                 .handshake_ms = 60,
                                                 .request_ms = 60,
                                                 .idle_ms = 60,
                                                 .write_ms = 60 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    size_t hello = b.len;
    raw_put_echo(&b, 1, "echo", "x");
    /* nothing; half a header; a header; half a context; a context; half a call; all but a byte */
    const size_t stops[] = { 0, 3, 7, hello - 1, hello, hello + 2, hello + 9, b.len - 1 };
    for (size_t i = 0; i < SV_ARRAY_LEN(stops); i++) {
        struct raw_reply r = { .n = 0 };
        int fd = raw_join(&s);
        raw_send(fd, b.data, stops[i]);
        peer_run_until(&s, ipc_server_connections(s.server) == 1);
        peer_run_until(&s, raw_take(fd, &r));
        sv_close(fd);
        peer_run_until(&s, ipc_server_connections(s.server) == 0);
    }
    assert_int_equal(s.calls, 0);
    peer_server_stop(&s);
}

/* A header whose packet is lost when a partition of 10 s begins is repeated after 13 s. */
static void test_late_header(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true };
    peer_server_start(&s, &cfg);
    int fd = raw_join(&s);
    peer_run_until(&s, ipc_server_connections(s.server) == 1);
    assert_true(ipc_conn_deadline(s.server->conns) - sv_now_ms() > 20000);
    sv_close(fd);
    peer_server_stop(&s);
}

/* The number of bytes sent until the server closes. */
static int64_t trickle(int64_t request_ms)
{
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .request_ms = request_ms, .idle_ms = 60000 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    raw_put(&b, "\0\0\x40\0", 4);
    int fd = raw_join(&s);
    raw_send(fd, b.data, b.len);
    struct raw_reply r = { .n = 0 };
    int64_t next = 0, sent = 0;
    peer_run_until(&s, ({
        if (sv_now_ms() >= next) {
            next = sv_now_ms() + 5;
            sent += send(fd, "x", 1, MSG_NOSIGNAL) == 1;
        }
        raw_take(fd, &r);
    }));
    sv_close(fd);
    peer_server_stop(&s);
    return sent;
}

/* Single bytes at intervals do not keep an incomplete request alive. */
static void test_E58_trickle(void **state)
{
    (void)state;
    int64_t sent = trickle(500);
    if (sent < 2) /* the machine stalled */
        sent = trickle(10000);
    assert_in_range(sent, 2, 20000);
}

/* A flood of calls without reading answers: the server pauses reading, memory stays bounded, then
 * it closes. */
static void test_E58_unread_answers(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .max_outq_per_conn = 1 << 20, .write_ms = 200 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    for (int i = 0; i < 400; i++)
        raw_put_echo(&b, i, "flood", "65536");
    int fd = raw_join(&s);
    raw_send(fd, b.data, b.len);
    peer_run_until(&s, ipc_server_connections(s.server) == 1);
    peer_run_until(&s, ipc_server_connections(s.server) == 0);
    print_message("    %d of 400 calls were run\n", s.calls);
    assert_in_range(s.calls, 16, 399);
    sv_close(fd);
    peer_server_stop(&s);
}

/* ---- Large answers ---- */

static struct {
    bool on;
    const uint8_t *from, *to; /* the answer that was handed over */
    size_t turn, most, all;   /* bytes: since the loop last ran, most in one run, of the answer */
} fast;

ssize_t __real_send(int fd, const void *p, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *p, size_t n, int flags);

/* A peer that reads as fast as the server sends. */
ssize_t __wrap_send(int fd, const void *p, size_t n, int flags)
{
    if (!fast.on || !(flags & MSG_DONTWAIT))
        return __real_send(fd, p, n, flags);
    fast.turn += n;
    fast.most = SV_MAX(fast.most, fast.turn);
    if ((const uint8_t *)p >= fast.from && (const uint8_t *)p < fast.to)
        fast.all += n;
    return (ssize_t)n;
}

static struct ipc_call *held_call(struct peer_server *s, int fd, int32_t id)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    size_t before = s->n_held;

    if (id == 1)
        raw_put_hello(&b);
    raw_put_echo(&b, id, "hold", "x");
    raw_send(fd, b.data, b.len);
    peer_run_until(s, s->n_held == before + 1);
    free(s->held_text[before]);
    s->held_text[before] = NULL;
    return s->held[before];
}

static struct sv_buf large(size_t n, uint8_t byte)
{
    struct sv_buf b = SV_BUF_INIT(0);
    assert_int_equal(sv_buf_reserve(&b, IPC_FRAME_FRONT + n), 0);
    memset(b.data, byte, IPC_FRAME_FRONT + n);
    b.len = IPC_FRAME_FRONT + n;
    b.pos = IPC_FRAME_FRONT;
    return b;
}

/* A large answer is neither copied nor sent in one turn. */
static void test_large_answer_in_turns(void **state)
{
    (void)state;
    enum { N = 8 << 20 };
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    int fd = raw_join(&s);
    struct ipc_call *call = held_call(&s, fd, 1);
    struct sv_buf b = large(N, 'a');
    fast.from = b.data;
    fast.to = b.data + b.len;
    fast.on = true;
    ipc_call_reply_taken(call, &b);
    assert_null(b.data);
    assert_true(ipc_server_memory(s.server) < 2 * (size_t)N);
    for (int i = 0; i < 10000 && fast.all < N; i++) {
        fast.turn = 0;
        assert_true(sd_event_run(s.event, UINT64_MAX) >= 0);
    }
    fast.on = false;
    assert_in_range(fast.all, N, N + IPC_FRAME_FRONT);
    assert_in_range(fast.most, 1, IPC_OUT_TURN);
    sv_close(fd);
    peer_server_stop(&s);
}

/* Answers before, between and behind large ones come in their order, each whole. */
static void test_large_answers_in_order(void **state)
{
    (void)state;
    enum { N = 300000 };
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    int fd = raw_join(&s);
    struct ipc_call *calls[5];
    for (int i = 0; i < 5; i++)
        calls[i] = held_call(&s, fd, i + 1);
    peer_answer(calls[0], "first");
    for (int i = 1; i < 4; i += 2) {
        struct sv_buf b = large(N, (uint8_t)('0' + i));
        ipc_call_reply_taken(calls[i], &b);
        peer_answer(calls[i + 1], i == 1 ? "between" : "last");
    }
    _cleanup_buf_ struct sv_buf got = SV_BUF_INIT(0);
    size_t frames = 0;
    peer_run_until(&s, ({
        uint8_t chunk[65536];
        ssize_t n = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT);
        if (n > 0)
            raw_put(&got, chunk, (size_t)n);
        const uint8_t *p;
        size_t len, used;
        if (got.data && ipc_frame_next(got.data + got.pos, sv_buf_left(&got), IPC_FRAME_MAX, &p,
                                       &len, &used) > 0) {
            static const char *const texts[] = { "first", "1111", "between", "3333", "last" };
            assert_non_null(memmem(p, len, texts[frames], strlen(texts[frames])));
            assert_true((len > N) == (frames == 1 || frames == 3));
            got.pos += used;
            frames++;
        }
        frames == 5;
    }));
    assert_int_equal(sv_buf_left(&got), 0);
    sv_close(fd);
    peer_server_stop(&s);
}

/* The peer reads late: nothing is lost. */
static void test_E58_late_reader(void **state)
{
    (void)state;
    enum { N = 400, EACH = 65536 };
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .max_outq_per_conn = 1 << 20 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    for (int i = 0; i < N; i++)
        raw_put_echo(&b, i, "flood", "65536");
    int fd = raw_join(&s), paused = 0;
    raw_send(fd, b.data, b.len);
    peer_run_until(&s, s.calls > 16 && (paused = s.calls));
    size_t total = 0;
    char sink[65536];
    peer_run_until(&s, ({
        ssize_t n;
        while ((n = recv(fd, sink, sizeof(sink), MSG_DONTWAIT)) > 0)
            total += (size_t)n;
        total > (size_t)N *EACH;
    }));
    assert_int_equal(s.calls, N);
    assert_true(paused < N);
    sv_close(fd);
    peer_server_stop(&s);
}

/* Buffers of large answers are freed: ten thousand nodes may each have had one. */
static void test_idle_memory(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    raw_put_echo(&b, 1, "flood", "65536");
    int fd = raw_join(&s);
    raw_send(fd, b.data, b.len);
    size_t total = 0;
    char sink[65536];
    peer_run_until(&s, ({
        ssize_t n = recv(fd, sink, sizeof(sink), MSG_DONTWAIT);
        total += n > 0 ? (size_t)n : 0;
        total > 65536;
    }));
    peer_run_until(&s, s.server->memory <= 4096);
    sv_close(fd);
    peer_server_stop(&s);
}

static void test_E60_inflight_bound(void **state)
{
    (void)state;
    struct peer_server s;
    struct ipc_server_config cfg = { .allow_simple = true,
                                     .limits = { .max_inflight_per_conn = 4 } };
    peer_server_start(&s, &cfg);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    for (int i = 0; i < 10; i++)
        raw_put_echo(&b, i, "hold", "kept");
    int fd = raw_join(&s);
    raw_send(fd, b.data, b.len);
    peer_run_until(&s, s.n_held == 4);
    for (size_t i = 0; i < 10; i++) { /* answered one by one, the others follow */
        peer_run_until(&s, s.n_held > i);
        assert_in_range(s.n_held - i, 1, 4);
        peer_release(&s, i);
    }
    sv_close(fd);
    peer_server_stop(&s);
}

/* A hundred thousand pipelined calls: all are answered, in order, in bounded memory. */
static void test_E60_pipelined_calls(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0), in = SV_BUF_INIT(0);
    raw_put_hello(&b);
    for (int i = 0; i < N; i++)
        raw_put_echo(&b, i, "echo", "p");
    int fd = raw_join(&s), next = 0;
    size_t sent = 0, most = 0;
    uint8_t chunk[65536];
    peer_run_until(&s, ({
        ssize_t k =
            sent < b.len ? send(fd, b.data + sent, b.len - sent, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
        sent += (size_t)SV_MAX(k, 0);
        if ((k = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0)
            raw_put(&in, chunk, (size_t)k);
        const uint8_t *frame;
        size_t len, used;
        while (in.data &&
               ipc_frame_next(in.data + in.pos, sv_buf_left(&in), 1024, &frame, &len, &used) > 0) {
            /* delimited header, its first field the call's id */
            unsigned id = frame[2] & 0x7f;
            for (int at = 2, shift = 7; frame[at++] & 0x80; shift += 7)
                id |= (unsigned)(frame[at] & 0x7f) << shift;
            assert_int_equal(frame[1], 0x08);
            assert_int_equal(id, next++);
            in.pos += used;
        }
        sv_buf_compact(&in);
        most = SV_MAX(most, ipc_server_memory(s.server));
        next == N;
    }));
    assert_int_equal(s.calls, N);
    assert_in_range(most, 0, 8u << 20);
    sv_close(fd);
    peer_server_stop(&s);
}

/* A reset in the middle of a request, and one while calls are open. */
static void test_E60_resets(void **state)
{
    (void)state;
    struct peer_server s;
    peer_server_start(&s, &raw_simple);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    raw_put_hello(&b);
    raw_put_echo(&b, 1, "hold", "x");
    raw_put_echo(&b, 2, "echo", "cut");
    for (size_t cut = 1; cut < 20; cut += 6) {
        int fd = raw_join(&s);
        size_t before = s.n_held;
        raw_send(fd, b.data, b.len - cut);
        peer_run_until(&s, s.n_held == before + 1);
        raw_reset(fd);
        peer_run_until(&s, ipc_server_connections(s.server) == 0);
    }
    for (size_t i = 0; i < s.n_held; i++)
        peer_release(&s, i); /* the peer is gone */
    peer_server_stop(&s);
}

/* Heartbeats of other peers during a flood, measured in calls of the flood, not in time: a
 * heartbeat waits for one or two time slices on the same server, and for no later call on a server
 * with priority. */
static void heartbeats(int64_t priority, int most)
{
    enum { FLOOD = 40000, BEATS = 20 };
    struct peer_server flooded;
    peer_server_start(&flooded,
                      &(struct ipc_server_config){ .allow_simple = true, .priority = priority });
    struct peer_server nodes = { .event = sd_event_ref(flooded.event) };
    if (priority)
        peer_server_listen(&nodes, &raw_simple);
    struct peer_server *to = priority ? &nodes : &flooded;
    _cleanup_buf_ struct sv_buf hello = { 0 }, flood = SV_BUF_INIT(0), beat = { 0 };
    raw_put_hello(&hello);
    raw_put_hello(&flood);
    for (int i = 0; i < FLOOD; i++)
        raw_put_echo(&flood, i, "echo", "f");
    int flooder = raw_join(&flooded), node = raw_join(to), worst = 0;
    raw_send(node, hello.data, hello.len);
    peer_run_until(to, ipc_server_connections(to->server) == (priority ? 1 : 2));
    size_t sent = 0;
    char sink[65536];
    for (int i = 0; i < BEATS; i++) {
        struct raw_reply r = { .n = 0 };
        char text[32];
        snprintf(text, sizeof(text), "beat %d!", i);
        sv_buf_free(&beat);
        raw_put_echo(&beat, i, "echo", text);
        ssize_t k = send(flooder, flood.data + sent, SV_MIN(flood.len - sent, (size_t)200000),
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += (size_t)SV_MAX(k, 0);
        int before = flooded.calls;
        raw_send(node, beat.data, beat.len);
        peer_run_until(to, raw_take(node, &r) || raw_holds(&r, text));
        worst = SV_MAX(worst, flooded.calls - before);
        while (recv(flooder, sink, sizeof(sink), MSG_DONTWAIT) > 0)
            ;
    }
    print_message("    at most %d calls of the flood before a heartbeat is answered\n", worst);
    assert_in_range(worst, 0, most);
    sv_close(flooder);
    sv_close(node);
    nodes.server = ipc_server_free(nodes.server);
    sd_event_unref(nodes.event);
    peer_server_stop(&flooded);
}

static void test_E58_heartbeats_of_others(void **state)
{
    (void)state;
    heartbeats(0, 4 * (int)(IPC_READ_CHUNK / 60));
    heartbeats(20, 2 * (int)(IPC_READ_CHUNK / 60));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_answer_in_turns),
        cmocka_unit_test(test_large_answers_in_order),
        cmocka_unit_test(test_E60_half_close),
        cmocka_unit_test(test_E58_deadlines),
        cmocka_unit_test(test_late_header),
        cmocka_unit_test(test_E58_trickle),
        cmocka_unit_test(test_E58_unread_answers),
        cmocka_unit_test(test_E58_late_reader),
        cmocka_unit_test(test_idle_memory),
        cmocka_unit_test(test_E60_inflight_bound),
        cmocka_unit_test(test_E60_pipelined_calls),
        cmocka_unit_test(test_E60_resets),
        cmocka_unit_test(test_E58_heartbeats_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
