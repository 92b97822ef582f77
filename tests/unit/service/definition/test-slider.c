/* service/definition/slider*.c: Slider's documents as a definition (tests/golden/slider), what is
 * refused, and the body of a flex. Defects of Slider's code that are not copied: a window of
 * failures of 6 hours is 6 hours; a threshold below zero limits nothing; a flex that is wrong is
 * refused before anything is done. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "service/definition/service-keys.h"
#include "service/definition/slider-tree.h"
#include "service/definition/slider.h"

#define HEAD "{\"schema\": \"" SVC_SLIDER_SCHEMA "\", "

static char *golden(const char *name)
{
    char *path, *text = calloc(1, 65536);
    FILE *f;

    assert_int_equal(sv_asprintf(&path, "tests/golden/slider/%s.json", name), 0);
    f = fopen(path, "re");
    assert_true(text && f);
    assert_true(fread(text, 1, 65535, f) > 0);
    (void)fclose(f);
    free(path);
    return text;
}

static struct svc_definition *hbase(struct sv_arena *a)
{
    char *resources = golden("resources"), *app = golden("appConf"), *internal = golden("internal");
    struct svc_slider_files files = { resources,   strlen(resources), app,
                                      strlen(app), internal,          strlen(internal) };
    struct svc_definition *d = NULL;
    struct sv_error err = { 0 };

    if (svc_slider_import(&files, NULL, a, &d, &err) < 0)
        fail_msg("%s", err.text);
    free(resources);
    free(app);
    free(internal);
    return d;
}

static void test_service(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct svc_definition *d = hbase(a);
    const struct svc_map *p = &d->configuration.properties;
    int64_t n;

    (void)state;
    assert_string_equal(d->name, "hbase");
    assert_string_equal(d->version, "1.2.6");
    assert_string_equal(d->queue, "services");
    assert_int_equal(d->artifact.type, SVC_ARTIFACT_TARBALL);
    assert_string_equal(d->artifact.id, "hdfs://cluster/apps/hbase-1.2.6.tar.gz");
    assert_string_equal(svc_map_get(p, "zookeeper.quorum"), "zk1:2181,zk2:2181");
    assert_string_equal(svc_map_get(p, "yarn.service.log.include-pattern"), ".*log");
    assert_string_equal(svc_map_get(&d->configuration.env, "MALLOC_ARENA_MAX"), "4");
    assert_int_equal(svc_key_int(SVC_KEY_FAILURE_WINDOW_S, d, NULL, NULL, &n, NULL), 0);
    assert_int_equal(n, 5400);
    assert_int_equal(svc_key_int(SVC_KEY_AM_MEMORY_MB, d, NULL, NULL, &n, NULL), 0);
    assert_int_equal(n, 512);
}

static void test_components(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct svc_definition *d = hbase(a);
    const struct svc_component *master = &d->components[0], *region = &d->components[1],
                               *rest = &d->components[2];
    int64_t n;

    (void)state;
    assert_int_equal(d->n_components, 3);
    assert_string_equal(master->name, "hbase-master"); /* by priority */
    assert_string_equal(svc_map_get(&master->configuration.properties, SVC_SLIDER_NAME),
                        "HBASE_MASTER");
    assert_string_equal(master->launch_command, "exec lib/bin/hbase --config conf master start");
    assert_string_equal(svc_map_get(&master->configuration.env, "MALLOC_ARENA_MAX"), "8");
    assert_int_equal(master->resource.memory_mb, 256);
    assert_int_equal(master->resource.vcores, 2); /* the global one */
    assert_int_equal(master->n_constraints, 0);
    assert_string_equal(svc_map_get(&master->configuration.properties, SVC_SLIDER_PLACEMENT), "1");
    assert_int_equal(svc_key_int(SVC_KEY_FAILURE_THRESHOLD, d, master, NULL, &n, NULL), 0);
    assert_int_equal(n, 5);
    assert_string_equal(region->name, "hbase-regionserver");
    assert_int_equal(region->count, 3);
    assert_int_equal(region->resource.vcores, 4);
    assert_int_equal(region->constraints[0].type, SVC_ANTI_AFFINITY);
    assert_string_equal(region->constraints[0].node_partitions[0], "ssd");
    assert_int_equal(svc_key_int(SVC_KEY_NODE_THRESHOLD, d, region, NULL, &n, NULL), 0);
    assert_int_equal(n, INT32_MAX);
    assert_int_equal(svc_key_int(SVC_KEY_FAILURE_THRESHOLD, d, region, NULL, &n, NULL), 0);
    assert_int_equal(n, INT32_MAX);
    assert_string_equal(rest->name, "hbase-rest");
    assert_int_equal(rest->constraints[0].type, SVC_CARDINALITY);
    assert_int_equal(rest->constraints[0].min_cardinality, 0);
    assert_string_equal(svc_map_get(&rest->configuration.properties, "role.prefix"), "rest");
}

