/* executor/helper-client.c. Socket-activated mode, against a listener that drops connections or
 * reads the request: a request that was not read is retried; one that was read never is. Setuid
 * mode: nothing is retried. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "executor/internal.h"

struct fixture {
    sd_event *event;
    struct exe *exe;
    char dir[32];
    struct sockaddr_un at;
    int listening;
    struct exe_call *call;
    int answers, ends;
    bool replied;
    struct exe_failure failure; /* of a check */
};

static int set_up(void **state)
{
    struct fixture *g = calloc(1, sizeof(*g));
    char *none[] = { NULL };
    assert_non_null(g);
    (void)snprintf(g->dir, sizeof(g->dir), "/tmp/call-XXXXXX");
    assert_non_null(mkdtemp(g->dir));
    g->at.sun_family = AF_UNIX;
    (void)snprintf(g->at.sun_path, sizeof(g->at.sun_path), "%s/socket", g->dir);
    g->listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_return_code(bind(g->listening, (struct sockaddr *)&g->at, sizeof(g->at)), errno);
    assert_return_code(listen(g->listening, 16), errno);
    assert_return_code(sd_event_new(&g->event), 0);
    const struct exe_settings s = {
        .helper = "/bin/true", .socket = g->at.sun_path, .local_dirs = none, .log_dirs = none
    };
    assert_return_code(exe_new(g->event, &s, &g->exe, NULL), 0);
    *state = g;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *g = *state;
    g->exe = exe_free(g->exe);
    (void)sd_event_unref(g->event);
    (void)sv_close(g->listening);
    (void)unlink(g->at.sun_path);
    (void)rmdir(g->dir);
    free(g);
    return 0;
}

static void on_answer(const struct exe_reply *reply, int pidfd, int status, void *userdata)
{
    struct fixture *g = userdata;
    (void)status;
    (void)sv_close(pidfd);
    g->answers++;
    g->replied = reply != NULL;
}

static void on_ended(int status, void *userdata)
{
    struct fixture *g = userdata;
    (void)status;
    g->ends++;
    g->call = NULL;
}

static void launch(struct fixture *g)
{
    static const struct exe_call_ops ops = { .answer = on_answer, .ended = on_ended };
    struct exe_request r = { .op = EXE_OP_LAUNCH,
                             .cluster_ts = 1,
                             .app = 1,
                             .attempt = 1,
                             .container = 1,
                             .local_mask = 1,
                             .log_mask = 1,
                             .profile = EXE_PROFILE_STRICT,
                             .user = "joe",
                             .submitter = "joe" };
    _cleanup_close_ int file = sv_memfd_sealed("file", "", 0);
    assert_true(file >= 0);
    assert_return_code(
        exe_call_start(g->exe, &r, (int[]){ file, file }, 2, &ops, g, &g->call, NULL), 0);
}

static void turns(struct fixture *g)
{
    for (int i = 0; i < 20; i++)
        assert_return_code(sd_event_run(g->event, 20000), 0);
}

/* The next connection; -1: there is none. */
static int asked(struct fixture *g)
{
    return accept4(g->listening, NULL, NULL, SOCK_CLOEXEC);
}

static struct exe_request read_request(int fd)
{
    struct exe_request r = { 0 };
    uint8_t buf[EXE_REQUEST_SIZE];
    ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
    if (n <= 0 || exe_request_decode(buf, (size_t)n, &r) < 0)
        r.request_id = 0;
    return r;
}

static uint64_t request_on(int fd)
{
    return read_request(fd).request_id;
}

static void reply_to(int fd, uint64_t request_id)
{
    const struct exe_reply_head head = { .magic = EXE_REPLY_MAGIC,
                                         .version = EXE_PROTOCOL_VERSION,
                                         .status = EXE_STATUS_CGROUP,
                                         .request_id = request_id };
    assert_int_equal(send(fd, &head, sizeof(head), 0), sizeof(head));
}

static void test_dropped_request_is_retried(void **state)
{
    struct fixture *g = *state;
    int fd;
    launch(g);
    for (int i = 0; i < 4; i++) {
        fd = asked(g);
        assert_true(fd >= 0);
        (void)sv_close(fd);
        turns(g);
        assert_int_equal(g->answers, 0);
    }
    fd = asked(g);
    assert_true(fd >= 0);
    const uint64_t id = request_on(fd);
    assert_true(id > 0);
    reply_to(fd, id);
    turns(g);
    assert_int_equal(g->answers, 1);
    assert_true(g->replied);
    (void)sv_close(fd);
    turns(g);
    assert_int_equal(g->ends, 1);
}

