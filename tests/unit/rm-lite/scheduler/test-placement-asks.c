/* rm-lite/scheduler/placement-asks.c: SchedulingRequests that change, wait, are given up or come
 * back; constraints that an application registers; the limits of one application; and that a record
 * of all this plays again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

#include "rm-lite/scheduler/replay.h"
#include "tests/unit/rm-lite/placement-fixture.h"

struct asking { /* two nodes of 4 GiB, application 1 of ann */
    struct fix f;
    struct sv_arena *a;
    struct sv_error err;
    int32_t attempts;
};

static int setup_asking(void **state)
{
    static struct asking t;

    memset(&t, 0, sizeof(t));
    one_queue(&t.f);
    *state = &t;
    t.a = sv_arena_new((size_t)64 << 20);
    return 0;
}

static void start(struct asking *t)
{
    fix_start(&t->f);
    node(&t->f, 1, NULL, 4096, 64);
    node(&t->f, 2, NULL, 4096, 64);
    app(&t->f, 1, "ann", "default", 0);
    (void)beat(&t->f, 1);
    (void)beat(&t->f, 2);
}

static int end_asking(void **state)
{
    struct asking *t = *state;

    fix_end(&t->f);
    sv_arena_free(t->a);
    return 0;
}

#define ASKING(test) cmocka_unit_test_setup_teardown(test, setup_asking, end_asking)

static int handle(struct asking *t, const struct rm_sched_event *ev)
{
    int r;

    t->err = (struct sv_error){ 0 };
    r = rm_sched_handle(t->f.s, ev, t->f.now, &t->f.d, &t->f.n, &t->err);
    if (t->f.record)
        rm_record_event(t->f.record, ev, t->f.now, r, t->f.d, t->f.n);
    return r;
}

static int send_all(struct asking *t, Request *const *q, size_t n)
{
    struct rm_sched_event ev = {
        .type = RM_SCHED_ASK,
        .ask = { .app = app_id(1), .requests = q, .n_requests = n, .attempts = t->attempts }
    };

    return handle(t, &ev);
}

static int send_one(struct asking *t, Request *q)
{
    return send_all(t, &q, q ? 1 : 0);
}

static int64_t pending(struct asking *t)
{
    return app_usage(&t->f, 1).pending_containers;
}

static size_t pass(struct asking *t)
{
    size_t n = 0;

    while (rm_sched_pass_waiting(t->f.s))
        n += allocation_pass(&t->f);
    return n;
}

static void test_only_the_number_changes(void **state)
{
    struct asking *t = *state;

    start(t);
    assert_int_equal(send_one(t, request(t->a, 7, 5, "zk", away_from(t->a, "zk"))), 0);
    assert_int_equal(pending(t), 5);
    assert_int_equal(send_one(t, request(t->a, 7, 3, "zk", away_from(t->a, "zk"))), 0);
    assert_int_equal(pending(t), 3);
    assert_int_equal(send_one(t, request(t->a, 7, 4, "zk", near(t->a, "zk"))), -EINVAL);
    assert_non_null(strstr(t->err.text, "only numAllocations may change for priority 1 and "
                                        "allocationRequestId 7"));
    assert_int_equal(pending(t), 3);
    assert_int_equal(send_one(t, request(t->a, 7, 0, "zk", away_from(t->a, "zk"))), 0);
    assert_int_equal(pending(t), 0);
    assert_int_equal(send_one(t, request(t->a, 7, 1, "zk", near(t->a, "zk"))), 0);
    assert_int_equal(pending(t), 1);
    /* An ordinary ask of the same priority is another one. */
    ask_full(&t->f, 1, 1, RM_ANY, 1024, 1, 1, true);
    assert_int_equal(pending(t), 2);
    assert_int_equal(pass(t), 1);
    assert_null(t->f.d[0].tags);
}

static void test_invalid_requests(void **state)
{
    struct asking *t = *state;
    Request *good = request(t->a, 1, 1, "a", NULL), *bad = request(t->a, 2, 1, "b", NULL);
    Request *both[] = { good, bad };

    start(t);
    bad->resourcesizing->numallocations = -1;
    assert_int_equal(send_all(t, both, 2), -EINVAL); /* changes nothing */
    assert_int_equal(pending(t), 0);
    bad->resourcesizing = NULL;
    assert_int_equal(send_one(t, bad), -EINVAL);
    assert_non_null(strstr(t->err.text, "No ResourceSizing"));
    bad = request(t->a, 2, 1, "", NULL);
    assert_int_equal(send_one(t, bad), -EINVAL);
    bad = request(t->a, 2, 1, NULL, NULL);
    while (bad->n_allocationtags <= RM_TAGS_MAX)
        bad->allocationtags[bad->n_allocationtags++] = (char *)(uintptr_t) "t";
    assert_int_equal(send_one(t, bad), -E2BIG);
    assert_non_null(strstr(t->err.text, "17 allocation tags, more than 16"));
    bad = request(t->a, 2, 1, NULL, NULL);
    bad->resourcesizing->resources->memory = INT64_MAX;
    assert_int_equal(send_one(t, bad), -EINVAL);
    assert_int_equal(pending(t), 0);
}

