/* rm-lite/web/rest/submission-json.h: every member of a submission over REST, and rejected ones. */
#include "rm-lite/web/rest/submission-json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/resource-types.h"
#include "wire/token/token.h"

typedef Hadoop__Yarn__ApplicationSubmissionContextProto Submission;

#define ID "\"application-id\":\"application_1404198295326_0003\""

static const char whole[] =
    "{" ID
    ",\"application-name\":\"test\",\"queue\":\"a\",\"priority\":3,\"unmanaged-AM\":\"true\","
    "\"max-app-attempts\":\"2\",\"resource\":{\"memory\":1024,\"vCores\":\"2\"},"
    "\"application-type\":\"YARN\",\"keep-containers-across-application-attempts\":true,"
    "\"attempt-failures-validity-interval\":7,\"application-tags\":{\"tag\":[\"x\",\"y\"]},"
    "\"application-timeouts\":{\"entry\":{\"key\":\"LIFETIME\",\"value\":9}},"
    "\"log-aggregation-context\":{\"log-include-pattern\":\"i\",\"rolled-log-exclude-pattern\":"
    "\"e\"},"
    "\"am-container-spec\":{\"commands\":{\"command\":\"run\"},"
    "\"environment\":{\"entry\":[{\"key\":\"A\",\"value\":\"1\"},{\"key\":\"B\",\"value\":\"2\"}]},"
    "\"service-data\":{\"entry\":{\"key\":\"s\",\"value\":\"_-8\"}},"
    "\"application-acls\":{\"entry\":[{\"key\":\"VIEW_APP\",\"value\":\"ann\"},"
    "{\"key\":\"MODIFY_APP\",\"value\":\"bob\"}]},"
    "\"credentials\":{\"secrets\":{\"entry\":{\"key\":\"k\",\"value\":\"aGVsbG8=\"}}},"
    "\"local-resources\":{\"entry\":{\"key\":\"a.jar\",\"value\":{"
    "\"resource\":\"hdfs://me@nn.example:9000/user/a b.jar\",\"type\":\"FILE\","
    "\"visibility\":\"APPLICATION\",\"size\":43004,\"timestamp\":1405452071209}}}}}";

static int convert(const char *json, struct sv_arena *a, Submission **ret, struct sv_error *err)
{
    json_t *body = json_loads(json, 0, NULL);
    uint8_t *packed;
    size_t n;
    int r;

    assert_non_null(body);
    r = rm_submission_from_json(body, a, ret, err);
    if (r >= 0) { /* its texts are the body's: a copy of its own */
        n = hadoop__yarn__application_submission_context_proto__get_packed_size(*ret);
        packed = sv_arena_alloc(a, n + 1);
        hadoop__yarn__application_submission_context_proto__pack(*ret, packed);
        *ret = hadoop__yarn__application_submission_context_proto__unpack(sv_arena_protobuf(a), n,
                                                                          packed);
        assert_non_null(*ret);
    }
    json_decref(body);
    return r;
}

static void check_launch(struct sv_arena *a, const Hadoop__Yarn__ContainerLaunchContextProto *c)
{
    const Hadoop__Yarn__LocalResourceProto *l;
    struct yarn_credentials found;

    assert_int_equal(c->n_command, 1);
    assert_string_equal(c->command[0], "run");
    assert_int_equal(c->n_environment, 2);
    assert_string_equal(c->environment[1]->value, "2");
    assert_int_equal(c->n_service_data, 1);
    assert_int_equal(c->service_data[0]->value.len, 2);
    assert_memory_equal(c->service_data[0]->value.data, "\xff\xef", 2);
    assert_int_equal(c->n_application_acls, 2);
    assert_string_equal(c->application_acls[1]->acl, "bob");
    assert_true(yarn_credentials_parse(c->tokens.data, c->tokens.len, a, &found, NULL) >= 0);
    assert_int_equal(found.n_secrets, 1);
    assert_memory_equal(found.secrets[0].secret, "hello", 5);
    assert_int_equal(c->n_localresources, 1);
    l = c->localresources[0]->value;
    assert_string_equal(c->localresources[0]->key, "a.jar");
    assert_string_equal(l->resource->scheme, "hdfs");
    assert_string_equal(l->resource->userinfo, "me");
    assert_string_equal(l->resource->host, "nn.example");
    assert_int_equal(l->resource->port, 9000);
    assert_string_equal(l->resource->file, "/user/a b.jar");
    assert_int_equal(l->type, HADOOP__YARN__LOCAL_RESOURCE_TYPE_PROTO__FILE);
    assert_int_equal(l->visibility, HADOOP__YARN__LOCAL_RESOURCE_VISIBILITY_PROTO__APPLICATION);
    assert_int_equal(l->size, 43004);
}

