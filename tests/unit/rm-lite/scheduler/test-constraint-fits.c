/* rm-lite/scheduler/constraint-fits.c, allocation-tags.c: which nodes a SchedulingRequest gets, by
 * its constraint and the tags of the containers that are there. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

#include "tests/unit/rm-lite/placement-fixture.h"

/* Four nodes of 8 GiB, two on each of /r1 and /r2; application 1 of ann, 2 of bob, which has the
 * tag "web". */
struct cluster {
    struct fix f;
    struct sv_arena *a;
};

static void add_app(struct cluster *c, int i, const char *user, const char *tag)
{
    struct rm_sched_event ev = { .type = RM_SCHED_APP_ADDED,
                                 .app_added = { .app = app_id(i),
                                                .user = user,
                                                .queue = "default",
                                                .am_resource = { 0, 0 },
                                                .tags = &tag,
                                                .n_tags = tag ? 1 : 0 } };

    assert_int_equal(go(&c->f, ev), 0);
    assert_int_equal(
        go(&c->f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_ADDED,
                                           .attempt_added = { .app = app_id(i), .attempt = 1 } }),
        0);
}

static int setup_cluster(void **state)
{
    static struct cluster c;

    one_queue(&c.f);
    fix_start(&c.f);
    c.a = sv_arena_new((size_t)16 << 20);
    for (int i = 1; i <= 4; i++)
        node(&c.f, i, i <= 2 ? "/r1" : "/r2", 8192, 64);
    add_app(&c, 1, "ann", NULL);
    add_app(&c, 2, "bob", "web");
    *state = &c;
    return 0;
}

static int end_cluster(void **state)
{
    struct cluster *c = *state;

    fix_end(&c->f);
    sv_arena_free(c->a);
    return 0;
}

#define CLUSTER(test) cmocka_unit_test_setup_teardown(test, setup_cluster, end_cluster)

static int send_to(struct cluster *c, int app, Request *q)
{
    return go(&c->f, (struct rm_sched_event){
                         .type = RM_SCHED_ASK,
                         .ask = { .app = app_id(app), .requests = &q, .n_requests = 1 } });
}

/* One heartbeat of each node; writes what node i got of the application to got[i]. */
static size_t beats(struct cluster *c, int app, size_t got[5])
{
    size_t all = 0;

    memset(got, 0, 5 * sizeof(*got));
    for (int i = 1; i <= 4; i++) {
        (void)beat(&c->f, i);
        got[i] = count_app(&c->f, app);
        all += got[i];
    }
    return all;
}

/* Puts a container with the tag on one node: the others are not seen until it is there. */
static void put(struct cluster *c, int app, int on, const char *tag)
{
    static int64_t id = 1000;

    assert_int_equal(send_to(c, app, request(c->a, id++, 1, tag, NULL)), 0);
    assert_int_equal(beat(&c->f, on), 1);
    assert_string_equal(c->f.d[0].tags[0], tag);
    assert_null(c->f.d[0].tags[1]);
    assert_int_equal(c->f.d[0].allocation_id, id - 1);
}

static void test_anti_affinity(void **state)
{
    struct cluster *c = *state;
    size_t got[5];

    assert_int_equal(send_to(c, 1, request(c->a, 1, 6, "zk", away_from(c->a, "zk"))), 0);
    assert_int_equal(beats(c, 1, got), 4);
    for (int i = 1; i <= 4; i++)
        assert_int_equal(got[i], 1);
    assert_int_equal(beats(c, 1, got), 0);
    assert_int_equal(app_usage(&c->f, 1).pending_containers, 2);
    container_done(&c->f, 1, 2); /* on node 2 */
    assert_int_equal(beats(c, 1, got), 1);
    assert_int_equal(got[2], 1);
}

static void test_anti_affinity_in_a_pass(void **state)
{
    struct cluster *c = *state;
    size_t got[5], all = 0;
    bool used[5] = { false };

    (void)beats(c, 1, got); /* seen lately */
    assert_int_equal(send_to(c, 1, request(c->a, 1, 4, "zk", away_from(c->a, "zk"))), 0);
    while (rm_sched_pass_waiting(c->f.s)) {
        all += allocation_pass(&c->f);
        for (size_t i = 0; i < c->f.n; i++) {
            int n = c->f.d[i].node.host[4] - '0';

            assert_false(used[n]);
            used[n] = true;
        }
    }
    assert_int_equal(all, 4);
}

static void test_affinity(void **state)
{
    struct cluster *c = *state;
    size_t got[5];

    assert_int_equal(send_to(c, 1, request(c->a, 1, 2, "web", near(c->a, "db"))), 0);
    assert_int_equal(beats(c, 1, got), 0);
    assert_int_equal(send_to(c, 1, request(c->a, 2, 1, "db", NULL)), 0);
    assert_int_equal(beat(&c->f, 3), 3); /* the one with the tag, then both that waited for it */
    assert_int_equal(beats(c, 1, got), 0);
}

