/* common/web/rest-path.c: which paths a pattern takes, and where their first name begins. */
#include "common/web/rest-path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void paths(void **state)
{
    static const struct {
        const char *pattern, *path, *rest; /* NULL: no match */
    } rows[] = {
        { "/", "/", "" },
        { "/apps", "/apps", "" },
        { "/apps", "/apps/", NULL },
        { "/apps", "/app", NULL },
        { "/apps/{appid}", "/apps/a_1", "a_1" },
        { "/apps/{appid}", "/apps/", NULL },
        { "/apps/{appid}", "/apps/a/b", NULL },
        { "/apps/{appid}/state", "/apps/a/state", "a/state" },
        { "/apps/{appid}/state", "/apps//state", NULL },
        { "/apps/{appid}/state", "/apps/a/stat", NULL },
        { "/c/{id}/logs/{file}", "/c/1/logs/std.out", "1/logs/std.out" },
        { "/c/{id}/logs/{file}", "/c/1/logs/", NULL },
        { "/c/{id}/logs/{file}", "/c/1/logs/../x", NULL },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        const char *rest = NULL;
        bool found = sv_rest_matches(rows[i].pattern, rows[i].path, &rest);

        if (found != (rows[i].rest != NULL))
            fail_msg("%s with %s", rows[i].path, rows[i].pattern);
        if (found)
            assert_string_equal(rest, rows[i].rest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
    };

    return cmocka_run_group_tests_name("rest-path", tests, NULL, NULL);
}