/* All constraints that wait are bounded together, so that a visit of a node is. */
static void test_limit_of_waiting_constraints(void **state)
{
    struct asking *t = *state;
    Constraint *c = composite(t->a, COMPOSITE(AND), near(t->a, "a"), near(t->a, "b"), NULL);
    int64_t cost = 1 + 3 + 4; /* the request; constraints; targets and values */
    int64_t i = 0;

    start(t);
    for (; i < RM_PLACEMENT_COST / cost; i++)
        assert_int_equal(send_one(t, request(t->a, i, 1, "x", c)), 0);
    assert_int_equal(send_one(t, request(t->a, i, 1, "x", c)), -E2BIG);
    assert_non_null(strstr(t->err.text, "more than 8192 constraints"));
    assert_int_equal(send_one(t, request(t->a, 0, 2, "x", c)), 0);
    assert_int_equal(send_one(t, request(t->a, 1, 0, "x", c)), 0);
    assert_int_equal(send_one(t, request(t->a, i, 1, "x", c)), 0);
}

static void test_given_up_after_attempts(void **state)
{
    struct asking *t = *state;

    start(t);
    t->attempts = 3;
    assert_int_equal(send_one(t, request(t->a, 1, 3, "zk", away_from(t->a, "zk"))), 0);
    assert_int_equal(pass(t), 2);
    for (int i = 2; i <= 3; i++) {
        assert_int_equal(send_one(t, NULL), 0);
        assert_int_equal(t->f.n, 0);
        assert_int_equal(pass(t), 0);
    }
    assert_int_equal(send_one(t, NULL), 0);
    assert_int_equal(t->f.n, 1);
    assert_int_equal(t->f.d[0].type, RM_DECIDE_UNPLACED);
    assert_int_equal(t->f.d[0].count, 1);
    assert_int_equal(t->f.d[0].allocation_id, 1);
    assert_false(t->f.d[0].fitted);
    {
        Request *back = hadoop__yarn__scheduling_request_proto__unpack(NULL, t->f.d[0].request_len,
                                                                       t->f.d[0].request);

        assert_non_null(back);
        assert_string_equal(back->allocationtags[0], "zk");
        assert_int_equal(back->placementconstraint->simpleconstraint->maxcardinality, 0);
        assert_false(back->resourcesizing->has_numallocations);
        hadoop__yarn__scheduling_request_proto__free_unpacked(back, NULL);
    }
    assert_int_equal(pending(t), 0);
    /* With attempts the number is of further containers. */
    container_done(&t->f, 1, 1);
    container_done(&t->f, 1, 2);
    assert_int_equal(send_one(t, request(t->a, 1, 1, "zk", away_from(t->a, "zk"))), 0);
    assert_int_equal(send_one(t, request(t->a, 1, 1, "zk", away_from(t->a, "zk"))), 0);
    assert_int_equal(pass(t), 2);
}

/* A node would do, but the user has all that its limit gives. */
static void test_given_up_for_a_limit(void **state)
{
    struct asking *t = *state;

    set(&t->f, CS "user-limit-factor", "0.25");
    start(t);
    app(&t->f, 2, "bob", "default", 0);
    ask(&t->f, 1, 1024, 2);
    assert_int_equal(pass(t), 2);
    t->attempts = 1;
    assert_int_equal(send_one(t, request(t->a, 1, 9, "zk", NULL)), 0);
    (void)pass(t);
    (void)beat(&t->f, 1);
    assert_int_equal(send_one(t, NULL), 0);
    assert_int_equal(t->f.n, 1);
    assert_int_equal(t->f.d[0].type, RM_DECIDE_UNPLACED);
}

static void test_registered_constraints(void **state)
{
    struct asking *t = *state;
    Hadoop__Yarn__PlacementConstraintMapEntryProto *m = rule(t->a, "zk", away_from(t->a, "zk"));
    struct rm_sched_event ev = { .type = RM_SCHED_CONSTRAINTS,
                                 .constraints = {
                                     .app = app_id(1), .entries = &m, .n_entries = 1 } };
    Request *two;

    start(t);
    assert_int_equal(handle(t, &ev), 0);
    assert_int_equal(send_one(t, request(t->a, 1, 9, "zk", NULL)), 0);
    assert_int_equal(pass(t), 2);
    /* Hadoop finds no constraint for a request with two tags. */
    two = request(t->a, 2, 1, "zk", NULL);
    two->allocationtags[two->n_allocationtags++] = (char *)(uintptr_t) "other";
    assert_int_equal(send_one(t, two), 0);
    assert_int_equal(pass(t), 1);
    /* A new registration ends what waits; one without constraints leaves them. */
    assert_int_equal(pending(t), 7);
    assert_int_equal(handle(t, &ev), 0);
    assert_int_equal(pending(t), 0);
    ev.constraints.n_entries = 0;
    assert_int_equal(handle(t, &ev), 0);
    assert_int_equal(send_one(t, request(t->a, 1, 9, "zk", NULL)), 0);
    assert_int_equal(pass(t), 0);
    ev.constraints.n_entries = 1;
    m->placement_constraint = NULL;
    assert_int_equal(handle(t, &ev), -EINVAL);
    assert_int_equal(pending(t), 9);
    m->placement_constraint = near(t->a, "x");
    m->n_allocation_tags = 0; /* no effect, as in Hadoop */
    assert_int_equal(handle(t, &ev), 0);
    assert_int_equal(pending(t), 0);
}

