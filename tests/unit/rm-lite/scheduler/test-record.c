/* The record of the scheduler and its replay: the same decisions, the first difference, a torn
 * tail, the bound on its size, versions, and lines that are none. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/str.h"
#include "rm-lite/scheduler/record.h"
#include "rm-lite/scheduler/replay.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

struct text { /* a record in memory */
    char *data;
    size_t len;
};

static void text_free(struct text *t)
{
    free(t->data);
}
#define _cleanup_text_ _cleanup_(text_free)

static int open_record(struct fix *f, uint64_t limit)
{
    int fd = memfd_create("record", MFD_CLOEXEC), copy = dup(fd);

    assert_true(fd >= 0 && copy >= 0);
    assert_int_equal(rm_record_new(copy, limit, f->conf, 0, &f->record), 0);
    return fd;
}

static struct text close_record(struct fix *f, int fd)
{
    struct text t = { 0 };
    struct stat st;

    f->record = rm_record_free(f->record);
    assert_int_equal(fstat(fd, &st), 0);
    t.len = (size_t)st.st_size;
    t.data = malloc(t.len + 1);
    assert_non_null(t.data);
    assert_int_equal(pread(fd, t.data, t.len, 0), (ssize_t)t.len);
    t.data[t.len] = 0;
    sv_close(fd);
    return t;
}

/* Every kind of event once, and names that need escapes. */
static void workload(struct fix *f)
{
    const char *const bad[] = { "node 9", "100%", "-", "n\xc3\xb6" };
    struct yarn_node_id n1 = node_id(1), n2 = node_id(2);
    struct yarn_container_id running = { { app_id(1), 1 }, 1 };
    struct yarn_container_id before = { { app_id(2), 1 }, 7 };

    node(f, 1, "/r1", 8192, 8);
    node(f, 2, "/r 2", 4096, 4);
    assert_true(app(f, 1, "alice", "a", 1024));
    assert_true(app_prio(f, 2, "b ob", "b", 1024, 3));
    assert_false(app(f, 3, "eve", "no such queue", 1024));
    (void)beat(f, 1);
    ask_full(f, 1, 1, "node1", 1024, 1, 2, true);
    ask_full(f, 1, 1, "/r1", 1024, 1, 2, true);
    ask(f, 1, 1024, 2);
    ask(f, 2, 4096, 2);
    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                       .ask = { .app = app_id(1),
                                                .blacklist_add = bad,
                                                .n_blacklist_add = SV_ARRAY_LEN(bad) } }),
        0);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                                    .ask = { .app = app_id(1),
                                                             .blacklist_remove = bad,
                                                             .n_blacklist_remove = 1 } }),
                     0);
    for (int i = 0; i < 6; i++) {
        (void)beat(f, 1 + i % 2);
        (void)go(f, (struct rm_sched_event){ .type = RM_SCHED_PASS,
                                             .pass = { .window_ms = 1000, .max_decisions = 10 } });
        f->now += 100;
    }
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                                    .container_done = { .container = running } }),
                     0);
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                                    .container_done = { .container = running } }),
                     -ENOENT);
    (void)go(f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_RECOVERED,
                                         .container_recovered = { .container = before,
                                                                  .node = &n1,
                                                                  .resource = { 512, 1, { 0 } },
                                                                  .priority = 4,
                                                                  .is_master = true } });
    for (int i = 0; i < 2; i++) { /* more, then none */
        (void)go(f, (struct rm_sched_event){
                        .type = RM_SCHED_CONTAINER_UPDATE,
                        .container_update = { .container = before,
                                              .resource = { 1024 * !i, !i, { 0 } } } });
        (void)beat(f, 1);
    }
    (void)go(f, (struct rm_sched_event){ .type = RM_SCHED_APP_PRIORITY,
                                         .app_priority = { .app = app_id(1), .priority = 5 } });
    (void)go(f, (struct rm_sched_event){ .type = RM_SCHED_APP_MOVED,
                                         .app_moved = { .app = app_id(1), .queue = "b" } });
    (void)go(f, (struct rm_sched_event){ .type = RM_SCHED_PREEMPT });
    set(f, CS "root.a.maximum-capacity", "60");
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_RECONFIGURED,
                                                    .reconfigured = { .conf = f->conf } }),
                     0);
    (void)go(
        f, (struct rm_sched_event){ .type = RM_SCHED_NODE_RESIZED,
                                    .node_resized = { .node = &n2, .total = { 8192, 8, { 0 } } } });
    (void)go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_SCHEDULABLE,
                                         .node_schedulable = { .node = &n2 } });
    (void)go(f, (struct rm_sched_event){
                    .type = RM_SCHED_ATTEMPT_REMOVED,
                    .attempt_removed = { .app = app_id(2), .keep_containers = true } });
    (void)go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_REMOVED,
                                         .node_removed = { .node = &n1 } });
    (void)go(f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                         .app_removed = { .app = app_id(2) } });
}

