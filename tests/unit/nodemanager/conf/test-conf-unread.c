/* nodemanager/conf/conf-unread.h: each yarn.nodemanager.* key of Hadoop's own yarn-default.xml
 * (names and defaults in tests/golden/configuration, of hadoop-yarn-common 3.4.2) is read or in one
 * group, with Hadoop's default, and the page for operators is generated from the tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base.h"
#include "nodemanager/conf/conf-unread.h"
#include "nodemanager/conf/conf.h"
#include "tests/lib/key-page.h"

#define NM "yarn.nodemanager."
#define GOLDEN "tests/golden/configuration/nodemanager-3.4.2"
#define DOC "docs/operate/nodemanager-keys.md"

/* Rows of the groups; one with another default than Hadoop's does not count. */
static int places_in_groups(const char *name, const char *def)
{
    char row[512];
    int n = 0;

    (void)snprintf(row, sizeof(row), "%s%s%s", name + strlen(NM), *def ? "=" : "", def);
    for (const struct nm_key_group *g = nm_key_groups; g->text; g++)
        for (const char *const *k = g->keys; *k; k++)
            n += strcmp(*k, row) == 0;
    return n;
}

/* "aux-services.%s.classpath" of yarn-default.xml stands for any service. */
static void any_name(char *name)
{
    char *part = strstr(name, "%s");

    if (part)
        memcpy(part, "x1", 2);
}

static void has_a_place(char *name, const char *def)
{
    int places;

    any_name(name);
    places = nm_conf_is_used(name) + places_in_groups(name, def);
    if (places == 0 && strstr(name, ".x1."))
        return; /* a family: other parts of a service's name */
    if (places != 1)
        fail_msg("%s=%s: %d places among the keys that are read and in conf-hadoop-keys.c, not 1",
                 name, def, places);
}

static void test_hadoops_keys_have_a_place(void **state)
{
    (void)state;
    assert_in_range(each_hadoop_key(GOLDEN, has_a_place), 200, 1000);
}

/* A key of a group that is read as well would have no effect there. */
static void test_groups_are_not_read(void **state)
{
    char name[256];

    (void)state;
    for (const struct nm_key_group *g = nm_key_groups; g->text; g++)
        for (const char *const *k = g->keys; *k; k++) {
            (void)snprintf(name, sizeof(name), "%s%.*s", nm_key_is_whole(*k) ? "" : NM,
                           (int)strcspn(*k, "="), *k);
            if (nm_conf_is_used(name))
                fail_msg("%s is read, and in the group \"%s\"", name, g->text);
        }
}

static void test_page_is_the_table(void **state)
{
    (void)state;
    page_is_the_table(DOC, nm_conf_print_keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hadoops_keys_have_a_place),
        cmocka_unit_test(test_groups_are_not_read),
        cmocka_unit_test(test_page_is_the_table),
    };

    return cmocka_run_group_tests_name("conf-unread", tests, NULL, NULL);
}