/* The result is a definition of ours. */
static void test_round_trip(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_definition *d = hbase(a), *again;
    struct sv_error err = { 0 };
    char *text;

    (void)state;
    assert_int_equal(svc_definition_print(d, &text), 0);
    if (svc_definition_parse(text, strlen(text), SVC_STRICT, a, &again, &err) < 0)
        fail_msg("%s", err.text);
    free(text);
    assert_int_equal(svc_definition_resolve(again, a, &err), 0);
    assert_int_equal(again->components[2].constraints[0].n_node_partitions, 1);
}

static const struct {
    const char *resources, *app_conf, *internal, *want;
} refusals[] = {
    { NULL, NULL, NULL, "resources.json: missing" },
    { "{}", NULL, NULL, "resources.json: schema: " },
    { "{\"schema\": \"v1\"}", NULL, NULL, "resources.json: \"v1\": schema: " },
    { HEAD "\"components\": []}", NULL, NULL, "resources.json.components: an object" },
    { HEAD "\"components\": {}}", NULL, NULL, "components: at least one" },
    { HEAD "\"global\": {\"memory\": \"1\"}}", NULL, NULL,
      "resources.json: global: \"memory\": an option of resources begins with yarn." },
    { HEAD "\"components\": {\"a\": {\"yarn.role.priority\": \"1\"}}}", NULL, NULL,
      "resources.json: component a: yarn.component.instances is missing" },
    { HEAD "\"components\": {\"a\": {\"yarn.component.instances\": \"1\"}}}", NULL, NULL,
      "resources.json: component a: yarn.role.priority is missing" },
    { HEAD "\"components\": {\"a\": {\"yarn.role.priority\": \"0\"}}}", NULL, NULL,
      "resources.json: component a: yarn.role.priority: \"0\": a whole number from 1" },
    { HEAD "\"components\": {\"a\": {\"yarn.role.priority\": \"1\", \"yarn.component.instances\": "
           "\"-1\"}}}",
      NULL, NULL, "resources.json: component a: yarn.component.instances: \"-1\": a whole number" },
    { HEAD "\"components\": {\"a\": {\"yarn.role.priority\": \"1\", \"yarn.component.instances\": "
           "\"1\", \"yarn.memory\": \"max\"}}}",
      NULL, NULL, "resources.json: component a: yarn.memory: \"max\": what the cluster" },
    { HEAD "\"components\": {\"a\": {\"yarn.role.priority\": \"1\", \"yarn.component.instances\": "
           "\"1\", \"yarn.component.placement.policy\": \"8\"}}}",
      NULL, NULL,
      "resources.json: component a: yarn.component.placement.policy: \"8\": a whole number" },
    { HEAD "\"components\": {\"a\": {\"yarn.role.priority\": \"1\", \"yarn.component.instances\": "
           "\"1\", \"yarn.label.expression\": \"x && y\"}}}",
      NULL, NULL, "resources.json: component a: yarn.label.expression: \"x && y\": one label" },
    { HEAD "\"components\": {\"a\": {\"yarn.role.priority\": \"1\", \"yarn.component.instances\": "
           "\"1\"}, \"b\": {\"yarn.role.priority\": \"01\", \"yarn.component.instances\": \"1\"}}}",
      NULL, NULL, "resources.json: component b: yarn.role.priority is that of a too" },
    { HEAD "\"components\": {\"a\": {\"yarn.role.priority\": \"1\", \"yarn.component.instances\": "
           "\"1\"}}}",
      NULL, NULL, "components[0]: launch_command is missing" },
    { HEAD "\"components\": {}}", HEAD "\"components\": {\"a\": {\"yarn.memory\": \"1\"}}}", NULL,
      "appConf.json: component a: \"yarn.memory\": this option is of resources.json" },
    { HEAD "\"components\": {}}", NULL,
      HEAD "\"global\": {\"internal.application.image.path\": \"x\", "
           "\"internal.application.home\": \"y\"}}",
      "internal.json: internal.application.image.path and" },
};

