/* Tests client/ui/output.c: each format of -o, and texts that would drive a terminal. */
#include "client/ui/output.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
/* after the three above */
#include <cmocka.h>

#include "client/ui/table.h"

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
    expect("csv", false,
           "id,memoryMb,used,started,exitCode\n"
           "\"a\",512,0.5,1700000000000,3\n\"b\\x1b[2J\\xff\",-1,1.25,0,\n");
    expect("csv", true, "\"a\",512,0.5,1700000000000,3\n\"b\\x1b[2J\\xff\",-1,1.25,0,\n");
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

/* A text is always quoted; one that a spreadsheet would calculate has an apostrophe before it. */
static void csv(void **state)
{
    static const struct cli_column heads[] = { { "NAME", "id", CLI_TEXT, CLI_ALWAYS },
                                               { ">HOURS", "h", CLI_HOURS, CLI_ALWAYS },
                                               { ">N", "n", CLI_NUMBER, CLI_AS_FIELD } };
    static const struct cli_list names = CLI_LIST(heads, "id");
    struct cli_output o = { .format = CLI_CSV };
    json_t *rows = json_pack("[{s:s, s:f, s:i}, {s:s, s:f, s:n}, {s:s, s:n}, {s:s}]", "id",
                             "say \"a\", b", "h", 1234567.891, "n", -3, "id", "=cmd|'x'!A1", "h",
                             0.5, "n", "id", "two\nlines", "h", "id", "");
    _cleanup_free_ char *text = NULL, *table = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    cli_output_list(&o, &names, rows, out);
    (void)fclose(out);
    assert_string_equal(text, "id,h,n\n"
                              "\"say \"\"a\"\", b\",1234567.891,-3\n"
                              "\"'=cmd|'x'!A1\",0.5,\n"
                              "\"two\\x0alines\",,\n"
                              "\"\",,\n");
    o.format = CLI_TABLE;
    o.no_headers = true;
    out = open_memstream(&table, &size);
    cli_output_list(&o, &names, rows, out);
    (void)fclose(out);
    assert_non_null(strstr(table, "1234567.89\n"));
    assert_non_null(strstr(table, "       0.50\n"));
    json_decref(rows);
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

/* A screen is drawn from memory, and its width is the screen's. */
static void given_columns(void **state)
{
    static const struct cli_column narrow[] = { { "~NAME", "id", CLI_TEXT, CLI_ALWAYS },
                                                { ">N", "n", CLI_NUMBER, CLI_ALWAYS } };
    static const struct cli_list names = CLI_LIST(narrow, "id");
    const struct cli_output o = { .columns = 17 };
    json_t *rows = json_pack("[{s:s, s:i}]", "id", "a rather long name", "n", 7);
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    cli_output_list(&o, &names, rows, out);
    (void)fclose(out);
    assert_string_equal(text, "NAME            N\n"
                              "a rather lon..  7\n");
    json_decref(rows);
}

static void lines(const char *text, int indent, const char *wanted)
{
    _cleanup_free_ char *found = NULL;
    size_t size;
    FILE *out = open_memstream(&found, &size);

    cli_output_lines(text, indent, out);
    (void)fclose(out);
    assert_string_equal(found, wanted);
}

/* A job's text keeps its line ends; nothing else of it reaches the terminal. */
static void texts_with_lines(void **state)
{
    (void)state;
    lines("", 4, "\n");
    lines("one", 4, "one\n");
    lines("one\n\n\ntwo\x1b[2J\nthree\n", 4, "one\n    two\\x1b[2J\n    three\n");
    lines("\nlate", 2, "late\n");
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

/* Spare columns are left out, the last first, where shortened texts are not enough. */
static void spare_columns(void **state)
{
    static const char *const heads[] = { "ID", "?USER", "~NAME", "?>N", ">TIME" };
    static const struct {
        size_t columns;
        const char *wanted;
    } cases[] = {
        { 0, "ID  USER  NAME                         N  TIME\n"
             "a1  ann   a rather long name of a job  7   3 s\n" },
        { 31, "ID  USER  NAME          N  TIME\n"
              "a1  ann   a rather l..  7   3 s\n" },
        { 30, "ID  USER  NAME            TIME\n"
              "a1  ann   a rather lon..   3 s\n" },
        { 27, "ID  NAME               TIME\n"
              "a1  a rather long n..   3 s\n" },
        { 5, "ID  NAME          TIME\n"
             "a1  a rather l..   3 s\n" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct cli_table *t = cli_table_new(heads, SV_ARRAY_LEN(heads));
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        assert_true(t && out);
        cli_table_add(t, "a1");
        cli_table_add(t, "ann");
        cli_table_add(t, "a rather long name of a job");
        cli_table_add(t, "7");
        cli_table_add(t, "3 s");
        cli_table_print(t, true, cases[i].columns, out);
        cli_table_free(t);
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, cases[i].wanted);
    }
}

/* Prints a table on a terminal of so many columns. */
static void on_terminal(unsigned short width, const char *wanted)
{
    static const char *const heads[] = { "ID", "~NAME", ">N" };
    struct winsize size = { .ws_row = 24, .ws_col = width };
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct termios raw;
    char text[1024] = "";
    ssize_t n;

    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0 && tcgetattr(slave, &raw) == 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
    assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
    FILE *out = fdopen(slave, "w");
    struct cli_table *t = cli_table_new(heads, 3);
    assert_true(out && t);
    for (int i = 0; i < 2; i++) {
        cli_table_add(t, "a%d", i);
        cli_table_add(t, "%s", i ? "short" : "a rather long name of a job");
        cli_table_add(t, "%d", 10 * i);
    }
    cli_table_print(t, true, 0, out);
    cli_table_free(t);
    assert_int_equal(fflush(out), 0);
    for (size_t at = 0; at < strlen(wanted); at += (size_t)n) { /* it comes in pieces */
        n = read(master, text + at, sizeof(text) - 1 - at);
        assert_true(n > 0);
    }
    assert_string_equal(text, wanted);
    (void)fclose(out);
    (void)close(master);
}

static void terminals(void **state)
{
    (void)state;
    on_terminal(80, "ID  NAME                          N\n"
                    "a0  a rather long name of a job   0\n"
                    "a1  short                        10\n");
    on_terminal(26, "ID  NAME                 N\n"
                    "a0  a rather long na..   0\n"
                    "a1  short               10\n");
    on_terminal(5, "ID  NAME           N\n" /* nothing becomes unreadable */
                   "a0  a rather l..   0\n"
                   "a1  short         10\n");
    on_terminal(0, "ID  NAME                          N\n" /* unknown */
                   "a0  a rather long name of a job   0\n"
                   "a1  short                        10\n");
}

static void durations(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        { -1, "-" },           { 0, "0 ms" },          { 999, "999 ms" },
        { 2310, "2.31 s" },    { 59990, "59.99 s" },   { 60000, "1m 00s" },
        { 303000, "5m 03s" },  { 3599999, "59m 59s" }, { 3600000, "1h 00m" },
        { 7620000, "2h 07m" }, { 90000000, "1d 01h" },
    };
    char buf[32];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        assert_string_equal(cli_text_millis(rows[i].ms, buf), rows[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(object),        cmocka_unit_test(formats),
        cmocka_unit_test(csv),           cmocka_unit_test(nested_yaml),
        cmocka_unit_test(wrong_formats), cmocka_unit_test(given_columns),
        cmocka_unit_test(spare_columns), cmocka_unit_test(texts_with_lines),
        cmocka_unit_test(terminals),     cmocka_unit_test(durations),
    };

    return cmocka_run_group_tests_name("client/output", tests, NULL, NULL);
}
