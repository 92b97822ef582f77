/* Exit codes of frameworks: each code of the launcher with its raw status and type, texts in
 * diagnostics, a file of codes, and docs/framework-exits.md, which is printed from the table
 * (UPDATE=1 in the environment writes it: make definition-page). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "service/engine/exit-table.h"
#include "service/framework/status.h"

#define PAGE "docs/framework-exits.md"
#define MARK "<!-- tables: make definition-page -->\n"

#define OK SVC_FW_SUCCEEDED
#define TN SVC_FW_TRANSIENT_NORMAL
#define TC SVC_FW_TRANSIENT_CONFLICT
#define NT SVC_FW_NON_TRANSIENT
#define U SVC_FW_UNKNOWN
#define SELF INT32_MIN

/* ---- the table -------------------------------------------------------------------------------*/

/* The launcher's, in its order. */
static const struct {
    int32_t code;
    const char *name;
    int32_t raw;
    const char *text;
    enum svc_fw_type type;
} launchers[] = {
    { 0, "SUCCEEDED", 0, NULL, OK },
    { -7100, "CONTAINER_INVALID_EXIT_STATUS", -1000, NULL, TN },
    { -7101, "CONTAINER_NOT_AVAILABLE_EXIT_STATUS", -2517, NULL, TN },
    { -7102, "CONTAINER_NODE_DISKS_FAILED", -101, NULL, TN },
    { -7103, "CONTAINER_PORT_CONFLICT", -210, NULL, TN },
    { -7110, "CONTAINER_ABORTED", -100, NULL, TN },
    { -7111, "CONTAINER_NODE_LOST", -100, "Container released on a *lost* node", TN },
    { -7112, "CONTAINER_EXPIRED", -100, "Container expired since it was unused", TC },
    { -7113, "CONTAINER_ABORTED_ON_AM_RESTART", -100, "Container of a completed application", TC },
    { -7120, "CONTAINER_PREEMPTED", -102, NULL, TN },
    { -7121, "CONTAINER_VIRTUAL_MEMORY_EXCEEDED", -103, NULL, NT },
    { -7122, "CONTAINER_PHYSICAL_MEMORY_EXCEEDED", -104, NULL, NT },
    { -7123, "CONTAINER_KILLED_BY_AM", -105, NULL, TN },
    { -7124, "CONTAINER_KILLED_BY_RM", -106, NULL, TN },
    { -7125, "CONTAINER_KILLED_ON_APP_COMPLETION", -107, NULL, TN },
    { -7126, "CONTAINER_EXTERNAL_UTILIZATION_SPIKED", -200, NULL, TN },
    { -7150, "CONTAINER_NM_LAUNCH_FAILED", SELF, NULL, TN },
    { -7151, "CONTAINER_RM_RESYNC_LOST", SELF, NULL, TN },
    { -7152, "CONTAINER_RM_RESYNC_EXCEEDED", SELF, NULL, NT },
    { -7153, "CONTAINER_MIGRATE_TASK_REQUESTED", SELF, NULL, TN },
    { -7154, "CONTAINER_AGENT_EXPIRED", SELF, NULL, TN },
    { -7200, "AM_RM_HEARTBEAT_YARN_EXCEPTION", SELF, NULL, NT },
    { -7201, "AM_RM_HEARTBEAT_IO_EXCEPTION", SELF, NULL, TN },
    { -7202, "AM_RM_HEARTBEAT_UNKNOWN_EXCEPTION", SELF, NULL, TN },
    { -7203, "AM_RM_HEARTBEAT_SHUTDOWN_REQUESTED", SELF, NULL, TN },
    { -7250, "AM_UNKNOWN_EXCEPTION", SELF, NULL, TN },
    { -7251, "AM_NON_TRANSIENT_EXCEPTION", SELF, NULL, NT },
    { -7252, "AM_GANG_ALLOCATION_TIMEOUT", SELF, NULL, TC },
    { -7300, "APP_SUBMISSION_YARN_EXCEPTION", SELF, NULL, NT },
    { -7301, "APP_SUBMISSION_IO_EXCEPTION", SELF, NULL, TN },
    { -7302, "APP_SUBMISSION_UNKNOWN_EXCEPTION", SELF, NULL, U },
    { -7303, "APP_KILLED_UNEXPECTEDLY", SELF, NULL, TN },
    { -7350, "APP_RM_RESYNC_LOST", SELF, NULL, TN },
    { -7351, "APP_STOP_FRAMEWORK_REQUESTED", SELF, NULL, NT },
    { -7352, "APP_AM_DIAGNOSTICS_LOST", SELF, NULL, TN },
    { -7353, "APP_AM_DIAGNOSTICS_DESERIALIZATION_FAILED", SELF, NULL, TN },
    { -7400, "TASK_STOPPED_ON_APP_COMPLETION", SELF, NULL, NT },
};

