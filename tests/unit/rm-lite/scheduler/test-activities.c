/* rm-lite/scheduler/activities.c: what is recorded of visits, on request, and its bounds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/activities.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

static const struct rm_visit *visit_of(const struct fix *f, int i)
{
    struct yarn_node_id id = node_id(i);

    return rm_visit_of(f->s, &id, f->now);
}

static void want(struct fix *f, int i)
{
    struct yarn_node_id id = node_id(i);

    rm_record_next_visit(f->s, &id);
}

static size_t visits(const struct fix *f)
{
    size_t n = 0;

    for (const struct rm_visit *v = rm_visits(f->s); v; v = v->next)
        n++;
    return n;
}

static size_t app_visits(const struct fix *f, int i)
{
    size_t n = 0;

    for (const struct rm_visit *v = rm_app_visits(f->s, app_id(i), f->now); v; v = v->next)
        n++;
    return n;
}

static const struct rm_activity *row_of(const struct rm_visit *v, enum rm_activity_level level)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->rows[i].level == level)
            return &v->rows[i];
    return NULL;
}

static void test_nothing_without_request(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 8192, "default");
    ask(f, 1, 1024, 1);
    beat(f, 1);
    assert_int_equal(rm_recorded(f->s), 0);
    assert_null(rm_visits(f->s));
    assert_null(visit_of(f, 1));
    assert_null(rm_app_visits(f->s, app_id(1), f->now));
}

/* One visit of the node that was asked for: the rows from the ask to the root. */
static void test_one_visit(void **state)
{
    struct fix *f = *state;
    const struct rm_visit *v;
    const struct rm_activity *r;

    fix_start_with(f, 8192, "default");
    node(f, 2, NULL, 8192, 64);
    ask(f, 1, 1024, 3);
    want(f, 2);
    want(f, 2);
    assert_int_equal(beat(f, 1), 3);
    ask(f, 1, 1024, 1);
    assert_null(rm_visits(f->s));
    beat(f, 2);
    beat(f, 2);
    assert_int_equal(visits(f), 1);
    v = visit_of(f, 2);
    assert_non_null(v);
    assert_ptr_equal(v, rm_visit_of(f->s, NULL, f->now));
    assert_null(visit_of(f, 1));
    assert_int_equal(v->end, RM_ACTIVITY_ALLOCATED);
    assert_int_equal(v->container.id, 4);
    assert_int_equal(v->n, 5);
    assert_int_equal(v->number, 1);
    r = v->rows;
    assert_true(r[0].level == RM_ACTIVITY_NODE && r[0].depth == 4 && r[0].container.id == 4);
    assert_true(r[1].level == RM_ACTIVITY_REQUEST && r[1].depth == 3 && r[1].priority == 1);
    assert_true(r[2].level == RM_ACTIVITY_APP && r[2].depth == 2 && r[2].app.id == 1);
    assert_true(r[3].level == RM_ACTIVITY_QUEUE && r[3].depth == 1);
    assert_string_equal(r[3].queue, "root.default");
    assert_true(r[4].level == RM_ACTIVITY_QUEUE && r[4].depth == 0);
    assert_int_equal(r[4].state, RM_ACTIVITY_ACCEPTED);
}

static void test_states(void **state)
{
    struct fix *f = *state;
    const struct rm_activity *r;

    fix_start_with(f, 4096, "a");
    want(f, 1);
    beat(f, 1);
    r = row_of(visit_of(f, 1), RM_ACTIVITY_QUEUE);
    assert_true(r->state == RM_ACTIVITY_SKIPPED && r->why == RM_ACTIVITY_IDLE);
    for (int i = 10; i < 18; i++)
        node(f, i, NULL, 512, 8);
    want(f, 10);
    ask(f, 1, 3072, 2);
    beat(f, 10);
    r = row_of(visit_of(f, 10), RM_ACTIVITY_QUEUE);
    assert_true(r->state == RM_ACTIVITY_REJECTED && r->why == RM_ACTIVITY_NODE_FULL);
    assert_string_equal(r->queue, "root");
    beat(f, 1);
    want(f, 1);
    beat(f, 1);
    r = row_of(visit_of(f, 1), RM_ACTIVITY_NODE);
    assert_true(r->state == RM_ACTIVITY_RE_RESERVED && r->why == RM_REFUSED_SPACE);
    assert_int_equal(r->required.mem, 3072);
    assert_int_equal(r->available.mem, 1024);
    assert_int_equal(visit_of(f, 1)->end, RM_ACTIVITY_RESERVED);
    container_done(f, 1, 1);
    want(f, 1);
    assert_int_equal(beat(f, 1), 1);
    assert_int_equal(visit_of(f, 1)->end, RM_ACTIVITY_ALLOCATED_FROM_RESERVED);
}

