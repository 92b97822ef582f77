/* Tests common/zookeeper/zk.c and zk-requests.c with the C client, against a server of this file
 * that speaks as much of the protocol as it takes: a session, its loss and its end, the answers of
 * each request. Skipped where the client library is missing. */
#include "common/zookeeper/zk.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
/* after the three above */
#include <cmocka.h>

#include "common/buf.h"
#include "common/fd.h"

enum { CREATE = 1, DELETE = 2, GET = 4, SET = 5, CHILDREN = 8, PING = 11, MULTI = 14, CLOSE = -11 };
enum { NO_NODE = -101, NO_AUTH = -102, BAD_VERSION = -103, EXISTS = -110, NOT_EMPTY = -111 };
#define STAT_BYTES 68
#define VERSION_AT 32
#define SESSION_MS 900

static sd_event *event;
static struct sv_zk *zk;
static unsigned events[SV_ZK_EXPIRED + 1];

/* ---- The server ---- */

static struct {
    int listener, client;
    uint16_t port;
    sd_event_source *accepting, *reading;
    uint8_t input[65536];
    size_t len;
    bool greeted, silent, forgets; /* forgets: sessions of before */
    uint64_t sessions;
    int32_t error; /* of the next answers */
    int32_t fails; /* of the second of several operations; 0: none does */
    unsigned requests, connections, farewells;
} server;

static void send_frame(struct sv_buf *body)
{
    uint32_t len = htobe32((uint32_t)body->len);

    assert_int_equal(write(server.client, &len, 4), 4);
    assert_int_equal(write(server.client, body->data, body->len), (ssize_t)body->len);
}

static void put(struct sv_buf *b, uint64_t value, unsigned bytes)
{
    while (bytes-- > 0)
        assert_int_equal(sv_buf_put_u8(b, (uint8_t)(value >> 8 * bytes)), 0);
}

static void put_text(struct sv_buf *b, const char *text)
{
    put(b, strlen(text), 4);
    assert_int_equal(sv_buf_put_str(b, text), 0);
}

static void put_stat(struct sv_buf *b, uint32_t version)
{
    for (size_t i = 0; i < STAT_BYTES; i += 4)
        put(b, i == VERSION_AT ? version : 0, 4);
}

static uint64_t number_at(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0)
        v = v << 8 | *p++;
    return v;
}

/* protocolVersion, lastZxidSeen, timeOut, sessionId, … */
static void greet(const uint8_t *p)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(256);
    uint64_t session = number_at(p + 16, 8);

    if (session == 0)
        session = ++server.sessions;
    else if (server.forgets)
        session = 0; /* it has expired */
    put(&b, 0, 4);
    put(&b, session ? SESSION_MS : 0, 4);
    put(&b, session, 8);
    put(&b, 16, 4);
    put(&b, 0, 8);
    put(&b, 0, 8);
    put(&b, 0, 1);
    send_frame(&b);
    server.greeted = true;
}

/* One of several operations: its type, whether it is the end, its error. */
static void put_part(struct sv_buf *b, int32_t type, bool end, int32_t error)
{
    put(b, (uint32_t)type, 4);
    put(b, end, 1);
    put(b, (uint32_t)error, 4);
}

/* A node is made, one is set, one is removed. */
static void put_parts(struct sv_buf *b)
{
    for (int i = 0; i < 3 && server.fails; i++) {
        int32_t error = i == 0 ? 0 : i == 1 ? server.fails : -2 /* after a failure */;

        put_part(b, -1, false, error);
        put(b, (uint32_t)error, 4);
    }
    if (!server.fails) {
        put_part(b, CREATE, false, 0);
        put_text(b, "/a");
        put_part(b, SET, false, 0);
        put_stat(b, 6);
        put_part(b, DELETE, false, 0);
    }
    put_part(b, -1, true, -1);
}

