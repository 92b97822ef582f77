/* service/definition/resolve.c, expand.c, merge.c and measure.c: what components get of their
 * service and of another one; results that are too large. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/str.h"
#include "service/definition/definition.h"

static struct svc_definition *parse(const char *json, struct sv_arena *a)
{
    struct svc_definition *d = NULL;
    struct sv_error err = { 0 };

    if (svc_definition_parse(json, strlen(json), SVC_STRICT, a, &d, &err) < 0)
        fail_msg("%s", err.text);
    return d;
}

/* Single quotes for double ones. */
static struct svc_definition *parse_quoted(const char *text, struct sv_arena *a)
{
    char *json = strdup(text);
    struct svc_definition *d;

    assert_non_null(json);
    for (char *p = json; *p; p++)
        if (*p == '\'')
            *p = '"';
    d = parse(json, a);
    free(json);
    return d;
}

static const char shop[] =
    "{'name': 'shop', 'version': '1', 'resource': {'memory': '512', 'cpus': 2, 'additional': "
    "{'yarn.io/gpu': {'value': 1}}}, 'artifact': {'type': 'TARBALL', 'id': 'hdfs:///t.tgz'},"
    "'configuration': {'properties': {'p': 'service', 'q': 'service'}, 'env': {'E': 'service'},"
    "'files': [{'type': 'JSON', 'dest_file': 'f', 'properties': {'a': 'service', 'b': 'service'}},"
    "{'type': 'YAML', 'dest_file': 'g'}]},"
    "'components': [{'name': 'plain', 'number_of_containers': 1, 'launch_command': 'true'},"
    "{'name': 'own', 'number_of_containers': 1, 'launch_command': 'true',"
    "'resource': {'memory': '64'}, 'artifact': {'type': 'TARBALL', 'id': 'file:///o.tgz'},"
    "'configuration': {'properties': {'p': 'own'}, 'env': {'E': 'own', 'F': 'own'},"
    "'files': [{'type': 'PROPERTIES', 'dest_file': 'f', 'properties': {'a': 'own'}}]}}]}";

static void check_inherited(const struct svc_definition *d)
{
    const struct svc_component *plain = &d->components[0], *own = &d->components[1];

    assert_int_equal(plain->resource.memory_mb, 512);
    assert_int_equal(plain->resource.vcores, 2);
    assert_int_equal(plain->resource.gpus, 1);
    assert_int_equal(plain->n_additional, 1);
    assert_string_equal(plain->artifact.id, "hdfs:///t.tgz");
    assert_int_equal(plain->configuration.properties.n, 2);
    assert_int_equal(plain->configuration.n_files, 2);
    assert_int_equal(own->resource.memory_mb, 64);
    assert_int_equal(own->resource.gpus, 0);
    assert_string_equal(own->artifact.id, "file:///o.tgz");
    assert_string_equal(svc_map_get(&own->configuration.properties, "p"), "own");
    assert_string_equal(svc_map_get(&own->configuration.properties, "q"), "service");
    assert_string_equal(svc_map_get(&own->configuration.env, "E"), "own");
    assert_int_equal(own->configuration.env.n, 2);
    assert_int_equal(own->configuration.n_files, 2);
    assert_int_equal(own->configuration.files[0].type, SVC_FILE_PROPERTIES);
    assert_string_equal(svc_map_get(&own->configuration.files[0].properties, "a"), "own");
    assert_string_equal(svc_map_get(&own->configuration.files[0].properties, "b"), "service");
    assert_string_equal(own->configuration.files[1].dest, "g");
}

static void test_resolve(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_definition *d = parse_quoted(shop, a);
    struct sv_error err = { 0 };
    char *once, *twice;

    (void)state;
    assert_int_equal(svc_definition_resolve(d, a, &err), 0);
    check_inherited(d);
    assert_int_equal(svc_definition_print(d, &once), 0);
    d = parse(once, a);
    assert_int_equal(svc_definition_resolve(d, a, &err), 0); /* as often as one likes */
    check_inherited(d);
    assert_int_equal(svc_definition_print(d, &twice), 0);
    assert_string_equal(once, twice);
    free(once);
    free(twice);
}

