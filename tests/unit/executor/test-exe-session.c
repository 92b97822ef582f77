/* executor/exe-session.c, against a container-init of the test's own: what is asked, and what a
 * hostile one may answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "executor/exe-session.c"
static int directory = -1; /* of the container; -1: it does not run */

struct fixture {
    sd_event *event;
    struct exe exe;
    char dir[32];
    int door, init; /* the other end of the session */
    struct exe_session *session;
    struct exe_session_io io;
    int started, ended, error, code;
};

int exe_container_private(const struct exe_container *c, struct exe **ret)
{
    *ret = (struct exe *)(uintptr_t)c;
    return directory < 0 ? -ESRCH : dup(directory);
}

static int set_up(void **state)
{
    struct fixture *g = calloc(1, sizeof(*g));
    assert_non_null(g);
    (void)snprintf(g->dir, sizeof(g->dir), "/tmp/door-XXXXXX");
    assert_non_null(mkdtemp(g->dir));
    directory = open(g->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_return_code(directory, errno);
    assert_return_code(sd_event_new(&g->event), 0);
    g->exe.event = g->event;
    g->door = exe_door_make(directory);
    assert_return_code(g->door, 0);
    g->init = -1;
    g->io = (struct exe_session_io){ -1, -1, -1 };
    *state = g;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *g = *state;
    g->session = exe_session_free(g->session);
    close_io(&g->io);
    (void)sv_close(g->init);
    (void)sv_close(g->door);
    (void)unlinkat(directory, EXE_DOOR_NAME, 0);
    directory = sv_close(directory);
    (void)rmdir(g->dir);
    (void)sd_event_unref(g->event);
    free(g);
    return 0;
}

static void on_begun(const struct exe_session_io *io, void *userdata)
{
    struct fixture *g = userdata;
    g->started++;
    g->io = *io;
}

static void on_over(int error, int code, void *userdata)
{
    struct fixture *g = userdata;
    g->ended++;
    g->error = error;
    g->code = code;
}

static int ask(struct fixture *g, bool terminal, const char *const *arguments)
{
    static const char *const variables[] = { "A=1", NULL };
    static const struct exe_session_ops ops = { .started = on_begun, .ended = on_over };
    const struct exe_session_request q = { .terminal = terminal,
                                           .rows = 24,
                                           .columns = 80,
                                           .arguments = arguments,
                                           .variables = variables };
    int r = exe_session_open((struct exe_container *)&g->exe, &q, &ops, g, &g->session);
    if (r >= 0) {
        g->init = accept4(g->door, NULL, NULL, SOCK_CLOEXEC);
        assert_return_code(g->init, errno);
    }
    return r;
}

static void opened(struct fixture *g, bool terminal)
{
    static const char *const arguments[] = { "ls", "-l", NULL };
    char buf[256];
    struct exe_session_start s;
    assert_return_code(ask(g, terminal, arguments), 0);
    ssize_t n = recv(g->init, buf, sizeof(buf), 0);
    assert_int_equal(n, sizeof(s) + 10);
    memcpy(&s, buf, sizeof(s));
    assert_int_equal(s.terminal, terminal);
    assert_int_equal(s.rows, 24);
    assert_int_equal(s.n_arguments, 2);
    assert_int_equal(s.n_variables, 1);
    assert_memory_equal(buf + sizeof(s), "ls\0-l\0A=1", 10);
}

static void say(struct fixture *g, uint32_t word, int32_t value, const int *fds, size_t n)
{
    struct exe_session_answer a = { EXE_SESSION_MAGIC, word, value };
    union {
        char space[CMSG_SPACE(sizeof(int) * 4)];
        struct cmsghdr align;
    } control = { 0 };
    struct iovec iov = { &a, sizeof(a) };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    if (n) {
        msg.msg_control = control.space;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * n);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * n);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
    }
    assert_int_equal(sendmsg(g->init, &msg, MSG_NOSIGNAL), sizeof(a));
}

static void turn(struct fixture *g)
{
    assert_return_code(sd_event_run(g->event, 5000000), 0);
}

static void test_pipes(void **state)
{
    struct fixture *g = *state;
    char c = 0;
    opened(g, false);
    say(g, EXE_SESSION_STARTED, 0, NULL, 0);
    turn(g);
    assert_int_equal(g->started, 1);
    assert_true(g->io.in >= 0 && g->io.out >= 0 && g->io.err >= 0);
    assert_true(fcntl(g->io.out, F_GETFL) & O_NONBLOCK);
    assert_int_equal(read(g->io.out, &c, 1),
                     0); /* the program's side is with init, which is gone */
    say(g, EXE_SESSION_ENDED, 7, NULL, 0);
    turn(g);
    assert_int_equal(g->ended, 1);
    assert_int_equal(g->error, 0);
    assert_int_equal(g->code, 7);
}

static void test_terminal(void **state)
{
    struct fixture *g = *state;
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_return_code(master, errno);
    opened(g, true);
    say(g, EXE_SESSION_STARTED, 0, &master, 1);
    turn(g);
    assert_int_equal(g->started, 1);
    assert_true(g->io.in >= 0 && g->io.out < 0 && g->io.err < 0);
    assert_true(fcntl(g->io.in, F_GETFL) & O_NONBLOCK);
    (void)sv_close(g->init);
    g->init = -1;
    turn(g);
    assert_int_equal(g->error, -ESRCH);
    (void)sv_close(master);
}

