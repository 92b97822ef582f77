/* Tests client/run/run-command.c: which words the launch itself has, and what bash makes of script
 * and words. */
#include "client/run/run-command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static char *words_of(const char *const *command, bool is_line, size_t n_env)
{
    static const char *env[] = { "NAME=it's" };
    const struct run_group g = {
        .command = command, .is_line = is_line, .env = env, .n_env = n_env
    };
    const struct run_options o = { 0 };

    return cli_run_words(&o, &g);
}

static void plain_words(void **state)
{
    static const char *const command[] = { "sh", "-c", "date +%s.%N; exec sleep 1000 > x", "",
                                           NULL };
    _cleanup_free_ char *words = words_of(command, false, 0);

    (void)state;
    assert_string_equal(words, "exec -- 'sh' '-c' 'date +%s.%N; exec sleep 1000 > x' ''");
}

/* A NodeManager or the bash of its launch script would change each of these. */
static void other_words(void **state)
{
    static const char *const others[] = { "it's",       "\"q\"", "$HOME", "`id`",
                                          "a\\b",       "{{x",   "x}}",   "<CPS>",
                                          "two\nlines", "a\tb",  "\x7f",  "gr\xc3\xbc\xc3\x9f" };
    static const char *const line[] = { "date", NULL };
    static char large[CLI_COMMAND_MAX];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(others); i++) {
        const char *const command[] = { "echo", others[i], NULL };

        assert_null(words_of(command, false, 0));
    }
    memset(large, 'a', sizeof(large) - 1);
    assert_null(words_of((const char *const[]){ "echo", large, NULL }, false, 0));
    assert_null(words_of(line, true, 0));
    assert_null(words_of(line, false, 1));
}

static void scripts(void **state)
{
    static const char *const command[] = { "echo", "it's", NULL }, *const line[] = { "a | b",
                                                                                     NULL };
    static const char *env[] = { "NAME=it's" };
    struct run_group g = { .command = command, .env = env, .n_env = 1 };
    const struct run_options o = { 0 };
    _cleanup_free_ char *words = NULL, *text = NULL;

    (void)state;
    assert_int_equal(cli_run_script(&o, &g, &words), 0);
    assert_string_equal(words, "#!/bin/bash\nexport NAME='it'\\''s'\nexec -- 'echo' 'it'\\''s'\n");
    g = (struct run_group){ .command = line, .is_line = true };
    assert_int_equal(cli_run_script(&o, &g, &text), 0);
    assert_string_equal(text, "#!/bin/bash\na | b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_words),
        cmocka_unit_test(other_words),
        cmocka_unit_test(scripts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
