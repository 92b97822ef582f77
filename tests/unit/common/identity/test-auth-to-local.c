/* common/identity/auth-to-local.c and auth-rule.c: the pairs of tests/golden/auth-to-local, which
 * tests/interop/test-proto-facts gives to Hadoop's KerberosName, rule sets that are refused, and
 * bounds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/identity/auth-to-local.h"
#include "common/identity/principal.h"

#define GOLDEN "tests/golden/auth-to-local"
#define REALM "EXAMPLE.COM"

static struct sv_auth_to_local *set_of(const char *rules, enum sv_auth_mechanism mechanism)
{
    struct sv_auth_to_local *a = NULL;
    struct sv_error err = { 0 };

    if (sv_auth_to_local_new(rules, mechanism, REALM, &a, &err) < 0)
        fail_msg("%s: %s", rules, err.text);
    return a;
}

static void check_pair(struct sv_auth_to_local *a, const char *rules, const char *principal,
                       const char *expected)
{
    char name[SV_LOCAL_NAME_MAX + 1];
    struct sv_error err = { 0 };
    int r = sv_auth_to_local(a, principal, strlen(principal), name, &err);

    if (!expected) {
        if (r >= 0)
            fail_msg("%s by %s: became %s", principal, rules, name);
        if (r != -EACCES && r != -EINVAL)
            fail_msg("%s by %s: %d", principal, rules, r);
        assert_true(*err.text);
        return;
    }
    if (r < 0)
        fail_msg("%s by %s: %s", principal, rules, err.text);
    if (strcmp(name, expected) != 0)
        fail_msg("%s by %s: %s, not %s", principal, rules, name, expected);
}

static void pairs(void **state)
{
    _cleanup_(sv_auth_to_local_freep) struct sv_auth_to_local *a = NULL;
    char line[4096], rules[4096] = "";
    FILE *f = fopen(GOLDEN, "re");
    unsigned n = 0;

    (void)state;
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        char *end = line, *kind = strsep(&end, "\t"), *first = strsep(&end, "\t");

        if (*line == '#')
            continue;
        assert_non_null(end);
        end[strcspn(end, "\n")] = 0;
        if (*kind == 'S') {
            a = sv_auth_to_local_free(a);
            a = set_of(end, strcasecmp(first, "mit") ? SV_AUTH_HADOOP : SV_AUTH_MIT);
            snprintf(rules, sizeof(rules), "%s", end);
            continue;
        }
        check_pair(a, rules, first, *kind == 'D' || strcmp(end, "!") == 0 ? NULL : end);
        n++;
    }
    fclose(f);
    assert_true(n >= 300);
}

/* Hadoop takes what ours refuses from "later" on, and fails when a principal meets it. */
static void refused_rules(void **state)
{
    static const struct {
        const char *rules, *words;
    } cases[] = {
        { "DEFAULTS", "rule 2, byte 8" },
        { "default", "rule 1, byte 1" },
        { "RULE", "rule 1, byte 1" },
        { "RULE:", "rule 1, byte 1" },
        { "RULE:[", "number of components" },
        { "RULE:[:$1]", "number of components" },
        { "RULE:[x:$1]", "number of components" },
        { "RULE:[-1:$1]", "number of components" },
        { "RULE:[12345678901:$1]", "number of components" },
        { "RULE:[1$1]", "byte 8" },
        { "RULE:[1:$1", "expected the ]" },
        { "RULE:[1:$1](", "expected the )" },
        { "RULE:[1:$1](a", "expected the )" },
        { "RULE:[1:$1](a)s/a/b", "third /" },
        { "RULE:[1:$1](a)s/a", "second /" },
        { "RULE:[1:$1](a)s/a\n/b/", "second /" },
        { "RULE:[1:$1](a)s/a/b\nRULE:[1:$1]s/x/y/", "third /" },
        { "RULE:[1:$1](a)(b)", "rule 2" },
        { "DEFAULT RULE:[1:$1]s/a/b/x", "rule 3, byte 26, at \"x\"" },
        { "RULE:[1:$1]s/a/b/gg", "rule 2" },
        { "RULE:[1:$1]s/a/b/LL", "rule 2" },
        { "RULE:[1:$1](*a)", "nothing to repeat" },
        { "RULE:[1:$1]([a)", "without its ]" },
        { "RULE:[1:$1]s/(a/b/", "rule 1, byte 14" },
        { "RULE:[1:$1]([z-a])", "rule 1, byte 13" },
        { "RULE:[1:$1](\xff)", "rule 1" },
        /* later */
        { "RULE:[1:$]", "a $ without a number" },
        { "RULE:[1:a$b]", "a $ without a number" },
        { "RULE:[1:$2]", "higher" },
        { "RULE:[2:$3]", "higher" },
        { "RULE:[1:$99999999999999999999]", "higher" },
        { "RULE:[1:$1]s/a/$1/", "names no group" },
        { "RULE:[1:$1]s/(a)/$2/", "names no group" },
        { "RULE:[1:$1]s/a/$/", "names no group" },
        { "RULE:[1:$1]s/(a)/${x}/", "names no group" },
        { "RULE:[1:$1]s/a/b\\/", "backslash" },
        { "RULE:[1:$1]s/(a)\\1/b/", "back references" },
        { "RULE:[1:$1]s/(?<x>a)/b/", "of the groups" },
        { "RULE:[1:$1]([a-z&&[^x]])", "&&" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_auth_to_local *a = NULL;
        struct sv_error err = { 0 };

        if (sv_auth_to_local_new(cases[i].rules, SV_AUTH_HADOOP, REALM, &a, &err) != -EINVAL)
            fail_msg("taken: %s", cases[i].rules);
        if (!strstr(err.text, cases[i].words) || !strstr(err.text, "auth_to_local: rule "))
            fail_msg("%s: \"%s\" has no \"%s\"", cases[i].rules, err.text, cases[i].words);
    }
}

static void bounds(void **state)
{
    static char text[SV_AUTH_RULES_TEXT_MAX + 16];
    struct sv_auth_to_local *a = NULL;
    struct sv_error err = { 0 };

    (void)state;
    memset(text, ' ', SV_AUTH_RULES_TEXT_MAX + 1);
    memcpy(text, "DEFAULT", 7);
    assert_int_equal(sv_auth_to_local_new(text, SV_AUTH_HADOOP, REALM, &a, &err), -EINVAL);
    memset(text, 0, sizeof(text));
    for (int i = 0; i < SV_AUTH_RULES_MAX; i++)
        memcpy(text + 7 * i, "DEFAULT", 7);
    a = set_of(text, SV_AUTH_HADOOP);
    assert_int_equal(sv_auth_to_local_count(a), SV_AUTH_RULES_MAX);
    a = sv_auth_to_local_free(a);
    memcpy(text + strlen(text), "DEFAULT", 7);
    assert_int_equal(sv_auth_to_local_new(text, SV_AUTH_HADOOP, REALM, &a, &err), -EINVAL);
    assert_non_null(strstr(err.text, "more than 256 rules"));
}

/* Names that make backtracking expressions slow are refused in few milliseconds: by a count, so
 * that the same name always is. Each has the last character that its expression needs, without
 * which PCRE2 does not begin. */
static void hostile_names(void **state)
{
    static const struct {
        const char *rules, *end;
    } cases[] = {
        { "RULE:[1:$1]s/^(a|a|b)*c$/x/ DEFAULT", "ca" },
        { "RULE:[1:$1](a*a*a*a*a*a*c) DEFAULT", "ca" },
        { "RULE:[1:$1]s/^(?:(?:a+)+)+c$/x/ DEFAULT", "ca" },
        { "RULE:[1:$1]s/(a*)*c/x/g DEFAULT", "bc" },
        { "RULE:[1:$1](.*.*.*=b)s/x/y/ DEFAULT", "=ab" },
    };
    char principal[SV_PRINCIPAL_MAX], name[SV_LOCAL_NAME_MAX + 1];

    (void)state;
    memset(principal, 'a', 200);
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_auth_to_local *a = set_of(cases[i].rules, SV_AUTH_HADOOP);
        struct sv_error err = { 0 };

        snprintf(principal + 200, sizeof(principal) - 200, "%s@EXAMPLE.COM", cases[i].end);
        if (sv_auth_to_local(a, principal, strlen(principal), name, &err) != -E2BIG)
            fail_msg("%s: \"%s\"", cases[i].rules, err.text);
        assert_non_null(strstr(err.text, "rule 1"));
        assert_non_null(strstr(err.text, "too much work"));
        sv_auth_to_local_free(a);
    }
}

