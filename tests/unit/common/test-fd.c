/* Tests common/fd.c: descriptors are CLOEXEC, no path escapes the given directory, files appear
 * atomically. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"

static char top_path[] = "/tmp/selvedge-test-fd.XXXXXX";
static int top = -1;

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(top_path))
        return -1;
    top = open(top_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return top < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    int parent = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC), r;

    (void)state;
    r = sv_remove_tree_at(parent, strrchr(top_path, '/') + 1);
    (void)sv_close(parent);
    top = sv_close(top);
    return r;
}

static void test_close(void **state)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), copy = fd;

    (void)state;
    errno = EXDEV;
    assert_int_equal(sv_close(fd), -EBADF);
    assert_int_equal(errno, EXDEV);
    assert_int_equal(fcntl(copy, F_GETFD), -1);
    assert_int_equal(sv_close(-1), -EBADF);
}

static void test_open_beneath(void **state)
{
    int fd;

    (void)state;
    assert_int_equal(mkdirat(top, "dir", 0755), 0);
    assert_int_equal(symlinkat("dir", top, "link"), 0);
    assert_int_equal(symlinkat("/etc/passwd", top, "out"), 0);
    fd = sv_open_beneath(top, "dir/new", O_WRONLY | O_CREAT | O_EXCL, 0640);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    (void)sv_close(fd);
    assert_int_equal(sv_open_beneath(top, "link/new", O_RDONLY, 0), -ELOOP);
    assert_int_equal(sv_open_beneath(top, "out", O_RDONLY, 0), -ELOOP);
    assert_int_equal(sv_open_beneath(top, "dir/../..", O_RDONLY, 0), -EXDEV);
    assert_int_equal(sv_open_beneath(top, "/etc/passwd", O_RDONLY, 0), -EXDEV);
    assert_int_equal(sv_open_beneath(top, "none", O_RDONLY, 0), -ENOENT);
    fd = sv_open_beneath(top, "dir", O_PATH | O_DIRECTORY, 0);
    assert_true(fd >= 0);
    (void)sv_close(fd);
    fd = sv_open_beneath(top, "dir", O_TMPFILE | O_RDWR, 0600);
    assert_true(fd >= 0 || fd == -EOPNOTSUPP);
    (void)sv_close(fd);
}

static void test_mkdir_p(void **state)
{
    char path[256];
    struct stat st;

    (void)state;
    assert_int_equal(sv_mkdir_p_at(top, "a/b//c/./d", 0750), 0);
    assert_int_equal(sv_mkdir_p_at(top, "a/b/c/d/", 0750), 0);
    assert_int_equal(fstatat(top, "a/b/c/d", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(sv_mkdir_p_at(top, "a/../../x", 0750), -EXDEV);
    assert_int_equal(sv_mkdir_p_at(top, "/x", 0750), -EXDEV);
    assert_int_equal(symlinkat("a", top, "alink"), 0);
    assert_int_equal(sv_mkdir_p_at(top, "alink/z", 0750), -ELOOP);
    assert_true(snprintf(path, sizeof(path), "%s/alink/z/y", top_path) < (int)sizeof(path));
    assert_int_equal(sv_mkdir_p(path, 0700), 0); /* the operator's own links are followed */
    assert_int_equal(fstatat(top, "a/z/y", &st, 0), 0);
}

static void test_read_file(void **state)
{
    _cleanup_free_ char *s = NULL, *proc = NULL;
    char *none = NULL;
    size_t n;

    (void)state;
    assert_int_equal(sv_write_file_atomic(top, "f", "12345", 5, 0644), 0);
    assert_int_equal(sv_read_file_at(top, "f", 5, &s, &n), 0);
    assert_int_equal(n, 5);
    assert_string_equal(s, "12345");
    assert_int_equal(sv_read_file_at(top, "f", 4, &none, &n), -EFBIG);
    assert_int_equal(sv_read_file_at(top, ".", 5, &none, &n), -EISDIR);
    assert_int_equal(sv_read_file_at(top, "missing", 5, &none, &n), -ENOENT);
    assert_int_equal(mkfifoat(top, "fifo", 0600), 0);
    assert_int_equal(sv_read_file_at(top, "fifo", 5, &none, &n), -EINVAL); /* and does not hang */
    assert_null(none);
    /* a file that claims to be empty and is not */
    assert_int_equal(sv_read_file_at(AT_FDCWD, "/proc/self/status", 1 << 16, &proc, &n), 0);
    assert_true(n > 100);
    assert_int_equal(sv_read_file_at(AT_FDCWD, "/proc/self/status", 64, &none, &n), -EFBIG);
}

