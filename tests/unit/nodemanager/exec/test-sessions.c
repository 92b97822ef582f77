/* nodemanager/exec/sessions.c: what a client's messages do, right and hostile ones, in both
 * dialects; bounds, idle sessions, ends. The container and its program are the test's own. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/str.h"
#include "common/web/exec-words.h"
#include "common/web/http-upgrade.h"
#include "executor/exe-session.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/exec/sessions.h"

static struct nm_conf conf = { .user_home = "/home/", .exec = { true, true, 1800000 } };
static struct nm_context ctx = { .conf = &conf };
static struct nm_app app = { .user = (char *)"ann" };
static struct nm_container container = { .app = &app, .ctx = &ctx, .text = "container_1_1_1_1" };

/* The last program that was asked for. */
static struct {
    int opened, freed, result;
    bool terminal;
    char first[32], variables[512];
    struct exe_session_ops ops;
    void *userdata;
    int input, output; /* its ends */
} program = { .input = -1, .output = -1 };
static int closed; /* connections */

struct nm_container *nm_container_find(const struct nm_context *c, const char *id)
{
    (void)c;
    return strcmp(id, container.text) == 0 ? &container : NULL;
}

void nm_audit_success(const char *user, const char *ip, const char *operation, const char *target,
                      const struct nm_container *c)
{
    (void)ip;
    (void)c;
    assert_string_equal(user, "ann");
    assert_string_equal(operation, "Exec Container Request");
    assert_string_equal(target, "ContainerShell");
}

void sv_http_upgraded_close(struct sv_http_upgraded *u)
{
    (void)close((int)(intptr_t)u);
    closed++;
}

int exe_session_open(struct exe_container *c, const struct exe_session_request *q,
                     const struct exe_session_ops *ops, void *userdata, struct exe_session **ret)
{
    (void)c;
    if (program.result < 0)
        return program.result;
    program.opened++;
    program.terminal = q->terminal;
    (void)snprintf(program.first, sizeof(program.first), "%s", q->arguments[0]);
    program.variables[0] = 0;
    for (const char *const *v = q->variables; *v; v++) {
        size_t n = strlen(program.variables);

        (void)snprintf(program.variables + n, sizeof(program.variables) - n, "%s", *v);
    }
    program.ops = *ops;
    program.userdata = userdata;
    *ret = (struct exe_session *)&program;
    return 0;
}

struct exe_session *exe_session_free(struct exe_session *s)
{
    program.freed += s != NULL;
    return NULL;
}

struct fixture {
    sd_event *event;
    struct nm_sessions *all;
    int client;
    struct sv_ws_reader reader;
    struct sv_buf received;
};

static int set_up(void **state)
{
    struct fixture *g = calloc(1, sizeof(*g));
    assert_non_null(g);
    assert_return_code(sd_event_new(&g->event), 0);
    assert_return_code(nm_sessions_new(g->event, &ctx, &g->all), 0);
    g->client = -1;
    g->received = SV_BUF_INIT(0);
    container.launch.exe = (struct exe_container *)&container;
    conf.exec.idle_ms = 1800000;
    program.opened = program.freed = program.result = closed = 0;
    *state = g;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *g = *state;
    g->all = nm_sessions_free(g->all);
    (void)sv_close(g->client);
    program.input = sv_close(program.input);
    program.output = sv_close(program.output);
    sv_buf_free(&g->received);
    (void)sd_event_unref(g->event);
    free(g);
    return 0;
}

static void turns(struct fixture *g)
{
    while (sd_event_run(g->event, 10000) > 0)
        ;
}

static struct nm_session *session_of(struct fixture *g, const char *shell)
{
    const struct nm_session_ask q = { .c = &container, .user = "ann", .shell = shell };
    struct nm_session *s;
    assert_return_code(nm_session_new(g->all, &q, &s), 0);
    return s;
}

