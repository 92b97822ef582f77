/* service/am/framework/answer.c: what selvedge-services answers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/am/framework/answer.h"

static int parse(const char *json, struct sv_arena *a, struct svc_answer *ret)
{
    struct sv_error err = { 0 };
    int r = svc_answer_parse(json, strlen(json), a, ret, &err);

    assert_true(r == 0 || (r == -EBADMSG && *err.text));
    return r;
}

static void test_whole(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_answer got;

    (void)state;
    assert_int_equal(
        parse("{\"revision\": 6, \"sequence\": 17, \"descriptor\": {\"version\": 3, \"taskRoles\": "
              "{\"W\": {\"taskNumber\": 4, \"taskService\": {\"version\": 1, \"entryPoint\": "
              "\"true\", \"sourceLocations\": [\"hdfs:///a.zip\"], \"resource\": {\"cpuNumber\": "
              "1, \"memoryMB\": 64, \"portDefinitions\": {}}}}}}, \"migrate\": "
              "[\"container_e01_1700000000000_0001_01_000002\", \"nothing\", 3], \"progress\": "
              "0.5, \"clusterConfiguration\": null, \"exitSpec\": [{\"code\": 7}], \"statuses\": "
              "{\"W\": [{\"taskIndex\": 2, "
              "\"removed\": true}]}}",
              a, &got),
        0);
    assert_int_equal(got.revision, 6);
    assert_int_equal(got.descriptor->roles[0].tasks, 4);
    assert_int_equal(got.n_migrate, 1);
    assert_true(got.progress > 0.4 && got.progress < 0.6);
    assert_null(got.cluster);
    assert_int_equal(json_array_size(got.exits), 1);
    assert_int_equal(got.n_roles, 1);
    assert_int_equal(got.roles[0].tasks[0].index, 2);
    svc_answer_clear(&got);
}

static void test_least(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_answer got;

    (void)state;
    assert_int_equal(parse("{\"revision\": 1, \"progress\": null}", a, &got), 0);
    assert_true(got.progress < 0);
    assert_null(got.descriptor);
    assert_null(got.exits);
    svc_answer_clear(&got);
}

static void test_hostile(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{\"revision\": \"x\"}",
        "{\"revision\": -1}",
        "{\"descriptor\": {}}",
        "{\"progress\": 1.5}",
        "{\"progress\": \"1\"}",
        "{\"statuses\": []}",
        "{\"statuses\": {\"W\": {}}}",
        "{\"statuses\": {\"W\": [{\"taskIndex\": -1}]}}",
        "{\"revision\": 1, \"revision\": 2}",
    };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_answer got;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(parse(bad[i], a, &got), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