static void test_failures(void **state)
{
    struct fixture *g = *state;
    opened(g, false);
    say(g, EXE_SESSION_FAILED, EBUSY, NULL, 0);
    turn(g);
    assert_int_equal(g->started, 0);
    assert_int_equal(g->error, -EBUSY);
}

static void refused(struct fixture *g, bool terminal, uint32_t word, int32_t value, const int *fds,
                    size_t n)
{
    g->session = exe_session_free(g->session);
    (void)sv_close(g->init);
    g->started = g->ended = 0;
    opened(g, terminal);
    say(g, word, value, fds, n);
    turn(g);
    assert_int_equal(g->started, 0);
    assert_int_equal(g->ended, 1);
    assert_int_equal(g->error, -EBADMSG);
}

/* Nothing but a terminal's master is taken for one; no descriptor comes otherwise. */
static void test_hostile_answers(void **state)
{
    struct fixture *g = *state;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), pair[2];
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), errno);
    refused(g, true, EXE_SESSION_STARTED, 0, &null, 1);
    refused(g, true, EXE_SESSION_STARTED, 0, &pair[0], 1);
    refused(g, true, EXE_SESSION_STARTED, 0, &g->door, 1);
    refused(g, true, EXE_SESSION_STARTED, 0, NULL, 0);
    refused(g, false, EXE_SESSION_STARTED, 0, &master, 1);
    refused(g, false, EXE_SESSION_ENDED, 0, NULL, 0); /* before it has started */
    refused(g, false, EXE_SESSION_FAILED, 0, NULL, 0);
    refused(g, false, EXE_SESSION_FAILED, -1, NULL, 0);
    refused(g, false, 4, 0, NULL, 0);
    (void)sv_close(null);
    (void)sv_close(master);
    (void)sv_close(pair[0]);
    (void)sv_close(pair[1]);
}

static void test_surplus_is_closed(void **state)
{
    struct fixture *g = *state;
    int pair[2], ends[4];
    char c;
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), errno);
    for (size_t i = 0; i < 4; i++)
        ends[i] = pair[0];
    opened(g, true);
    say(g, EXE_SESSION_STARTED, 0, ends, 4);
    (void)sv_close(pair[0]);
    turn(g);
    assert_int_equal(g->error, -EBADMSG);
    assert_int_equal(recv(pair[1], &c, 1, MSG_DONTWAIT), 0); /* no copy is left */
    (void)sv_close(pair[1]);
}

static void test_late_words(void **state)
{
    struct fixture *g = *state;
    opened(g, false);
    say(g, EXE_SESSION_STARTED, 0, NULL, 0);
    say(g, EXE_SESSION_STARTED, 0, NULL, 0);
    turn(g);
    turn(g);
    assert_int_equal(g->started, 1);
    assert_int_equal(g->error, -EBADMSG);
}

static void test_refused_requests(void **state)
{
    struct fixture *g = *state;
    static char text[EXE_SESSION_TEXT_MAX + 1];
    const char *none[] = { NULL }, *large[] = { text, NULL };
    const char *many[EXE_SESSION_WORDS_MAX + 1] = { NULL };
    memset(text, 'x', sizeof(text) - 1);
    for (size_t i = 0; i < EXE_SESSION_WORDS_MAX; i++)
        many[i] = "x";
    assert_int_equal(ask(g, false, none), -EINVAL);
    assert_int_equal(ask(g, false, large), -E2BIG);
    assert_int_equal(ask(g, false, many), -E2BIG);
    (void)unlinkat(directory, EXE_DOOR_NAME, 0);
    assert_int_equal(ask(g, false, (const char *[]){ "x", NULL }), -ENOENT);
    directory = sv_close(directory);
    assert_int_equal(ask(g, false, (const char *[]){ "x", NULL }), -ESRCH);
}

/* The door of a container whose init is gone; one at which too many wait. */
static void test_closed_door(void **state)
{
    struct fixture *g = *state;
    static const struct exe_session_ops ops = { .started = on_begun, .ended = on_over };
    const char *arguments[] = { "x", NULL };
    const struct exe_session_request q = { .arguments = arguments };
    struct exe_session *waiting[EXE_SESSIONS_MAX + 8] = { NULL };
    size_t n = 0;
    int r = 0;
    for (; n < SV_ARRAY_LEN(waiting) && r >= 0; n += r >= 0)
        r = exe_session_open((struct exe_container *)&g->exe, &q, &ops, g, &waiting[n]);
    assert_int_equal(r, -EBUSY);
    assert_in_range(n, EXE_SESSIONS_MAX, EXE_SESSIONS_MAX + 1);
    while (n > 0)
        (void)exe_session_free(waiting[--n]);
    g->door = sv_close(g->door);
    assert_int_equal(ask(g, false, arguments), -ESRCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pipes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_terminal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_surplus_is_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_closed_door, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