/* A session whose client is g->client; shell NULL: our own dialect. */
static void open_one(struct fixture *g, const char *shell)
{
    struct nm_session *s = session_of(g, shell);
    int pair[2];
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    g->client = sv_close(g->client);
    g->client = pair[0];
    g->reader = (struct sv_ws_reader){ .masked = false };
    g->received.len = g->received.pos = 0;
    if (shell)
        nm_session_begin((struct sv_http_upgraded *)(intptr_t)pair[1], pair[1], NULL, 0, s);
    else
        assert_return_code(nm_session_serve(s, pair[1]), 0);
    turns(g);
}

static void say(struct fixture *g, enum sv_ws_opcode opcode, const void *data, size_t n)
{
    static const uint8_t mask[] = { 5, 6, 7, 8 };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    assert_int_equal(sv_ws_put(&b, opcode, mask, data, n), 0);
    assert_int_equal(send(g->client, b.data, b.len, MSG_NOSIGNAL), (ssize_t)b.len);
    turns(g);
}

static void say_start(struct fixture *g, bool terminal)
{
    _cleanup_buf_ struct sv_buf m = SV_BUF_INIT(0);
    const struct sv_exec_start s = { .terminal = terminal,
                                     .rows = 3,
                                     .columns = 4,
                                     .term = "vt100",
                                     .arguments = { "prog", "x", NULL } };
    assert_int_equal(sv_exec_put_start(&m, &s), 0);
    say(g, SV_WS_BINARY, m.data, m.len);
}

/* The next frame; 0 at the end of the connection. */
static int hear(struct fixture *g, struct sv_ws_frame *f)
{
    uint8_t data[65536];
    int k;
    while ((k = sv_ws_read(&g->reader, &g->received, f)) == 0) {
        ssize_t n = recv(g->client, data, sizeof(data), MSG_DONTWAIT);
        if (n <= 0)
            return 0;
        assert_int_equal(sv_buf_put(&g->received, data, (size_t)n), 0);
    }
    assert_int_equal(k, 1);
    return 1;
}

/* The session's end comes next, and then nothing. */
static void hear_end(struct fixture *g, enum sv_exec_reason reason, unsigned code, const char *why)
{
    struct sv_ws_frame f;
    struct sv_exec_end e;
    assert_int_equal(hear(g, &f), 1);
    assert_true(f.opcode == SV_WS_BINARY && f.data[0] == SV_EXEC_END);
    assert_int_equal(sv_exec_read_end(f.data + 1, f.len - 1, &e), 0);
    assert_int_equal(e.reason, reason);
    assert_int_equal(e.code, code);
    assert_non_null(strstr(e.text, why));
    assert_int_equal(hear(g, &f), 1);
    assert_int_equal(f.opcode, SV_WS_CLOSE);
    assert_int_equal(hear(g, &f), 0);
    assert_int_equal(nm_sessions_count(g->all), 0);
}