static void test_cardinality(void **state)
{
    struct cluster *c = *state;
    size_t got[5];

    /* At most two are there before one more comes: three, as in Hadoop. */
    assert_int_equal(send_to(c, 1, request(c->a, 1, 20, "w", tags(c->a, "node", 0, 2, NULL, "w"))),
                     0);
    assert_int_equal(beats(c, 1, got), 12);
    for (int i = 1; i <= 4; i++)
        assert_int_equal(got[i], 3);
    assert_int_equal(beats(c, 1, got), 0);
}

static void test_rack(void **state)
{
    struct cluster *c = *state;
    size_t got[5];

    assert_int_equal(send_to(c, 1, request(c->a, 1, 4, "r", tags(c->a, "rack", 0, 0, NULL, "r"))),
                     0);
    assert_int_equal(beats(c, 1, got), 2);
    assert_int_equal(got[1] + got[3], 2);
    container_done(&c->f, 1, 1);
    assert_int_equal(beats(c, 1, got), 1);
    assert_int_equal(got[1], 1);
    /* Affinity to the rack, not to the node. */
    assert_int_equal(
        send_to(c, 1, request(c->a, 2, 1, NULL, tags(c->a, "rack", 1, INT_MAX, NULL, "r"))), 0);
    assert_int_equal(beat(&c->f, 2), 1);
}

static void test_namespaces(void **state)
{
    static const struct {
        const char *ns;
        bool on[5]; /* nodes that have one: node 1 of ann's, node 2 of bob's */
    } cases[] = {
        { NULL, { [1] = true } },
        { "self", { [1] = true } },
        { "not-self", { [2] = true } },
        { "all", { [1] = true, [2] = true } },
        { "app-id/application_1700000000000_0002", { [2] = true } },
        { "app-id/application_1700000000000_0009", { false } },
        { "app-tag/web", { [2] = true } },
        { "app-tag//web/", { [2] = true } },
        { "app-tag/other", { false } },
    };
    struct cluster *c = *state;

    put(c, 1, 1, "db");
    put(c, 2, 2, "db");
    for (size_t k = 0; k < SV_ARRAY_LEN(cases); k++) {
        Constraint *m = tags(c->a, "node", 1, INT_MAX, cases[k].ns, "db");

        for (int i = 1; i <= 4; i++) {
            assert_int_equal(send_to(c, 1, request(c->a, 50, 1, NULL, m)), 0);
            assert_int_equal(beat(&c->f, i), cases[k].on[i]);
            assert_int_equal(send_to(c, 1, request(c->a, 50, 0, NULL, m)), 0);
        }
    }
}

static void test_composites(void **state)
{
    struct cluster *c = *state;
    Constraint *db = near(c->a, "db"), *no_web = away_from(c->a, "web");
    Constraint *both = composite(c->a, COMPOSITE(AND), db, no_web, NULL);
    Constraint *one = composite(c->a, COMPOSITE(OR), near(c->a, "web"), near(c->a, "x"), NULL);
    size_t got[5];

    put(c, 1, 1, "db");
    put(c, 1, 2, "db");
    put(c, 1, 2, "web");
    assert_int_equal(send_to(c, 1, request(c->a, 1, 1, NULL, both)), 0);
    assert_int_equal(beat(&c->f, 2), 0);
    assert_int_equal(beat(&c->f, 3), 0);
    assert_int_equal(beat(&c->f, 1), 1);
    assert_int_equal(send_to(c, 1, request(c->a, 1, 3, NULL, one)), 0);
    assert_int_equal(beats(c, 1, got), 3);
    assert_int_equal(got[2], 3);
    /* Hadoop's scheduler evaluates no DELAYED_OR: the request waits. */
    assert_int_equal(
        send_to(c, 1, request(c->a, 2, 1, NULL, composite(c->a, COMPOSITE(DELAYED_OR), NULL))), 0);
    assert_int_equal(beats(c, 1, got), 0);
}

static void test_several_tags_of_a_target(void **state)
{
    struct cluster *c = *state;
    Constraint *m = near(c->a, "a");
    Target *t = m->simpleconstraint->targetexpressions[0];
    char *values[] = { (char *)(uintptr_t) "a", (char *)(uintptr_t) "b" };

    t->targetvalues = values;
    t->n_targetvalues = 2;
    put(c, 1, 1, "a");
    put(c, 1, 2, "a");
    put(c, 1, 2, "b");
    assert_int_equal(send_to(c, 1, request(c->a, 1, 1, NULL, m)), 0);
    assert_int_equal(beat(&c->f, 1), 0); /* it lacks b */
    assert_int_equal(beat(&c->f, 2), 1);
}

static void test_self_target(void **state)
{
    struct cluster *c = *state;
    size_t got[5];

    assert_int_equal(
        send_to(c, 1,
                request(c->a, 1, 9, "zk",
                        simple(c->a, "node", 0, 0, target(c->a, TARGET(SELF), NULL, NULL)))),
        0);
    assert_int_equal(beats(c, 1, got), 4);
}