static void test_table(void **state)
{
    struct svc_fw_exit_row row;
    int32_t last = INT32_MIN;
    size_t n = 0;

    (void)state;
    for (size_t cursor = 0; svc_fw_exit_walk(NULL, &cursor, &row); n++) {
        assert_true(row.exit.code > last);
        assert_true(*row.exit.description);
        last = row.exit.code;
    }
    assert_int_equal(n, SV_ARRAY_LEN(launchers) + 12);
    for (size_t i = 0; i < SV_ARRAY_LEN(launchers); i++) {
        char text[128];
        struct svc_fw_exit x;

        svc_fw_exit_of_code(NULL, launchers[i].code, &x);
        assert_string_equal(x.name, launchers[i].name);
        assert_int_equal(x.type, launchers[i].type);
        if (launchers[i].raw == SELF)
            continue;
        (void)snprintf(text, sizeof(text), "before %s after", launchers[i].text ?: "");
        svc_fw_exit_of_raw(NULL, launchers[i].raw, text, &x);
        assert_int_equal(x.code, launchers[i].code);
    }
}

static void test_lookups(void **state)
{
    static const struct {
        int32_t raw;
        const char *text;
        int32_t code;
        enum svc_fw_type type;
    } v[] = {
        { -100, "x container EXPIRED since it was Unused x", -7112, TC }, /* in any case */
        { -100, "Container expired since it was unus", -7110, TN },
        { -100, NULL, -7110, TN },
        { -100, "", -7110, TN },
        { -102, "Container expired since it was unused", -7120, TN }, /* the raw status first */
        /* Two texts: the lower code. */
        { -100, "Container expired since it was unused. Container of a completed application",
          -7113, TC },
        { 193, NULL, 193, TN },
        { 130, NULL, 130, TN },
        { 132, NULL, 132, NT },
        { 134, NULL, 134, U },
        { 135, NULL, 135, NT },
        { 136, NULL, 136, NT },
        { 137, NULL, 137, TN },
        { 139, NULL, 139, NT },
        { 141, NULL, 141, NT },
        { 143, NULL, 143, TN },
        { 154, NULL, 154, TN },
        { 194, NULL, 194, NT },
        { 222, NULL, 222, U },
        { -222, NULL, -222, U },
        { 256, NULL, 256, U },
        { INT32_MIN, NULL, INT32_MIN, U },
        { -7150, NULL, -7150, U }, /* a status that YARN gives is no code of ours */
    };
    struct svc_fw_exit own, yarns;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(v); i++) {
        struct svc_fw_exit x;

        svc_fw_exit_of_raw(NULL, v[i].raw, v[i].text, &x);
        if (x.code != v[i].code || x.type != v[i].type)
            fail_msg("row %zu: %d, type %d", i, (int)x.code, (int)x.type);
    }
    svc_fw_exit_of_raw(NULL, 222, NULL, &own);
    svc_fw_exit_of_raw(NULL, -222, NULL, &yarns);
    assert_string_not_equal(own.description, yarns.description);
}

