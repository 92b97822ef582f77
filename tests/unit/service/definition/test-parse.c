/* service/definition/: the definitions of tests/golden/services are accepted or refused with the
 * words of its table, in both dialects; what is accepted and printed reads the same again. */
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
#include "service/definition/definition.h"
#include "service/definition/read.h"

#define GOLDEN "tests/golden/services"

static char *file_text(const char *name, size_t *ret_n)
{
    char *path, *text = malloc(SVC_JSON_MAX + 1);
    FILE *f;

    assert_non_null(text);
    assert_int_equal(sv_asprintf(&path, GOLDEN "/%s.json", name), 0);
    f = fopen(path, "re");
    assert_non_null(f);
    *ret_n = fread(text, 1, SVC_JSON_MAX, f);
    (void)fclose(f);
    free(path);
    text[*ret_n] = '\0';
    return text;
}

static void round_trip(const struct svc_definition *d)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_definition *again;
    struct sv_error err = { 0 };
    char *first, *second;

    assert_int_equal(svc_definition_print(d, &first), 0);
    if (svc_definition_parse(first, strlen(first), SVC_STRICT, a, &again, &err) < 0)
        fail_msg("%s\n%s", err.text, first);
    assert_int_equal(svc_definition_print(again, &second), 0);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

/* Says what differs; the test fails at the end. */
static bool judge(const char *name, enum svc_dialect dialect, const char *want)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_definition *d = NULL;
    struct sv_error err = { 0 };
    size_t n;
    char *text = file_text(name, &n);
    int r = svc_definition_parse(text, n, dialect, a, &d, &err);

    free(text);
    if (r == 0 && dialect == SVC_STRICT)
        round_trip(d);
    assert_true(r == 0 ? d != NULL : r == -EINVAL && !d);
    if (r == 0 ? !strcmp(want, "ok") : sv_has_prefix(err.text, want))
        return true;
    print_error("%s: %s, want %s\n", name, r ? err.text : "ok", want);
    return false;
}

/* "a | b | c | d": cuts the next column off. */
static char *column(char **rest)
{
    char *s = *rest, *bar = strstr(s, " | ");

    if (bar) {
        *bar = '\0';
        *rest = bar + 3;
    } else {
        s[strcspn(s, "\n")] = '\0';
        *rest = s + strlen(s);
    }
    return s;
}

static void test_verdicts(void **state)
{
    FILE *f = fopen(GOLDEN "/verdicts", "re");
    char *line = NULL;
    size_t cap = 0, n = 0, bad = 0;

    (void)state;
    assert_non_null(f);
    while (getline(&line, &cap, f) > 0) {
        char *rest = line, *name, *strict, *hadoop;

        if (*line == '#' || *line == '\n')
            continue;
        name = column(&rest);
        strict = column(&rest);
        hadoop = column(&rest);
        bad += !judge(name, SVC_STRICT, strict);
        bad += !judge(name, SVC_HADOOP, !strcmp(hadoop, "=") ? strict : hadoop);
        n++;
    }
    free(line);
    (void)fclose(f);
    assert_true(n >= 60);
    assert_int_equal(bad, 0);
}

static const struct svc_definition *parsed(const char *name, struct sv_arena *a)
{
    struct svc_definition *d;
    struct sv_error err = { 0 };
    size_t n;
    char *text = file_text(name, &n);

    if (svc_definition_parse(text, n, SVC_STRICT, a, &d, &err) < 0)
        fail_msg("%s", err.text);
    free(text);
    return d;
}

