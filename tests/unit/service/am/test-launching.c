/* Tests service/am/launching.c with storing.c: many launches at once, in the order that the journal
 * demands. The worker, the ResourceManager and the nodes are the test's. */
#include <errno.h>

#include "tests/unit/service/am-fixture.h"

#include "service/am/master-internal.h"

#define CONTAINERS 1000

struct job {
    struct yarn_container_id id;
    svc_launched_fn done;
};

static struct {
    struct am_fixture f;
    struct svc_master m;
    struct svc_am_options options;
    struct job jobs[CONTAINERS];
    size_t n_jobs, n_done, journals, starts;
    svc_stored_fn stored; /* of the journal being written */
    char journal[64 << 10];
} w;

int __wrap_svc_work_launch(struct svc_work *work, struct yarn_container_id id,
                           const struct svc_launch_request *q, svc_launched_fn fn, void *userdata);
int __wrap_svc_work_replace(struct svc_work *work, const char *name, struct sv_buf *bytes,
                            svc_stored_fn fn, void *userdata);
int __wrap_cli_am_start(struct cli_am *am, struct yarn_container_id id,
                        const struct cli_launch *launch);
struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am);

int __wrap_svc_work_launch(struct svc_work *work, struct yarn_container_id id,
                           const struct svc_launch_request *q, svc_launched_fn fn, void *userdata)
{
    (void)work;
    assert_ptr_equal(userdata, &w.m);
    assert_non_null(strstr(w.journal, q->instance)); /* its name was stored before */
    w.jobs[w.n_jobs++] = (struct job){ id, fn };
    assert_true(w.n_jobs - w.n_done <= SVC_LAUNCHES_OPEN);
    return 0;
}

int __wrap_svc_work_replace(struct svc_work *work, const char *name, struct sv_buf *bytes,
                            svc_stored_fn fn, void *userdata)
{
    (void)work;
    (void)userdata;
    assert_string_equal(name, SVC_JOURNAL_FILE);
    assert_null(w.stored); /* one at a time */
    assert_true(bytes->len < sizeof(w.journal));
    memcpy(w.journal, bytes->data, bytes->len);
    w.journal[bytes->len] = '\0';
    w.stored = fn;
    w.journals++;
    return 0;
}

int __wrap_cli_am_start(struct cli_am *am, struct yarn_container_id id,
                        const struct cli_launch *launch)
{
    (void)am;
    (void)id;
    (void)launch;
    w.starts++;
    return 0;
}

struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am)
{
    (void)am;
    return (struct yarn_attempt_id){ { 1, 1 }, 1 };
}

static void run(void)
{
    while (sd_event_run(w.m.event, 0) > 0)
        ;
}

static void journal_stored(void)
{
    svc_stored_fn fn = SV_TAKE(w.stored);
    const struct sv_error none = { 0 };

    assert_non_null(fn);
    fn(0, &none, &w.m);
    run();
}

static void prepared(void)
{
    const struct cli_launch launch = { .command = "" };
    const struct sv_error none = { 0 };
    const struct job j = w.jobs[w.n_done++];

    j.done(j.id, 0, &launch, &none, &w.m);
    run();
}

static void launch(int64_t n)
{
    static const struct yarn_resource resource;
    const struct svc_component *c = &w.f.plan->resolved->components[0];
    char name[32];
    const struct svc_op op = {
        .type = SVC_OP_LAUNCH, .component = c, .instance = name, .container = { { { 1, 1 }, 1 }, n }
    };

    (void)snprintf(name, sizeof(name), "web-%lld", (long long)n);
    assert_non_null(
        svc_containers_add(&w.m.containers, op.container, &am_node, &resource, "node1:8042"));
    svc_master_launch(&w.m, &op, false);
}

static int set_up(void **state)
{
    struct svc_names_config names = { .containers = &w.m.containers, .heading = "" };

    (void)state;
    memset(&w, 0, sizeof(w));
    am_fixture_new(&w.f, "{\"name\":\"shop\",\"version\":\"7\",\"components\":[{\"name\":\"web\","
                         "\"number_of_containers\":0,\"launch_command\":\"web\","
                         "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}");
    w.options.user = "ann";
    w.m = (struct svc_master){ .options = &w.options, .engine = w.f.engine, .plan = w.f.plan };
    assert_int_equal(sd_event_new(&w.m.event), 0);
    assert_int_equal(svc_master_launching_new(&w.m), 0);
    names.engine = w.f.engine;
    assert_int_equal(svc_names_new(&names, &w.m.names), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    svc_names_free(w.m.names);
    sd_event_source_disable_unref(w.m.turn);
    sd_event_unref(w.m.event);
    svc_containers_clear(&w.m.containers);
    svc_containers_clear(&w.m.expected);
    am_fixture_free(&w.f);
    return 0;
}

static void few_at_a_time(void **state)
{
    (void)state;
    for (int64_t i = 0; i < CONTAINERS; i++)
        launch(i);
    run();
    assert_int_equal(w.journals, 1);
    assert_int_equal(w.n_jobs, SVC_LAUNCHES_OPEN);
    while (w.n_done < w.n_jobs)
        prepared();
    assert_int_equal(w.starts, CONTAINERS);
    assert_int_equal(w.journals, 1);
    assert_int_equal(w.m.jobs, 0);
}

/* Launches while the journal is being written wait for the next one, which has all of them. */
static void one_journal(void **state)
{
    (void)state;
    launch(1);
    run();
    for (int64_t i = 2; i < 10; i++) {
        launch(i);
        run();
    }
    assert_int_equal(w.journals, 1);
    assert_int_equal(w.n_jobs, 1);
    journal_stored();
    assert_int_equal(w.journals, 2);
    assert_int_equal(w.n_jobs, 9);
    svc_master_journal_changed(&w.m);
    run();
    assert_int_equal(w.journals, 2);
    journal_stored();
    assert_int_equal(w.journals, 3);
}

/* Containers that the ResourceManager has not handed back keep their names in it. */
static void not_handed_back(void **state)
{
    static const struct yarn_resource resource;
    const struct yarn_container_id id = { { { 1, 1 }, 1 }, 77 };
    struct svc_container *c;

    (void)state;
    c = svc_containers_add(&w.m.expected, id, &am_node, &resource, "");
    assert_non_null(c);
    assert_int_equal(svc_container_name(c, "web-7"), 0);
    launch(1);
    run();
    assert_non_null(strstr(w.journal, " web-7\n"));
    assert_non_null(strstr(w.journal, " web-1\n"));
}

/* A decommission of many instances: each name is added, and once. */
static void decommissioned(void **state)
{
    const struct svc_component *stored = &w.f.plan->stored->components[0];
    char name[32];
    const struct svc_op op = { .type = SVC_OP_PERSIST,
                               .component = &w.f.plan->resolved->components[0],
                               .instance = name };

    (void)state;
    w.m.stored_by_caller = true;
    for (int i = 0; i < 50000; i++) {
        (void)snprintf(name, sizeof(name), "web-%d", i);
        svc_master_persist(&w.m, &op);
    }
    assert_int_equal(stored->n_decommissioned, 50000);
    assert_string_equal(stored->decommissioned[0], "web-0");
    assert_string_equal(stored->decommissioned[49999], "web-49999");
    assert_false(w.m.store_again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(few_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_journal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_handed_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decommissioned, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