/* A container that never reached its master is asked for again, with its constraint. */
static void test_put_back(void **state)
{
    struct asking *t = *state;
    struct rm_sched_event back = { .type = RM_SCHED_CONTAINER_DONE,
                                   .container_done = { .container = { { app_id(1), 1 }, 1 },
                                                       .put_ask_back = true } };

    start(t);
    assert_int_equal(send_one(t, request(t->a, 1, 2, "zk", away_from(t->a, "zk"))), 0);
    assert_int_equal(pass(t), 2);
    assert_int_equal(handle(t, &back), 0);
    assert_int_equal(pending(t), 1);
    assert_int_equal(pass(t), 1);
    assert_string_equal(t->f.d[0].tags[0], "zk");
}

/* A reservation ends when the node no longer satisfies the constraint. */
static void test_reservation(void **state)
{
    struct asking *t = *state;
    Request *big = request(t->a, 1, 2, NULL, away_from(t->a, "zk"));

    start(t);
    ask(&t->f, 1, 1024, 2);
    assert_int_equal(beat(&t->f, 1), 2);
    big->resourcesizing->resources->memory = 4096;
    assert_int_equal(send_one(t, big), 0);
    assert_int_equal(beat(&t->f, 1), 0);
    assert_int_equal(app_usage(&t->f, 1).reserved.mem, 4096);
    {
        struct yarn_node_id id = node_id(1);
        const char *zk = "zk";
        struct rm_sched_event ev = { .type = RM_SCHED_CONTAINER_RECOVERED,
                                     .container_recovered = { .container = { { app_id(1), 1 }, 99 },
                                                              .node = &id,
                                                              .resource = { 0 },
                                                              .tags = &zk,
                                                              .n_tags = 1 } };

        assert_int_equal(handle(t, &ev), 0);
    }
    assert_int_equal(beat(&t->f, 1), 0);
    assert_int_equal(app_usage(&t->f, 1).reserved.mem, 0);
}

static void test_record(void **state)
{
    struct asking *t = *state;
    static char data[1 << 20];
    struct rm_replay out;
    struct sv_error err = { 0 };
    int fd = memfd_create("record", MFD_CLOEXEC), keep = fd < 0 ? -1 : dup(fd);
    ssize_t n;

    assert_true(keep >= 0);
    assert_int_equal(rm_record_new(fd, 1 << 20, t->f.conf, 0, &t->f.record), 0);
    test_given_up_after_attempts(state);
    {
        const char *app_tag = "web";
        struct rm_sched_event ev = { .type = RM_SCHED_APP_ADDED,
                                     .app_added = { .app = app_id(2),
                                                    .user = "bob",
                                                    .queue = "default",
                                                    .tags = &app_tag,
                                                    .n_tags = 1 } };
        Hadoop__Yarn__PlacementConstraintMapEntryProto *m = rule(t->a, "zk", near(t->a, "y"));
        struct rm_sched_event rules = { .type = RM_SCHED_CONSTRAINTS,
                                        .constraints = {
                                            .app = app_id(1), .entries = &m, .n_entries = 1 } };

        assert_int_equal(handle(t, &ev), 0);
        assert_int_equal(handle(t, &rules), 0);
    }
    t->f.record = rm_record_free(t->f.record);
    n = pread(keep, data, sizeof(data), 0);
    (void)close(keep);
    assert_true(n > 0);
    if (rm_replay(data, (size_t)n, &out, &err) < 0)
        fail_msg("%s", err.text);
    if (out.differs)
        fail_msg("%s", out.what);
    assert_int_equal(out.end, RM_REPLAY_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ASKING(test_only_the_number_changes),
        ASKING(test_invalid_requests),
        ASKING(test_limit_of_waiting_constraints),
        ASKING(test_given_up_after_attempts),
        ASKING(test_given_up_for_a_limit),
        ASKING(test_registered_constraints),
        ASKING(test_put_back),
        ASKING(test_reservation),
        ASKING(test_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