static size_t length(const char *s)
{
    return s ? strlen(s) : 0;
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct svc_slider_files f = { refusals[i].resources, length(refusals[i].resources),
                                      refusals[i].app_conf,  length(refusals[i].app_conf),
                                      refusals[i].internal,  length(refusals[i].internal) };
        struct svc_definition *d = NULL;
        struct sv_error err = { 0 };

        assert_int_equal(svc_slider_import(&f, "s", a, &d, &err), -EINVAL);
        if (!sv_has_prefix(err.text, refusals[i].want))
            fail_msg("\"%s\", want \"%s\"", err.text, refusals[i].want);
        assert_null(d);
    }
}

static void test_default_window(void **state)
{
    static const char resources[] = HEAD "\"components\": {\"a\": {\"yarn.role.priority\": \"1\", "
                                         "\"yarn.component.instances\": \"1\"}}}",
                      app[] = HEAD "\"global\": {\"launch_command\": \"true\"}, "
                                   "\"components\": {\"a\": {}}}";
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_slider_files f = { resources, sizeof resources - 1, app, sizeof app - 1, NULL, 0 };
    struct svc_definition *d = NULL;
    struct sv_error err = { 0 };
    int64_t n;

    (void)state;
    if (svc_slider_import(&f, "s", a, &d, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(svc_key_int(SVC_KEY_FAILURE_WINDOW_S, d, NULL, NULL, &n, NULL), 0);
    assert_int_equal(n, 6 * 3600);
    assert_string_equal(d->components[0].launch_command, "true");
}

/* ---- Flex ---- */

static int flex(const struct svc_definition *d, const char *body, int64_t *counts,
                struct sv_error *err)
{
    return svc_slider_flex(body, strlen(body), d, counts, err);
}

static void test_flex(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct svc_definition *d = hbase(a);
    int64_t counts[3] = { -7, -7, -7 };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(flex(d, HEAD "\"components\": {\"NOBODY\": {}}}", counts, &err), -EINVAL);
    assert_string_equal(err.text, "resources.json: components: \"NOBODY\": the service has no such "
                                  "component");
    assert_int_equal(flex(d,
                          HEAD "\"components\": {\"HBASE_MASTER\": "
                               "{\"yarn.component.instances\": \"many\"}}}",
                          counts, &err),
                     -EINVAL);
    assert_int_equal(
        flex(d, HEAD "\"components\": {\"HBASE_MASTER\": {}, \"hbase-master\": {}}}", counts, &err),
        -EINVAL);
    assert_int_equal(flex(d,
                          HEAD "\"global\": {\"yarn.component.instances\": \"60000\"}, "
                               "\"components\": {\"HBASE_MASTER\": {}, \"hbase_rest\": {}}}",
                          counts, &err),
                     -EINVAL);
    assert_int_equal(counts[0], -7); /* untouched */
    assert_int_equal(flex(d,
                          HEAD "\"components\": {\"slider-appmaster\": {}, \"HBASE_MASTER\": "
                               "{\"yarn.component.instances\": \"2\"}, \"hbase_rest\": "
                               "{\"yarn.component.instances\": \"010\"}}}",
                          counts, &err),
                     0);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 0); /* not mentioned */
    assert_int_equal(counts[2], 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_service),        cmocka_unit_test(test_components),
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_default_window), cmocka_unit_test(test_flex),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