static void test_values(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct svc_definition *d = parsed("zookeeper-ensemble", a);
    const struct svc_component *c = svc_component_named(d, "server");

    (void)state;
    assert_string_equal(d->version, "3.9.3");
    assert_int_equal(d->lifetime_s, -1);
    assert_int_equal(d->artifact.type, SVC_ARTIFACT_TARBALL);
    assert_string_equal(svc_map_get(&d->quicklinks, "Admin"),
                        "http://server-0.${SERVICE_NAME}.${USER}.${DOMAIN}:8080/commands");
    assert_non_null(c);
    assert_null(svc_component_named(d, "servers"));
    assert_int_equal(c->count, 3);
    assert_int_equal(c->resource.memory_mb, 1024);
    assert_int_equal(c->resource.vcores, 1);
    assert_int_equal(c->readiness.type, SVC_READY_PORT);
    assert_int_equal(c->restart, SVC_RESTART_ALWAYS);
    assert_int_equal(c->n_constraints, 1);
    assert_int_equal(c->constraints[0].type, SVC_ANTI_AFFINITY);
    assert_int_equal(c->constraints[0].scope, SVC_SCOPE_NODE);
    assert_string_equal(c->constraints[0].target_tags[0], "server");
    assert_int_equal(c->constraints[0].max_cardinality, -1);
    assert_int_equal(c->configuration.n_files, 2);
    assert_int_equal(c->configuration.files[1].type, SVC_FILE_TEMPLATE);
    assert_null(svc_map_get(&c->configuration.env, "HOME"));
    d = parsed("placement-everything", a);
    assert_string_equal(svc_map_get(&d->components[0].constraints[0].node_attributes, "os"),
                        "debian12,debian13");
    d = parsed("stored-by-apache", a);
    assert_string_equal(d->saved_state, "ACCEPTED");
    assert_string_equal(d->id, "application_1764331200000_0007");
    assert_string_equal(d->components[0].state, "FLEXING");
    assert_string_equal(d->components[0].decommissioned[0], "sleeper-4");
}

#define PLACED(rule)                                                                               \
    "{\"name\":\"web\",\"version\":\"1\",\"components\":[{\"name\":\"a\","                         \
    "\"number_of_containers\":1,\"launch_command\":\"a\",\"resource\":{\"cpus\":1,"                \
    "\"memory\":\"1\"},\"placement_policy\":{\"constraints\":[{" rule "}]}}]}"

/* Hadoop's files have scopes in small letters, and its readers know no others. Attributes and
 * partitions need no tags. */