static void put_answer(struct sv_buf *b, int32_t type)
{
    switch (type) {
    case CREATE:
        put_text(b, "/made-0000000007");
        break;
    case GET:
        put_text(b, "data");
        put_stat(b, 5);
        break;
    case SET:
        put_stat(b, 6);
        break;
    case CHILDREN:
        put(b, 2, 4);
        put_text(b, "a");
        put_text(b, "b");
        break;
    case MULTI:
        put_parts(b);
        break;
    default:
        break;
    }
}

static void answer(const uint8_t *p)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1024);
    int32_t xid = (int32_t)number_at(p, 4), type = (int32_t)number_at(p + 4, 4);

    server.farewells += type == CLOSE;
    if (type != PING)
        server.requests++;
    if (server.silent)
        return;
    put(&b, (uint32_t)xid, 4);
    put(&b, 1, 8);
    put(&b, type == PING ? 0 : (uint32_t)server.error, 4);
    if (server.error == 0)
        put_answer(&b, type);
    send_frame(&b);
}

static void drop_client(void)
{
    server.reading = sd_event_source_disable_unref(server.reading);
    server.client = sv_close(server.client);
    server.greeted = false;
    server.len = 0;
}

static int on_input(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    ssize_t n = read(fd, server.input + server.len, sizeof(server.input) - server.len);

    (void)s;
    (void)revents;
    (void)userdata;
    if (n <= 0) {
        drop_client();
        return 0;
    }
    server.len += (size_t)n;
    while (server.len >= 4 && server.len >= 4 + number_at(server.input, 4)) {
        size_t whole = 4 + (size_t)number_at(server.input, 4);

        if (server.greeted)
            answer(server.input + 4);
        else
            greet(server.input + 4);
        server.len -= whole;
        memmove(server.input, server.input + whole, server.len);
    }
    return 0;
}

static int on_accept(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    (void)s;
    (void)revents;
    (void)userdata;
    drop_client();
    server.client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    server.connections++;
    return sd_event_add_io(event, &server.reading, server.client, EPOLLIN, on_input, NULL);
}

static void start_server(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);

    memset(&server, 0, sizeof(server));
    server.client = -1;
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server.listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(server.listener, 4), 0);
    assert_int_equal(getsockname(server.listener, (struct sockaddr *)&at, &len), 0);
    server.port = ntohs(at.sin_port);
    assert_int_equal(
        sd_event_add_io(event, &server.accepting, server.listener, EPOLLIN, on_accept, NULL), 0);
}

/* ---- The session ---- */

static void on_event(enum sv_zk_event what, void *userdata)
{
    (void)userdata;
    events[what]++;
}

static void run_until(const unsigned *counter, unsigned wanted)
{
    while (*counter < wanted)
        assert_true(sd_event_run(event, 20000000) > 0);
}

static int set_up(void **state)
{
    static char missing; /* the library is */
    struct sv_zk_config cfg = { .session_ms = SESSION_MS, .event = on_event };
    struct sv_error err = { 0 };
    char servers[32];
    int r;

    memset(events, 0, sizeof(events));
    assert_int_equal(sd_event_new(&event), 0);
    start_server();
    (void)snprintf(servers, sizeof(servers), "127.0.0.1:%u", server.port);
    cfg.servers = servers;
    r = sv_zk_new(event, &cfg, &zk, &err);
    *state = r == -ELIBACC ? &missing : NULL;
    return r == 0 || r == -ELIBACC ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    zk = sv_zk_free(zk);
    drop_client();
    sd_event_source_disable_unref(server.accepting);
    (void)sv_close(server.listener);
    event = sd_event_unref(event);
    return 0;
}

static void connect_it(void **state)
{
    if (*state)
        skip();
    run_until(&events[SV_ZK_UP], 1);
    assert_true(sv_zk_connected(zk));
}

struct answer {
    unsigned done;
    int status;
    int32_t version;
    size_t n;
    char text[64];
};

