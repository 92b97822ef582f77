/* client/config/config-queues.h: output of `selvedge config` for the keys of
 * capacity-scheduler.xml. */
#include "client/config/config-queues.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/scheduler-keys.h"

#define CS "yarn.scheduler.capacity."

static struct sv_conf *tree(void)
{
    static const char *const file[][2] = {
        { CS "root.queues", "prod, dev" },
        { CS "root.prod.queues", "etl ,root" },
        { CS "root.prod.etl.capacity", "40" },
    };
    struct sv_conf *conf = sv_conf_new();

    assert_non_null(conf);
    for (size_t i = 0; i < SV_ARRAY_LEN(file); i++)
        assert_true(sv_conf_set(conf, file[i][0], file[i][1]) >= 0);
    return conf;
}

static void test_keys(void **state)
{
    static const struct {
        const char *name, *meaning, *nearest;
        bool known, no_queue;
    } cases[] = {
        { CS "root.prod.etl.capacity", "share of the parent queue", "", true, false },
        { CS "root.capacity", "share of the parent queue", "", true, false },
        { CS "QUEUE.capacity", "share of the parent queue", "", true, false },
        { CS "root.prod.root.state", "RUNNING or STOPPED", "", true, false },
        { CS "root.dev.user-settings.ann.weight", "multiplies what", "", true, false },
        { CS "root.dev.reservable", "refuses it unless it is \"false\"", "", true, false },
        { CS "root.dev.min-resource", "refused: write capacity=", "", true, false },
        { CS "root.dev.default-node-label-expression", "ignored: there are no", "", true, false },
        { CS "queue-mappings", "where applications go", "", true, false },
        { CS "schedule-asynchronously.enable", "without meaning here: one thread", "", true,
          false },
        { CS "root.dev.capacty", "not a key", CS "root.dev.capacity", false, false },
        { CS "node-locality-dely", "not a key", CS "node-locality-delay", false, false },
        { CS "vendors.own", "not a key", "", false, false },
        { CS "root.prod.elt.capacity", "no queue root.prod.elt", CS "root.prod.etl.capacity", true,
          true },
        { CS "root.dve.a.state", "no queue root.dve.a", CS "root.dev.a.state", true, true },
        { CS "root.elsewhere.capacity", "no queue root.elsewhere", "", true, true },
        { CS "prod.capacity", "no queue prod", "", true, true },
        { CS "root", "not a key", "", false, false },
        { CS, "not a key", "", false, false },
    };
    struct sv_conf *conf = tree();

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct cli_queue_key k;

        assert_true(cli_config_queue_key(conf, cases[i].name, &k));
        if (!strstr(k.meaning, cases[i].meaning) || strcmp(k.nearest, cases[i].nearest) != 0 ||
            (k.row != NULL) != cases[i].known || k.no_queue != cases[i].no_queue)
            fail_msg("%s: \"%s\", nearest \"%s\", known %d, no queue %d", cases[i].name, k.meaning,
                     k.nearest, k.row != NULL, k.no_queue);
    }
    sv_conf_free(conf);
}

/* Without a file there is one queue, root.default. */
static void test_no_file(void **state)
{
    struct sv_conf *conf = sv_conf_new();
    struct cli_queue_key k;

    (void)state;
    assert_true(cli_config_queue_key(conf, CS "root.default.capacity", &k));
    assert_false(k.no_queue);
    assert_true(cli_config_queue_key(conf, CS "root.other.capacity", &k));
    assert_true(k.no_queue);
    assert_false(cli_config_queue_key(conf, "yarn.scheduler.maximum-allocation-mb", &k));
    sv_conf_free(conf);
}

static void test_long_names(void **state)
{
    struct sv_conf *conf = sv_conf_new();
    struct cli_queue_key k;
    char name[2000], list[1000];

    (void)state;
    memset(list, 'q', sizeof(list) - 1);
    list[sizeof(list) - 1] = '\0';
    assert_true(sv_conf_set(conf, CS "root.queues", list) >= 0);
    for (size_t n = 1; n < sizeof(list); n += 37) {
        (void)snprintf(name, sizeof(name), CS "root.%.*s.%.*s", (int)n, list, (int)n, list);
        assert_true(cli_config_queue_key(conf, name, &k));
        assert_null(k.row);
        (void)snprintf(name, sizeof(name), CS "root.%.*s.capacity", (int)n, list);
        assert_true(cli_config_queue_key(conf, name, &k));
        assert_true(k.no_queue);
    }
    (void)snprintf(name, sizeof(name), CS "root.%s.capacity", list);
    assert_true(cli_config_queue_key(conf, name, &k));
    assert_false(k.no_queue);
    sv_conf_free(conf);
}

/* Honoured keys have an explanation: here or in scheduler-keys.c. */
static void test_explained(void **state)
{
    size_t n;
    const struct rm_queue_key *rows = rm_queue_keys(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const struct sv_conf_key *key = NULL;

        if (rows[i].use != RM_QUEUE_KEY_HONOURED || rows[i].help)
            continue;
        for (size_t j = 0; !rows[i].of_queue && (key = rm_scheduler_key(j)); j++)
            if (strcmp(key->name + strlen(CS), rows[i].name) == 0)
                break;
        if (!key || !key->help)
            fail_msg("%s has no help", rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_explained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
