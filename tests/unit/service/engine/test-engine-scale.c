/* Many instances: work in turns, and processor time that grows with what changes. */
#include "tests/unit/service/engine-fixture.h"

#include <time.h>

static struct def f;

static double cpu_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Operations of one input, without the fixture's checks, which walk all containers. */
static size_t count_ops(struct svc_engine *e, int64_t *due, int64_t *asked)
{
    size_t n;
    const struct svc_op *ops = svc_engine_ops(e, &n);

    for (size_t i = 0; i < n; i++) {
        if (ops[i].type == SVC_OP_TIMER)
            *due = ops[i].at;
        if (ops[i].type == SVC_OP_ASK)
            *asked = ops[i].count;
    }
    return n;
}

static size_t turns(struct svc_engine *e, uint32_t turn, size_t *ret_ops)
{
    int64_t due = INT64_MAX, asked = 0;
    size_t n, count = 0;

    *ret_ops += count_ops(e, &due, &asked);
    for (; due == 0; count++) {
        due = INT64_MAX;
        svc_engine_timer(e, 0);
        n = count_ops(e, &due, &asked);
        assert_true(n <= 2 * (size_t)turn + 8); /* an operation and its STATE */
        *ret_ops += n;
    }
    return count;
}

static void fifty_thousand(int64_t count)
{
    struct svc_setup setup = { .policy = &svc_yarn_policy,
                               .definition = &f.d,
                               .limits = SVC_LIMITS_DEFAULT };
    struct svc_allocated a = { .node = { .port = 1 }, .request = 1 };
    int64_t due = INT64_MAX, asked = 0;
    struct svc_component_view v;
    struct svc_engine *e;
    size_t ops = 0, n_turns, down = 0;
    double began = cpu_s(), took;

    def_init(&f, "1", 1);
    assert_int_equal(svc_engine_new(&setup, &e, NULL), 0);
    svc_engine_start(e, 0);
    ops += count_ops(e, &due, &asked);
    assert_int_equal(svc_engine_flex(e, 0, "a", count, NULL), 0);
    n_turns = turns(e, setup.limits.turn, &ops);
    assert_in_range(n_turns, count / 1024, count / 1024 + 2);
    svc_engine_component(e, 0, &v);
    assert_int_equal(v.requested, count);
    for (int64_t i = 0; i < count; i++) {
        struct yarn_container_id id = { .id = i + 1 };

        a.container = id;
        (void)snprintf(a.node.host, sizeof(a.node.host), "node%d", (int)(i % 1000));
        svc_engine_allocated(e, 0, &a);
        ops += count_ops(e, &due, &asked);
        svc_engine_started(e, 0, id);
        ops += count_ops(e, &due, &asked);
        svc_engine_ready(e, 0, id, true);
        ops += count_ops(e, &due, &asked);
    }
    assert_int_equal(svc_engine_state(e), SVC_STABLE);
    took = cpu_s() - began;
    print_message("flex 1 to %d: %zu operations in %.3f s of CPU, %.0f a second\n", (int)count, ops,
                  took, (double)ops / took);
    assert_true(ops >= 4 * (size_t)count);
    assert_int_equal(svc_engine_flex(e, 0, "a", 1, NULL), 0);
    n_turns = turns(e, setup.limits.turn, &down);
    assert_in_range(n_turns, count / 1024, count / 1024 + 2);
    svc_engine_component(e, 0, &v);
    assert_int_equal(v.live, 1);
    assert_int_equal(v.releasing, count - 1);
    svc_engine_free(e);
}

/* Twice the instances take about twice the time: no event walks all of them. */
static void test_fifty_thousand(void **state)
{
    double began = cpu_s(), small, large;

    (void)state;
#ifdef SV_SANITIZED
    fifty_thousand(5000);
    (void)began;
    (void)small;
    (void)large;
#else
    fifty_thousand(12500);
    small = cpu_s() - began;
    fifty_thousand(50000);
    large = cpu_s() - began - small;
    assert_true(large < 12 * small + 0.5); /* a walk each would make it 16 times */
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fifty_thousand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