static void test_placement(void **state)
{
    static const struct {
        const char *json, *error; /* "": good */
    } rows[] = {
        { PLACED("\"type\":\"ANTI_AFFINITY\",\"scope\":\"NODE\",\"target_tags\":[\"a\"]"), "" },
        { PLACED("\"type\":\"ANTI_AFFINITY\",\"scope\":\"node\",\"target_tags\":[\"a\"]"), "" },
        { PLACED("\"type\":\"AFFINITY\",\"scope\":\"Node\",\"target_tags\":[\"a\"]"),
          "components[0].placement_policy.constraints[0].scope: \"Node\": one of NODE, RACK" },
        { PLACED("\"type\":\"AFFINITY\",\"scope\":\"NODE\",\"node_attributes\":{\"os\":[\"x\"]}"),
          "" },
        { PLACED("\"type\":\"AFFINITY\",\"scope\":\"NODE\",\"target_tags\":[],"
                 "\"node_partitions\":[\"gpu\"]"),
          "" },
        { PLACED("\"type\":\"AFFINITY\",\"scope\":\"NODE\""),
          "components[0].placement_policy.constraints[0]: target_tags: at least one" },
        { PLACED("\"type\":\"AFFINITY_WITH_CARDINALITY\",\"scope\":\"NODE\","
                 "\"max_cardinality\":1,\"node_attributes\":{\"os\":[\"x\"]}"),
          "components[0].placement_policy.constraints[0]: target_tags: at least one" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct svc_definition *d;
        struct sv_error err = { 0 };
        char *text;
        int r = svc_definition_parse(rows[i].json, strlen(rows[i].json), SVC_STRICT, a, &d, &err);

        if (!sv_has_prefix(err.text, rows[i].error) || (r == 0) != !*rows[i].error)
            fail_msg("%s: %s", rows[i].json, err.text);
        if (r < 0)
            continue;
        assert_int_equal(svc_definition_print(d, &text), 0);
        assert_non_null(strstr(text, "\"scope\": \"node\""));
        free(text);
    }
}

static void test_resource_types(void **state)
{
    static const struct yarn_types types = { 1, { { "disk", "Mi" } } };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct svc_component *c = parsed("resource-gpu", a)->components;

    (void)state;
    assert_int_equal(c->resource.gpus, 2);
    assert_int_equal(c->n_additional, 1);
    yarn_types_set(&types);
    c = parsed("resource-types", a)->components;
    assert_int_equal(c->n_additional, 2);
    assert_int_equal(c->resource.extra[0], 10 << 10);
    yarn_types_set(&(struct yarn_types){ 0 });
}

static int read_text(const char *json, size_t n, struct svc_definition **ret, struct sv_error *err)
{
    static struct sv_arena *a;

    (void)sv_arena_free(a);
    a = sv_arena_new(0);
    return svc_definition_read(json, n, SVC_STRICT, a, ret, err);
}

/* Bodies of updates lack what a definition needs. */
static void test_updates(void **state)
{
    static const char stop[] = "{\"state\": \"STOPPED\"}",
                      flex[] = "{\"name\": \"web\", \"number_of_containers\": 3}";
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_definition *d;
    struct svc_component c;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(svc_definition_read(stop, sizeof stop - 1, SVC_STRICT, a, &d, &err), 0);
    assert_string_equal(d->saved_state, "STOPPED");
    assert_string_equal(d->name, "");
    assert_int_equal(d->n_components, 0);
    assert_int_equal(svc_component_read(flex, sizeof flex - 1, SVC_STRICT, a, &c, &err), 0);
    assert_int_equal(c.count, 3);
    assert_string_equal(c.launch_command, "");
    assert_int_equal(svc_component_read("{\"count\": 3}", 12, SVC_STRICT, a, &c, &err), -EINVAL);
    assert_string_equal(err.text, "count: the component has no such field");
}

static void test_limits(void **state)
{
    struct svc_definition *d;
    struct sv_error err = { 0 };
    size_t n = SVC_JSON_MAX + 1;
    char *text = malloc(n);

    (void)state;
    assert_non_null(text);
    memset(text, ' ', n);
    assert_int_equal(read_text(text, n, &d, &err), -EFBIG);
    memset(text, '[', n);
    assert_int_equal(read_text(text, n - 1, &d, &err), -EFBIG); /* too many values */
    memcpy(text, "{\"a\":[", 6);
    for (size_t i = 6; i < 3 * (size_t)SVC_JSON_VALUES_MAX; i += 3)
        memcpy(text + i, "{},", 3);
    assert_int_equal(read_text(text, 3 * (size_t)SVC_JSON_VALUES_MAX, &d, &err), -EFBIG);
    memset(text, 'x', n);
    memcpy(text, "{\"description\":\"", 16);
    memcpy(text + 8192, "\"}", 2);
    assert_int_equal(read_text(text, 8194, &d, &err), -EINVAL);
    assert_string_equal(err.text, "description: 8176 bytes: at most 4096");
    free(text);
}

/* Words of the file appear escaped in messages, and is cut. */
static void test_hostile_words(void **state)
{
    static const char json[] = "{\"a\\u001b[31m\\n\": 1}";
    struct svc_definition *d;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(read_text(json, sizeof json - 1, &d, &err), -EINVAL);
    assert_null(strchr(err.text, '\033'));
    assert_null(strchr(err.text, '\n'));
}

static void test_names(void **state)
{
    char name[66];

    (void)state;
    assert_true(svc_name_valid("a"));
    assert_true(svc_name_valid("a-0"));
    assert_false(svc_name_valid(""));
    assert_false(svc_name_valid("-a"));
    assert_false(svc_name_valid("0a"));
    assert_false(svc_name_valid("a.b"));
    assert_false(svc_name_valid("a\n"));
    memset(name, 'a', sizeof name);
    name[63] = '\0';
    assert_true(svc_name_valid(name));
    name[63] = 'a';
    name[64] = '\0';
    assert_false(svc_name_valid(name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),      cmocka_unit_test(test_values),
        cmocka_unit_test(test_placement),     cmocka_unit_test(test_resource_types),
        cmocka_unit_test(test_updates),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_hostile_words), cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
