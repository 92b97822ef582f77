/* Tests common/child.c: descriptors, environment, limits and end of a started program. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/child.h"
#include "common/fd.h"

static const char *const variables[] = { "PATH=", "TEST_CHILD_" };

struct run {
    struct sv_child child;
    struct sv_child_end end;
    char text[4096]; /* its stdout and stderr */
    int failed;      /* errno, 0: executed */
};

static void wait_for(const struct sv_child *c)
{
    struct pollfd p = { .fd = c->pidfd, .events = POLLIN };

    assert_int_equal(poll(&p, 1, -1), 1);
}

/* Runs a program to its end; what it writes must fit into a pipe. */
static void run(struct run *r, const char *program, const char *script)
{
    char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t) "-c",
                     (char *)(uintptr_t)script, NULL };
    _cleanup_free_ char **environment = sv_child_environment(variables, SV_ARRAY_LEN(variables));
    const struct sv_child_limit limits[] = { { RLIMIT_NOFILE, 77 } };
    _cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out[2], failed[2];
    struct sv_error err = { 0 };
    ssize_t n;

    assert_return_code(pipe2(out, O_CLOEXEC), errno);
    assert_return_code(pipe2(failed, O_CLOEXEC | O_NONBLOCK), errno);
    const int fds[] = { null, out[1], out[1], null };
    memset(r, 0, sizeof(*r));
    if (sv_child_start(&(struct sv_child_spec){ .argv = argv,
                                                .environment = environment,
                                                .fds = fds,
                                                .n_fds = SV_ARRAY_LEN(fds),
                                                .limits = limits,
                                                .n_limits = 1,
                                                .procs = -1,
                                                .failed = failed[1] },
                       &r->child, &err) < 0)
        fail_msg("%s", err.text);
    sv_close(out[1]);
    sv_close(failed[1]);
    wait_for(&r->child);
    n = read(out[0], r->text, sizeof(r->text) - 1);
    assert_true(n >= 0);
    r->text[n] = '\0';
    if (read(failed[0], &r->failed, sizeof(r->failed)) != (ssize_t)sizeof(r->failed))
        r->failed = 0;
    r->end = sv_child_reap(&r->child);
    sv_close(out[0]);
    sv_close(failed[0]);
    sv_close(r->child.pidfd);
}

/* The four descriptors alone, whatever this program has open, and the listed variables. */
static void inherits_nothing(void **state)
{
    _cleanup_close_ int open_here = open("/dev/null", O_RDONLY); /* without CLOEXEC */
    struct run r;

    (void)state;
    assert_true(open_here >= 0);
    assert_return_code(setenv("TEST_CHILD_A", "kept", 1), errno);
    assert_return_code(setenv("SECRET", "not kept", 1), errno);
    /* `ls` has the directory open that it lists. */
    run(&r, "/bin/sh",
        "ls /proc/self/fd | tr '\\n' ' '; echo; env | grep -c SECRET; echo $TEST_CHILD_A; pwd; "
        "ulimit -n; ulimit -c; grep NoNewPrivs /proc/self/status; exit 5");
    assert_string_equal(r.text, "0 1 2 3 4 \n0\nkept\n/\n77\n0\nNoNewPrivs:\t1\n");
    assert_int_equal(r.end.how, SV_CHILD_EXITED);
    assert_int_equal(r.end.number, 5);
    assert_int_equal(r.failed, 0);
}

/* Not executed: errno on the pipe, words on stderr, status 127. */
static void not_executed(void **state)
{
    struct run r;

    (void)state;
    run(&r, "/nonexistent/program", "");
    assert_int_equal(r.failed, ENOENT);
    assert_int_equal(r.end.how, SV_CHILD_EXITED);
    assert_int_equal(r.end.number, 127);
    assert_non_null(strstr(r.text, "not started: /nonexistent/program: errno 2"));
}

static void texts(void **state)
{
    char text[64];

    (void)state;
    assert_string_equal(
        sv_child_end_text((struct sv_child_end){ SV_CHILD_EXITED, 3 }, text, sizeof(text)),
        "exited with status 3");
    assert_string_equal(
        sv_child_end_text((struct sv_child_end){ SV_CHILD_KILLED, 9 }, text, sizeof(text)),
        "was killed by signal 9");
    assert_string_equal(
        sv_child_end_text((struct sv_child_end){ SV_CHILD_UNKNOWN, 0 }, text, sizeof(text)),
        "ended");
}

/* A process that it has forked ends with it, though it holds the pipe. */
static void killed_as_a_group(void **state)
{
    char *argv[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
                     (char *)(uintptr_t) "sleep 1000 & echo; wait", NULL };
    _cleanup_free_ char **environment = sv_child_environment(variables, SV_ARRAY_LEN(variables));
    int out[2];
    struct sv_child child;
    struct sv_child_end end;
    char byte;

    (void)state;
    assert_return_code(pipe2(out, O_CLOEXEC), errno);
    const int fds[] = { out[1], out[1], out[1] };
    assert_return_code(sv_child_start(&(struct sv_child_spec){ .argv = argv,
                                                               .environment = environment,
                                                               .fds = fds,
                                                               .n_fds = 3,
                                                               .procs = -1,
                                                               .failed = -1 },
                                      &child, NULL),
                       errno);
    sv_close(out[1]);
    assert_int_equal(read(out[0], &byte, 1), 1); /* both run */
    sv_child_kill(&child);
    wait_for(&child);
    end = sv_child_reap(&child);
    assert_int_equal(end.how, SV_CHILD_KILLED);
    assert_int_equal(end.number, 9);
    assert_int_equal(read(out[0], &byte, 1), 0); /* nobody has the pipe any more */
    sv_close(out[0]);
    sv_close(child.pidfd);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(inherits_nothing),
                                        cmocka_unit_test(not_executed),
                                        cmocka_unit_test(killed_as_a_group),
                                        cmocka_unit_test(texts) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