static void on_done(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct answer *to = userdata;

    to->done++;
    to->status = status;
    to->version = a->version;
    to->n = a->n_children;
    if (a->len)
        (void)snprintf(to->text, sizeof(to->text), "%.*s", (int)a->len, (const char *)a->data);
    if (a->path)
        (void)snprintf(to->text, sizeof(to->text), "%s", a->path);
    if (a->n_children)
        (void)snprintf(to->text, sizeof(to->text), "%s", a->children[a->n_children - 1]);
}

/* ---- Tests ---- */

static void answers(void **state)
{
    struct answer a = { 0 };

    connect_it(state);
    assert_int_equal(sv_zk_create(zk, "/made", "x", 1, SV_ZK_SEQUENCE, on_done, &a), 0);
    assert_int_equal(a.done, 0); /* later */
    run_until(&a.done, 1);
    assert_int_equal(a.status, 0);
    assert_string_equal(a.text, "/made-0000000007");
    assert_int_equal(sv_zk_get(zk, "/a", on_done, &a), 0);
    run_until(&a.done, 2);
    assert_string_equal(a.text, "data");
    assert_int_equal(a.version, 5);
    assert_int_equal(sv_zk_set(zk, "/a", "y", 1, 5, on_done, &a), 0);
    run_until(&a.done, 3);
    assert_int_equal(a.version, 6);
    assert_int_equal(sv_zk_children(zk, "/", on_done, &a), 0);
    run_until(&a.done, 4);
    assert_int_equal(a.n, 2);
    assert_string_equal(a.text, "b");
    assert_int_equal(sv_zk_remove(zk, "/a", SV_ZK_ANY_VERSION, on_done, &a), 0);
    run_until(&a.done, 5);
    assert_int_equal(a.status, 0);
    assert_int_equal(server.connections, 1);
}

static void several_at_once(void **state)
{
    static const struct sv_zk_op ops[] = {
        { .kind = SV_ZK_OP_CREATE, .path = "/a", .data = "x", .len = 1 },
        { .kind = SV_ZK_OP_SET, .path = "/b", .data = "y", .len = 1, .version = 5 },
        { .kind = SV_ZK_OP_REMOVE, .path = "/c", .version = SV_ZK_ANY_VERSION },
    };
    const struct sv_zk_op bad[] = { ops[0], { .kind = SV_ZK_OP_REMOVE, .path = "c" } };
    const struct sv_zk_op long_one[] = { { .kind = SV_ZK_OP_SET, .path = "/b", .len = 1 << 20 } };
    struct answer a = { 0 };

    connect_it(state);
    assert_int_equal(sv_zk_session_ms(zk), SESSION_MS);
    assert_int_equal(sv_zk_multi(zk, ops, SV_ARRAY_LEN(ops), on_done, &a), 0);
    run_until(&a.done, 1);
    assert_int_equal(a.status, 0);
    server.fails = BAD_VERSION;
    assert_int_equal(sv_zk_multi(zk, ops, SV_ARRAY_LEN(ops), on_done, &a), 0);
    run_until(&a.done, 2);
    assert_int_equal(a.status, -ESTALE);
    assert_int_equal(sv_zk_multi(zk, bad, 2, on_done, &a), -EINVAL);
    assert_int_equal(sv_zk_multi(zk, long_one, 1, on_done, &a), -E2BIG);
    assert_int_equal(sv_zk_multi(zk, ops, 0, on_done, &a), -EINVAL);
    server.silent = true; /* freed with one that is open */
    assert_int_equal(sv_zk_multi(zk, ops, 1, on_done, &a), 0);
    run_until(&server.requests, 3);
    zk = sv_zk_free(zk);
    assert_int_equal(a.status, -ECANCELED);
}

/* The server is told, whatever is open. */
static void ended(void **state)
{
    struct answer a = { 0 };

    connect_it(state);
    server.silent = true;
    assert_int_equal(sv_zk_get(zk, "/a", on_done, &a), 0);
    zk = sv_zk_end(zk);
    assert_int_equal(a.status, -ECANCELED);
    run_until(&server.farewells, 1);
}

