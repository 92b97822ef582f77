/* Tests client/ui/output.c: each format of -o, and texts that would drive a terminal. */
#include "client/ui/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static const struct cli_column columns[] = {
    { "NAME", "id", CLI_TEXT, CLI_ALWAYS },
    { ">MEMORY", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { ">USED", "used", CLI_SHARE, CLI_ALWAYS },
    { "STARTED", "started", CLI_TIME, CLI_IF_WIDE },
    { ">EXIT", "exitCode", CLI_NUMBER, CLI_AS_FIELD },
};
static const struct cli_list list = CLI_LIST(columns, "id");

static json_t *two_rows(void)
{
    return json_pack("[{s:s, s:i, s:f, s:I, s:i}, {s:o, s:i, s:f, s:i, s:n}]", "id", "a",
                     "memoryMb", 512, "used", 0.5, "started", (json_int_t)1700000000000, "exitCode",
                     3, "id", cli_json_string("b\x1b[2J\xff"), "memoryMb", -1, "used", 1.25,
                     "started", 0, "exitCode");
}

static void expect(const char *format, bool no_headers, const char *wanted)
{
    struct cli_output o = { .no_headers = no_headers, .utc = true };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    json_t *rows = two_rows();

    assert_non_null(rows);
    assert_int_equal(cli_output_parse(format, &o), 0);
    cli_output_list(&o, &list, rows, out);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
    json_decref(rows);
}

static void object(void **state)
{
    const struct cli_output o = { .utc = true };
    json_t *rows = two_rows();
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    (void)json_object_del(json_array_get(rows, 1), "used"); /* what it lacks has no line */
    cli_output_object(&o, &list, json_array_get(rows, 1), out);
    (void)fclose(out);
    assert_string_equal(text, "NAME     b\\x1b[2J\\xff\n"
                              ">MEMORY  -\n"
                              "STARTED  -\n"
                              ">EXIT    -\n");
    json_decref(rows);
}

static void formats(void **state)
{
    (void)state;
    expect("table", false,
           "NAME           MEMORY    USED\n"
           "a             512 MiB   50.0%\n"
           "b\\x1b[2J\\xff        -  125.0%\n");
    expect("table", true,
           "a             512 MiB   50.0%\n"
           "b\\x1b[2J\\xff        -  125.0%\n");
    expect("wide", true,
           "a             512 MiB   50.0%  2023-11-14T22:13:20Z\n"
           "b\\x1b[2J\\xff        -  125.0%  -\n");
    expect("name", false, "a\nb\\x1b[2J\\xff\n");
    expect("exitCode,id", false, "exitCode\tid\n3\ta\n\tb\\x1b[2J\\xff\n");
    expect("id", true, "a\nb\\x1b[2J\\xff\n");
    expect("json", false,
           "[{\"id\":\"a\",\"memoryMb\":512,\"used\":0.5,\"started\":1700000000000,\"exitCode\":3},"
           "{\"id\":\"b\\\\x1b[2J\\\\xff\",\"memoryMb\":-1,\"used\":1.25,\"started\":0,"
           "\"exitCode\":null}]\n");
    expect("yaml", false,
           "- id: \"a\"\n  memoryMb: 512\n  used: 0.5\n  started: 1700000000000\n  exitCode: 3\n"
           "- id: \"b\\\\x1b[2J\\\\xff\"\n  memoryMb: -1\n  used: 1.25\n  started: 0\n"
           "  exitCode: null\n");
}

static void nested_yaml(void **state)
{
    struct cli_output o = { .format = CLI_YAML };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    cli_output_json(&o,
                    json_pack("{s:s, s:[{s:i, s:[i,i]}, {s:[]}], s:{s:{}}, s:b}", "a",
                              "\xc3\xa9\xf0\x9f\x98\x80\x1b\"", "list", "x", 1, "deep", 1, 2, "e",
                              "two words", "m", "end", 1),
                    out);
    fclose(out);
    assert_string_equal(text, "a: \"\\u00e9\\U0001f600\\u001b\\\"\"\n"
                              "list:\n"
                              "  - x: 1\n"
                              "    deep:\n"
                              "      - 1\n"
                              "      - 2\n"
                              "  - e: []\n"
                              "\"two words\":\n"
                              "  m: {}\n"
                              "end: true\n");
    free(text);
}

static void wrong_formats(void **state)
{
    static const char *const wrong[] = { "", ",", "a,", ",a", "a,,b", "a b", "a;b", "id=1", "{}" };
    struct cli_output o = { 0 };
    char buf[16];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(wrong); i++)
        assert_int_equal(cli_output_parse(wrong[i], &o), -22);
    assert_int_equal(cli_output_parse("id,exitCode", &o), 0);
    assert_null(cli_output_unknown(&o, &list, buf, sizeof(buf)));
    assert_int_equal(cli_output_parse("id,colour", &o), 0);
    assert_string_equal(cli_output_unknown(&o, &list, buf, sizeof(buf)), "colour");
    assert_int_equal(cli_output_parse("aVeryLongFieldNameIndeed", &o), 0);
    assert_non_null(cli_output_unknown(&o, &list, buf, sizeof(buf)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(object),
        cmocka_unit_test(formats),
        cmocka_unit_test(nested_yaml),
        cmocka_unit_test(wrong_formats),
    };

    return cmocka_run_group_tests_name("client/output", tests, NULL, NULL);
}
