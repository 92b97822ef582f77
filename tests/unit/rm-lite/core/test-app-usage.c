/* rm-lite/core/app-usage.c, queue-counters.c and store-usage.c: preempted resources of an
 * application and its queue, the use of resource types, and their recovery after a restart. */
#include "tests/unit/rm-lite/peer-calls.h"

#include "common/web/http.h"
#include "rm-lite/core/app-usage.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/web/rest/web-usage.h"
#include "rm-lite/web/web-metrics.h"

#define GPU "yarn.io/gpu"

static const char *const keys[][2] = { { "yarn.resource-types", GPU },
                                       { "yarn.scheduler.capacity.user-metrics.enable", "true" },
                                       { NULL, NULL } };

static int64_t number(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);

    if (!json_is_integer(v))
        fail_msg("%s is no number", key);
    return json_integer_value(v);
}

static int64_t entry(json_t *map, const char *key)
{
    json_t *list = json_object_get(map, "entry"), *row;
    size_t i;

    json_array_foreach(list, i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "key")), key) == 0)
            return strtoll(json_string_value(json_object_get(row, "value")), NULL, 10);
    }
    return -1;
}

/* A container of 1 GiB, one core and two GPUs that runs. */
static struct rm_container *run_container(struct fix *f, struct rm_app *app)
{
    struct rm_ask ask = { .priority = 1,
                          .allocation_id = -1,
                          .name = RM_ANY,
                          .capability = { 1024, 1, { 2 } },
                          .count = 1,
                          .relax = true };
    struct rm_sched_event ev = { .type = RM_SCHED_ASK,
                                 .ask = { .app = app->id, .asks = &ask, .n_asks = 1 } };
    struct rm_container *c;

    assert_int_equal(rm_schedule(f->rm, &ev, NULL), 0);
    heartbeat(f, f->rm->nodes);
    c = pull_container(app->current);
    rm_container_post(c, RM_CON_EV_LAUNCHED);
    return c;
}

static struct rm_app *start_app(struct fix *f)
{
    struct rm_node *n;
    struct rm_app *app;

    sv_clock_set_test(1000000, 5000000);
    setup_with(f, keys);
    n = add_node(f, 1);
    n->total.extra[0] = 4;
    rm_node_resize(n, n->total);
    app = submit(f, false, 2);
    run_master(f, app);
    return app;
}

static void check_seconds(struct fix *f, struct rm_app *app)
{
    json_t *o = json_object(), *used, *gone;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationReportProto *report = rm_app_report(a, app, "ann");
    Hadoop__Yarn__ApplicationResourceUsageReportProto *m = report->app_resource_usage;

    (void)f;
    rm_json_app_usage(o, app);
    used = json_object_get(o, "resourceSecondsMap");
    gone = json_object_get(o, "preemptedResourceSecondsMap");
    assert_int_equal(number(o, "preemptedMemorySeconds"), 10240);
    assert_int_equal(number(o, "preemptedVcoreSeconds"), 10);
    assert_int_equal(entry(used, "memory-mb"), 20480); /* with the master's */
    assert_int_equal(entry(used, GPU), 20);
    assert_int_equal(entry(gone, "memory-mb"), 10240);
    assert_int_equal(entry(gone, "vcores"), 10);
    assert_int_equal(entry(gone, GPU), 20);
    json_decref(o);

    assert_int_equal(m->memory_seconds, 20480);
    assert_int_equal(m->preempted_memory_seconds, 10240);
    assert_int_equal(m->preempted_vcore_seconds, 10);
    assert_int_equal(m->n_application_resource_usage_map, 3);
    assert_string_equal(m->application_resource_usage_map[0]->key, "memory-mb");
    assert_int_equal(m->application_resource_usage_map[0]->value, 20480);
    assert_string_equal(m->application_resource_usage_map[2]->key, GPU);
    assert_int_equal(m->application_resource_usage_map[2]->value, 20);
    assert_int_equal(m->n_application_preempted_resource_usage_map, 3);
    assert_string_equal(m->application_preempted_resource_usage_map[1]->key, "vcores");
    assert_int_equal(m->application_preempted_resource_usage_map[1]->value, 10);
    assert_int_equal(m->application_preempted_resource_usage_map[2]->value, 20);
}

static void check_counts(struct rm_app *app, int64_t mb, int containers, int masters)
{
    json_t *o = json_object();

    rm_json_app_usage(o, app);
    assert_int_equal(number(o, "preemptedResourceMB"), mb);
    assert_int_equal(number(o, "preemptedResourceVCores"), mb / 1024);
    assert_int_equal(number(o, "numNonAMContainerPreempted"), containers);
    assert_int_equal(number(o, "numAMContainerPreempted"), masters);
    json_decref(o);
}

static void check_queue(struct fix *f, const char *path, const char *user)
{
    const struct rm_queue_counters *c = rm_queue_counters_find(f->rm, path, user);

    assert_int_equal(c->sum[RM_COUNT_SUBMITTED], 1);
    assert_int_equal(c->sum[RM_COUNT_ALLOCATED], 2);
    assert_int_equal(c->sum[RM_COUNT_RELEASED], 1);
    assert_int_equal(c->sum[RM_COUNT_PREEMPTED], 1);
    assert_int_equal(c->sum[RM_COUNT_PREEMPTED_MB], 1024);
    assert_int_equal(c->sum[RM_COUNT_PREEMPTED_VCORES], 1);
    assert_int_equal(c->sum[RM_COUNT_PREEMPTED_MB_MS], 10240000);
    assert_int_equal(c->sum[RM_COUNT_PREEMPTED_VCORE_MS], 10000);
    assert_int_equal(c->sum[RM_COUNT_PREEMPTED_EXTRA_MS], 20000);
    assert_int_equal(c->live.running, 1);
    assert_int_equal(c->live.containers, 1);
    assert_int_equal(c->live.used.mem, 1024);
}