/* The work of one principal is counted for all rules together: none of these is slow alone. */
static void many_rules(void **state)
{
    char *text = calloc(SV_AUTH_RULES_MAX, 32), principal[300], name[SV_LOCAL_NAME_MAX + 1];
    struct sv_auth_to_local *a;
    struct sv_error err = { 0 };
    size_t n = 0;

    (void)state;
    assert_non_null(text);
    memset(principal, 'a', 100);
    memcpy(principal + 100, "ca@R", 5);
    for (int i = 0; i < SV_AUTH_RULES_MAX; i++)
        n += (size_t)snprintf(text + n, 32, "RULE:[1:$1](a*a*a*c) ");
    a = set_of(text, SV_AUTH_HADOOP);
    assert_int_equal(sv_auth_to_local(a, principal, strlen(principal), name, &err), -E2BIG);
    assert_null(strstr(err.text, "rule 1 "));
    sv_auth_to_local_free(a);
    free(text);
}

static void long_results(void **state)
{
    char principal[SV_PRINCIPAL_MAX + 2], name[SV_LOCAL_NAME_MAX + 1];
    struct sv_auth_to_local *a = set_of("RULE:[1:$1]s/a/aaaaaaaaaa/g", SV_AUTH_HADOOP);
    struct sv_error err = { 0 };

    (void)state;
    for (size_t n = 1; n <= 500; n++) {
        memset(principal, 'a', n);
        memcpy(principal + n, "@R", 3);
        assert_int_equal(sv_auth_to_local(a, principal, n + 2, name, &err) < 0, 10 * n > 255);
        if (10 * n > 255)
            assert_non_null(strstr(err.text, "too long"));
    }
    sv_auth_to_local_free(a);
}