static void refusals(void **state)
{
    static const struct {
        int32_t error;
        int status;
    } rows[] = {
        { NO_NODE, -ENOENT }, { NO_AUTH, -EACCES },      { BAD_VERSION, -ESTALE },
        { EXISTS, -EEXIST },  { NOT_EMPTY, -ENOTEMPTY }, { -6, -EIO },
    };
    struct answer a = { 0 };

    connect_it(state);
    for (unsigned i = 0; i < SV_ARRAY_LEN(rows); i++) {
        server.error = rows[i].error;
        assert_int_equal(sv_zk_get(zk, "/a", on_done, &a), 0);
        run_until(&a.done, i + 1);
        assert_int_equal(a.status, rows[i].status);
        assert_true(sv_zk_connected(zk));
    }
}

static void not_paths(void **state)
{
    char path[SV_ZK_PATH_MAX + 2];
    struct answer a = { 0 };

    connect_it(state);
    memset(path, 'a', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(sv_zk_get(zk, "", on_done, &a), -EINVAL);
    assert_int_equal(sv_zk_get(zk, "a", on_done, &a), -EINVAL);
    assert_int_equal(sv_zk_get(zk, "/a/", on_done, &a), -EINVAL);
    assert_int_equal(sv_zk_get(zk, path, on_done, &a), -EINVAL);
    assert_int_equal(sv_zk_set(zk, "/a", "", SV_ZK_DATA_MAX + 1, 0, on_done, &a), -E2BIG);
    assert_int_equal(server.requests, 0);
    assert_int_equal(a.done, 0);
}

static void before_it_is_connected(void **state)
{
    struct answer a = { 0 };

    if (*state)
        skip();
    assert_false(sv_zk_connected(zk));
    assert_int_equal(sv_zk_get(zk, "/a", on_done, &a), -ENOTCONN);
}

/* The session goes on over another connection; an open request has failed. */
static void lost(void **state)
{
    struct answer a = { 0 };

    connect_it(state);
    server.silent = true;
    assert_int_equal(sv_zk_get(zk, "/a", on_done, &a), 0);
    run_until(&server.requests, 1);
    drop_client();
    run_until(&a.done, 1);
    assert_int_equal(a.status, -ENOTCONN);
    run_until(&events[SV_ZK_DOWN], 1);
    server.silent = false;
    run_until(&events[SV_ZK_UP], 2);
    assert_int_equal(server.sessions, 1);
    assert_int_equal(events[SV_ZK_EXPIRED], 0);
    assert_int_equal(sv_zk_get(zk, "/a", on_done, &a), 0);
    run_until(&a.done, 2);
    assert_int_equal(a.status, 0);
}

static void expired(void **state)
{
    connect_it(state);
    server.forgets = true;
    drop_client();
    run_until(&events[SV_ZK_EXPIRED], 1);
    run_until(&events[SV_ZK_UP], 2);
    assert_int_equal(server.sessions, 2);
    assert_true(sv_zk_connected(zk));
}

/* A server that does not answer is left after two thirds of the session's timeout. */
static void silent(void **state)
{
    struct answer a = { 0 };

    connect_it(state);
    server.silent = true;
    assert_int_equal(sv_zk_get(zk, "/a", on_done, &a), 0);
    run_until(&a.done, 1);
    assert_int_equal(a.status, -ENOTCONN);
    server.silent = false;
    run_until(&events[SV_ZK_UP], 2);
}

static void freed_with_open_requests(void **state)
{
    static struct answer a;

    connect_it(state);
    a = (struct answer){ 0 };
    server.silent = true;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(sv_zk_get(zk, "/a", on_done, &a), 0);
    zk = sv_zk_free(zk);
    assert_int_equal(a.done, 3);
    assert_int_equal(a.status, -ECANCELED);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(answers),   T(several_at_once),          T(ended), T(refusals),
        T(not_paths), T(before_it_is_connected),   T(lost),  T(expired),
        T(silent),    T(freed_with_open_requests),
    };
#undef T

    return cmocka_run_group_tests(tests, NULL, NULL);
}