static void test_process_codes(void **state)
{
    (void)state;
    assert_int_equal(svc_fw_exit_status(OK), 0);
    assert_int_equal(svc_fw_exit_status(TN), 201);
    assert_int_equal(svc_fw_exit_status(TC), 201);
    assert_int_equal(svc_fw_exit_status(NT), 202);
    assert_int_equal(svc_fw_exit_status(U), 200);
}

/* ---- a file ----------------------------------------------------------------------------------*/

static void test_file(void **state)
{
    static const char yaml[] = "# codes of this cluster\n"
                               "- code: 7\n"
                               "  type: TRANSIENT_NORMAL\n"
                               "  description: the licence server is busy\n"
                               "- {code: 8}\n"
                               "- {code: 9, type: NON_TRANSIENT, unknown: ignored}\n"
                               "- {code: 9, type: TRANSIENT_CONFLICT, description: 'null'}\n"
                               "- {code: 0, type: UNKNOWN}\n"
                               "- {code: 256, type: UNKNOWN}\n"
                               "- {code: -100, type: NON_TRANSIENT}\n"
                               "- {code: 10, type: SUCCEEDED}\n"
                               "- {code: 11, type: null, description: ~}\n";
    _cleanup_(svc_fw_exits_freep) struct svc_fw_exits *u = NULL;
    struct sv_error err = { 0 };
    struct svc_fw_exit_row row;
    struct svc_fw_exit x;
    size_t n = 0;

    (void)state;
    if (svc_fw_exits_parse(yaml, sizeof(yaml) - 1, &u, &err) < 0)
        fail_msg("%s", err.text);
    svc_fw_exit_of_raw(u, 7, NULL, &x);
    assert_int_equal(x.type, TN);
    assert_string_equal(x.description, "the licence server is busy");
    svc_fw_exit_of_raw(u, 8, NULL, &x);
    assert_int_equal(x.type, U);
    assert_string_equal(x.description, "");
    svc_fw_exit_of_code(u, 9, &x);
    assert_int_equal(x.type, TC);
    assert_string_equal(x.description, "null");
    svc_fw_exit_of_raw(u, 0, NULL, &x);
    assert_int_equal(x.type, OK);
    svc_fw_exit_of_raw(u, -100, NULL, &x);
    assert_int_equal(x.code, -7110);
    svc_fw_exit_of_raw(u, 10, NULL, &x);
    assert_int_equal(x.type, U);
    svc_fw_exit_of_raw(u, 137, NULL, &x); /* the file replaces the defaults */
    assert_int_equal(x.type, U);
    for (size_t cursor = 0; svc_fw_exit_walk(u, &cursor, &row);)
        n += row.exit.code > 0;
    assert_int_equal(n, 4); /* 7, 8, 9 and 11 */
}

