/* executor/helper-spawn.c with /bin/true as the helper: it is started and can always be reaped. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "executor/helper-spawn.h"

static void ended(struct exe_helper *c)
{
    struct pollfd p = { .fd = c->process, .events = POLLIN };
    int status = -1;
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    exe_helper_close(c);
    assert_true(c->socket < 0 && c->process < 0);
}

static void test_spawn(void **state)
{
    struct exe_helper c = EXE_HELPER_NONE;
    (void)state;
    assert_return_code(exe_helper_spawn("/bin/true", &c, NULL), 0);
    assert_true(fcntl(c.socket, F_GETFD) & FD_CLOEXEC && fcntl(c.process, F_GETFD) & FD_CLOEXEC);
    ended(&c);
    struct sv_error err = { 0 };
    assert_int_equal(exe_helper_spawn("/nonexistent/helper", &c, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent/helper"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing was started that stays */
    assert_int_equal(errno, ECHILD);
}

/* One descriptor too few prevents the start; with just enough, the process can be waited for. */
static void test_too_few_descriptors(void **state)
{
    struct exe_helper c = EXE_HELPER_NONE;
    struct rlimit before;
    (void)state;
    assert_return_code(getrlimit(RLIMIT_NOFILE, &before), 0);
    int first = fcntl(0, F_DUPFD_CLOEXEC, 0);
    assert_true(first >= 0);
    (void)sv_close(first);
    for (rlim_t more = 0; more <= 3; more++) {
        struct rlimit few = { .rlim_cur = (rlim_t)first + more, .rlim_max = before.rlim_max };
        assert_return_code(setrlimit(RLIMIT_NOFILE, &few), 0);
        int r = exe_helper_spawn("/bin/true", &c, NULL);
        assert_return_code(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(r, more < 3 ? -EMFILE : 0);
        if (r < 0) {
            assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
            assert_int_equal(errno, ECHILD);
        }
    }
    ended(&c);
}

/* Sending to a helper that has exited fails; a request that it would refuse is not sent at all. */
static void test_send_to_exited_helper(void **state)
{
    struct exe_helper c = EXE_HELPER_NONE;
    struct exe_request r = { .op = EXE_OP_CHECK };
    (void)state;
    assert_return_code(exe_helper_spawn("/bin/true", &c, NULL), 0);
    struct pollfd p = { .fd = c.process, .events = POLLIN };
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_int_equal(exe_helper_send(&c, &r, NULL, 0), -EPIPE);
    r.op = 99;
    assert_int_equal(exe_helper_send(&c, &r, NULL, 0), -EINVAL);
    ended(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spawn),
        cmocka_unit_test(test_too_few_descriptors),
        cmocka_unit_test(test_send_to_exited_helper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
