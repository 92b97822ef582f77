/* Tests client/job/job.c: round trip of the job description, and invalid ones. */
#include "client/job/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static void round_trip(void **state)
{
    struct cli_resource resources[] = {
        { "selvedge-task", "file:///stage/0-selvedge-task", 30, 1700000000000, CLI_FILE,
          CLI_APPLICATION },
        { "data \"x\"", "file:///stage/1-data.tgz", 1LL << 40, 5, CLI_ARCHIVE, CLI_PRIVATE },
    };
    int32_t only[] = { 0, 2 };
    struct cli_job_group groups[] = {
        { .name = "", .resource = { 256, 2 }, .instances = 8, .restarts = 1 },
        { .name = "two",
          .command = "exec -- 'sh' '-c' 'date; sleep 5'",
          .resource = { 512, 1, 3 },
          .instances = 3,
          .at_once = 4,
          .only = only,
          .n_only = 2,
          .resources = &resources[1],
          .n_resources = 1 },
    };
    struct cli_server schedulers[] = { { "127.0.0.1", 8030 }, { "rm2.example", 8130 } };
    const struct cli_job job = {
        .name = "count",
        .groups = groups,
        .n_groups = 2,
        .at_once = 7,
        .tries = 3,
        .detached = true,
        .schedulers = schedulers,
        .n_schedulers = 2,
        .secret = "00ff",
        .view_acl = "ann,bob staff",
        .resources = resources,
        .n_resources = 2,
    };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_free_ char *text = NULL;
    struct cli_job back;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(cli_job_print(&job, &text), 0);
    assert_int_equal(cli_job_parse(text, strlen(text), a, &back, &err), 0);
    assert_string_equal(back.name, "count");
    assert_int_equal(back.at_once, 7);
    assert_int_equal(back.n_groups, 2);
    assert_int_equal(cli_job_runs(&back), 10);
    assert_int_equal(back.groups[0].instances, 8);
    assert_int_equal(back.groups[0].restarts, 1);
    assert_int_equal(back.groups[0].resource.memory_mb, 256);
    assert_int_equal(back.groups[0].resource.vcores, 2);
    assert_null(back.groups[0].only);
    assert_null(back.groups[0].command);
    assert_string_equal(back.groups[1].name, "two");
    assert_string_equal(back.groups[1].command, groups[1].command);
    assert_int_equal(back.groups[1].resource.gpus, 3);
    assert_int_equal(back.groups[1].at_once, 4);
    assert_int_equal(back.groups[1].n_only, 2);
    assert_int_equal(back.groups[1].only[1], 2);
    assert_int_equal(back.groups[1].n_resources, 1);
    assert_string_equal(back.groups[1].resources[0].name, "data \"x\"");
    assert_int_equal(back.tries, 3);
    assert_true(back.detached);
    assert_int_equal(back.n_schedulers, 2);
    assert_string_equal(back.schedulers[0].host, "127.0.0.1");
    assert_string_equal(back.schedulers[1].host, "rm2.example");
    assert_int_equal(back.schedulers[1].port, 8130);
    assert_string_equal(back.secret, "00ff");
    assert_string_equal(back.view_acl, "ann,bob staff");
    assert_null(back.modify_acl);
    assert_int_equal(back.n_resources, 2);
    assert_string_equal(back.resources[1].name, "data \"x\"");
    assert_string_equal(back.resources[1].url, "file:///stage/1-data.tgz");
    assert_true(back.resources[1].size == 1LL << 40);
    assert_int_equal(back.resources[1].type, CLI_ARCHIVE);
    assert_int_equal(back.resources[1].visibility, CLI_PRIVATE);
}

static void refused(void **state)
{
    static const char good[] =
        "{\"version\":4,\"name\":\"n\",\"groups\":[{\"name\":\"\",\"instances\":%s,\"memoryMb\":64,"
        "\"vcores\":1,\"gpus\":0,\"restarts\":0,\"atOnce\":0,\"only\":%s,\"resources\":[]}],"
        "\"atOnce\":0,\"tries\":%s,\"schedulers\":[{\"host\":\"h\",\"port\":%s}],\"secret\":\"s\","
        "\"resources\":[%s]}";
    static const char file[] = "{\"name\":\"a\",\"url\":\"file:///a\",\"size\":1,\"timestamp\":1,"
                               "\"type\":%d,\"visibility\":%d}";
    static const struct {
        const char *instances, *tries, *port;
        int type, visibility;
        bool good;
        const char *only;
    } cases[] = {
        { "9", "1", "1", 1, 1, true, "[0,3,8]" },
        { "9", "1", "1", 1, 1, false, "[]" },
        { "9", "1", "1", 1, 1, false, "[9]" },
        { "9", "1", "1", 1, 1, false, "[3,3]" },
        { "9", "1", "1", 1, 1, false, "[3,2]" },
        { "9", "1", "1", 1, 1, false, "[-1]" },
        { "9", "1", "1", 1, 1, false, "[\"1\"]" },
        { "1", "1", "1", 1, 1, true },
        { "0", "1", "1", 1, 1, false },
        { "-1", "1", "1", 1, 1, false },
        { "10001", "1", "1", 1, 1, false },
        { "\"1\"", "1", "1", 1, 1, false },
        { "1", "0", "1", 1, 1, false },
        { "1", "101", "1", 1, 1, false },
        { "1", "1", "0", 1, 1, false },
        { "1", "1", "65536", 1, 1, false },
        { "1", "1", "1", 3, 1, false },
        { "1", "1", "1", 0, 1, false },
        { "1", "1", "1", 1, 0, false },
        { "1", "1", "1", 1, 4, false },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct cli_job job;
        struct sv_error err = { 0 };
        char one[256], text[1024];
        int r;

        snprintf(one, sizeof(one), file, cases[i].type, cases[i].visibility);
        snprintf(text, sizeof(text), good, cases[i].instances,
                 cases[i].only ? cases[i].only : "null", cases[i].tries, cases[i].port, one);
        r = cli_job_parse(text, strlen(text), a, &job, &err);
        assert_int_equal(r == 0, cases[i].good);
        assert_int_equal(*err.text != '\0', !cases[i].good);
    }
}

static void broken_text(void **state)
{
    static const char *const texts[] = { "", "{", "[]", "null", "{\"version\":1}", "{}" };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(texts); i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct cli_job job;
        struct sv_error err = { 0 };

        assert_true(cli_job_parse(texts[i], strlen(texts[i]), a, &job, &err) < 0);
        assert_true(*err.text);
    }
}

static void exit_codes(void **state)
{
    (void)state;
    assert_int_equal(cli_exit_code(0), 0);
    assert_int_equal(cli_exit_code(255), 255);
    assert_int_equal(cli_exit_code(256), 1);
    assert_int_equal(cli_exit_code(-100), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(refused),
        cmocka_unit_test(broken_text),
        cmocka_unit_test(exit_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