static void test_partitions(void **state)
{
    static const struct {
        const char *value;
        size_t got;
    } cases[] = { { NULL, 1 }, { "", 1 }, { "gpu", 0 } };
    struct cluster *c = *state;

    for (size_t k = 0; k < SV_ARRAY_LEN(cases); k++) {
        Constraint *m =
            simple(c->a, "node", -1, -1,
                   target(c->a, TARGET(NODE_ATTRIBUTE), "yarn_node_partition/", cases[k].value));

        assert_int_equal(send_to(c, 1, request(c->a, 1 + (int64_t)k, 1, NULL, m)), 0);
        assert_int_equal(beat(&c->f, 1), cases[k].got);
    }
}

static Constraint *attribute(struct cluster *c, const char *key, const char *value, bool equal)
{
    Constraint *m = simple(c->a, "node", -1, -1, target(c->a, TARGET(NODE_ATTRIBUTE), key, value));

    m->simpleconstraint->has_attributeopcode = true;
    m->simpleconstraint->attributeopcode = equal ? HADOOP__YARN__NODE_ATTRIBUTE_OP_CODE_PROTO__EQ
                                                 : HADOOP__YARN__NODE_ATTRIBUTE_OP_CODE_PROTO__NE;
    return m;
}

/* A node without the attribute has another value than any. */
static void test_absent_attribute(void **state)
{
    struct cluster *c = *state;

    assert_int_equal(send_to(c, 1, request(c->a, 1, 1, NULL, attribute(c, "os", "x", true))), 0);
    assert_int_equal(beat(&c->f, 1), 0);
    assert_int_equal(send_to(c, 1, request(c->a, 2, 1, NULL, attribute(c, "os", "x", false))), 0);
    assert_int_equal(beat(&c->f, 1), 1);
}

static int recover(struct cluster *c, int app, int64_t container, int on, const char *const *tags,
                   size_t n)
{
    struct yarn_node_id id = node_id(on);

    return go(&c->f, (struct rm_sched_event){
                         .type = RM_SCHED_CONTAINER_RECOVERED,
                         .container_recovered = { .container = { { app_id(app), 1 }, container },
                                                  .node = &id,
                                                  .resource = { 1024, 1 },
                                                  .tags = tags,
                                                  .n_tags = n } });
}

static void test_recovered_tags(void **state)
{
    const char *const zk[] = { "zk", "zk" }, *const empty[] = { "" };
    struct cluster *c = *state;
    size_t got[5];

    assert_int_equal(recover(c, 1, 11, 2, zk, 2), 0);
    assert_int_equal(recover(c, 1, 12, 3, empty, 1), 0); /* not a tag: left out */
    assert_int_equal(send_to(c, 1, request(c->a, 1, 9, "zk", away_from(c->a, "zk"))), 0);
    assert_int_equal(beats(c, 1, got), 3);
    assert_int_equal(got[2], 0);
    container_done(&c->f, 1, 11);
    assert_int_equal(beats(c, 1, got), 1);
    assert_int_equal(got[2], 1);
}

static void test_tags_end_with_their_node(void **state)
{
    struct yarn_node_id id = node_id(1);
    struct cluster *c = *state;
    size_t got[5];

    put(c, 1, 1, "zk");
    assert_int_equal(go(&c->f, (struct rm_sched_event){ .type = RM_SCHED_NODE_REMOVED,
                                                        .node_removed = { .node = &id } }),
                     0);
    node(&c->f, 1, "/r1", 8192, 64);
    assert_int_equal(send_to(c, 1, request(c->a, 1, 9, "zk", away_from(c->a, "zk"))), 0);
    assert_int_equal(beats(c, 1, got), 4);
}

/* The next attempt finds the tags of the containers that it keeps. */
static void test_kept_containers(void **state)
{
    struct cluster *c = *state;
    struct rm_sched_event gone = { .type = RM_SCHED_ATTEMPT_REMOVED,
                                   .attempt_removed = { .app = app_id(1),
                                                        .keep_containers = true } };
    struct rm_sched_event next = { .type = RM_SCHED_ATTEMPT_ADDED,
                                   .attempt_added = { .app = app_id(1), .attempt = 2 } };
    size_t got[5];

    put(c, 1, 4, "zk");
    assert_int_equal(send_to(c, 1, request(c->a, 1, 9, "zk", away_from(c->a, "zk"))), 0);
    assert_int_equal(go(&c->f, gone), 0);
    assert_int_equal(go(&c->f, next), 0);
    assert_int_equal(beats(c, 1, got), 0);
    assert_int_equal(send_to(c, 1, request(c->a, 1, 9, "zk", away_from(c->a, "zk"))), 0);
    assert_int_equal(beats(c, 1, got), 3);
    assert_int_equal(got[4], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER(test_anti_affinity),
        CLUSTER(test_anti_affinity_in_a_pass),
        CLUSTER(test_affinity),
        CLUSTER(test_cardinality),
        CLUSTER(test_rack),
        CLUSTER(test_namespaces),
        CLUSTER(test_composites),
        CLUSTER(test_several_tags_of_a_target),
        CLUSTER(test_self_target),
        CLUSTER(test_partitions),
        CLUSTER(test_absent_attribute),
        CLUSTER(test_recovered_tags),
        CLUSTER(test_tags_end_with_their_node),
        CLUSTER(test_kept_containers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