static void words(void **state)
{
    struct sv_auth_to_local *a =
        set_of("RULE:[2:$1@$0](rm@.*)s/.*/yarn/ RULE:[1:$1@$0](.*@X) DEFAULT", SV_AUTH_HADOOP);
    char name[SV_LOCAL_NAME_MAX + 1];
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(sv_auth_to_local(a, "eve@Y", 5, name, &err), -EACCES);
    assert_non_null(strstr(err.text, "principal \"eve@Y\": none of the 3 rules"));
    assert_non_null(strstr(err.text, "RULE:[2:$1@$0](rm@.*)s/.*/yarn/; RULE:[1:$1@$0](.*@X); "
                                     "DEFAULT"));
    assert_non_null(strstr(err.text, "the default realm is EXAMPLE.COM"));
    assert_int_equal(sv_auth_to_local(a, "eve@X", 5, name, &err), -EACCES);
    assert_non_null(strstr(err.text, "rule 2"));
    assert_non_null(strstr(err.text, "a / or @"));
    assert_int_equal(sv_auth_to_local(a, "eve\0@EXAMPLE.COM", 16, name, &err), -EINVAL);
    sv_auth_to_local_free(a);
}

static void decisions(void **state)
{
    static const struct {
        const char *principal, *name, *rule;
        size_t number;
    } cases[] = {
        { "rm/host@X", "yarn", "RULE:[2:$1@$0](rm@.*)s/.*/yarn/", 1 },
        { "eve@EXAMPLE.COM", "eve", "DEFAULT", 2 },
        { "eve", "eve", "", 0 },
    };
    const char *rules = "RULE:[2:$1@$0](rm@.*)s/.*/yarn/ DEFAULT";
    struct sv_auth_to_local *a = set_of(rules, SV_AUTH_HADOOP), *mit = set_of(rules, SV_AUTH_MIT);
    struct sv_auth_decision by;
    char name[SV_LOCAL_NAME_MAX + 1];
    struct sv_error err = { 0 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        const char *p = cases[i].principal;

        assert_int_equal(sv_auth_to_local_decide(a, p, strlen(p), name, &by, &err), 0);
        assert_string_equal(name, cases[i].name);
        assert_string_equal(by.text, cases[i].rule);
        assert_int_equal(by.number, cases[i].number);
    }
    assert_int_equal(sv_auth_to_local_decide(a, "eve@Y", 5, name, &by, &err), -EACCES);
    assert_int_equal(sv_auth_to_local_decide(mit, "eve@Y", 5, name, &by, &err), 0);
    assert_string_equal(name, "eve@Y");
    assert_int_equal(by.number, 0);
    sv_auth_to_local_free(a);
    sv_auth_to_local_free(mit);
}

static void without_realm(void **state)
{
    _cleanup_(sv_auth_to_local_freep) struct sv_auth_to_local *a = NULL;
    char name[SV_LOCAL_NAME_MAX + 1];
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(sv_auth_to_local_new("", SV_AUTH_HADOOP, NULL, &a, &err), 0);
    assert_int_equal(sv_auth_to_local(a, "a@EXAMPLE.COM", 13, name, &err), -EACCES);
    assert_int_equal(sv_auth_to_local(a, "a", 1, name, &err), 0);
    assert_string_equal(name, "a");
}

static void keys(void **state)
{
    static const struct {
        const char *mechanism;
        int r;
    } cases[] = { { "hadoop", 0 }, { "MIT", 0 }, { "Hadoop", 0 }, { "heimdal", -EINVAL } };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        _cleanup_(sv_auth_to_local_freep) struct sv_auth_to_local *a = NULL;
        _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
        struct sv_error err = { 0 };

        assert_int_equal(sv_conf_set(c, "hadoop.security.auth_to_local", "\n  DEFAULT\n"), 0);
        assert_int_equal(
            sv_conf_set(c, "hadoop.security.auth_to_local.mechanism", cases[i].mechanism), 0);
        assert_int_equal(sv_auth_to_local_read(c, REALM, &a, &err), cases[i].r);
        if (cases[i].r < 0)
            assert_non_null(strstr(err.text, "expected hadoop or mit"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs),      cmocka_unit_test(refused_rules),
        cmocka_unit_test(bounds),     cmocka_unit_test(hostile_names),
        cmocka_unit_test(many_rules), cmocka_unit_test(long_results),
        cmocka_unit_test(words),      cmocka_unit_test(without_realm),
        cmocka_unit_test(keys),       cmocka_unit_test(decisions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
