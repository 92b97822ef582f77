/* Tests client/views/status.c: an ApplicationMaster's table that no job of this command line has.
 */
#include "client/views/status.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "client/job/job.h"

/* The answer to a table of `n` rows "{}". */
static int parse(size_t n, struct cli_status *ret, struct sv_error *err)
{
    static const char start[] = "{\"name\":\"many\",\"tasks\":[{}", end[] = "]}";
    char *text = malloc(sizeof(start) + sizeof(end) + 3 * n);
    size_t len = sizeof(start) - 1;
    int r;

    assert_non_null(text);
    memcpy(text, start, len);
    for (size_t i = 1; i < n; i++, len += 3)
        memcpy(text + len, ",{}", 3);
    memcpy(text + len, end, sizeof(end) - 1);
    r = cli_status_parse(text, len + sizeof(end) - 1, ret, err);
    free(text);
    return r;
}

static void most(void **state)
{
    struct cli_status s;

    (void)state;
    assert_int_equal(parse(CLI_INSTANCES_MAX, &s, NULL), 0);
    assert_int_equal(s.n, CLI_INSTANCES_MAX);
    cli_status_free(&s);
}

/* Refused in words, and none of its rows is kept. */
static void refused(size_t n, const char *words)
{
    struct cli_status s = { .n = 7 };
    struct sv_error err = { 0 };

    assert_int_equal(parse(n, &s, &err), -EBADMSG);
    assert_int_equal(s.n, 7); /* as it was */
    assert_non_null(strstr(err.text, words));
}

static void too_many(void **state)
{
    (void)state;
    refused(CLI_INSTANCES_MAX + 1, "10001 containers; 10000 at most");
    refused(1000001, "1000001 containers; 10000 at most");
}

static void reason_of(int code, const char *diagnostics, const char *words)
{
    struct cli_row row = { .instance = -1,
                           .done = true,
                           .exit_status = code,
                           .container = "container_1_0001_01_000002",
                           .node = "worker:45454",
                           .diagnostics = (char *)diagnostics,
                           .peak_bytes = -1,
                           .cpu_ms = -1,
                           .localize_ms = -1,
                           .launch_ms = -1 };
    const struct cli_status s = { .rows = &row, .n = 1 };
    const struct cli_output o = { .format = CLI_TABLE };
    _cleanup_free_ char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    cli_status_print(&s, "application_1_0001", &o, 0, out);
    (void)fclose(out);
    if (!strstr(text, words))
        fail_msg("%s\n is missing in\n%s", words, text);
}

/* A container of the ResourceManager's list: which instance it ran is unknown, and -100 is ABORTED,
 * whatever the reason. */
static void end_of_killed(void **state)
{
    (void)state;
    reason_of(-100, "Container of a completed application",
              "container_1_0001_01_000002 on worker:45454: exit code -100 "
              "(its application has ended): Container of a completed application\n");
    reason_of(-100, "Container released on a *lost* node", "(its node was lost)");
    reason_of(-100, "Container released by application", "(its ApplicationMaster released it)");
    reason_of(-100, NULL, "(released, lost with its node, or ended with its application)");
    reason_of(-106, NULL, "(stopped by the ResourceManager)");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(most), cmocka_unit_test(too_many),
                                        cmocka_unit_test(end_of_killed) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
