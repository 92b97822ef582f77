/* executor/call.c in the mode by a socket, against a listener that drops connections or reads what
 * is asked: a request that nobody has read is asked again, whenever that comes out; one that was
 * read never is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "executor/internal.h"

struct ground {
    sd_event *event;
    struct exe *exe;
    char dir[32];
    struct sockaddr_un at;
    int listening;
    struct exe_call *call;
    int answers, ends;
    bool replied;
};

static int set_up(void **state)
{
    struct ground *g = calloc(1, sizeof(*g));
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
    struct ground *g = *state;
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
    struct ground *g = userdata;
    (void)status;
    (void)sv_close(pidfd);
    g->answers++;
    g->replied = reply != NULL;
}

static void on_ended(int status, void *userdata)
{
    struct ground *g = userdata;
    (void)status;
    g->ends++;
    g->call = NULL;
}

static void launch(struct ground *g)
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
                             .user = "joe" };
    _cleanup_close_ int file = sv_memfd_sealed("file", "", 0);
    assert_true(file >= 0);
    assert_return_code(
        exe_call_start(g->exe, &r, (int[]){ file, file }, 2, &ops, g, &g->call, NULL), 0);
}

static void turns(struct ground *g)
{
    for (int i = 0; i < 20; i++)
        assert_return_code(sd_event_run(g->event, 20000), 0);
}

/* The first connection on which something is asked; the spare's is closed. -1: there is none. */
static int asked(struct ground *g)
{
    for (;;) {
        char byte;
        int fd = accept4(g->listening, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 || recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 1)
            return fd;
        (void)sv_close(fd);
    }
}

static uint64_t request_on(int fd)
{
    struct exe_request r = { 0 };
    uint8_t buf[EXE_REQUEST_SIZE];
    ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
    return n > 0 && exe_request_decode(buf, (size_t)n, &r) == 0 ? r.request_id : 0;
}

static void reply_to(int fd, uint64_t request_id)
{ /* 0: of one that has done nothing */
    const struct exe_reply_head head = { .magic = EXE_REPLY_MAGIC,
                                         .version = EXE_PROTOCOL_VERSION,
                                         .status = EXE_STATUS_CGROUP,
                                         .request_id = request_id };
    assert_int_equal(send(fd, &head, sizeof(head), 0), sizeof(head));
}

/* Another is asked, and told request and word at once; the call has its answer and its end. */
static void another_answers(struct ground *g)
{
    char word = 0;
    int fd = asked(g);
    assert_true(fd >= 0);
    const uint64_t id = request_on(fd);
    assert_true(id > 0);
    assert_int_equal(recv(fd, &word, 1, MSG_DONTWAIT), 1);
    assert_int_equal(word, EXE_GROUP_READY);
    reply_to(fd, id);
    turns(g);
    assert_int_equal(g->answers, 1);
    assert_true(g->replied);
    (void)sv_close(fd);
    turns(g);
    assert_int_equal(g->ends, 1);
}

/* Dropped unread: before the word that the group is made, after it, and again and again. */
static void dropped(struct ground *g, bool before_the_word, int times)
{
    int fd;
    launch(g);
    if (!before_the_word)
        exe_call_ready(g->call);
    for (int i = 0; i < times; i++) {
        fd = asked(g);
        assert_true(fd >= 0);
        (void)sv_close(fd);
        if (before_the_word && i == 0)
            exe_call_ready(g->call);
        turns(g);
        assert_int_equal(g->answers, 0);
    }
    another_answers(g);
}

static void test_dropped_before_the_word(void **state)
{
    dropped(*state, true, 1);
}

static void test_dropped_after_the_word(void **state)
{
    dropped(*state, false, 1);
}

static void test_dropped_again(void **state)
{
    dropped(*state, true, 4);
}

/* One that has read the request and given up on the word, before it came or just then. */
static void gave_up(struct ground *g, bool before_the_word)
{
    launch(g);
    int fd = asked(g);
    assert_true(request_on(fd) > 0);
    if (!before_the_word)
        exe_call_ready(g->call);
    reply_to(fd, 0);
    (void)sv_close(fd);
    if (before_the_word)
        exe_call_ready(g->call);
    turns(g);
    assert_int_equal(g->answers, 0);
    another_answers(g);
}

static void test_gave_up_before_the_word(void **state)
{
    gave_up(*state, true);
}

static void test_gave_up_when_the_word_came(void **state)
{
    gave_up(*state, false);
}

/* Read, and no answer: it may have been done in part, and is over. */
static void read_and_ended(struct ground *g, bool word)
{
    launch(g);
    int fd = asked(g);
    assert_true(request_on(fd) > 0);
    if (word) {
        char byte;
        exe_call_ready(g->call);
        assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), 1);
    }
    (void)sv_close(fd);
    if (!word)
        exe_call_ready(g->call);
    turns(g);
    assert_int_equal(g->answers, 1);
    assert_false(g->replied);
    assert_int_equal(g->ends, 1);
    assert_int_equal(asked(g), -1);
}

static void test_read_and_ended(void **state)
{
    read_and_ended(*state, true);
}

static void test_read_and_ended_before_the_word(void **state)
{
    read_and_ended(*state, false);
}

/* ---- helpers that are started -----------------------------------------------------------------*/

/* In the helper's place a script that reads the request, notes that it was there, and ends without
 * a word. */
static void started_ones(struct ground *g)
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

static int asked_times(const struct ground *g)
{
    char path[64];
    struct stat st = { 0 };
    (void)snprintf(path, sizeof(path), "%s/asked", g->dir);
    return stat(path, &st) == 0 ? (int)st.st_size : 0;
}

/* One that has read is not followed by another, whatever another call of the loop has just been
 * told: errno outlives it. */
static void test_read_and_ended_beside_one_that_was_dropped(void **state)
{
    struct ground *g = *state;
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
        cmocka_unit_test_setup_teardown(test_dropped_before_the_word, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dropped_after_the_word, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dropped_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gave_up_before_the_word, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gave_up_when_the_word_came, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_and_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_and_ended_before_the_word, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_and_ended_beside_one_that_was_dropped, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
