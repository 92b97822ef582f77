/* client/run/job-file.c and yaml-tree.c: a whole job file, each error with its line and key,
 * limits; the page names every key. */
#include "client/run/job-file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "client/run/yaml-tree.h"
#include "common/fd.h"

static const char whole[] = "name: nightly\n"
                            "queue: root.default\n"
                            "deadline: 90m\n"
                            "at-once: 10\n"
                            "retries: 2\n"
                            "tries: 5\n"
                            "am-memory: 192m\n"
                            "view-acl: ann,bob staff\n"
                            "environment:\n"
                            "  STAGE: night\n"
                            "  EMPTY: ''\n"
                            "files: [data.csv, 'lists/names.txt#names']\n"
                            "archives:\n"
                            "- tools.tgz#tools\n"
                            "groups:\n"
                            "- name: prepare\n"
                            "  command: [./prepare.py, --all, '']\n"
                            "  memory: 2g\n"
                            "- name: count\n"
                            "  command: |\n"
                            "    wc -l names\n"
                            "    exit 3\n"
                            "  instances: 8\n"
                            "  memory: 512\n"
                            "  vcores: 2\n"
                            "  gpus: 1\n"
                            "  retries: 0\n"
                            "  at-once: 4\n"
                            "  environment: {STAGE: count}\n"
                            "  directories: [parts/]\n";

static void every_key(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct cli_job_file j;

    (void)state;
    assert_int_equal(cli_job_file_parse(whole, strlen(whole), a, &j, &err), 0);
    assert_string_equal(j.name, "nightly");
    assert_string_equal(j.queue, "root.default");
    assert_string_equal(j.view_acl, "ann,bob staff");
    assert_true(j.deadline_s == 5400 && j.at_once == 10 && j.retries == 2 && j.tries == 5);
    assert_int_equal(j.am_memory_mb, 192);
    assert_int_equal(j.set.n_env, 2);
    assert_string_equal(j.set.env[1].name, "EMPTY");
    assert_string_equal(j.set.env[1].value, "");
    assert_int_equal(j.set.n_files, 3);
    assert_string_equal(j.set.files[0].name, "data.csv");
    assert_string_equal(j.set.files[1].path, "lists/names.txt");
    assert_string_equal(j.set.files[1].name, "names");
    assert_int_equal(j.set.files[2].type, CLI_ARCHIVE);
    assert_int_equal(j.n_groups, 2);
    assert_string_equal(j.groups[0].name, "prepare");
    assert_string_equal(j.groups[0].command.words[1], "--all");
    assert_string_equal(j.groups[0].command.words[2], "");
    assert_null(j.groups[0].command.words[3]);
    assert_false(j.groups[0].command.is_line);
    assert_true(j.groups[0].memory_mb == 2048 && j.groups[0].retries == -1);
    assert_true(j.groups[1].command.is_line);
    assert_string_equal(j.groups[1].command.words[0], "wc -l names\nexit 3\n");
    assert_true(j.groups[1].instances == 8 && j.groups[1].memory_mb == 512);
    assert_true(j.groups[1].vcores == 2 && j.groups[1].gpus == 1 && j.groups[1].retries == 0);
    assert_int_equal(j.groups[1].at_once, 4);
    assert_string_equal(j.groups[1].set.files[0].path, "parts");
    assert_true(j.groups[1].set.files[0].directory);
}

static void fails(const char *text, size_t len, const char *wanted)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct cli_job_file j;

    assert_true(cli_job_file_parse(text, len, a, &j, &err) < 0);
    assert_string_equal(err.text, wanted);
}

#define GROUP "groups:\n- name: a\n  command: x\n"

