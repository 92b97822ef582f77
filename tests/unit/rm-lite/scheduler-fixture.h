/* A scheduler whose nodes and applications are events of the test: the fixture of the scheduler's
 * unit tests. */
#ifndef SELVEDGE_TESTS_UNIT_RM_LITE_SCHEDULER_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_RM_LITE_SCHEDULER_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "rm-lite/scheduler/record.h"
#include "rm-lite/scheduler/scheduler.h"

#define TS INT64_C(1700000000000)

struct fix {
    struct sv_conf *conf;
    struct rm_sched *s;
    struct rm_record *record; /* or NULL */
    int64_t now;
    const struct rm_decision *d; /* of the last event */
    size_t n;
};

static inline void set(struct fix *f, const char *key, const char *value)
{
    assert_int_equal(sv_conf_set(f->conf, key, value), 0);
}

#define CS "yarn.scheduler.capacity."

static inline void fix_conf(struct fix *f)
{
    memset(f, 0, sizeof(*f));
    f->conf = sv_conf_new();
    assert_non_null(f->conf);
    f->now = 1000;
    set(f, CS "maximum-am-resource-percent", "1");
    set(f, "yarn.scheduler.maximum-allocation-vcores", "64");
}

static inline void fix_start(struct fix *f)
{
    struct sv_error err = { 0 };
    int r = rm_sched_new(f->conf, 0, &f->s, &err);

    if (r < 0)
        fail_msg("%s", err.text);
}

static inline void fix_end(struct fix *f)
{
    f->s = rm_sched_free(f->s);
    f->conf = sv_conf_free(f->conf);
}

static inline int go(struct fix *f, struct rm_sched_event ev)
{
    int r = rm_sched_handle(f->s, &ev, f->now, &f->d, &f->n, NULL);

    if (f->record)
        rm_record_event(f->record, &ev, f->now, r, f->d, f->n);
    return r;
}

static inline struct yarn_node_id node_id(int i)
{
    struct yarn_node_id id = { .port = 45454 };

    (void)snprintf(id.host, sizeof(id.host), "node%d", i);
    return id;
}

static inline void node(struct fix *f, int i, const char *rack, int64_t mem, int64_t vcores)
{
    struct yarn_node_id id = node_id(i);

    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_ADDED,
                                                    .node_added = { .node = &id,
                                                                    .rack = rack,
                                                                    .total = { mem, vcores } } }),
                     0);
}

static inline size_t beat(struct fix *f, int i)
{
    struct yarn_node_id id = node_id(i);
    size_t got = 0;

    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_NODE_HEARTBEAT,
                                                    .node_heartbeat = { .node = &id } }),
                     0);
    for (size_t k = 0; k < f->n; k++)
        got += f->d[k].type == RM_DECIDE_ALLOCATED;
    return got;
}

static inline struct yarn_app_id app_id(int i)
{
    return (struct yarn_app_id){ TS, i };
}

static inline bool app_prio(struct fix *f, int i, const char *user, const char *queue,
                            int64_t am_mem, int32_t priority)
{
    struct rm_ask am = { .priority = 0,
                         .allocation_id = -1,
                         .name = RM_ANY,
                         .count = 1,
                         .relax = true,
                         .capability = { am_mem, 1 } };

    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_APP_ADDED,
                                       .app_added = { .app = app_id(i),
                                                      .user = user,
                                                      .queue = queue,
                                                      .priority = priority,
                                                      .am_resource = { am_mem, 1 } } }),
        0);
    assert_int_equal(f->n, 1);
    if (f->d[0].type == RM_DECIDE_APP_REJECTED)
        return false;
    assert_int_equal(f->d[0].type, RM_DECIDE_APP_ACCEPTED);
    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_ADDED,
                                       .attempt_added = { .app = app_id(i),
                                                          .attempt = 1,
                                                          .asks = &am,
                                                          .n_asks = am_mem ? 1 : 0 } }),
        0);
    return true;
}

