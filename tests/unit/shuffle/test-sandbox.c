/* Tests shuffle/sandbox.c: remaining abilities of a child that has dropped all privileges. */
#include <errno.h>
#include <fcntl.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "shuffle/sandbox.h"

#ifdef SV_SANITIZED
#define FILTERED false
#else
#define FILTERED true
#endif

static char root[] = "/tmp/selvedge-shuffle-sandbox-XXXXXX";
static int readable; /* the local directory's descriptor */
static bool landlocked;

static bool refused(long r)
{
    return r < 0 && (errno == EPERM || errno == EACCES);
}

static int read_only(const char *path)
{
    return sv_open_beneath(readable, path, O_RDONLY, 0);
}

static int connected = -1; /* a TCP connection */
static bool tls_in_kernel;

/* Those of kernel TLS alone, if it is used; without it no other way to the kernel's TLS is open. */
static int options(void)
{
    int on = 1, other = 0;

    if (setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
        setsockopt(connected, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) < 0)
        return 7;
    if (!refused(setsockopt(connected, SOL_SOCKET, SO_RCVBUF, &on, sizeof(on))) ||
        !refused(setsockopt(connected, IPPROTO_TCP, TCP_MD5SIG, &other, sizeof(other))))
        return 8;
    if (refused(setsockopt(connected, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls"))) == tls_in_kernel)
        return 9;
    if (refused(setsockopt(connected, SOL_TLS, TLS_TX, &other, sizeof(other))) == tls_in_kernel)
        return 10;
    return 0;
}

/* The number of the first check that fails, or 0. Runs on a thread that was there before. */
static int attempts(void)
{
    char outside[128];
    struct stat st;
    int dir, fd = read_only("file");

    (void)snprintf(outside, sizeof(outside), "%s/outside", root);
    if (fd < 0 || fstat(fd, &st) < 0 || close(fd) < 0)
        return 1;
    if (!landlocked)
        goto calls;
    dir = (int)syscall(SYS_openat2, AT_FDCWD, outside,
                       &(struct { uint64_t flags, mode, resolve; }){ O_RDONLY, 0, 0 }, 24);
    if (!refused(dir))
        return 2;
    if (!refused(syscall(
            SYS_openat2, readable, "new",
            &(struct { uint64_t flags, mode, resolve; }){ O_WRONLY | O_CREAT, 0600, 0 }, 24)))
        return 3;
calls:
    if (!FILTERED)
        return 0;
    if (!refused(openat(readable, "file", O_RDONLY)) || !refused(unlinkat(readable, "file", 0)) ||
        !refused(mkdirat(readable, "d", 0700)))
        return 4;
    if (!refused(socket(AF_INET, SOCK_STREAM, 0)) || !refused(socket(AF_UNIX, SOCK_STREAM, 0)))
        return 5;
    if (!refused(execl("/bin/true", "true", NULL)) || !refused(fork()) || !refused(kill(1, 0)) ||
        !refused(syscall(SYS_ptrace, 0, 0, 0, 0)))
        return 6;
    return options();
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *userdata)
{
    pthread_mutex_lock(&gate);
    *(int *)userdata = attempts();
    pthread_mutex_unlock(&gate);
    return NULL;
}

static int child(void)
{
    struct shf_local_dirs dirs = { .n = 1, .v = { { .path = root, .fd = readable } } };
    struct sv_error err = { 0 };
    pthread_t t;
    int r, result = 100;

    pthread_mutex_lock(&gate);
    r = shf_sandbox_files(&dirs, NULL, &err);
    if (r == 0 && pthread_create(&t, NULL, thread, &result) != 0)
        return 101;
    if (r == 0)
        r = shf_sandbox_calls(tls_in_kernel, &err);
    pthread_mutex_unlock(&gate);
    if (r < 0)
        (void)fprintf(stderr, "%s\n", err.text);
    if (r < 0 || pthread_join(t, NULL) != 0)
        return 102;
    return result ? result : attempts();
}

/* One end of a connection that nobody accepts. */
static int make_connection(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(a);
    _cleanup_close_ int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(listening >= 0 && fd >= 0);
    assert_int_equal(bind(listening, (struct sockaddr *)&a, n), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&a, &n), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, n), 0);
    return fd;
}

static void test_what_is_left(void **state)
{
    int status, fd, base = -1;
    pid_t pid;

    (void)state;
    landlocked = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* its version */) > 0;
    assert_non_null(mkdtemp(root));
    base = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(base, "local", 0700), 0);
    readable = openat(base, "local", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 2; i++) {
        fd = openat(i ? base : readable, i ? "outside" : "file", O_WRONLY | O_CREAT | O_CLOEXEC,
                    0600);
        assert_true(fd >= 0);
        (void)sv_close(fd);
    }
    connected = make_connection();
    for (int i = 0; i < 2; i++) {
        tls_in_kernel = i == 1;
        pid = fork();
        if (pid == 0)
            _exit(child());
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    (void)sv_close(connected);
    (void)sv_close(readable);
    (void)sv_close(base);
    base = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sv_remove_tree_at(base, strrchr(root, '/') + 1), 0);
    (void)sv_close(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
