/* rm-lite/core/name-set.c and rm-lite/core/text.c: sets of names, bounded texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/core/name-set.h"
#include "rm-lite/core/text.h"

static void test_set(void **state)
{
    struct rm_name_set *set = NULL, *it;
    char name[] = "host-a";

    (void)state;
    assert_false(rm_set_has(set, name));
    rm_set_remove(&set, name); /* from the empty set */
    it = rm_set_add(&set, name);
    it->number = 7;
    assert_ptr_equal(rm_set_add(&set, name), it);
    assert_int_equal(rm_set_get(set, "host-a")->number, 7);
    name[0] = 'x'; /* the name was copied */
    assert_true(rm_set_has(set, "host-a"));
    assert_false(rm_set_has(set, "host-A"));
    (void)rm_set_add(&set, "");
    assert_int_equal(HASH_COUNT(set), 2);
    rm_set_remove(&set, "host-b");
    rm_set_remove(&set, "host-a");
    assert_false(rm_set_has(set, "host-a"));
    assert_true(rm_set_has(set, ""));
    rm_set_clear(&set);
    assert_null(set);
}

static void test_many_names(void **state)
{
    struct rm_name_set *set = NULL;
    char name[32];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof(name), "node-%d:45454", i);
        rm_set_add(&set, name)->number = i;
    }
    for (int i = 0; i < 5000; i += 2) {
        (void)snprintf(name, sizeof(name), "node-%d:45454", i);
        rm_set_remove(&set, name);
    }
    assert_int_equal(HASH_COUNT(set), 2500);
    assert_null(rm_set_get(set, "node-4998:45454"));
    assert_int_equal(rm_set_get(set, "node-4999:45454")->number, 4999);
    rm_set_clear(&set);
}

/* A peer's text of any length takes at most 64 KiB of the object: the start of a replaced text and
 * the end of an appended one, where the last error is. */
static void test_texts_are_bounded(void **state)
{
    size_t max = 64 * 1024, n = 3 * max;
    char *big = malloc(n + 1), *text = NULL;

    (void)state;
    assert_non_null(big);
    memset(big, 'a', n);
    big[n - 1] = 'z';
    big[n] = 0;
    rm_set_text(&text, big);
    assert_int_equal(strlen(text), max);
    assert_int_equal(text[max - 1], 'a');
    rm_set_text(&text, "first; ");
    rm_append_text(&text, "second");
    assert_string_equal(text, "first; second");
    rm_append_text(&text, big);
    assert_int_equal(strlen(text), max);
    assert_int_equal(text[max - 1], 'z');
    rm_append_text(&text, "!");
    assert_int_equal(strlen(text), max);
    assert_string_equal(text + max - 2, "z!");
    rm_set_text(&text, NULL);
    assert_null(text);
    rm_append_text(&text, "");
    assert_string_equal(text, "");
    free(text);
    free(big);
    assert_null(rm_strdup(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_texts_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