/* 200 components with the 100 KiB of their service would be 20 MiB of JSON. */
static void test_product(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct svc_definition *d;
    _cleanup_buf_ struct sv_buf json = SV_BUF_INIT(0);
    char *text = NULL;

    (void)state;
    assert_int_equal(sv_buf_put_str(&json, "{\"name\": \"s\", \"version\": \"1\", \"resource\": "
                                           "{\"memory\": \"1\"}, \"configuration\": "
                                           "{\"properties\": {\"p\": \""),
                     0);
    for (int i = 0; i < 100 << 10; i++)
        assert_int_equal(sv_buf_put_u8(&json, 'x'), 0);
    assert_int_equal(sv_buf_put_str(&json, "\"}}, \"components\": ["), 0);
    for (int i = 0; i < 200; i++)
        assert_int_equal(sv_buf_printf(&json,
                                       "%s{\"name\": \"c%d\", \"number_of_containers\": 1, "
                                       "\"launch_command\": \"true\"}",
                                       i ? "," : "", i),
                         0);
    assert_int_equal(sv_buf_put(&json, "]}", 3), 0);
    d = parse((const char *)json.data, a);
    assert_int_equal(svc_definition_resolve(d, a, &err), -EFBIG);
    assert_non_null(strstr(err.text, "at most 4194304"));
    assert_int_equal(svc_definition_print(d, &text), -EFBIG);
    assert_null(text);
}

/* ---- Components that stand for a service ---- */

struct store {
    struct svc_definition *other;
    int loads;
};

static int load(void *arg, const char *service, struct sv_arena *a,
                const struct svc_definition **ret, struct sv_error *err)
{
    struct store *s = arg;

    (void)a;
    s->loads++;
    if (strcmp(service, s->other->name))
        return sv_error_set(err, -ENOENT, "service %s: not found", service);
    *ret = s->other;
    return 0;
}

static int expand(const char *text, struct svc_definition **ret, struct sv_arena *a,
                  struct sv_error *err)
{
    struct store s = { parse_quoted(shop, a), 0 };
    int r;

    *ret = parse_quoted(text, a);
    r = svc_definition_expand(*ret, load, &s, a, err);
    assert_true(s.loads > 0);
    return r;
}

static void test_expand(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct svc_definition *d;
    const struct svc_component *c;

    (void)state;
    if (expand(
            "{'name': 's', 'version': '1', 'components': ["
            "{'name': 'theirs', 'artifact': {'type': 'SERVICE', 'id': 'shop'}},"
            "{'name': 'own', 'number_of_containers': 5, 'configuration': {'env': {'E': 'mine'}}},"
            "{'name': 'x', 'number_of_containers': 1, 'launch_command': 'x', 'resource':"
            "{'memory': '1'}, 'dependencies': ['plain']}]}",
            &d, a, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(d->n_components, 3);
    c = svc_component_named(d, "own");
    assert_ptr_equal(c, &d->components[0]);
    assert_int_equal(c->count, 5);
    assert_string_equal(c->launch_command, "true");
    assert_string_equal(svc_map_get(&c->configuration.env, "E"), "mine");
    assert_string_equal(svc_map_get(&c->configuration.env, "F"), "own");
    assert_int_equal(c->resource.memory_mb, 64);
    c = svc_component_named(d, "plain");
    assert_ptr_equal(c, &d->components[2]);
    assert_int_equal(c->resource.memory_mb, 512); /* of its own service */
    assert_null(svc_component_named(d, "theirs"));
}

static void refused(const char *text, int code, const char *want)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct svc_definition *d;

    assert_int_equal(expand(text, &d, a, &err), code);
    if (!sv_has_prefix(err.text, want))
        fail_msg("%s", err.text);
}

static void test_expand_refusals(void **state)
{
    (void)state;
    refused("{'name': 's', 'version': '1', 'components': ["
            "{'name': 'theirs', 'artifact': {'type': 'SERVICE', 'id': 'shop'}},"
            "{'name': 'x', 'number_of_containers': 1, 'launch_command': 'x', 'resource':"
            "{'memory': '1'}, 'dependencies': ['plane']}]}",
            -EINVAL, "components[0].dependencies[0]: \"plane\": no component");
    refused("{'name': 's', 'version': '1', 'components': ["
            "{'name': 'theirs', 'artifact': {'type': 'SERVICE', 'id': 'shop'}},"
            "{'name': 'again', 'artifact': {'type': 'SERVICE', 'id': 'shop'}}]}",
            -EINVAL, "components[3].name: \"own\": components[1] has this name too");
    refused("{'name': 's', 'version': '1', 'components': ["
            "{'name': 'theirs', 'artifact': {'type': 'SERVICE', 'id': 'ship'}}]}",
            -ENOENT, "components[0]: service ship: not found");
    refused("{'name': 's', 'version': '1', 'components': ["
            "{'name': 'theirs', 'artifact': {'type': 'SERVICE', 'id': 'shop'}}, {'name': 'own'},"
            "{'name': 'left'}]}",
            -EINVAL, "components[1]: launch_command is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resolve),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_expand),
        cmocka_unit_test(test_expand_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
