/* client/commands/top-run.c: the options that say which cluster go along, no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "client/commands/top-run.h"

static const char *joined(char *const *own)
{
    static char text[4096];
    const char *words[CLI_TOP_WORDS];
    size_t n = 0;

    cli_top_words(own, "kill", "application_1_0001", words);
    text[0] = 0;
    for (size_t i = 0; words[i]; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? " " : "", words[i]);
    return text;
}

static void words(void **state)
{
    char *own[] = { "/usr/bin/selvedge",
                    "--conf",
                    "/etc/x",
                    "-D",
                    "a=b",
                    "top",
                    "-c",
                    "--sort",
                    "cpu",
                    "-Dc=d",
                    "--conf=/y",
                    "--",
                    "-D",
                    "e=f",
                    NULL };
    char *cut[] = { "selvedge", "top", "-D", NULL }, *none[] = { NULL };
    char *many[2 * CLI_TOP_WORDS + 1];

    (void)state;
    assert_string_equal(joined(own), "selvedge --conf /etc/x -D a=b -Dc=d --conf=/y kill "
                                     "application_1_0001");
    assert_string_equal(joined(cut), "selvedge kill application_1_0001");
    assert_string_equal(joined(none), "selvedge kill application_1_0001");
    for (size_t i = 0; i < 2 * CLI_TOP_WORDS; i++)
        many[i] = "-Da=b";
    many[2 * CLI_TOP_WORDS] = NULL;
    assert_non_null(strstr(joined(many), "-Da=b kill application_1_0001"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(words) };

    return cmocka_run_group_tests_name("top-run", tests, NULL, NULL);
}
