/* Tests client/core/app-argument.h: texts that need no list, and the selection from one. */
#include "client/core/app-argument.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
/* after the three above */
#include <cmocka.h>

#define REPORT(TS, ID, STATE, USER, NAME)                                                          \
    {                                                                                              \
        .id = { TS, ID }, .state = CLI_APP_##STATE, .user = (USER), .name = (NAME)                 \
    }

static const struct cli_report apps[] = {
    REPORT(1700, 1, FINISHED, "ann", "etl"),   REPORT(1700, 2, RUNNING, "bob", "etl"),
    REPORT(1700, 3, FINISHED, "ann", "etl"),   REPORT(1700, 12, RUNNING, "ann", "report"),
    REPORT(1800, 1, RUNNING, "ann", "report"), REPORT(1800, 12, FAILED, "bob", "12"),
    REPORT(1800, 4, RUNNING, "ann", "etl"),
};
enum { N = sizeof(apps) / sizeof(apps[0]) };

static void texts_that_need_no_list(void **state)
{
    static const struct {
        const char *text, *id; /* NULL: the list is needed */
    } rows[] = {
        { "application_1700_0012", "application_1700_0012" },
        { "application_1700_12", "application_1700_0012" },
        { "container_1700_0012_01_000003", "application_1700_0012" },
        { "container_e17_1700_0012_01_000003", "application_1700_0012" },
        { "appattempt_1700_0012_000001", "application_1700_0012" },
        { "application_1700_", NULL },
        { "application_17", NULL },
        { "12", NULL },
        { "@last", NULL },
        { "etl", NULL },
    };
    struct cli_app_argument a;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(cli_app_parse(rows[i].text, &a), rows[i].id ? 0 : -EAGAIN);
        if (rows[i].id)
            assert_string_equal(a.text, rows[i].id);
    }
    assert_int_equal(cli_app_parse("application_x", &a), 2);
    assert_int_equal(cli_app_parse("application_1_1_1", &a), 2);
    assert_int_equal(cli_app_parse("", &a), 2);
}

static void selection(void **state)
{
    static const struct {
        const char *text, *user;
        size_t found, hit;
    } rows[] = {
        { "@last", "ann", 1, 6 }, /* the latest of several clusters' */
        { "@last", "eve", 0, 0 }, /* never another user's */
        { "3", "bob", 1, 2 },     /* the only one, of whom ever */
        { "12", "ann", 1, 3 },    /* her own, not bob's */
        { "12", "bob", 1, 5 },    /* a number goes before a name */
        { "1", "ann", 1, 4 },     /* the one that runs */
        { "etl", "ann", 1, 6 },   /* her own that runs */
        { "etl", "bob", 1, 1 },
        { "etl", "eve", 2, 1 },            /* both run: not decided */
        { "report", "ann", 2, 3 },         /* two of hers run */
        { "application_18", "eve", 2, 4 }, /* those that have not ended */
        { "application_1800_0012", "eve", 1, 5 },
        { "application_1800_001", "eve", 1, 5 },
        { "application_1900", "ann", 0, 0 },
        { "et", "ann", 0, 0 }, /* a name has to be whole */
    };
    size_t hits[2];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(cli_app_select(rows[i].text, rows[i].user, apps, N, hits, 2),
                         rows[i].found);
        if (rows[i].found > 0)
            assert_int_equal(hits[0], rows[i].hit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_that_need_no_list),
        cmocka_unit_test(selection),
    };

    return cmocka_run_group_tests_name("client/app-argument", tests, NULL, NULL);
}
