/* Frameworks of many tasks: work in turns, the longest input, memory of a task. */
#include <malloc.h>
#include <time.h>

#include "tests/unit/service/framework-fixture.h"

static struct framework f;
static double longest; /* s of processor time of one input */
static double began;
static size_t most; /* operations of one input */

static double cpu_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t used(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

/* After an input: its operations, without the fixture's checks. Returns the number of launches. */
static size_t input_done(struct svc_engine *e, int64_t *due)
{
    double took = cpu_s() - began;
    size_t n, launches = 0;
    const struct svc_op *ops = svc_engine_ops(e, &n);

    longest = SV_MAX(longest, took);
    most = SV_MAX(most, n);
    for (size_t i = 0; i < n; i++) {
        if (ops[i].type == SVC_OP_TIMER)
            *due = ops[i].at;
        launches += ops[i].type == SVC_OP_LAUNCH;
    }
    began = cpu_s();
    return launches;
}

static size_t turns(struct svc_engine *e, int64_t now)
{
    int64_t due = now;
    size_t n = input_done(e, &due);

    while (due <= now) {
        due = INT64_MAX;
        svc_engine_timer(e, now);
        n += input_done(e, &due);
    }
    return n;
}

static void run_tasks(int32_t n, bool gang)
{
    struct svc_allocated a = { .node = { .port = 1 } };
    struct svc_setup setup;
    struct svc_engine *e;
    struct svc_fw_state s;
    int64_t now = 1000, due = INT64_MAX;
    size_t launched = 0, before = used(), bytes;

    framework_init(&f, 1);
    f.roles[0].tasks = n;
    f.roles[0].retry.max_retries = -1;
    f.d.gang = gang;
    setup = framework_setup(&f);
    setup.limits.turn = 256;
    longest = 0;
    most = 0;
    began = cpu_s();
    assert_int_equal(svc_engine_new(&setup, &e, NULL), 0);
    svc_engine_start(e, now);
    turns(e, now);
    svc_fw_state(e, &s);
    assert_int_equal(s.outstanding, n);
    for (int32_t i = 0; i < n; i++) {
        a.container.id = i + 1;
        a.priority = n - 1 - i;
        (void)snprintf(a.node.host, sizeof(a.node.host), "node%d.example.org", (int)(i % 1000));
        began = cpu_s();
        svc_engine_allocated(e, now, &a);
        launched += input_done(e, &due);
    }
    launched += turns(e, now);
    assert_int_equal(launched, n);
    for (int32_t i = 0; i < n; i++) {
        struct yarn_container_id id = { .id = i + 1 };

        began = cpu_s();
        svc_engine_started(e, now, id);
        (void)input_done(e, &due);
    }
    bytes = used() - before;
    for (int32_t i = 0; i < n; i += 1000) {
        struct yarn_container_id ids[1000];

        for (int32_t k = 0; k < 1000; k++)
            ids[k] = (struct yarn_container_id){ .id = i + k + 1 };
        began = cpu_s();
        svc_fw_listed(e, now, ids, 1000);
        (void)input_done(e, &due);
    }
    svc_fw_list_end(e, now, true);
    turns(e, now);
    svc_fw_list_end(e, now, true); /* all are missing */
    turns(e, now);
    assert_int_equal(svc_engine_flex(e, now, "role0", n / 10, NULL), 0);
    turns(e, now);
    svc_fw_state(e, &s);
    assert_int_equal(s.total, n / 10);
    began = cpu_s();
    svc_engine_stop(e, now, "");
    (void)input_done(e, &due);
    print_message("%d tasks%s: %zu bytes each, longest input %.2f ms, at most %zu operations\n",
                  (int)n, gang ? " of a gang" : "", bytes / (size_t)n, longest * 1000, most);
    assert_true(most <= 5 * 256 + 1100);
#ifndef SV_SANITIZED
    assert_true(bytes / (size_t)n < 1200);
#endif
    svc_engine_free(e);
    f.a = sv_arena_free(f.a);
}

static void test_tasks(void **state)
{
    (void)state;
    run_tasks(10000, false);
    run_tasks(10000, true);
    run_tasks(50000, false);
    run_tasks(50000, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