static void test_write_atomic(void **state)
{
    _cleanup_free_ char *s = NULL;
    struct stat st;

    (void)state;
    assert_int_equal(sv_write_file_atomic(top, "w", "old", 3, 0600), 0);
    assert_int_equal(symlinkat("w", top, "wlink"), 0);
    assert_int_equal(sv_write_file_atomic(top, "wlink", "new", 3, 0640), 0);
    assert_int_equal(fstatat(top, "wlink", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISREG(st.st_mode)); /* the link was replaced, not followed */
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(sv_read_file_at(top, "w", 10, &s, NULL), 0);
    assert_string_equal(s, "old");
    assert_int_equal(sv_write_file_atomic(top, "a/b", "x", 1, 0600), -EINVAL);
    assert_int_equal(sv_write_file_atomic(top, "", "x", 1, 0600), -EINVAL);
}

static void test_memfd_readonly(void **state)
{
    _cleanup_close_ int fd = sv_memfd_readonly("test", "bytes", 5);
    char got[8];

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_true(fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE);
    assert_int_equal(read(fd, got, sizeof(got)), 5);
    assert_memory_equal(got, "bytes", 5);
}

static void test_recv_after_reset(void **state)
{
    char got[8];
    int fds[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(send(fds[0], "unread", 6, 0), 6);
    assert_int_equal(send(fds[1], "answer", 6, 0), 6);
    close(fds[1]);
    assert_int_equal(sv_recv(fds[0], got, sizeof(got), MSG_PEEK), 6);
    assert_int_equal(sv_recv(fds[0], got, sizeof(got), 0), 6);
    assert_memory_equal(got, "answer", 6);
    assert_int_equal(sv_recv(fds[0], got, sizeof(got), 0), 0);
    close(fds[0]);
}

static void test_memfd(void **state)
{
    _cleanup_close_ int fd = sv_memfd_sealed("test", "bytes", 5);
    char got[8];

    (void)state;
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(read(fd, got, sizeof(got)), 5);
    assert_memory_equal(got, "bytes", 5);
    assert_int_equal(write(fd, "x", 1), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(ftruncate(fd, 100), -1);
}

static void test_remove_tree(void **state)
{
    struct stat st;
    int fd;

    (void)state;
    assert_int_equal(sv_mkdir_p_at(top, "keep", 0755), 0);
    assert_int_equal(sv_write_file_atomic(top, "keep-file", "x", 1, 0600), 0);
    assert_int_equal(sv_mkdir_p_at(top, "t/shut/inner", 0755), 0);
    fd = sv_open_beneath(top, "t/shut/inner/f", O_WRONLY | O_CREAT, 0);
    assert_true(fd >= 0);
    (void)sv_close(fd);
    assert_int_equal(symlinkat("../keep", top, "t/link"), 0);
    assert_int_equal(symlinkat("../keep-file", top, "t/flink"), 0);
    assert_int_equal(mkfifoat(top, "t/fifo", 0600), 0);
    assert_int_equal(fchmodat(top, "t/shut/inner", 0, 0), 0);
    assert_int_equal(fchmodat(top, "t/shut", 0, 0), 0);
    assert_int_equal(sv_remove_tree_at(top, "t"), 0);
    assert_int_equal(fstatat(top, "t", &st, AT_SYMLINK_NOFOLLOW), -1);
    assert_int_equal(fstatat(top, "keep", &st, 0), 0);
    assert_int_equal(fstatat(top, "keep-file", &st, 0), 0);
    assert_int_equal(sv_remove_tree_at(top, "t"), 0);
    assert_int_equal(sv_remove_tree_at(top, "keep-file"), 0);
    assert_int_equal(sv_remove_tree_at(top, "a/b"), -EINVAL);
    assert_int_equal(sv_remove_tree_at(top, ".."), -EINVAL);
    assert_int_equal(sv_remove_tree_at(top, "."), -EINVAL);
    assert_int_equal(sv_remove_tree_at(top, ""), -EINVAL);
}

/* Deeper than the longest path name, and than a process has descriptors. */
static void test_remove_deep_tree(void **state)
{
    enum { DEPTH = 3000 };
    struct stat st;
    int at = dup(top);

    (void)state;
    for (int i = 0; i < DEPTH; i++) {
        int next;

        assert_int_equal(mkdirat(at, "deep", 0700), 0);
        assert_int_equal(mkdirat(at, "side", 0700), 0);
        next = openat(at, "deep", O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        (void)sv_close(at);
        at = next;
    }
    (void)sv_close(at);
    assert_int_equal(sv_remove_tree_at(top, "deep"), 0);
    assert_int_equal(fstatat(top, "deep", &st, AT_SYMLINK_NOFOLLOW), -1);
}

/* A job holds a lease on its log file and does not release it: an open of the file returns at once
 * instead of retrying while the lease lasts. */
static void test_open_leased(void **state)
{
    int fd = openat(top, "leased", O_RDWR | O_CREAT | O_CLOEXEC, 0600), ready[2], r;
    char c;
    pid_t pid;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)signal(SIGIO, SIG_IGN);
        (void)close(ready[0]);
        c = fcntl(fd, F_SETLEASE, F_WRLCK) == 0 ? 'l' : '-';
        (void)!write(ready[1], &c, 1);
        for (;;)
            (void)pause();
    }
    (void)sv_close(ready[1]);
    (void)sv_close(fd); /* a write lease requires a single opener */
    assert_int_equal(read(ready[0], &c, 1), 1);
    (void)sv_close(ready[0]);
    if (c == 'l') {
        (void)alarm(60); /* ends this test if the open hangs */
        r = sv_open_beneath(top, "leased", O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
        (void)alarm(0);
        assert_int_equal(r, -EAGAIN);
    }
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(c, 'l');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close),          cmocka_unit_test(test_open_beneath),
        cmocka_unit_test(test_mkdir_p),        cmocka_unit_test(test_read_file),
        cmocka_unit_test(test_write_atomic),   cmocka_unit_test(test_memfd),
        cmocka_unit_test(test_memfd_readonly), cmocka_unit_test(test_recv_after_reset),
        cmocka_unit_test(test_remove_tree),    cmocka_unit_test(test_remove_deep_tree),
        cmocka_unit_test(test_open_leased),
    };

    (void)umask(022);
    return cmocka_run_group_tests_name("fd", tests, set_up, tear_down);
}
