/* web/rest-paths.c: which methods and paths go on, and what the others are answered. */
#include "nodemanager/web/rest-paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void rows(void **state)
{
    static const struct {
        const char *method, *path;
        unsigned status; /* 0: goes on */
        const char *words;
    } cases[] = {
        { "GET", "", 0, NULL },
        { "HEAD", "/info", 0, NULL },
        { "GET", "/containers/c_1/logs/stdout", 0, NULL },
        { "POST", "/info", 405, NULL },
        { "PUT", "/apps/a", 405, NULL },
        { "GET", "/yarn/sysfs/ann/app", 405, NULL },
        { "GET", "/nothing", 404, NULL },
        { "GET", "s", 404, NULL }, /* /ws/v1/nodes */
        { "GET", "/containers/c_1/logs/a/b", 404, NULL },
        { "GET", "/resources/yarn.io/gpu", 0, NULL },
        { "PUT", "/resources/yarn.io/gpu", 405, NULL },
        { "GET", "/resources/", 404, NULL },
        { "PUT", "/auxiliaryservices", 400, "manifest is not enabled" },
        { "PUT", "/yarn/sysfs/ann/app", 400, "sysfs" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        const struct sv_http_request req = { .method = cases[i].method };
        struct sv_http_response ret = { .status = 404 };
        int r = nm_rest_check(&req, cases[i].path, &ret);

        if (r != (cases[i].status == 0))
            fail_msg("%s %s: %d", cases[i].method, cases[i].path, r);
        if (cases[i].status)
            assert_int_equal(ret.status, cases[i].status);
        if (cases[i].words) {
            char *text = strndup(ret.body, ret.body_len);

            assert_non_null(strstr(text, cases[i].words));
            free(text);
        }
        free(ret.body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
    };

    return cmocka_run_group_tests_name("rest-paths", tests, NULL, NULL);
}