static void test_application(void **state)
{
    struct fix *f = *state;
    const struct rm_visit *v;

    set(f, CS "root.a.maximum-capacity", "50");
    fix_start_with(f, 8192, "a");
    app(f, 2, "bob", "a", 0);
    ask(f, 1, 4096, 2);
    rm_record_app(f->s, app_id(1), f->now + 1000);
    rm_record_app(f->s, app_id(2), f->now + 1000);
    beat(f, 1);
    assert_int_equal(app_visits(f, 1), 2); /* allocated; refused by the queue's maximum */
    assert_int_equal(app_visits(f, 2), 0);
    v = rm_app_visits(f->s, app_id(1), f->now);
    assert_int_equal(v->end, RM_ACTIVITY_ALLOCATED);
    v = v->next;
    assert_int_equal(v->end, RM_ACTIVITY_SKIPPED);
    assert_int_equal(row_of(v, RM_ACTIVITY_REQUEST)->why, RM_REFUSED_HEADROOM);
    assert_int_equal(row_of(v, RM_ACTIVITY_REQUEST)->state, RM_ACTIVITY_REJECTED);
    assert_null(rm_visits(f->s)); /* no node's visit was asked for */
    f->now += 1000;
    beat(f, 1);
    assert_int_equal(app_visits(f, 1), 2); /* its time is over */
    f->now += RM_ACTIVITIES_TTL_MS;
    assert_int_equal(app_visits(f, 1), 0);
    beat(f, 1);
    rm_record_app(f->s, app_id(1), f->now + 1000);
    assert_int_equal(app_visits(f, 1), 0);
}

static void test_user_limit(void **state)
{
    struct fix *f = *state;
    const struct rm_visit *v;

    set(f, CS "root.default.user-limit-factor", "0.25");
    fix_start_with(f, 8192, "default");
    ask(f, 1, 1024, 5);
    beat(f, 1);
    rm_record_app(f->s, app_id(1), f->now + 1000);
    beat(f, 1);
    v = rm_app_visits(f->s, app_id(1), f->now);
    assert_int_equal(v->end, RM_ACTIVITY_REJECTED);
    assert_int_equal(v->n, 1);
    assert_int_equal(v->rows[0].why, RM_REFUSED_USER);
}

/* Visits that follow each other, whichever the nodes. */
static void test_next_visits(void **state)
{
    struct fix *f = *state;

    fix_start_with(f, 8192, "default");
    assert_int_equal(rm_record_visits(f->s, 3), 3);
    for (int i = 0; i < 5; i++)
        beat(f, 1);
    assert_int_equal(rm_recorded(f->s), 3);
    assert_int_equal(visits(f), 3);
    assert_int_equal(rm_record_visits(f->s, 100000), 3 + RM_VISITS_MAX);
    for (int i = 0; i < RM_VISITS_MAX + 9; i++)
        beat(f, 1);
    assert_int_equal(visits(f), RM_VISITS_MAX); /* later visits, not recorded, made room */
    rm_record_next_visit(f->s, NULL);
    beat(f, 1);
    assert_true(visits(f) <= RM_VISITS_MAX + 1);
    f->now += RM_ACTIVITIES_TTL_MS + 1;
    assert_null(visit_of(f, 1));
    beat(f, 1);
    assert_int_equal(visits(f), 0);
    assert_int_equal(rm_recorded(f->s), 3 + RM_VISITS_MAX + 1); /* numbers go on */
}

/* The rows of one visit, nodes and applications are bounded. */
static void test_bounds(void **state)
{
    struct fix *f = *state;
    const struct rm_visit *v;
    size_t rows = 0;

    fix_start_with(f, 1024, "default");
    node(f, 2, NULL, 1 << 20, 64);
    for (int i = 0; i < 3000; i++)
        ask_full(f, 1, i, RM_ANY, 2048, 1, 1, true);
    want(f, 1);
    rm_record_app(f->s, app_id(1), f->now + 1000000);
    beat(f, 1);
    v = visit_of(f, 1);
    assert_true(v->cut);
    assert_int_equal(v->n, RM_VISIT_ROWS + 2); /* and its queues */
    assert_string_equal(v->rows[v->n - 1].queue, "root");
    for (int i = 0; i < 3 * RM_APP_VISITS; i++)
        beat(f, 1);
    for (v = rm_app_visits(f->s, app_id(1), f->now); v; v = v->next)
        rows += v->n;
    assert_true(rows <= RM_ACTIVITY_ROWS + 2 * RM_VISIT_ROWS && rows > RM_VISIT_ROWS);
    assert_true(app_visits(f, 1) <= RM_APP_VISITS + 1);
    for (int i = 0; i < 2 * RM_RECORDED_NODES; i++)
        want(f, 100 + i);
    for (int i = 0; i < 2 * RM_RECORDED_APPS; i++)
        rm_record_app(f->s, app_id(10 + i), f->now + 10);
    assert_int_equal(app_visits(f, 1), 0); /* made room for others */
    beat(f, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE_QUEUE(test_nothing_without_request),
        ONE_QUEUE(test_one_visit),
        TWO_QUEUES(test_states),
        TWO_QUEUES(test_application),
        ONE_QUEUE(test_user_limit),
        ONE_QUEUE(test_next_visits),
        ONE_QUEUE(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
