/* rm-lite/requests/past-apps.c: the report of an application that is in the history alone, for who
 * may see it and for others. */
#include "tests/unit/rm-lite/store/history-fixture.h"

#include "common/arena.h"
#include "rm-lite/requests/past-apps.h"

static Hadoop__Yarn__ApplicationReportProto *report(struct fix *f, struct sv_arena *a,
                                                    const char *viewer, int number)
{
    struct rm_viewer who = { .rm = f->rm };
    struct rm_past_app past;

    (void)snprintf(who.user, sizeof(who.user), "%s", viewer);
    assert_int_equal(rm_store_history_find(f->rm, (struct yarn_app_id){ TS, number }, a, &past), 0);
    return rm_past_report(&who, a, &past);
}

static void seen(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationReportProto *m;
    Hadoop__Yarn__ApplicationResourceUsageReportProto *use;
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, 3);
    stop(&f);
    sql(&f, "UPDATE history SET type1='yarn.io/gpu', used1=7000 WHERE id=3");
    start(&f);
    m = report(&f, a, "user3", 3);
    assert_non_null(m);
    assert_int_equal(m->applicationid->id, 3);
    assert_string_equal(m->user, "user3");
    assert_string_equal(m->queue, "root.q0");
    assert_string_equal(m->name, "name 3");
    assert_string_equal(m->applicationtype, "SPARK");
    assert_string_equal(m->diagnostics, "why 3");
    assert_string_equal(m->host, "N/A");
    assert_null(m->currentapplicationattemptid);
    assert_int_equal(m->yarn_application_state, W(FAILED));
    assert_int_equal(m->final_application_status, F(FAILED));
    assert_int_equal(m->starttime, 1600000000000);
    assert_int_equal(m->launchtime, 1600000000001);
    assert_true(m->progress == 1.0f);
    use = m->app_resource_usage;
    assert_int_equal(use->memory_seconds, 3600);
    assert_int_equal(use->vcore_seconds, 36);
    assert_int_equal(use->n_application_resource_usage_map, 3);
    assert_string_equal(use->application_resource_usage_map[2]->key, "yarn.io/gpu");
    assert_int_equal(use->application_resource_usage_map[2]->value, 7);
    assert_true(protobuf_c_message_check(&m->base)); /* what a client needs is there */
    assert_int_equal(report(&f, a, "user2", 2)->yarn_application_state, W(FINISHED));
    sv_arena_free(a);
    teardown(&f);
}

static void hidden(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationReportProto *m;
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, 1);
    m = report(&f, a, "eve", 1);
    assert_string_equal(m->user, "user1");
    assert_string_equal(m->diagnostics, "");
    assert_int_equal(m->app_resource_usage->memory_seconds, -1);
    assert_int_equal(m->app_resource_usage->n_application_resource_usage_map, 0);
    assert_true(protobuf_c_message_check(&m->base));
    sv_arena_free(a);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(seen), cmocka_unit_test(hidden) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
