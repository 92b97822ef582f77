/* rm-lite/conf/conf-unread.h: each yarn.resourcemanager.* key of Hadoop's own yarn-default.xml
 * (names and defaults in tests/golden/configuration, of hadoop-yarn-common 3.4.2) has one place in
 * the tables, and the page for operators is generated from them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "rm-lite/conf/conf-unread.h"
#include "rm-lite/conf/rm-conf.h"
#include "tests/lib/key-page.h"

#define RM "yarn.resourcemanager."
#define GOLDEN "tests/golden/configuration/resourcemanager-3.4.2"
#define DOC "docs/operate/resourcemanager-keys.md"

/* How many places the tables have for a key; a default that differs is no place. */
static int places(const char *name, const char *def)
{
    const struct sv_conf_key *k;
    char row[512];
    int n = 0;

    for (size_t i = 0; (k = rm_conf_row(i)); i++)
        n += strcmp(k->name, name) == 0;
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++)
        n += strcmp(f->key.name, name) == 0 && strcmp(f->key.def, def) == 0;
    (void)snprintf(row, sizeof(row), "%s=%s", name + strlen(RM), def);
    for (const struct rm_key_group *g = rm_key_groups; g->text; g++)
        for (const char *const *s = g->keys; *s; s++)
            n += strcmp(*s, row) == 0;
    return n;
}

static void has_a_place(char *name, const char *def)
{
    if (places(name, def) != 1)
        fail_msg("%s=%s: %d places in rm-conf.c and conf-hadoop-keys.c, not 1", name, def,
                 places(name, def));
}

static void test_hadoops_keys_have_a_place(void **state)
{
    (void)state;
    assert_in_range(each_hadoop_key(GOLDEN, has_a_place), 100, 1000);
}

static void in_golden(const char *golden, const char *name)
{
    char line[256];

    (void)snprintf(line, sizeof(line), "\n%s=", name);
    if (!strstr(golden, line) && strncmp(golden, line + 1, strlen(line + 1)) != 0)
        fail_msg("%s is no key of Hadoop's yarn-default.xml", name);
}

/* Keys of Hadoop's that its yarn-default.xml does not have. */
static bool is_documented(const char *name)
{
    return strcmp(name, RM "epoch") != 0 &&
           strcmp(name, RM "system-credentials.valid-time-remaining") != 0;
}

static void test_no_key_is_extra(void **state)
{
    char *golden = slurp(GOLDEN), name[256];
    const struct sv_conf_key *k;

    (void)state;
    for (size_t i = 0; (k = rm_conf_row(i)); i++)
        if (strncmp(k->name, RM, strlen(RM)) == 0 && is_documented(k->name))
            in_golden(golden, k->name);
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++)
        if (strncmp(f->key.name, RM, strlen(RM)) == 0)
            in_golden(golden, f->key.name);
    for (const struct rm_key_group *g = rm_key_groups; g->text; g++)
        for (const char *const *s = g->keys; *s; s++) {
            (void)snprintf(name, sizeof(name), RM "%.*s", (int)strcspn(*s, "="), *s);
            in_golden(golden, name);
        }
    free(golden);
}

static void test_page_is_the_table(void **state)
{
    (void)state;
    page_is_the_table(DOC, rm_conf_print_keys);
}

static void test_refusals(void **state)
{
    (void)state;
    for (const struct rm_key_refusal *f = rm_key_refusals; f->why; f++) {
        struct sv_conf *c = sv_conf_new();
        struct sv_error err = { 0 };

        assert_int_equal(rm_conf_check_refused(c, &err), 0);
        assert_int_equal(sv_conf_set(c, f->key.name, f->key.def), 0);
        assert_int_equal(rm_conf_check_refused(c, &err), 0);
        assert_int_equal(
            sv_conf_set(c, f->key.name, f->key.type == SV_CONF_BOOL ? "true" : "other"), 0);
        assert_int_equal(rm_conf_check_refused(c, &err), -EOPNOTSUPP);
        assert_non_null(strstr(err.text, f->key.name));
        for (const char *const *a = f->also; a && *a; a++) {
            assert_int_equal(sv_conf_set(c, f->key.name, *a), 0);
            assert_int_equal(rm_conf_check_refused(c, &err), 0);
        }
        sv_conf_free(c);
    }
}

struct told {
    int n[RM_KEY_UNKNOWN + 1];
    char nearest[128];
};

static void on_told(const char *name, enum rm_key_meaning meaning, const char *why,
                    const char *nearest, void *userdata)
{
    struct told *t = userdata;

    (void)name;
    assert_non_null(why);
    t->n[meaning]++;
    if (nearest)
        (void)snprintf(t->nearest, sizeof(t->nearest), "%s", nearest);
}

static void test_what_is_told(void **state)
{
    static const char *const keys[][2] = {
        { RM "address", "0.0.0.0:1" },      /* honoured */
        { RM "client.thread-count", "50" }, /* at its default */
        { RM "scheduler.client.thread-count", "7" },
        { RM "reservation-system.enable", "true" },
        { RM "connect.max-wait.ms", "1" }, /* of clients */
        { RM "hostname.rm1", "a" },        /* of clients */
        { RM "nodes.exclude-pat", "/x" },
        { "yarn.nodemanager.hostname", "a" }, /* another daemon's */
    };
    struct sv_conf *c = sv_conf_new();
    struct told t = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_int_equal(sv_conf_set(c, keys[i][0], keys[i][1]), 0);
    assert_int_equal(rm_conf_unread(c, on_told, &t), 0);
    assert_int_equal(t.n[RM_KEY_READ] + t.n[RM_KEY_OTHER], 0);
    assert_int_equal(t.n[RM_KEY_NO_MEANING], 1);
    assert_int_equal(t.n[RM_KEY_NOT_DONE], 1);
    assert_int_equal(t.n[RM_KEY_UNKNOWN], 1);
    assert_string_equal(t.nearest, RM "nodes.exclude-path");
    sv_conf_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hadoops_keys_have_a_place),
        cmocka_unit_test(test_no_key_is_extra),
        cmocka_unit_test(test_page_is_the_table),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_what_is_told),
    };

    sv_log_init("test");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