static struct text recorded(uint64_t limit)
{
    struct fix f;
    struct text t;
    int fd;

    two_queues(&f, "50", "50");
    fix_start(&f);
    fd = open_record(&f, limit);
    workload(&f);
    t = close_record(&f, fd);
    fix_end(&f);
    return t;
}

static struct rm_replay play(const char *data, size_t len)
{
    struct sv_error err = { 0 };
    struct rm_replay got;

    if (rm_replay(data, len, &got, &err) < 0)
        fail_msg("%s", err.text);
    return got;
}

static void refused(const char *data, int code, const char *words)
{
    struct sv_error err = { 0 };
    struct rm_replay got;

    assert_int_equal(rm_replay(data, strlen(data), &got, &err), code);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static void test_same(void **state)
{
    _cleanup_text_ struct text t = recorded(UINT64_MAX);
    struct rm_replay got = play(t.data, t.len);

    (void)state;
    if (got.differs)
        fail_msg("%s", got.what);
    assert_int_equal(got.end, RM_REPLAY_END);
    assert_int_equal(got.events, count(t.data, "\ne "));
    assert_int_equal(got.decisions, count(t.data, "\nd "));
    assert_true(got.decisions >= 10);
    for (int type = RM_SCHED_NODE_ADDED; type <= RM_SCHED_RECONFIGURED; type++) {
        char line[64];

        assert_non_null(rm_record_event_name(type));
        (void)snprintf(line, sizeof(line), "\ne %s ", rm_record_event_name(type));
        if (!strstr(t.data, line))
            fail_msg("no event of the type %s", rm_record_event_name(type));
        assert_int_equal(rm_record_event_type(rm_record_event_name(type)), type);
    }
    assert_non_null(strstr(t.data, "\n+ node%209\n+ 100%25\n+ %2d\n+ n%c3%b6\n= 0 0\n"));
    assert_non_null(strstr(t.data, "\n- node%209\n= 0 0\n"));
}

/* Every recorded decision, changed, is the first difference; one too few and one too many too. */
static void test_difference(void **state)
{
    _cleanup_text_ struct text t = recorded(UINT64_MAX);
    size_t changed = 0;

    (void)state;
    for (char *p = t.data; (p = strstr(p, "\nd ")); p++) {
        char *at = strstr(p, "application_") + 12, was = *at;
        struct rm_replay got;

        *at = '9';
        got = play(t.data, t.len);
        assert_true(got.differs);
        assert_non_null(strstr(got.what, "recorded: d "));
        assert_true(got.events < count(t.data, "\ne "));
        *at = was;
        changed++;
    }
    assert_true(changed >= 10);
    assert_false(play(t.data, t.len).differs);
}

static void test_other_result(void **state)
{
    _cleanup_text_ struct text t = recorded(UINT64_MAX);
    char *at = strstr(t.data, "\n= -2 0"), *one = strstr(t.data, "\n= 0 1\nd ");
    struct rm_replay got;

    (void)state;
    assert_non_null(at);
    at[4] = '7';
    got = play(t.data, t.len);
    assert_true(got.differs);
    assert_non_null(strstr(got.what, "recorded: result -7"));
    assert_non_null(strstr(got.what, "now:      result -2"));
    at[4] = '2';
    assert_non_null(one);
    one[5] = '0'; /* and the line of the decision is that of an event that lacks its first line */
    got = play(t.data, t.len);
    assert_true(got.differs);
    assert_non_null(strstr(got.what, "recorded: nothing"));
}

/* A truncated record replays the same whole events, and the truncation is reported. */
static void test_torn(void **state)
{
    _cleanup_text_ struct text t = recorded(UINT64_MAX);
    const char *first = strstr(t.data, "\ne ");
    uint64_t events = 0;

    (void)state;
    assert_non_null(first);
    for (size_t len = (size_t)(first - t.data) + 1; len < t.len; len++) {
        struct rm_replay got = play(t.data, len);

        if (got.differs)
            fail_msg("cut after %zu bytes: %s", len, got.what);
        assert_int_equal(got.end, RM_REPLAY_TORN);
        assert_true(got.torn_line > 1 && got.events >= events);
        events = got.events;
    }
    assert_int_equal(events, count(t.data, "\ne "));
}

static void test_limit(void **state)
{
    _cleanup_text_ struct text t = recorded(4000);
    struct rm_replay got = play(t.data, t.len);

    (void)state;
    assert_in_range(t.len, 4000, 4000 + 2000);
    assert_true(sv_has_suffix(t.data, "\nx limit\n"));
    assert_false(got.differs);
    assert_int_equal(got.end, RM_REPLAY_LIMIT);
    assert_true(got.events > 5);
}

static void test_not_written(void **state)
{
    struct fix f;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    (void)state;
    assert_true(fd >= 0);
    two_queues(&f, "50", "50");
    fix_start(&f);
    assert_int_equal(rm_record_new(fd, UINT64_MAX, f.conf, 0, &f.record), 0);
    workload(&f); /* goes on all the same */
    f.record = rm_record_free(f.record);
    fix_end(&f);
}

#define HEAD "selvedge-rm-record 1 epoch=0\n"

static void test_refused(void **state)
{
    (void)state;
    refused("", -EBADMSG, "not a record");
    refused("hello\n", -EBADMSG, "not a record");
    refused("selvedge-rm-record 2 epoch=0\n", -EPROTONOSUPPORT, "version 2");
    refused("selvedge-rm-record 1\n", -EBADMSG, "line 1: has no epoch");
    refused("selvedge-rm-record 1 epoch=99999999\n", -EBADMSG, "line 1: has no epoch");
    refused(HEAD "k one\n", -EBADMSG, "line 2");
    refused(HEAD "k yarn.scheduler.capacity.root.queues a\n", -EINVAL,
            "the recorded configuration");
    refused(HEAD "d accepted\n", -EBADMSG, "line 2: is not the beginning of an event");
    refused(HEAD "e dance 1\n", -EBADMSG, "line 2: is not an event");
    refused(HEAD "e preempt -1\n", -EBADMSG, "line 2: is not an event");
    refused(HEAD "e preempt 1 what=1\n", -EBADMSG, "line 2: has a field");
    refused(HEAD "e preempt 1 rack=r\n", -EBADMSG, "line 2: has a field");
    refused(HEAD "e heartbeat 1 flag=1\n", -EBADMSG, "line 2: has a field");
    refused(HEAD "e node-resized 1 total=1,2,3\n", -EBADMSG, "line 2: has a field");
    refused(HEAD "e node-resized 1 total=1,2,3,-4\n", -EBADMSG, "line 2: has a field");
    refused(HEAD "e node-resized 1 total=1,2,3,4,5\n", -EBADMSG, "line 2: has a field");
    refused(HEAD "e node-added 1 rack=%zz\n", -EBADMSG, "line 2: has a field");
    refused(HEAD "e node-added 1 rack=%0\n", -EBADMSG, "line 2: has a field");
    refused(HEAD "e node-added 1 rack=%00\n", -EBADMSG, "line 2: has a field");
    refused(HEAD "e preempt 1\ne preempt 2\n", -EBADMSG, "line 3: is of no known kind");
    refused(HEAD "e heartbeat 1\n= 0 0\n", -EBADMSG, "line 3: ends an event that lacks a field");
    refused(HEAD "e app-added 1 app=application_1_0001 user=u\n= 0 0\n", -EBADMSG, "line 3: ends");
    refused(HEAD "e preempt 1\na 1 1 * 1,1,0,0 -1 1\n", -EBADMSG, "line 3: is not \"a ");
    refused(HEAD "e preempt 1\n+ -\n", -EBADMSG, "line 3: is not a name");
    refused(HEAD "e preempt 1\n= 1 0\n", -EBADMSG, "line 3: is not \"= ");
    refused(HEAD "e preempt 1\n= 0 1\nx end\n", -EBADMSG, "line 4: is not a decision");
    refused(HEAD "x end\nx end\n", -EBADMSG, "line 2: is neither");
    refused(HEAD "x later\n", -EBADMSG, "line 2: is neither");
}

static void test_open(void **state)
{
    char dir[] = "/tmp/selvedge-record-XXXXXX", path[64], old[80];
    struct sv_error err = { 0 };
    struct rm_record *rec;
    struct stat st;
    struct fix f;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/record", dir);
    (void)snprintf(old, sizeof(old), "%s.old", path);
    fix_conf(&f);
    set(&f, "some.secret.key", "secret");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rm_record_open(path, 1000, f.conf, 0, &rec, &err), 0);
        rec = rm_record_free(rec);
    }
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_true(st.st_size < 200); /* two keys of the scheduler, none other */
    assert_int_equal(stat(old, &st), 0);
    assert_int_equal(rm_record_open("record", 1000, f.conf, 0, &rec, &err), -EINVAL);
    assert_non_null(strstr(err.text, "not an absolute path"));
    assert_int_equal(rm_record_open("/no/such/directory/record", 1000, f.conf, 0, &rec, &err),
                     -ENOENT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(old), 0);
    assert_int_equal(rmdir(dir), 0);
    f.conf = sv_conf_free(f.conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),    cmocka_unit_test(test_difference),
        cmocka_unit_test(test_torn),    cmocka_unit_test(test_other_result),
        cmocka_unit_test(test_limit),   cmocka_unit_test(test_not_written),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