static void errors_have_line_and_key(void **state)
{
    static const char *const cases[][2] = {
        { "", "line 1: groups: missing" },
        { "- a\n", "line 1: the file: expected a map of keys" },
        { "groups: 3\n", "line 1: groups: \"3\": expected a list of 1 to 64 groups" },
        { "groups: []\n", "line 1: groups: expected a list of 1 to 64 groups" },
        { "\n\ngruops: []\n", "line 3: gruops: no such key; is groups meant?" },
        { "zzz: 1\n", "line 1: zzz: no such key; docs/job-file.md has them" },
        { GROUP "  memroy: 1g\n", "line 4: groups[0].memroy: no such key; is memory meant?" },
        { GROUP "  memory: 12q\n", "line 4: groups[0].memory: \"12q\": expected a size of 1 MiB or "
                                   "more, such as 256m or 2g" },
        { GROUP "  instances: 0\n",
          "line 4: groups[0].instances: \"0\": expected a number from 1 to 10000" },
        { GROUP "  instances: [1]\n",
          "line 4: groups[0].instances: expected a number from 1 to 10000" },
        { GROUP "  retries: -1\n",
          "line 4: groups[0].retries: \"-1\": expected a number from 0 to 1000" },
        { "groups:\n- name: a\n", "line 2: groups[0].command: missing" },
        { "groups:\n- command: a\n", "line 2: groups[0].name: missing" },
        { "groups:\n- a\n", "line 2: groups[0].: \"a\": expected a map with name and command" },
        { "groups:\n- name: a b\n  command: x\n",
          "line 2: groups[0].name: \"a b\": expected 1 to 63 letters, digits, and - _ ." },
        { "groups:\n- name: a\n  command: []\n",
          "line 3: groups[0].command: expected a line for bash, or a list of a program and its "
          "arguments, at most 256 texts" },
        { GROUP "- name: a\n  command: y\n", "line 4: groups[1].name: a: given twice" },
        { GROUP "- name: b\n  command: y\n  instances: 10000\n",
          "line 2: groups: 10001 instances, at most 10000" },
        { GROUP "deadline: soon\n",
          "line 4: deadline: \"soon\": expected a time, such as 90 (seconds), 5m or 2h" },
        { GROUP "environment: {a-b: 1}\n",
          "line 4: environment.a-b: expected the name of a variable with a text" },
        { GROUP "environment: [A]\n",
          "line 4: environment: expected a map of at most 256 variables, NAME: VALUE" },
        { GROUP "files: [\"a#b/c\"]\n", "line 4: files: \"a#b/c\": expected PATH or PATH#NAME" },
        { GROUP "files: x\n", "line 4: files: \"x\": expected a list of paths, at most 200" },
        { GROUP "name: \"a\\nb\"\n", "line 4: name: \"a\nb\": expected a text of one line" },
        { GROUP "name: a\nname: b\n", "line 5: name: given twice" },
        { GROUP "name: *x\n", "line 4: anchors (&), aliases (*) and tags (!) are not taken" },
        { "a: &x 1\n", "line 1: anchors (&), aliases (*) and tags (!) are not taken" },
        { "a: !!str 1\n", "line 1: anchors (&), aliases (*) and tags (!) are not taken" },
        { "a: 1\n---\nb: 1\n", "line 2: a second document" },
        { "a: [[[[[[[[1]]]]]]]]\n", "line 1: maps and lists in each other, more than 8 deep" },
        { "[a]: 1\n", "line 1: a key must be a text" },
        { "a: b: c\n", "line 1: mapping values are not allowed in this context" },
        { "a: [1\n", "line 2: did not find expected ',' or ']'" },
        { "\t- a\n", "line 1: found character that cannot start any token" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++)
        fails(cases[i][0], strlen(cases[i][0]), cases[i][1]);
    fails("a: \"x\\0y\"\n", 10, "line 1: a text with a NUL byte");
}

/* A generated text of many values ends at its limit, not at the memory's. */
static void limits(void **state)
{
    _cleanup_free_ char *text = malloc(CLI_YAML_BYTES_MAX + 2);
    size_t n = 0;

    (void)state;
    assert_non_null(text);
    memset(text, ' ', CLI_YAML_BYTES_MAX + 1);
    fails(text, CLI_YAML_BYTES_MAX + 1, "larger than 1 MiB");
    n = (size_t)snprintf(text, CLI_YAML_BYTES_MAX, "a: [");
    for (int i = 0; i < CLI_YAML_NODES_MAX; i++)
        n += (size_t)snprintf(text + n, CLI_YAML_BYTES_MAX - n, "1,");
    n += (size_t)snprintf(text + n, CLI_YAML_BYTES_MAX - n, "1]\n");
    fails(text, n, "line 1: more than 50000 values");
    n = 0;
    for (int i = 0; i <= CLI_YAML_KEYS_MAX; i++)
        n += (size_t)snprintf(text + n, CLI_YAML_BYTES_MAX - n, "k%d: 1\n", i);
    fails(text, n, "line 1001: more than 1000 keys in a map");
}

static void the_page_has_each_key(void **state)
{
    _cleanup_free_ char *page = NULL;
    char row[80];
    size_t len;

    (void)state;
    assert_int_equal(sv_read_file_at(AT_FDCWD, "docs/job-file.md", 1 << 20, &page, &len), 0);
    for (int group = 0; group < 2; group++)
        for (size_t i = 0; cli_job_file_key(group, i); i++) {
            (void)snprintf(row, sizeof(row), "\n| `%s` |", cli_job_file_key(group, i));
            if (!strstr(page, row))
                fail_msg("docs/job-file.md: no row of %s", cli_job_file_key(group, i));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key),
        cmocka_unit_test(errors_have_line_and_key),
        cmocka_unit_test(limits),
        cmocka_unit_test(the_page_has_each_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
