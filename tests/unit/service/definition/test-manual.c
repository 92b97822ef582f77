/* service/definition/manual.c: docs/service-definition.md has the tables of the code, and its
 * examples are accepted. UPDATE=1 in the environment writes the tables first (make
 * definition-page). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/definition/definition.h"
#include "service/definition/manual.h"

#define PAGE "docs/service-definition.md"
#define MARK "<!-- tables: make definition-page -->\n"

static char *page_text(void)
{
    char *text = calloc(1, 1 << 20);
    FILE *f = fopen(PAGE, "re");

    assert_non_null(text);
    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    (void)fclose(f);
    return text;
}

static void update(const char *page, const char *tables)
{
    FILE *f = fopen(PAGE, "we");

    assert_non_null(f);
    (void)fprintf(f, "%.*s" MARK "%s", (int)(strstr(page, MARK) - page), page, tables);
    assert_int_equal(fclose(f), 0);
}

static void test_tables(void **state)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(1 << 20);
    char *page = page_text(), *tables;

    (void)state;
    assert_int_equal(svc_manual_write(&out), 0);
    assert_int_equal(sv_buf_put_u8(&out, 0), 0);
    if (getenv("UPDATE")) {
        update(page, (const char *)out.data);
        free(page);
        page = page_text();
    }
    tables = strstr(page, MARK);
    assert_non_null(tables);
    if (strcmp(tables + sizeof MARK - 1, (const char *)out.data))
        fail_msg(PAGE " is not what the tables say: make definition-page");
    free(page);
}

/* The page's blocks of JSON that are whole definitions. */
static void test_examples(void **state)
{
    char *page = page_text(), *at = page;
    size_t n = 0;

    (void)state;
    while ((at = strstr(at, "```json\n{"))) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        char *begin = at + 8, *end = strstr(begin, "\n```");
        struct svc_definition *d;
        struct sv_error err = { 0 };

        assert_non_null(end);
        if (svc_definition_parse(begin, (size_t)(end - begin), SVC_STRICT, a, &d, &err) < 0)
            fail_msg("example %zu: %s", n + 1, err.text);
        at = end;
        n++;
    }
    assert_int_equal(n, 2);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_examples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