static void begin_program(void)
{
    int in[2], out[2], err[2];
    assert_return_code(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    assert_return_code(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    assert_return_code(pipe2(err, O_CLOEXEC | O_NONBLOCK), 0);
    program.input = sv_close(program.input);
    program.output = sv_close(program.output);
    program.input = in[0];
    program.output = out[1];
    (void)close(err[1]);
    program.ops.started(&(struct exe_session_io){ in[1], out[0], err[0] }, program.userdata);
}

static void test_a_program(void **state)
{
    struct fixture *g = *state;
    struct sv_ws_frame f;
    char text[16] = "";
    open_one(g, NULL);
    say_start(g, false);
    assert_int_equal(program.opened, 1);
    assert_string_equal(program.first, "prog");
    assert_non_null(strstr(program.variables, "USER=ann"));
    assert_non_null(strstr(program.variables, "CONTAINER_ID=container_1_1_1_1"));
    assert_non_null(strstr(program.variables, "TERM=vt100"));
    say(g, SV_WS_BINARY, "\1early", 6);
    begin_program();
    turns(g);
    assert_int_equal(read(program.input, text, sizeof(text)), 5);
    assert_string_equal(text, "early");
    say(g, SV_WS_BINARY, "\1", 1); /* the end of input */
    assert_int_equal(read(program.input, text, sizeof(text)), 0);
    assert_int_equal(write(program.output, "said", 4), 4);
    program.ops.ended(0, 9, program.userdata);
    turns(g);
    assert_int_equal(hear(g, &f), 1);
    assert_true(f.opcode == SV_WS_BINARY && f.len == 5 && memcmp(f.data, "\3said", 5) == 0);
    hear_end(g, SV_EXEC_EXITED, 9, "");
}

static void test_hostile_messages(void **state)
{
    struct fixture *g = *state;
    static const struct {
        const char *data;
        size_t n;
        bool begun; /* after a START */
        enum sv_ws_opcode opcode;
    } rows[] = {
        { "\1x", 2, false, SV_WS_BINARY },
        { "", 0, false, SV_WS_BINARY },
        { "\0\0\0\0\0\0\0", 7, false, SV_WS_BINARY },
        { "\0\0\0\0\0\0\0ls", 9, false, SV_WS_BINARY },
        { "\0\0\0\0\0\0\0ls", 10, false, SV_WS_TEXT },
        { "\0\0\0\0\0\0\0ls", 10, true, SV_WS_BINARY },
        { "\2\0", 2, true, SV_WS_BINARY },
        { "\3x", 2, true, SV_WS_BINARY },
        { "\5x", 2, true, SV_WS_BINARY },
        { "\377", 1, true, SV_WS_BINARY },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        program.opened = program.freed = 0;
        open_one(g, NULL);
        if (rows[i].begun)
            say_start(g, false);
        say(g, rows[i].opcode, rows[i].data, rows[i].n);
        hear_end(g, SV_EXEC_FAILED, 255, "no message of " SV_EXEC_PROTOCOL);
        assert_int_equal(program.opened, rows[i].begun);
        assert_int_equal(program.freed, rows[i].begun); /* which kills it */
    }
}

static void test_hostile_frames(void **state)
{
    struct fixture *g = *state;
    static const struct {
        const char *data;
        size_t n;
    } rows[] = { { "\x82\x01x", 3 },
                 { "\xc2\x81"
                   "abcdx",
                   7 },
                 { "\x83\x80"
                   "abcd",
                   6 },
                 { "\x82\xff\0\0\0\0\0\1\0\1", 14 },
                 { "\x89\xfe\0\x7e"
                   "abcd",
                   8 } };
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        open_one(g, NULL);
        say_start(g, false);
        begin_program(); /* which writes nothing and goes on */
        turns(g);
        char bytes[16] = "";
        memcpy(bytes, rows[i].data, SV_MIN(rows[i].n, (size_t)10));
        assert_int_equal(send(g->client, bytes, rows[i].n, MSG_NOSIGNAL), (ssize_t)rows[i].n);
        turns(g);
        hear_end(g, SV_EXEC_FAILED, 255, "breaks the protocol");
    }
}

static void test_refused_programs(void **state)
{
    struct fixture *g = *state;
    static const struct {
        int result;
        const char *why;
    } rows[] = { { -ENOENT, "launched before" },
                 { -ESRCH, "does not run" },
                 { -EBUSY, "too many wait" },
                 { -E2BIG, "Argument list too long" } };
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        program.result = rows[i].result;
        open_one(g, NULL);
        say_start(g, false);
        hear_end(g, SV_EXEC_FAILED, 255, rows[i].why);
    }
    container.launch.exe = NULL; /* it ends between the answer and the first message */
    program.result = 0;
    open_one(g, NULL);
    say_start(g, false);
    hear_end(g, SV_EXEC_FAILED, 255, "does not run");
}

static void test_ends_of_the_container(void **state)
{
    struct fixture *g = *state;
    static const struct {
        int error;
        const char *why;
    } rows[] = { { -ESRCH, "the container has ended" }, { -EBUSY, "as many sessions" },
                 { -ETIMEDOUT, "may be frozen" },       { -EPROTONOSUPPORT, "another release" },
                 { -ENOMEM, "Cannot allocate memory" }, { -4095, "an unknown error" } };
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        open_one(g, NULL);
        say_start(g, true);
        assert_true(program.terminal);
        program.ops.ended(rows[i].error, 0, program.userdata);
        turns(g);
        hear_end(g, SV_EXEC_FAILED, 255, rows[i].why);
    }
}

