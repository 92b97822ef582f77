/* rm-lite/scheduler/queue-keys.h: no key of capacity-scheduler.xml is ignored silently; and newly
 * honoured keys take effect. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/queue-key-table.h"
#include "rm-lite/scheduler/queue-keys.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

#define DOC "docs/operate/capacity-scheduler.md"

struct notes {
    char text[4000];
    int n;
};

static void note(const char *text, void *userdata)
{
    struct notes *all = userdata;
    size_t len = strlen(all->text);

    (void)snprintf(all->text + len, sizeof(all->text) - len, "%s\n", text);
    all->n++;
}

static struct notes notes(struct fix *f)
{
    struct notes all = { 0 };

    rm_queue_keys_notes(f->conf, f->s, note, &all);
    return all;
}

/* The keys set in Hadoop's own capacity-scheduler.xml. */
static void test_hadoops_file_is_quiet(void **state)
{
    static const char *const file[][2] = {
        { CS "maximum-applications", "10000" },
        { CS "maximum-am-resource-percent", "0.1" },
        { CS "resource-calculator",
          "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator" },
        { CS "root.queues", "default" },
        { CS "root.default.capacity", "100" },
        { CS "root.default.user-limit-factor", "1" },
        { CS "root.default.maximum-capacity", "100" },
        { CS "root.default.state", "RUNNING" },
        { CS "root.default.acl_submit_applications", "*" },
        { CS "root.default.acl_administer_queue", "*" },
        { CS "root.default.acl_application_max_priority", "*" },
        { CS "root.default.maximum-application-lifetime", "-1" },
        { CS "root.default.default-application-lifetime", "-1" },
        { CS "node-locality-delay", "40" },
        { CS "rack-locality-additional-delay", "-1" },
        { CS "queue-mappings", "" },
        { CS "queue-mappings-override.enable", "false" },
        { CS "per-node-heartbeat.maximum-offswitch-assignments", "1" },
        { CS "application.fail-fast", "false" },
        { CS "workflow-priority-mappings", "" },
        { CS "workflow-priority-mappings-override.enable", "false" },
        { CS "legacy-queue-mode.enabled", "true" },
    };
    struct fix f;

    (void)state;
    fix_conf(&f);
    for (size_t i = 0; i < SV_ARRAY_LEN(file); i++)
        set(&f, file[i][0], file[i][1]);
    fix_start(&f);
    assert_string_equal(notes(&f).text, "");
    fix_end(&f);
}

static void test_notes(void **state)
{
    static const struct {
        const char *key, *value, *words;
    } ignored[] = {
        { CS "root.a.default-node-label-expression", "gpu", "is ignored: there are no" },
        { CS "multi-node-placement-enabled", "true", "is ignored: nodes are taken" },
        { CS "root.accessible-node-labels.gpu.capacity", "100",
          "has no meaning here: there are no" },
        { CS "schedule-asynchronously.enable", "true", "has no meaning here: one thread" },
        { CS "root.gone.capacity", "50",
          "root.gone.capacity is ignored: there is no queue root.gone" },
        { CS "vendors.own.setting", "x", "it is not a key of the CapacityScheduler" },
    };
    struct notes all;
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    for (size_t i = 0; i < SV_ARRAY_LEN(ignored); i++)
        set(&f, ignored[i].key, ignored[i].value);
    fix_start(&f);
    all = notes(&f);
    assert_int_equal(all.n, SV_ARRAY_LEN(ignored));
    for (size_t i = 0; i < SV_ARRAY_LEN(ignored); i++)
        if (!strstr(all.text, ignored[i].words) || !strstr(all.text, ignored[i].key))
            fail_msg("no note \"%s\" in:\n%s", ignored[i].words, all.text);
    fix_end(&f);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *key, *value, *words;
    } bad[] = {
        { CS "root.a.maximum-capacty", "50", "did you mean " CS "root.a.maximum-capacity?" },
        { CS "root.a.user-limit-facter", "2", "did you mean " CS "root.a.user-limit-factor?" },
        { CS "node-local-delay", "4", "did you mean " CS "node-locality-delay?" },
        { CS "per-node-heartbeat.maximum-offswitch-assignment", "4",
          "did you mean " CS "per-node-heartbeat.maximum-offswitch-assignments?" },
        { CS "mapping-rule-format", "json", "format=json is not supported: write queue-mappings" },
        { CS "root.b.auto-queue-creation-v2.enabled", "true",
          "is not supported: queues are those" },
        { CS "root.a.ordering-policy", "fifo-with-partitions", "is neither fifo nor fair" },
        { CS "root.ordering-policy", "fair", "is neither utilization nor priority-utilization" },
        { CS "root.a.reservable", "true", "is not supported: there are no reservations in time" },
        { CS "legacy-queue-mode.enabled", "false", "of one kind" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct sv_error err = { 0 };
        struct fix f;

        two_queues(&f, "50", "50");
        set(&f, bad[i].key, bad[i].value);
        if (rm_sched_new(f.conf, 0, &f.s, &err) >= 0)
            fail_msg("%s=%s is taken", bad[i].key, bad[i].value);
        if (!strstr(err.text, bad[i].words))
            fail_msg("%s=%s: %s", bad[i].key, bad[i].value, err.text);
        f.conf = sv_conf_free(f.conf);
    }
}

