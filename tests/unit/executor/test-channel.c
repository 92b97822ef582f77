/* executor/channel.c with /bin/true in the place of the helper: it is started, can always be waited
 * for, and is known again. What the helper does with what is said: tests/integration/setuid-helper.
 */
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
#include "executor/channel.h"

static void ended(struct exe_channel *c)
{
    struct pollfd p = { .fd = c->process, .events = POLLIN };
    int status = -1;
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    exe_channel_close(c);
    assert_true(c->socket < 0 && c->process < 0);
}

static void test_started(void **state)
{
    struct exe_channel c = EXE_CHANNEL_NONE;
    (void)state;
    assert_return_code(exe_channel_open("/bin/true", &c, NULL), 0);
    assert_true(fcntl(c.socket, F_GETFD) & FD_CLOEXEC && fcntl(c.process, F_GETFD) & FD_CLOEXEC);
    ended(&c);
    struct sv_error err = { 0 };
    assert_int_equal(exe_channel_open("/nonexistent/helper", &c, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent/helper"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing was started that stays */
    assert_int_equal(errno, ECHILD);
}

/* With a descriptor too few nothing is started; with just enough, what is started can be waited
 * for. */
static void test_descriptors(void **state)
{
    struct exe_channel c = EXE_CHANNEL_NONE;
    struct rlimit before;
    (void)state;
    assert_return_code(getrlimit(RLIMIT_NOFILE, &before), 0);
    int first = fcntl(0, F_DUPFD_CLOEXEC, 0);
    assert_true(first >= 0);
    (void)sv_close(first);
    for (rlim_t more = 0; more <= 3; more++) {
        struct rlimit few = { .rlim_cur = (rlim_t)first + more, .rlim_max = before.rlim_max };
        assert_return_code(setrlimit(RLIMIT_NOFILE, &few), 0);
        int r = exe_channel_open("/bin/true", &c, NULL);
        assert_return_code(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(r, more < 3 ? -EMFILE : 0);
        if (r < 0) {
            assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
            assert_int_equal(errno, ECHILD);
        }
    }
    ended(&c);
}

static void copy(const char *from, const char *to)
{
    char *data = NULL;
    size_t len = 0;
    assert_return_code(sv_read_file_at(AT_FDCWD, from, 64 << 20, &data, &len), 0);
    _cleanup_close_ int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    assert_return_code(sv_write_all(fd, data, len), 0);
    free(data);
}

/* An upgrade, a chmod and a file that is gone are other files than the one that runs. */
static void test_current(void **state)
{
    struct exe_channel c = EXE_CHANNEL_NONE;
    char dir[] = "/tmp/channel-XXXXXX", helper[64], next[64];
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(helper, sizeof(helper), "%s/helper", dir);
    (void)snprintf(next, sizeof(next), "%s/next", dir);
    copy("/bin/true", helper);
    assert_return_code(exe_channel_open(helper, &c, NULL), 0);
    assert_true(exe_channel_is_current(&c, helper));
    copy("/bin/true", next);
    assert_false(exe_channel_is_current(&c, next));
    assert_return_code(rename(next, helper), 0);
    assert_false(exe_channel_is_current(&c, helper));
    ended(&c);
    assert_return_code(exe_channel_open(helper, &c, NULL), 0);
    assert_true(exe_channel_is_current(&c, helper));
    struct stat was, is;
    assert_return_code(stat(helper, &was), 0);
    do { /* until the file system's clock has gone on */
        assert_return_code(chmod(helper, 0500), 0);
        assert_return_code(stat(helper, &is), 0);
    } while (memcmp(&was.st_ctim, &is.st_ctim, sizeof(was.st_ctim)) == 0);
    assert_false(exe_channel_is_current(&c, helper));
    assert_return_code(unlink(helper), 0);
    assert_false(exe_channel_is_current(&c, helper));
    ended(&c);
    assert_return_code(rmdir(dir), 0);
}

/* One that has ended is seen by what is sent to it; a request that it would refuse is not sent at
 * all. */
static void test_said(void **state)
{
    struct exe_channel c = EXE_CHANNEL_NONE;
    struct exe_request r = { .op = EXE_OP_CHECK };
    (void)state;
    assert_return_code(exe_channel_open("/bin/true", &c, NULL), 0);
    struct pollfd p = { .fd = c.process, .events = POLLIN };
    assert_int_equal(poll(&p, 1, 60000), 1);
    assert_int_equal(exe_channel_ready(&c), -EPIPE);
    assert_int_equal(exe_channel_send(&c, &r, NULL, 0), -EPIPE);
    r.op = 99;
    assert_int_equal(exe_channel_send(&c, &r, NULL, 0), -EINVAL);
    ended(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_started),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_current),
        cmocka_unit_test(test_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
