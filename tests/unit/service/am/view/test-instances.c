/* Tests service/am/view/instances.c: lists by filters, in turns, and one after another. */
#include "service/am/view/instances.h"

#include <errno.h>
#include <jansson.h>

#include "tests/unit/service/am-fixture.h"

#define SHOP                                                                                       \
    "{\"name\":\"shop\",\"version\":\"7\",\"components\":["                                        \
    "{\"name\":\"db\",\"number_of_containers\":1,\"launch_command\":\"db\","                       \
    "\"resource\":{\"cpus\":1,\"memory\":\"64\"}},"                                                \
    "{\"name\":\"web\",\"number_of_containers\":3,\"launch_command\":\"web\","                     \
    "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}"

static struct {
    struct am_fixture f;
    sd_event *event;
    struct svc_instances *list;
    unsigned done;
    size_t components, instances; /* of the last list */
    int status;
} w;

static int set_up(void **state)
{
    (void)state;
    memset(&w, 0, sizeof(w));
    am_fixture_new(&w.f, SHOP);
    assert_int_equal(sd_event_new(&w.event), 0);
    assert_int_equal(svc_instances_new(w.event, w.f.engine, &w.f.containers, &w.list), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    svc_instances_free(w.list);
    sd_event_unref(w.event);
    am_fixture_free(&w.f);
    return 0;
}

static void on_done(int status, const char *text, void *userdata)
{
    json_t *j, *c;
    size_t i;

    assert_ptr_equal(userdata, &w);
    w.done++;
    w.status = status;
    w.components = w.instances = 0;
    if (status < 0)
        return;
    j = json_loads(text, 0, NULL);
    assert_non_null(j);
    w.components = json_array_size(j);
    json_array_foreach(j, i, c) w.instances += json_array_size(json_object_get(c, "containers"));
    json_decref(j);
}

static void list(const struct svc_instance_filter *f)
{
    assert_int_equal(svc_instances_list(w.list, f, "7", on_done, &w), 0);
}

/* The number of instances that a small service lists at once. */
static size_t count(const struct svc_instance_filter *f)
{
    unsigned before = w.done;

    list(f);
    assert_int_equal(w.done, before + 1);
    assert_int_equal(w.status, 0);
    return w.instances;
}

static void filters(void **state)
{
    char web[] = "web", none[] = "none", ready[] = "READY", stopped[] = "STOPPED";
    char *const components[] = { web, none }, *const good[] = { ready }, *const bad[] = { stopped };

    (void)state;
    assert_int_equal(count(&(struct svc_instance_filter){ 0 }), 4);
    assert_int_equal(w.components, 2);
    assert_int_equal(count(&(struct svc_instance_filter){ components, 2, NULL, NULL, 0 }), 3);
    assert_int_equal(w.components, 1);
    assert_int_equal(count(&(struct svc_instance_filter){ .states = good, .n_states = 1 }), 4);
    assert_int_equal(count(&(struct svc_instance_filter){ .states = bad, .n_states = 1 }), 0);
    assert_int_equal(w.components, 0);
    assert_int_equal(count(&(struct svc_instance_filter){ .version = "7" }), 4);
    assert_int_equal(count(&(struct svc_instance_filter){ .version = "" }), 4);
    assert_int_equal(count(&(struct svc_instance_filter){ .version = "8" }), 0);
}

static void grow(int instances)
{
    for (int have = 3; have < instances;) { /* the fixture's list of operations is bounded */
        have = SV_MIN(have + 100, instances);
        assert_int_equal(svc_engine_flex(w.f.engine, 1, "web", have, NULL), 0);
        am_fixture_settle(&w.f);
    }
}

static void in_turns(void **state)
{
    int n = 2 * SVC_INSTANCES_TURN + 10;
    unsigned turns = 0;

    (void)state;
    grow(n);
    list(&(struct svc_instance_filter){ 0 });
    list(&(struct svc_instance_filter){ .version = "8" });
    assert_int_equal(w.done, 0); /* of the second one too: one at a time */
    for (; w.done == 0; turns++)
        assert_true(sd_event_run(w.event, UINT64_MAX) >= 0);
    assert_int_equal(turns, 2);
    assert_int_equal(w.components, 2);
    assert_int_equal(w.instances, n + 1);
    while (w.done == 1)
        assert_true(sd_event_run(w.event, UINT64_MAX) >= 0);
    assert_int_equal(w.instances, 0);
    assert_int_equal(sd_event_run(w.event, 0), 0); /* nothing is left to do */
    list(&(struct svc_instance_filter){ 0 });      /* freed while it is made */
}

/* Lists that wait are bounded. */
static void too_many(void **state)
{
    static const struct svc_instance_filter all;

    (void)state;
    grow(SVC_INSTANCES_TURN + 10);
    for (int i = 0; i < SVC_INSTANCES_WAITING; i++)
        list(&all);
    assert_int_equal(svc_instances_list(w.list, &all, "7", on_done, &w), -EBUSY);
    while (w.done < SVC_INSTANCES_WAITING)
        assert_true(sd_event_run(w.event, UINT64_MAX) >= 0);
    list(&all);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(filters), TEST(in_turns), TEST(too_many) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