/* ordering-policy=fair: the application that uses less is served first, regardless of submission
 * order. */
static void test_fair_order(void **state)
{
    struct fix f;

    (void)state;
    fix_conf(&f);
    set(&f, CS "root.queues", "default");
    set(&f, CS "root.default.capacity", "100");
    set(&f, CS "root.default.ordering-policy", "fair");
    fix_start(&f);
    node(&f, 1, NULL, 65536, 64);
    app(&f, 1, "ann", "default", 0);
    ask(&f, 1, 1024, 100);
    for (int i = 0; i < 4; i++)
        assert_int_equal(beat(&f, 1), 1);
    app(&f, 2, "ann", "default", 0);
    ask(&f, 2, 1024, 100);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(beat(&f, 1), 1);
        assert_int_equal(count_app(&f, 2), 1);
    }
    beat(&f, 1); /* both use 4 GiB: the older */
    assert_int_equal(count_app(&f, 1), 1);
    beat(&f, 1);
    assert_int_equal(count_app(&f, 2), 1);
    /* An end counts at once. */
    assert_int_equal(
        go(&f,
           (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                    .container_done = { .container = { { app_id(2), 1 }, 1 } } }),
        0);
    beat(&f, 1);
    assert_int_equal(count_app(&f, 2), 1);
    fix_end(&f);
}

static void test_more_keys(void **state)
{
    struct fix f;
    struct rm_queue_info q;

    (void)state;
    two_queues(&f, "0", "0");
    set(&f, CS "root.allow-zero-capacity-sum", "true");
    set(&f, CS "global-queue-max-application", "17");
    set(&f, CS "root.b.maximum-applications", "4");
    fix_start(&f);
    assert_int_equal(rm_sched_queue(f.s, "a", &q), 0);
    assert_int_equal(q.max_apps, 17);
    assert_int_equal(rm_sched_queue(f.s, "b", &q), 0);
    assert_int_equal(q.max_apps, 4);
    fix_end(&f);
}

/* A leaf without a maximum of its own takes that many applications; one that ends makes room. */
static void test_global_maximum_of_applications(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "global-queue-max-application", "2");
    set(&f, CS "root.b.maximum-applications", "3");
    fix_start(&f);
    for (int i = 1; i <= 2; i++)
        assert_true(app(&f, i, i == 1 ? "ann" : "bob", "a", 1024));
    assert_false(app(&f, 3, "eve", "a", 1024));
    for (int i = 4; i <= 6; i++)
        assert_true(app(&f, i, "ann", "b", 1024));
    assert_false(app(&f, 7, "ann", "b", 1024));
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                     .app_removed = { .app = app_id(1) } }),
                     0);
    assert_true(app(&f, 8, "eve", "a", 1024));
    fix_end(&f);
}

/* The operator's table has each row, with its verdict. */
static void test_documented(void **state)
{
    static const char *const verdict[] = { [RM_QUEUE_KEY_HONOURED] = "honoured",
                                           [RM_QUEUE_KEY_NO_MEANING] = "no meaning here",
                                           [RM_QUEUE_KEY_IGNORED] = "ignored",
                                           [RM_QUEUE_KEY_REFUSED] = "refused" };
    char *doc = NULL;
    size_t size = 0, n;
    FILE *file = fopen(DOC, "r");
    const struct rm_queue_key *keys = rm_queue_keys(&n);

    (void)state;
    assert_non_null(file);
    assert_true(getdelim(&doc, &size, 0, file) > 0);
    (void)fclose(file);
    for (size_t i = 0; i < n; i++) {
        char want[200];

        (void)snprintf(
            want, sizeof(want), "| `%s%s%s` | %s |", keys[i].of_queue ? "QUEUE." : "", keys[i].name,
            strchr(".-", keys[i].name[strlen(keys[i].name) - 1]) ? "*" : "", verdict[keys[i].use]);
        if (!strstr(doc, want))
            fail_msg("%s has no row %s", DOC, want);
    }
    free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hadoops_file_is_quiet),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_fair_order),
        cmocka_unit_test(test_more_keys),
        cmocka_unit_test(test_global_maximum_of_applications),
        cmocka_unit_test(test_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
