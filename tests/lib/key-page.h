/* A daemon's configuration keys beside Hadoop's own (tests/golden/configuration, of
 * yarn-default.xml 3.4.2) and beside the page that is generated from its tables. Unit tests run in
 * the top directory. */
#ifndef SELVEDGE_TESTS_LIB_KEY_PAGE_H
#define SELVEDGE_TESTS_LIB_KEY_PAGE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_PAGE_MAX (1u << 18)

static inline char *slurp(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = calloc(1, KEY_PAGE_MAX);

    assert_non_null(f);
    assert_non_null(text);
    assert_in_range(fread(text, 1, KEY_PAGE_MAX - 1, f), 1, KEY_PAGE_MAX - 2);
    fclose(f);
    return text;
}

/* NAME=DEFAULT, one a line; returns how many. */
static inline size_t each_hadoop_key(const char *golden, void (*check)(char *name, const char *def))
{
    char *text = slurp(golden), *next;
    size_t n = 0;

    for (char *line = text; *line; line = next, n++) {
        char *end = strchr(line, '\n'), *eq = strchr(line, '=');

        assert_non_null(end);
        assert_in_range((uintptr_t)eq, (uintptr_t)line, (uintptr_t)end);
        next = end + 1;
        *end = 0;
        *eq = 0;
        check(line, eq + 1);
    }
    free(text);
    return n;
}

static inline void page_is_the_table(const char *path, void (*print)(FILE *f))
{
    char *page = slurp(path), *text = NULL;
    const char *table = strstr(page, "\n| key,");
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    print(f);
    assert_int_equal(fclose(f), 0);
    assert_non_null(table);
    assert_string_equal(table + 1, text); /* the daemon's --print-keys writes it */
    free(text);
    free(page);
}

#endif
