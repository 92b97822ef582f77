/* Tests service/am/view/slider-resources.c: what a PUT of resources.json may ask. */
#include "service/am/view/slider-resources.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#define TREE(components)                                                                           \
    "{\"schema\":\"http://example.org/specification/v2.0.0\",\"metadata\":{},\"global\":{},"       \
    "\"components\":{" components "}}"

static struct svc_component components[] = {
    { .name = "web", .resource = { .memory_mb = 256, .vcores = 1 } },
    { .name = "db", .resource = { .memory_mb = 1024, .vcores = 2 } },
};
static const struct svc_definition definition = { .components = components, .n_components = 2 };

static int read_tree(const char *json, struct sv_arena *a, struct svc_flex **ret,
                     struct sv_error *err)
{
    size_t n = 0;
    int r;

    *err = (struct sv_error){ 0 };
    r = svc_slider_resources(json, strlen(json), &definition, a, ret, &n, err);
    if (r == 0)
        assert_int_equal(n, 2);
    return r;
}

static void taken(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_flex *list;
    struct sv_error err;

    (void)state;
    assert_int_equal(read_tree(TREE("\"web\":{\"yarn.component.instances\":\"3\",\"yarn.memory\":"
                                    "\"256\",\"yarn.vcores\":\"1\",\"yarn.role.priority\":\"1\","
                                    "\"yarn.component.instances.actual\":\"7\"},"
                                    "\"slider-appmaster\":{}"),
                               a, &list, &err),
                     0);
    assert_string_equal(list[0].component, "web");
    assert_int_equal(list[0].count, 3);
    assert_int_equal(list[1].count, 0); /* not named: none is wanted */
}

static void refused(void **state)
{
    static const struct {
        const char *json, *text;
    } rows[] = {
        { "", "line 1" },
        { "[]", "an object" },
        { "{}", "schema" },
        { "{\"schema\":\"http://example.org/specification/v1\"}", "schema" },
        { "{\"schema\":\"http://example.org/specification/v2.0.0\"}", "components" },
        { TREE("\"web\":{}"), "components.web.yarn.component.instances is missing" },
        { TREE("\"web\":[]"), "components.web" },
        { TREE("\"web\":{\"yarn.component.instances\":3}"), "a text" },
        { TREE("\"web\":{\"yarn.component.instances\":\"-1\"}"), "a number" },
        { TREE("\"web\":{\"yarn.component.instances\":\"100001\"}"), "a number" },
        { TREE("\"web\":{\"yarn.component.instances\":\"1e3\"}"), "a number" },
        { TREE("\"web\":{\"yarn.component.instances\":\"1\",\"yarn.memory\":\"512\"}"),
          "components.web.yarn.memory: \"512\": 256, which" },
        { TREE("\"web\":{\"yarn.component.instances\":\"1\",\"yarn.role.priority\":\"2\"}"),
          "yarn.role.priority" },
        { TREE("\"web\":{\"yarn.component.instances\":\"1\",\"memory\":\"2\"}"), "begin with" },
        { TREE("\"cache\":{\"yarn.component.instances\":\"1\"}"), "components.cache" },
        { TREE("\"web\":{\"yarn.component.instances\":\"1\",\"yarn.component.instances\":\"2\"}"),
          "duplicate" },
        { "{\"schema\":\"http://example.org/specification/v2.0.0\",\"global\":{\"x\":\"1\"},"
          "\"components\":{}}",
          "global.x" },
    };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_flex *list;
    struct sv_error err;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        if (read_tree(rows[i].json, a, &list, &err) != -EINVAL)
            fail_msg("taken: %s", rows[i].json);
        if (!strstr(err.text, rows[i].text))
            fail_msg("%s: %s", rows[i].json, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(taken), cmocka_unit_test(refused) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