static void test_file_shapes(void **state)
{
    static const struct {
        const char *yaml, *error; /* NULL: it is taken */
    } v[] = {
        { "", NULL },
        { "# nothing\n", NULL },
        { "[]", NULL },
        { "spec: []", NULL },
        { "spec:\n", NULL },
        { "spec:\n- code: 3\n", NULL },
        { "other: 1\n", NULL },
        { "word", "line 1: not a list" },
        { "spec: {}", "spec: not a list" },
        { "- 3\n", "line 1: not a map" },
        { "- {type: UNKNOWN}", "code: a number" },
        { "- {code: x}", "code: a number" },
        { "- {code: [1]}", "line 1: code: a list" },
        { "- {code: 99999999999}", "code: a number" },
        { "\n- {code: 3, type: FATAL}", "line 2: type: \"FATAL\": one of" },
        { "- {code: 3, code: 4}", "given twice" },
        { "- &a {code: 3}", "anchors" },
        { "- [", "line" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(v); i++) {
        _cleanup_(svc_fw_exits_freep) struct svc_fw_exits *u = NULL;
        struct sv_error err = { 0 };
        int r = svc_fw_exits_parse(v[i].yaml, strlen(v[i].yaml), &u, &err);

        if (!v[i].error) {
            assert_int_equal(r, 0);
            continue;
        }
        assert_int_equal(r, -EINVAL);
        if (!strstr(err.text, v[i].error))
            fail_msg("row %zu: %s", i, err.text);
    }
}

static void test_large_file(void **state)
{
    static char yaml[SVC_FW_EXITS_TEXT_MAX + 1];
    struct svc_fw_exits *u;
    struct svc_fw_exit x;
    int n;

    (void)state;
    memset(yaml, '#', sizeof(yaml));
    assert_int_equal(svc_fw_exits_parse(yaml, sizeof(yaml), &u, NULL), -EFBIG);
    n = snprintf(yaml, sizeof(yaml), "- {code: 5, description: \"%02000d\"}", 0);
    assert_int_equal(svc_fw_exits_parse(yaml, (size_t)n, &u, NULL), 0);
    svc_fw_exit_of_raw(u, 5, NULL, &x);
    assert_int_equal(strlen(x.description), SVC_FW_DESCRIPTION_MAX);
    svc_fw_exits_free(u);
}

/* ---- the page --------------------------------------------------------------------------------*/

static void put(struct sv_buf *b, const char *text)
{
    assert_int_equal(sv_buf_put(b, text, strlen(text)), 0);
}

static void put_row(struct sv_buf *b, const struct svc_fw_exit_row *r)
{
    char line[512], raw[160] = "";

    if (r->has_raw && r->pattern)
        (void)snprintf(raw, sizeof(raw), "%d, \"%s\"", (int)r->raw, r->pattern);
    else if (r->has_raw && r->raw != r->exit.code)
        (void)snprintf(raw, sizeof(raw), "%d", (int)r->raw);
    (void)snprintf(line, sizeof(line), "| %d | %s | %s | %s | %s |\n", (int)r->exit.code,
                   *r->exit.name ? r->exit.name : "", raw, svc_fw_type_text(r->exit.type),
                   r->exit.description);
    put(b, line);
}

static void put_tables(struct sv_buf *b)
{
    static const char head[] = "| code | name | of YARN's status | type | meaning |\n"
                               "|---|---|---|---|---|\n";
    struct svc_fw_exit_row row;
    bool tasks = false;

    put(b, "\n## Codes\n\n");
    put(b, head);
    for (size_t cursor = 0; svc_fw_exit_walk(NULL, &cursor, &row);) {
        if (row.exit.code > 0 && !tasks) {
            put(b, "\n## Codes of tasks, where no file gives them\n\n| code | type | meaning |\n"
                   "|---|---|---|\n");
            tasks = true;
        }
        if (tasks) {
            char line[512];

            (void)snprintf(line, sizeof(line), "| %d | %s | %s |\n", (int)row.exit.code,
                           svc_fw_type_text(row.exit.type), row.exit.description);
            put(b, line);
        } else {
            put_row(b, &row);
        }
    }
    assert_int_equal(sv_buf_put_u8(b, 0), 0);
}

static char *page_text(void)
{
    char *text = calloc(1, 1 << 16);
    FILE *f = fopen(PAGE, "re");

    assert_non_null(text);
    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    (void)fclose(f);
    return text;
}

static void update(const char *page, const char *tables)
{
    FILE *f = fopen(PAGE, "we");

    assert_non_null(f);
    (void)fprintf(f, "%.*s" MARK "%s", (int)(strstr(page, MARK) - page), page, tables);
    assert_int_equal(fclose(f), 0);
}

static void test_page(void **state)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(1 << 16);
    char *page = page_text(), *tables;

    (void)state;
    put_tables(&out);
    if (getenv("UPDATE")) {
        update(page, (const char *)out.data);
        free(page);
        page = page_text();
    }
    tables = strstr(page, MARK);
    assert_non_null(tables);
    if (strcmp(tables + sizeof MARK - 1, (const char *)out.data))
        fail_msg(PAGE " is not what the table says: make definition-page");
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),         cmocka_unit_test(test_lookups),
        cmocka_unit_test(test_process_codes), cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_shapes),   cmocka_unit_test(test_large_file),
        cmocka_unit_test(test_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
