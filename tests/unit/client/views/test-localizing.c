/* Tests client/views/localizing.c: a node's answers, good and senseless, and their text. */
#include "client/views/localizing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static struct cli_localizing *read_text(const char *localization)
{
    char text[8192];
    struct cli_localizing *l;
    json_t *root;

    (void)snprintf(text, sizeof(text), "{\"selvedge\":{\"localization\":%s}}", localization);
    root = json_loads(text, 0, NULL);
    assert_non_null(root);
    l = cli_localizing_read(root);
    json_decref(root);
    return l;
}

static void good(void **state)
{
    _cleanup_free_ struct cli_localizing *l =
        read_text("{\"resources\":3,\"ready\":1,\"bytes\":1048576,\"totalBytes\":3145728,"
                  "\"bytesPerSecond\":2048,\"downloading\":[{\"name\":\"a.jar\",\"bytes\":10,"
                  "\"totalBytes\":null,\"bytesPerSecond\":0}]}");
    char buf[CLI_LOCALIZING_TEXT_MAX];

    (void)state;
    assert_non_null(l);
    assert_true(l->resources == 3 && l->ready == 1 && l->n == 1);
    assert_int_equal(cli_localizing_left_ms(&l->all), 1024000);
    assert_string_equal(cli_localizing_text(&l->all, buf),
                        "1.0 MiB of 3.0 MiB, 2.0 KiB/s, 17 min left");
    assert_string_equal(l->files[0].name, "a.jar");
    assert_string_equal(cli_localizing_text(&l->files[0].part, buf), "10 B");
}

/* Nothing overflows, nothing negative or endless is shown, control bytes do not reach a terminal.
 */
static void hostile(void **state)
{
    static const char *const none[] = { "null", "7", "\"x\"", "[]" };
    _cleanup_free_ struct cli_localizing *l =
        read_text("{\"resources\":-5,\"ready\":9223372036854775807,\"bytes\":-1,"
                  "\"totalBytes\":9223372036854775807,\"bytesPerSecond\":-7,\"downloading\":["
                  "7,{\"name\":\"\\u001b[31m\"},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]}");
    char buf[CLI_LOCALIZING_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(none); i++)
        assert_null(read_text(none[i]));
    assert_null(cli_localizing_read(NULL));
    assert_non_null(l);
    assert_int_equal(l->resources, 0);
    assert_int_equal(l->n, CLI_LOCALIZING_FILES);
    assert_string_equal(cli_localizing_text(&l->all, buf), "0 B");
    assert_null(strchr(l->files[1].name, 27));
    for (int i = 0; i < 100; i++) {
        struct cli_localizing big = { .all = { 1LL << 60, 1LL << 60, 1LL << 60 } };

        cli_localizing_add(&big, &big);
        cli_localizing_add(l, &big);
    }
    assert_true(l->all.bytes > 0 && l->all.bytes <= 1LL << 60 && l->all.rate <= 1LL << 60);
    assert_int_equal(l->all.total, -1);
}

static void left(void **state)
{
    static const struct {
        struct cli_localizing_part p;
        int64_t ms;
    } cases[] = {
        { { 0, 100, -1 }, -1 },    { { 0, 100, 0 }, -1 },       { { 0, -1, 5 }, -1 },
        { { 101, 100, 5 }, -1 },   { { 100, 100, 5 }, 0 },      { { 0, 1, 1 << 30 }, 0 },
        { { 0, 100, 1000 }, 100 }, { { 0, 1LL << 60, 1 }, -1 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++)
        assert_int_equal(cli_localizing_left_ms(&cases[i].p), cases[i].ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),
        cmocka_unit_test(hostile),
        cmocka_unit_test(left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