/* A refusal before the request was decoded has no request id. */
static void test_refusal_without_id_is_the_answer(void **state)
{
    struct fixture *g = *state;
    launch(g);
    int fd = asked(g);
    assert_true(request_on(fd) > 0);
    reply_to(fd, 0);
    (void)sv_close(fd);
    turns(g);
    assert_int_equal(g->answers, 1);
    assert_true(g->replied);
    assert_int_equal(asked(g), -1);
}

/* Without an answer a request that was read may have been done in part: the call is over. */
static void test_read_request_is_not_retried(void **state)
{
    struct fixture *g = *state;
    launch(g);
    int fd = asked(g);
    assert_true(request_on(fd) > 0);
    (void)sv_close(fd);
    turns(g);
    assert_int_equal(g->answers, 1);
    assert_false(g->replied);
    assert_int_equal(g->ends, 1);
    assert_int_equal(asked(g), -1);
}

/* ---- a helper of another version of the protocol
 * -----------------------------------------------*/

static void on_checked(const struct exe_failure *failure, void *userdata)
{
    struct fixture *g = userdata;
    g->answers++;
    g->replied = failure == NULL;
    if (failure)
        g->failure = *failure;
}

/* The next request is of the version `ours`; a helper of the version `its` answers. */
static void check_of(struct fixture *g, int ours, int its, enum exe_status status)
{
    int fd = asked(g);
    assert_true(fd >= 0);
    const struct exe_request r = read_request(fd);
    assert_int_equal(r.version, ours);
    assert_int_equal(r.op, EXE_OP_CHECK);
    const struct exe_reply_head head = { .magic = EXE_REPLY_MAGIC,
                                         .version = (uint16_t)its,
                                         .status = (uint16_t)status,
                                         .request_id = status ? 0 : r.request_id };
    assert_int_equal(send(fd, &head, sizeof(head), 0), sizeof(head));
    (void)sv_close(fd);
    turns(g);
}

/* One version behind: the check is repeated in that version, and later requests use it. */
static void test_helper_one_version_behind(void **state)
{
    struct fixture *g = *state;
    const int older = EXE_PROTOCOL_VERSION - 1;
    assert_return_code(exe_check(g->exe, false, on_checked, g), 0);
    turns(g);
    check_of(g, EXE_PROTOCOL_VERSION, older, EXE_STATUS_VERSION);
    assert_int_equal(g->answers, 0);
    check_of(g, older, older, EXE_STATUS_OK);
    assert_int_equal(g->answers, 1);
    assert_true(g->replied);
    launch(g);
    int fd = asked(g);
    assert_int_equal(read_request(fd).version, older);
    (void)sv_close(fd);
    turns(g);
}

/* Two behind, or one ahead that refuses us: the answer names both versions; nothing is repeated. */
static void test_helper_of_a_distant_version(void **state)
{
    struct fixture *g = *state;
    const int theirs[] = { EXE_PROTOCOL_VERSION - 2, EXE_PROTOCOL_VERSION + 1 };
    for (int i = 0; i < 2; i++) {
        char words[64];
        assert_return_code(exe_check(g->exe, false, on_checked, g), 0);
        turns(g);
        check_of(g, EXE_PROTOCOL_VERSION, theirs[i], EXE_STATUS_VERSION);
        assert_int_equal(g->answers, i + 1);
        assert_int_equal(g->failure.status, EXE_STATUS_VERSION);
        (void)snprintf(words, sizeof(words), "the helper's is %d, the daemon's %d", theirs[i],
                       EXE_PROTOCOL_VERSION);
        assert_non_null(strstr(g->failure.text, words));
        assert_non_null(strstr(g->failure.text, "must be of one release"));
        assert_int_equal(asked(g), -1);
    }
}

/* A helper that refuses the older version, too, is not asked a third time. */
static void test_helper_that_refuses_both(void **state)
{
    struct fixture *g = *state;
    const int older = EXE_PROTOCOL_VERSION - 1;
    assert_return_code(exe_check(g->exe, false, on_checked, g), 0);
    turns(g);
    check_of(g, EXE_PROTOCOL_VERSION, older, EXE_STATUS_VERSION);
    check_of(g, older, older, EXE_STATUS_VERSION);
    assert_int_equal(g->answers, 1);
    assert_int_equal(g->failure.status, EXE_STATUS_VERSION);
    assert_int_equal(asked(g), -1);
}

struct answers {
    uint16_t version;
    enum exe_status status;
};