/* Gathers twice: counters do not add up. */
static void check_queues(struct fix *f)
{
    for (int i = 0; i < 2; i++) {
        rm_queue_counters_gather(f->rm);
        check_queue(f, "root", NULL);
        check_queue(f, "root.default", NULL);
        check_queue(f, "root", "ann");
        check_queue(f, "root.default", "ann");
    }
    assert_int_equal(rm_queue_counters_find(f->rm, "root", "eve")->sum[RM_COUNT_SUBMITTED], 0);
    assert_int_equal(rm_queue_counters_find(f->rm, "roo", NULL)->sum[RM_COUNT_SUBMITTED], 0);
}

static void test_preempted(void **state)
{
    struct yarn_app_id id;
    struct rm_container *c;
    struct rm_app *app;
    struct fix f;

    (void)state;
    app = start_app(&f);
    id = app->id;
    c = run_container(&f, app);
    sv_clock_set_test(1010000, 5010000);
    check_counts(app, 0, 0, 0);
    rm_container_post_exit(c, RM_CON_EV_KILL, YARN_EXIT_PREEMPTED, "Container preempted");
    check_counts(app, 1024, 1, 0);
    check_seconds(&f, app);
    check_queues(&f);

    rm_container_post_exit(app->current->master, RM_CON_EV_KILL, YARN_EXIT_PREEMPTED, "too");
    settle(&f);
    check_counts(app, 2048, 1, 1);
    assert_int_equal(app->preempted.seconds.memory_ms, 20480000);

    kill_app(&f, app);
    stop(&f);
    start(&f); /* as at Apache's, the seconds are in the store and the counts are not */
    app = rm_app_find(f.rm, id);
    check_counts(app, 0, 0, 0);
    assert_int_equal(app->preempted.seconds.memory_ms, 20480000);
    assert_int_equal(app->preempted.seconds.vcore_ms, 20000);
    assert_int_equal(app->preempted.seconds.extra_ms[0], 20000);
    assert_int_equal(app->seconds.extra_ms[0], 20000);
    sv_clock_reset();
    teardown(&f);
}

/* A container that ends otherwise, or by its own exit, counts nowhere. */
static void test_others(void **state)
{
    static const int32_t codes[] = { 0, 1, YARN_EXIT_ABORTED, YARN_EXIT_DISKS_FAILED };
    struct rm_app *app;
    struct fix f;

    (void)state;
    app = start_app(&f);
    for (size_t i = 0; i < SV_ARRAY_LEN(codes); i++)
        rm_container_post_exit(run_container(&f, app), RM_CON_EV_FINISHED, codes[i], "");
    check_counts(app, 0, 0, 0);
    assert_int_equal(app->preempted.seconds.memory_ms, 0);
    rm_queue_counters_gather(f.rm);
    assert_int_equal(rm_queue_counters_find(f.rm, "root", NULL)->sum[RM_COUNT_PREEMPTED], 0);
    assert_int_equal(rm_queue_counters_find(f.rm, "root", NULL)->sum[RM_COUNT_RELEASED], 4);
    sv_clock_reset();
    teardown(&f);
}

static const Hadoop__Yarn__QueueInfoProto *queue_info(struct fix *f, struct sv_arena *a,
                                                      const char *name)
{
    Hadoop__Yarn__GetQueueInfoRequestProto q = HADOOP__YARN__GET_QUEUE_INFO_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__GetQueueInfoResponseProto *m;

    q.queuename = (char *)(uintptr_t)name;
    q.has_includechildqueues = q.includechildqueues = true;
    m = peer_must(
        f, a,
        &(struct peer_call){ .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                             .method = "getQueueInfo",
                             .port = f->rm->client_port,
                             .user = "ann",
                             .request = &q.base,
                             .answer = &hadoop__yarn__get_queue_info_response_proto__descriptor });
    assert_non_null(m->queueinfo);
    return m->queueinfo;
}

/* Statistics of a queue for `yarn top`. */
static void test_statistics(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__QueueInfoProto *root;
    struct rm_app *app, *other;
    struct fix f;

    (void)state;
    app = start_app(&f);
    sv_clock_reset();            /* calls wait by it */
    other = submit(&f, true, 1); /* waits for its master */
    kill_app(&f, submit(&f, true, 1));
    ask_containers(&f, app, 10); /* seven fit */
    root = queue_info(&f, a, "root");
    assert_int_equal(root->n_childqueues, 1);
    for (int i = 0; i < 2; i++) {
        const Hadoop__Yarn__QueueStatisticsProto *m =
            i ? root->childqueues[0]->queuestatistics : root->queuestatistics;

        assert_int_equal(m->numappssubmitted, 3);
        assert_int_equal(m->numappsrunning, 1);
        assert_int_equal(m->numappspending, 1);
        assert_int_equal(m->numappskilled, 1);
        assert_true(m->has_numappscompleted && m->numappscompleted == 0);
        assert_true(m->has_numappsfailed && m->numappsfailed == 0);
        assert_int_equal(m->allocatedmemorymb, 8192);
        assert_int_equal(m->reservedmemorymb, 0);
        assert_int_equal(m->allocatedcontainers, 8);
        assert_int_equal(m->pendingmemorymb, 3072);
        assert_int_equal(m->pendingcontainers, 3);
        assert_int_equal(m->availablememorymb, 0);
    }
    kill_app(&f, other);
    root = queue_info(&f, a, "root");
    assert_int_equal(root->queuestatistics->numappskilled, 2);
    assert_int_equal(root->queuestatistics->numappspending, 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_preempted),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_statistics),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests_name("app-usage", tests, NULL, NULL);
}