static inline bool app(struct fix *f, int i, const char *user, const char *queue, int64_t am_mem)
{
    return app_prio(f, i, user, queue, am_mem, 0);
}

static inline void ask_full(struct fix *f, int i, int32_t priority, const char *name, int64_t mem,
                            int64_t vcores, int count, bool relax)
{
    struct rm_ask a = { .priority = priority,
                        .allocation_id = -1,
                        .name = name,
                        .count = count,
                        .relax = relax,
                        .capability = { mem, vcores } };

    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                       .ask = { .app = app_id(i), .asks = &a, .n_asks = 1 } }),
        0);
}

static inline void ask(struct fix *f, int i, int64_t mem, int count)
{
    ask_full(f, i, 1, RM_ANY, mem, 1, count, true);
}

static inline size_t count_app(const struct fix *f, int i)
{
    size_t n = 0;

    for (size_t k = 0; k < f->n; k++)
        n += f->d[k].type == RM_DECIDE_ALLOCATED && f->d[k].app.id == i;
    return n;
}

static inline struct rm_app_usage app_usage(const struct fix *f, int i)
{
    struct rm_app_usage u;

    assert_int_equal(rm_sched_app_usage(f->s, app_id(i), &u), 0);
    return u;
}

static inline int64_t app_used(const struct fix *f, int i)
{
    return app_usage(f, i).used.mem;
}

static inline void container_done(struct fix *f, int i, int container)
{
    assert_int_equal(go(f,
                        (struct rm_sched_event){
                            .type = RM_SCHED_CONTAINER_DONE,
                            .container_done = { .container = { { app_id(i), 1 }, container } } }),
                     0);
}

static inline size_t allocation_pass(struct fix *f)
{
    size_t n = 0;

    assert_int_equal(
        go(f, (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 1000 } }), 0);
    for (size_t i = 0; i < f->n; i++)
        n += f->d[i].type == RM_DECIDE_ALLOCATED;
    return n;
}

static inline void allocation_passes(struct fix *f)
{
    while (rm_sched_pass_waiting(f->s))
        (void)allocation_pass(f);
}

static inline int reconfigure(struct fix *f, struct sv_conf *conf, struct sv_error *err)
{
    struct rm_sched_event ev = { .type = RM_SCHED_RECONFIGURED, .reconfigured = { .conf = conf } };

    return rm_sched_handle(f->s, &ev, f->now, &f->d, &f->n, err);
}

/* Queues without limits of users, and heartbeats that give whatever fits. */
static inline void one_queue(struct fix *f)
{
    fix_conf(f);
    set(f, CS "user-limit-factor", "-1");
    set(f, CS "per-node-heartbeat.maximum-offswitch-assignments", "1000");
    set(f, CS "per-node-heartbeat.maximum-container-assignments", "-1");
}

static inline void two_queues(struct fix *f, const char *a, const char *b)
{
    one_queue(f);
    set(f, CS "root.queues", "a,b");
    set(f, CS "root.a.capacity", a);
    set(f, CS "root.b.capacity", b);
}

/* Starts the scheduler with node 1, and with application 1 of ann in this queue. */
static inline void fix_start_with(struct fix *f, int64_t mem, const char *queue)
{
    fix_start(f);
    node(f, 1, NULL, mem, 64);
    app(f, 1, "ann", queue, 0);
}

/* A test gets its fixture in *state, configured and not started:
 * TWO_QUEUES(test) has queues a and b with half of the cluster each. */
#define ONE_QUEUE(test) cmocka_unit_test_setup_teardown(test, setup_one_queue, teardown)
#define TWO_QUEUES(test) cmocka_unit_test_setup_teardown(test, setup_two_queues, teardown)

static inline int setup_one_queue(void **state)
{
    static struct fix f;

    one_queue(&f);
    *state = &f;
    return 0;
}

static inline int setup_two_queues(void **state)
{
    static struct fix f;

    two_queues(&f, "50", "50");
    *state = &f;
    return 0;
}

static inline int teardown(void **state)
{
    fix_end(*state);
    return 0;
}

#endif