static void test_client_ends(void **state)
{
    struct fixture *g = *state;
    open_one(g, NULL);
    say_start(g, false);
    begin_program();
    g->client = sv_close(g->client);
    turns(g);
    assert_int_equal(program.freed, 1);
    assert_int_equal(nm_sessions_count(g->all), 0);
    open_one(g, NULL);
    say(g, SV_WS_CLOSE, "\x03\xe8", 2);
    hear_end(g, SV_EXEC_FAILED, 255, "its client has closed it");
}

static void test_hadoop(void **state)
{
    struct fixture *g = *state;
    struct sv_ws_frame f;
    char text[16] = "";
    open_one(g, "bash");
    assert_true(program.terminal);
    assert_string_equal(program.first, "bash");
    begin_program();
    say(g, SV_WS_TEXT, "1{}", 3);
    say(g, SV_WS_TEXT, "ls", 2);
    say(g, SV_WS_TEXT, "\r", 1);
    assert_int_equal(read(program.input, text, sizeof(text)), 3);
    assert_string_equal(text, "ls\r");
    assert_int_equal(write(program.output, "a\xff\xc3", 3), 3); /* the half of a character */
    turns(g);
    assert_int_equal(hear(g, &f), 1);
    assert_true(f.opcode == SV_WS_TEXT && f.len == 4 && memcmp(f.data, "a\xef\xbf\xbd", 4) == 0);
    assert_int_equal(write(program.output, "\xa4", 1), 1);
    turns(g);
    assert_int_equal(hear(g, &f), 1);
    assert_true(f.len == 2 && memcmp(f.data, "\xc3\xa4", 2) == 0);
    program.ops.ended(0, 3, program.userdata);
    turns(g);
    assert_int_equal(hear(g, &f), 1);
    assert_true(f.opcode == SV_WS_CLOSE && f.data[0] == 3 && f.data[1] == 0xe8);
    assert_memory_equal(f.data + 2, "the program has ended with 3", 28);
    assert_int_equal(closed, 1);
}

static void test_bounds(void **state)
{
    struct fixture *g = *state;
    struct nm_session *s[NM_SESSIONS_MAX], *more;
    char user[16];
    struct nm_session_ask q = { .c = &container, .user = user };
    for (unsigned i = 0; i < NM_SESSIONS_MAX; i++) {
        (void)snprintf(user, sizeof(user), "user%u", i / NM_SESSIONS_OF_USER);
        if (i % NM_SESSIONS_OF_USER == 0 && i > 0) {
            q.user = "user0";
            assert_int_equal(nm_session_new(g->all, &q, &more), -EBUSY);
            q.user = user;
        }
        assert_int_equal(nm_session_new(g->all, &q, &s[i]), 0);
    }
    q.user = "another";
    assert_int_equal(nm_session_new(g->all, &q, &more), -EBUSY);
    nm_session_left(s[0]);
    assert_int_equal(nm_session_new(g->all, &q, &more), 0);
    assert_int_equal(nm_sessions_count(g->all), NM_SESSIONS_MAX);
    assert_true(nm_sessions_log_refusal(g->all));
    assert_false(nm_sessions_log_refusal(g->all));
}

static void test_idle(void **state)
{
    struct fixture *g = *state;
    conf.exec.idle_ms = 1;
    open_one(g, NULL);
    for (int i = 0; i < 20 && nm_sessions_count(g->all) > 0; i++)
        assert_return_code(sd_event_run(g->event, 500000), 0);
    hear_end(g, SV_EXEC_FAILED, 255, "was not used");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_program),
        TEST(test_hostile_messages),
        TEST(test_hostile_frames),
        TEST(test_refused_programs),
        TEST(test_ends_of_the_container),
        TEST(test_client_ends),
        TEST(test_hadoop),
        TEST(test_bounds),
        TEST(test_idle),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* as in the daemon */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
