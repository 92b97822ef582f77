/* Tests common/log.c: one escaped line per message, levels, and the fields sent to the journal's
 * socket (in a private mount namespace, hence the fork). */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"

static char got[16384];

/* Runs fn with stderr in a pipe; the text lands in got. */
static void capture(void (*fn)(void))
{
    int p[2], saved = dup(STDERR_FILENO);
    ssize_t n;

    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_true(dup2(p[1], STDERR_FILENO) >= 0);
    fn();
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    (void)sv_close(p[1]);
    n = read(p[0], got, sizeof(got) - 1);
    assert_true(n >= 0);
    got[n] = '\0';
    (void)sv_close(p[0]);
    (void)sv_close(saved);
}

static void hostile(void)
{
    sv_log(SV_LOG_WARNING, "container_1_0001_01_000001", "name \"%s\"",
           "a\n2026-01-01T00:00:00.000Z err nodemanager: forged\x1b[2J\xff");
}

static void too_long(void)
{
    static char big[10000];

    memset(big, '\n', sizeof(big) - 1);
    sv_log_err("%s", big);
}

static void quiet(void)
{
    sv_log_debug("not shown");
}

static void bad_level(void)
{
    assert_int_equal(setenv("SELVEDGE_LOG_LEVEL", "loud\n", 1), 0);
    sv_log_init("test");
    assert_int_equal(setenv("SELVEDGE_LOG_LEVEL", "debug", 1), 0);
    sv_log_init("test");
}

static void test_line(void **state)
{
    (void)state;
    sv_log_init("test");
    sv_clock_set_test(1, 1767323045678);
    capture(hostile);
    assert_string_equal(got, "2026-01-02T03:04:05.678Z warning tests: container_1_0001_01_000001: "
                             "name \"a\\x0a2026-01-01T00:00:00.000Z err nodemanager: "
                             "forged\\x1b[2J\\xff\"\n");
    sv_clock_reset();
}

static void test_long(void **state)
{
    (void)state;
    capture(too_long);
    assert_true(strlen(got) < 5000);
    assert_ptr_equal(strchr(got, '\n'), got + strlen(got) - 1);
}

static void test_levels(void **state)
{
    (void)state;
    capture(quiet);
    assert_string_equal(got, "");
    capture(bad_level);
    assert_non_null(strstr(got, "\"loud\\x0a\" is not a level"));
    assert_int_equal(sv_log_get_level(), SV_LOG_DEBUG);
    capture(quiet);
    assert_non_null(strstr(got, "not shown"));
    sv_log_set_level(SV_LOG_INFO);
}

#define CANNOT_RUN 77

static bool has_field(const char *field)
{
    size_t n = strlen(field);

    for (const char *p = got; (p = strstr(p, field)); p++)
        if ((p == got || p[-1] == '\n') && (p[n] == '\n' || p[n] == '\0'))
            return true;
    (void)fprintf(stderr, "no \"%s\" in:\n%s\n", field, got);
    return false;
}

static bool put_file(const char *path, const char *text)
{
    _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && sv_write_all(fd, text, strlen(text)) == 0;
}

/* Without root: in a user namespace as root. */
static bool own_user_namespace(void)
{
    char uids[32], gids[32];

    (void)snprintf(uids, sizeof(uids), "0 %u 1", geteuid());
    (void)snprintf(gids, sizeof(gids), "0 %u 1", getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put_file("/proc/self/uid_map", uids) &&
           put_file("/proc/self/setgroups", "deny") && put_file("/proc/self/gid_map", gids);
}

/* In a child: replaces journald's socket, logs, reads the datagram. Returns an exit status. */
static int journal_child(void)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/socket" };
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char stream[64];
    struct stat st;
    ssize_t n;

    if (unshare(CLONE_NEWNS) < 0 && !own_user_namespace())
        return CANNOT_RUN;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", "/run", "tmpfs", 0, NULL) < 0)
        return CANNOT_RUN;
    if (sv_mkdir_p("/run/systemd/journal", 0755) < 0 ||
        bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || fstat(STDERR_FILENO, &st) < 0)
        return 1;
    (void)snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
                   (unsigned long long)st.st_ino);
    if (setenv("JOURNAL_STREAM", stream, 1) < 0)
        return 1;
    sv_log_init("test-program");
    sv_log(SV_LOG_WARNING, "container_1_0001_01_000001", "hello\nPRIORITY=0");
    n = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);
    if (n <= 0)
        return 2;
    got[n] = '\0';
    if (!has_field("MESSAGE=hello\\x0aPRIORITY=0") || !has_field("PRIORITY=4") ||
        !has_field("CONTAINER_ID=container_1_0001_01_000001") ||
        !has_field("SYSLOG_IDENTIFIER=test-program") ||
        !has_field("CODE_FILE=tests/unit/common/test-log.c") ||
        !has_field("CODE_FUNC=journal_child"))
        return 3;
    sv_log(SV_LOG_INFO, "application_1_0001", "x");
    n = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);
    if (n <= 0)
        return 4;
    got[n] = '\0';
    return has_field("APPLICATION_ID=application_1_0001") ? 0 : 5;
}

static void test_journal(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(journal_child());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_RUN)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_journal),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_levels),
    };

    assert_int_equal(unsetenv("SELVEDGE_LOG_LEVEL"), 0);
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
