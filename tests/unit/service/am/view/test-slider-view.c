/* Tests service/am/view/slider-view.c: Slider's records; what GET shows, PUT takes. */
#include "service/am/view/slider-view.h"

#include <errno.h>

#include "service/am/view/slider-resources.h"
#include "tests/unit/service/am-fixture.h"

#define SHOP                                                                                       \
    "{\"name\":\"shop\",\"version\":\"7\",\"configuration\":{\"properties\":{\"site.x\":\"1\"}},"  \
    "\"components\":[{\"name\":\"db\",\"number_of_containers\":1,\"launch_command\":\"db\","       \
    "\"resource\":{\"cpus\":1,\"memory\":\"64\"}},"                                                \
    "{\"name\":\"web\",\"number_of_containers\":2,\"launch_command\":\"web\","                     \
    "\"resource\":{\"cpus\":2,\"memory\":\"128\"},"                                                \
    "\"configuration\":{\"env\":{\"A\":\"b\"}}}]}"

static struct am_fixture fixture;
static struct svc_slider_view view;

static int set_up(void **state)
{
    (void)state;
    am_fixture_new(&fixture, SHOP);
    view = (struct svc_slider_view){ fixture.engine, &fixture.containers, fixture.plan->stored,
                                     fixture.plan->resolved, "alice" };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    am_fixture_free(&fixture);
    return 0;
}

static json_int_t number(json_t *o, const char *name)
{
    return json_integer_value(json_object_get(o, name));
}

static void shown_is_taken(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct svc_flex *list;
    size_t n;

    (void)state;
    for (int statistics = 0; statistics < 2; statistics++) {
        json_t *tree = svc_slider_view_resources_tree(&view, false, statistics);
        char *text = json_dumps(tree, 0);

        if (svc_slider_resources(text, strlen(text), view.resolved, a, &list, &n, &err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(list[0].count, 1);
        assert_int_equal(list[1].count, 2);
        free(text);
        json_decref(tree);
    }
}

static void trees(void **state)
{
    json_t *j = svc_slider_view_aggregate(&view, true), *appconf = json_object_get(j, "appConf"),
           *web;

    (void)state;
    assert_string_equal(json_string_value(json_object_get(j, "name")), "shop");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(appconf, "global"), "site.x")), "1");
    web = json_object_get(json_object_get(appconf, "components"), "web");
    assert_string_equal(json_string_value(json_object_get(web, "env.A")), "b");
    json_decref(j);
}

static void what_lives(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct svc_slider_walk walk = { 0 };
    const char *id;
    json_t *j, *one;

    (void)state;
    assert_int_equal(svc_slider_view_some_ids(&view, "web", true, &walk, 1, &b), 0);
    assert_int_equal(svc_slider_view_some_ids(&view, "web", true, &walk, 9, &b), 1);
    j = json_loadb((char *)b.data, b.len, 0, NULL);
    sv_buf_free(&b);
    walk = (struct svc_slider_walk){ 0 };
    assert_int_equal(number(j, "desired"), 2);
    assert_int_equal(number(j, "actual"), 2);
    assert_int_equal(number(j, "started"), 2); /* Slider left it 0 */
    assert_int_equal(json_array_size(json_object_get(j, "containers")), 2);
    id = json_string_value(json_array_get(json_object_get(j, "containers"), 0));
    one = svc_slider_view_container(&view, id);
    assert_int_equal(number(one, "state"), 3);
    assert_string_equal(json_string_value(json_object_get(one, "component")), "web");
    assert_non_null(strstr(json_string_value(json_object_get(one, "logLink")),
                           "http://node1:8042/node/containerlogs/container_"));
    json_decref(one);
    json_decref(j);
    assert_int_equal(svc_slider_view_some_ids(&view, "nothing", true, &walk, 9, &b), -ENOENT);
    walk = (struct svc_slider_walk){ 0 };
    assert_null(svc_slider_view_container(&view, "container_1_0001_01_009999"));
    assert_null(svc_slider_view_container(&view, "nonsense"));
    for (unsigned i = 0; i < 5; i++) /* one instance at a time, and the ends of two components */
        assert_int_equal(svc_slider_view_some_containers(&view, &walk, 1, &b), i == 4);
    j = json_loadb((char *)b.data, b.len, 0, NULL);
    assert_int_equal(json_object_size(j), 3);
    json_decref(j);
}

static void the_whole(void **state)
{
    json_t *j = svc_slider_view_liveness(&view, NULL);
    struct svc_slider_walk walk = { 0 };

    (void)state;
    assert_true(json_is_true(json_object_get(j, "allRequestsSatisfied")));
    assert_int_equal(number(j, "requestsOutstanding"), 0);
    json_decref(j);
    j = svc_slider_view_statistics(&view);
    assert_int_equal(number(j, "containers.live"), 3);
    assert_int_equal(number(j, "containers.start.started"), 3);
    json_decref(j);
    j = json_object();
    assert_false(svc_slider_view_some_nodes(&view, &walk, 2, NULL, j));
    assert_true(svc_slider_view_some_nodes(&view, &walk, SIZE_MAX, NULL, j));
    assert_int_equal(json_object_size(j), 1);
    json_decref(j);
    j = svc_slider_view_node(&view, "node1");
    assert_int_equal(number(json_object_get(json_object_get(j, "entries"), "web"), "live"), 2);
    json_decref(j);
    assert_null(svc_slider_view_node(&view, "node9"));
    j = svc_slider_view_diagnostics(&view);
    assert_string_equal(json_string_value(json_object_get(j, "finalStatus")), "UNDEFINED");
    json_decref(j);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(shown_is_taken), TEST(trees), TEST(what_lives),
                                        TEST(the_whole) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
