/* Tests client/commands/hosts-file.c: edits of the ResourceManager's list of hosts. */
#include "client/commands/hosts-file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static void edits(void **state)
{
    static const struct {
        const char *before, *host;
        bool add;
        const char *after;
    } cases[] = {
        { "", "a", true, "a\n" },
        { "b", "a", true, "b\na\n" },
        { "b\n", "a", true, "b\na\n" },
        { "a\n", "a", false, "" },
        { "a", "a", false, "" },
        { "b\na\nc\n", "a", false, "b\nc\n" },
        { "b a c\n", "a", false, "b c\n" },
        { "b,a,c\n", "a", false, "b,c\n" },
        { "a b\n", "a", false, " b\n" },
        { "ab a.b ba\n", "a", false, "ab a.b ba\n" },
        { "# a stays\na # since May\n", "a", false, "# a stays\n # since May\n" },
        { "a\na\n", "a", false, "" },
        { "", "a", false, "" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        char *after = NULL;

        assert_int_equal(cli_hosts_edit(cases[i].before, cases[i].host, cases[i].add, &after), 0);
        assert_string_equal(after, cases[i].after);
        assert_int_equal(cli_hosts_have(after, cases[i].host), cases[i].add);
        free(after);
    }
}

static void have(void **state)
{
    (void)state;
    assert_true(cli_hosts_have("x, a", "a"));
    assert_true(cli_hosts_have("a#b", "a"));
    assert_false(cli_hosts_have("a#b", "b"));
    assert_false(cli_hosts_have("#a\naa\n", "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(edits), cmocka_unit_test(have) };

    return cmocka_run_group_tests_name("client/hosts-file", tests, NULL, NULL);
}