static void test_whole(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    Submission *m;

    (void)state;
    if (convert(whole, a, &m, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(m->application_id->id, 3);
    assert_string_equal(m->application_name, "test");
    assert_string_equal(m->queue, "a");
    assert_int_equal(m->priority->priority, 3);
    assert_true(m->unmanaged_am);
    assert_int_equal(m->maxappattempts, 2);
    assert_int_equal(m->resource->memory, 1024);
    assert_int_equal(m->resource->virtual_cores, 2);
    assert_true(m->keep_containers_across_application_attempts);
    assert_int_equal(m->attempt_failures_validity_interval, 7);
    assert_int_equal(m->n_applicationtags, 2);
    assert_int_equal(m->n_application_timeouts, 1);
    assert_int_equal(m->application_timeouts[0]->timeout, 9);
    assert_string_equal(m->log_aggregation_context->include_pattern, "i");
    check_launch(a, m->am_container_spec);
}

static void test_little(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    Submission *m;

    (void)state;
    assert_int_equal(convert("{" ID "}", a, &m, &err), 0);
    assert_null(m->am_container_spec);
    assert_null(m->resource);
    assert_int_equal(convert("{" ID ",\"queue\":null,\"am-container-spec\":{}}", a, &m, &err), 0);
    assert_non_null(m->am_container_spec);
}

static void test_refused(void **state)
{
    static const char *const rows[][2] = {
        { "{}", "application-id" },
        { "{\"application-id\":7}", "application-id" },
        { "{" ID ",\"queue\":[]}", "queue" },
        { "{" ID ",\"max-app-attempts\":\"many\"}", "max-app-attempts" },
        { "{" ID ",\"max-app-attempts\":9999999999}", "max-app-attempts" },
        { "{" ID ",\"resource\":3}", "resource" },
        { "{" ID ",\"application-tags\":{\"tag\":[1]}}", "application-tags" },
        { "{" ID ",\"application-timeouts\":{\"entry\":{\"key\":\"X\",\"value\":1}}}",
          "unknown X" },
        { "{" ID ",\"am-container-spec\":{\"environment\":{\"entry\":[1]}}}", "environment" },
        { "{" ID
          ",\"am-container-spec\":{\"service-data\":{\"entry\":{\"key\":\"a\",\"value\":\"*\"}}}}",
          "not base64" },
        { "{" ID ",\"am-container-spec\":{\"application-acls\":{\"entry\":{\"key\":\"X\",\"value\":"
          "\"\"}}}}",
          "unknown X" },
        { "{" ID ",\"am-container-spec\":{\"credentials\":{\"tokens\":{\"entry\":{\"key\":\"t\","
          "\"value\":\"!\"}}}}}",
          "no token" },
        { "{" ID ",\"am-container-spec\":{\"local-resources\":{\"entry\":{\"key\":\"a\",\"value\":{"
          "\"resource\":\"http://h:99999/\",\"type\":\"FILE\",\"visibility\":\"PUBLIC\"}}}}}",
          "bad port" },
        { "{" ID ",\"am-container-spec\":{\"local-resources\":{\"entry\":{\"key\":\"a\",\"value\":{"
          "\"resource\":\"/a\",\"type\":\"DIR\",\"visibility\":\"PUBLIC\"}}}}}",
          "unknown DIR" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct sv_error err = { 0 };
        Submission *m;

        if (convert(rows[i][0], a, &m, &err) != -EINVAL || !strstr(err.text, rows[i][1]))
            fail_msg("%s: \"%s\" lacks \"%s\"", rows[i][0], err.text, rows[i][1]);
    }
}

#define ROWS(rows)                                                                                 \
    "{" ID ",\"resource\":{\"vCores\":2,\"resourceInformations\":{"                                \
    "\"resourceInformation\":" rows "}}}"

/* The types of yarn.resource-types, in a list or as the only element. */
static void test_types(void **state)
{
    static const struct rm_types with_gpus = { .n = 1, .names = { "yarn.io/gpu" } };
    static const struct rm_types none = { 0 };
    static const char *const bad[][2] = {
        { ROWS("[{\"name\":\"fpga\",\"value\":1}]"), "no resource type fpga" },
        { ROWS("[{\"name\":\"a\\n\",\"value\":1}]"), "no resource type a\\x0a" },
        { ROWS("[{\"name\":\"yarn.io/gpu\",\"value\":-1}]"), "the value of yarn.io/gpu" },
        { ROWS("[{\"name\":\"yarn.io/gpu\",\"value\":4294967296}]"), "the value of yarn.io/gpu" },
        { ROWS("[{\"name\":\"yarn.io/gpu\",\"value\":1,\"units\":\"k\"}]"),
          "yarn.io/gpu is counted" },
        { ROWS("[{\"name\":\"memory-mb\",\"value\":1,\"units\":\"Gi\"}]"), "memory-mb is counted" },
        { ROWS("[{\"value\":1}]"), "has no name" },
        { ROWS("[1]"), "not an object" },
        { "{" ID ",\"resource\":{\"resourceInformations\":[]}}", "resourceInformations" },
    };
    static const char *const good[] = {
        ROWS("[{\"name\":\"memory-mb\",\"units\":\"Mi\",\"value\":512},"
             "{\"name\":\"vcores\",\"value\":9},{\"name\":\"yarn.io/gpu\",\"value\":\"3\"}]"),
        ROWS("{\"name\":\"yarn.io/gpu\",\"value\":3,\"units\":\"\"}"),
    };

    (void)state;
    rm_types_set(&with_gpus);
    for (size_t i = 0; i < SV_ARRAY_LEN(good); i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct sv_error err = { 0 };
        struct rm_res r;
        Submission *m;

        if (convert(good[i], a, &m, &err) < 0)
            fail_msg("%s: %s", good[i], err.text);
        assert_int_equal(rm_res_from(m->resource, &r), 0);
        assert_int_equal(r.extra[0], 3);
        assert_int_equal(r.mem, i == 0 ? 512 : 0);
        assert_int_equal(r.vcores, 2); /* the member is above its row */
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct sv_error err = { 0 };
        Submission *m;

        if (convert(bad[i][0], a, &m, &err) != -EINVAL || !strstr(err.text, bad[i][1]))
            fail_msg("%s: \"%s\" lacks \"%s\"", bad[i][0], err.text, bad[i][1]);
    }
    rm_types_set(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_little),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_types),
    };

    return cmocka_run_group_tests_name("submission-json", tests, NULL, NULL);
}
