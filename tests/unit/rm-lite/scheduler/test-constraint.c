/* rm-lite/scheduler/constraint.c: constraints that are refused, each for its reason, and trees as
 * large as the limits allow. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

#include "tests/unit/rm-lite/placement-fixture.h"

struct trees {
    struct fix f;
    struct sv_arena *a;
    struct sv_error err;
};

static int setup_trees(void **state)
{
    static struct trees t;

    one_queue(&t.f);
    fix_start_with(&t.f, 8192, "default");
    t.a = sv_arena_new((size_t)16 << 20);
    *state = &t;
    return 0;
}

static int end_trees(void **state)
{
    struct trees *t = *state;

    fix_end(&t->f);
    sv_arena_free(t->a);
    return 0;
}

#define TREES(test) cmocka_unit_test_setup_teardown(test, setup_trees, end_trees)

static int ask_with(struct trees *t, Constraint *c)
{
    Request *q = request(t->a, 1, 1, "x", c);
    struct rm_sched_event ev = { .type = RM_SCHED_ASK,
                                 .ask = { .app = app_id(1), .requests = &q, .n_requests = 1 } };

    t->err = (struct sv_error){ 0 };
    return rm_sched_handle(t->f.s, &ev, t->f.now, &t->f.d, &t->f.n, &t->err);
}

static void refused(struct trees *t, Constraint *c, int error, const char *why)
{
    assert_int_equal(ask_with(t, c), error);
    if (!strstr(t->err.text, why))
        fail_msg("\"%s\" is not in \"%s\"", why, t->err.text);
    assert_int_equal(app_usage(&t->f, 1).pending_containers, 0);
}

static void test_refused(void **state)
{
    struct trees *t = *state;
    Constraint *both = near(t->a, "a"), *neither = sv_new(t->a, Constraint);
    Constraint *two = simple(t->a, "node", 0, 0,
                             target(t->a, TARGET(NODE_ATTRIBUTE), "yarn_node_partition/", "a"));
    char *values[] = { (char *)(uintptr_t) "a", (char *)(uintptr_t) "b" };

    both->compositeconstraint = composite(t->a, COMPOSITE(AND), NULL)->compositeconstraint;
    hadoop__yarn__placement_constraint_proto__init(neither);
    two->simpleconstraint->targetexpressions[0]->targetvalues = values;
    two->simpleconstraint->targetexpressions[0]->n_targetvalues = 2;
    refused(t, both, -EINVAL, "not either simple or composite");
    refused(t, neither, -EINVAL, "not either simple or composite");
    refused(t, tags(t->a, "NODE", 0, 0, NULL, "a"), -EINVAL, "scope NODE");
    refused(t, tags(t->a, "node", 2, 1, NULL, "a"), -EINVAL, "minimum 2 and the maximum 1");
    refused(t, tags(t->a, "node", -1, -1, NULL, "a"), -EINVAL, "maximum -1");
    refused(t, tags(t->a, "node", 0, 0, NULL, ""), -EINVAL, "tag is empty");
    refused(t, tags(t->a, "node", 0, 0, NULL, NULL), -EINVAL, "names none");
    refused(t, tags(t->a, "node", 0, 0, "others", "a"), -EINVAL, "namespace prefix others");
    refused(t, tags(t->a, "node", 0, 0, "a/b/c", "a"), -EINVAL, "invalid namespace a/b/c");
    refused(t, tags(t->a, "node", 0, 0, "/", "a"), -EINVAL, "invalid namespace /");
    refused(t, tags(t->a, "node", 0, 0, "app-id", "a"), -EINVAL, "application ID");
    refused(t, tags(t->a, "node", 0, 0, "app-id/job_1_2", "a"), -EINVAL, "application ID");
    refused(t, tags(t->a, "node", 0, 0, "app-tag", "a"), -EINVAL, "no application tag");
    refused(t, two, -EINVAL, "2 node partitions");
    refused(t, simple(t->a, "node", 0, 0, target(t->a, TARGET(NODE_ATTRIBUTE), NULL, "a")), -EINVAL,
            "name of an attribute is empty");
    refused(t, simple(t->a, "node", 0, 0, target(t->a, TARGET(NODE_ATTRIBUTE), "os", NULL)),
            -EINVAL, "no value for the node attribute os");
    refused(t, simple(t->a, "node", 0, 0, target(t->a, 77, "os", NULL)), -EINVAL, "unknown type");
    refused(t, composite(t->a, 77, NULL), -EINVAL, "unknown type");
    refused(t, composite(t->a, COMPOSITE(AND), near(t->a, "a"), neither, NULL), -EINVAL,
            "not either");
}

static void test_long_names(void **state)
{
    struct trees *t = *state;
    char name[RM_TAG_BYTES + 2];

    memset(name, 'a', sizeof(name));
    name[RM_TAG_BYTES] = 0;
    assert_int_equal(ask_with(t, away_from(t->a, name)), 0);
    assert_int_equal(ask_with(t, NULL), -EINVAL); /* priority and id of the first */
    name[RM_TAG_BYTES] = 'a';
    name[RM_TAG_BYTES + 1] = 0;
    assert_int_equal(ask_with(t, away_from(t->a, name)), -E2BIG);
    assert_non_null(strstr(t->err.text, "256 bytes, more than 255"));
}

static Constraint *nested(struct trees *t, int levels)
{
    Constraint *c = near(t->a, "a");

    while (--levels > 0)
        c = composite(t->a, COMPOSITE(AND), c, NULL);
    return c;
}

static Constraint *wide(struct trees *t, size_t n)
{
    Constraint *c = composite(t->a, COMPOSITE(OR), NULL);

    while (c->compositeconstraint->n_childconstraints < n)
        c->compositeconstraint->childconstraints[c->compositeconstraint->n_childconstraints++] =
            near(t->a, "a");
    return c;
}

static Constraint *rich(struct trees *t, size_t n)
{
    Constraint *c = near(t->a, "a");
    Target *one = c->simpleconstraint->targetexpressions[0];

    one->targetvalues = sv_newn(t->a, char *, n);
    for (one->n_targetvalues = 0; one->n_targetvalues < n;)
        one->targetvalues[one->n_targetvalues++] = sv_arena_strdup(t->a, "a");
    return c;
}

static void test_large_trees(void **state)
{
    struct trees *t = *state;

    refused(t, nested(t, RM_CONSTRAINT_DEPTH + 1), -E2BIG, "nested deeper than 8");
    refused(t, wide(t, RM_CONSTRAINT_NODES), -E2BIG, "more than 64 in one");
    refused(t, wide(t, 100), -E2BIG, "more than 64 in one");
    refused(t, rich(t, RM_CONSTRAINT_VALUES), -E2BIG, "more than 128");
    assert_int_equal(ask_with(t, nested(t, RM_CONSTRAINT_DEPTH)), 0);
    assert_int_equal(beat(&t->f, 1), 0);
    assert_int_equal(ask_with(t, wide(t, RM_CONSTRAINT_NODES - 1)), -EINVAL);
}

static void test_as_large_as_allowed(void **state)
{
    struct trees *t = *state;

    assert_int_equal(ask_with(t, rich(t, RM_CONSTRAINT_VALUES - 1)), 0);
    assert_int_equal(beat(&t->f, 1), 0);
    assert_true(rm_sched_counts(t->f.s).groups_tried >= RM_CONSTRAINT_VALUES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREES(test_refused),
        TREES(test_long_names),
        TREES(test_large_trees),
        TREES(test_as_large_as_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