/* A process that answers so many connections, since the first check waits in this one. */
static pid_t answering(struct fixture *g, const struct answers *list, int n)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    for (int i = 0; pid == 0 && i < n; i++) {
        uint8_t buf[EXE_REQUEST_SIZE];
        struct pollfd p = { .fd = g->listening, .events = POLLIN };
        int fd = poll(&p, 1, 60000) == 1 ? accept4(g->listening, NULL, NULL, SOCK_CLOEXEC) : -1;
        const struct exe_reply_head head = { .magic = EXE_REPLY_MAGIC,
                                             .version = list[i].version,
                                             .status = (uint16_t)list[i].status };
        if (recv(fd, buf, sizeof(buf), 0) <= 0 || send(fd, &head, sizeof(head), 0) < 0)
            _exit(1);
        (void)sv_close(fd);
    }
    if (pid == 0)
        _exit(0);
    return pid;
}

static int first_check(struct fixture *g, const struct answers *list, int n)
{
    char *none[] = { NULL };
    const struct exe_settings s = {
        .helper = "/bin/true", .socket = g->at.sun_path, .local_dirs = none, .log_dirs = none
    };
    int status = -1;
    pid_t pid = answering(g, list, n);
    int r = exe_check_first(g->exe, &s, &g->failure);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return r;
}

/* Requests after the first check use the version of its answer. */
static void test_first_check(void **state)
{
    struct fixture *g = *state;
    const uint16_t ours = EXE_PROTOCOL_VERSION, older = ours - 1;
    assert_int_equal(first_check(g, (struct answers[]){ { ours, EXE_STATUS_CONFIG_SYNTAX } }, 1),
                     -EPERM);
    assert_int_equal(g->failure.status, EXE_STATUS_CONFIG_SYNTAX);
    assert_int_equal(first_check(g, (struct answers[]){ { ours + 1, EXE_STATUS_OK } }, 1), -EPERM);
    assert_int_equal(g->failure.status, EXE_STATUS_VERSION);
    /* containers are watched without it */
    assert_int_equal(first_check(g, (struct answers[]){ { ours, EXE_STATUS_DEVICE_FILTER } }, 1),
                     0);
    const struct answers behind[] = { { older, EXE_STATUS_VERSION }, { older, EXE_STATUS_OK } };
    assert_int_equal(first_check(g, behind, 2), 0);
    launch(g);
    int fd = asked(g);
    assert_int_equal(read_request(fd).version, older);
    (void)sv_close(fd);
    turns(g);
}

/* Without a socket to wait for, the daemon starts, and probes. */
static void test_first_check_without_socket(void **state)
{
    struct fixture *g = *state;
    char *none[] = { NULL };
    const struct exe_settings s = {
        .helper = "/bin/true", .socket = "/nonexistent/socket", .local_dirs = none, .log_dirs = none
    };
    assert_int_equal(exe_check_first(g->exe, &s, &g->failure), 0);
}

/* ---- helpers that are started -----------------------------------------------------------------*/

/* In the helper's place a script that reads the request, notes that it was there, and ends without
 * a word. */
static void started_ones(struct fixture *g)
{
    char path[64], text[128];
    char *none[] = { NULL };
    g->exe = exe_free(g->exe);
    (void)snprintf(path, sizeof(path), "%s/helper", g->dir);
    (void)snprintf(text, sizeof(text),
                   "#!/bin/sh\n[ $(head -c 1 | wc -c) = 1 ] || exit 0\necho >>%s/asked\nexit 7\n",
                   g->dir);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && fchmod(fileno(f), 0755) == 0 && fclose(f) == 0);
    const struct exe_settings s = { .helper = path, .local_dirs = none, .log_dirs = none };
    assert_return_code(exe_new(g->event, &s, &g->exe, NULL), 0);
}

static int asked_times(const struct fixture *g)
{
    char path[64];
    struct stat st = { 0 };
    (void)snprintf(path, sizeof(path), "%s/asked", g->dir);
    return stat(path, &st) == 0 ? (int)st.st_size : 0;
}

/* Whatever errno another call of the loop has left. */
static void test_setuid_mode_never_retries(void **state)
{
    struct fixture *g = *state;
    char path[64];
    started_ones(g);
    launch(g);
    while (g->ends == 0) {
        errno = ECONNRESET;
        assert_return_code(sd_event_run(g->event, UINT64_MAX), 0);
    }
    assert_int_equal(g->answers, 1);
    assert_false(g->replied);
    turns(g);
    assert_int_equal(asked_times(g), 1);
    for (const char *const *n = (const char *const[]){ "helper", "asked", NULL }; *n; n++) {
        (void)snprintf(path, sizeof(path), "%s/%s", g->dir, *n);
        (void)unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_dropped_request_is_retried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusal_without_id_is_the_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_request_is_not_retried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_helper_one_version_behind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_helper_of_a_distant_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_helper_that_refuses_both, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_check, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_check_without_socket, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_setuid_mode_never_retries, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
