/* common/identity/principal.c: principals, _HOST, servers' names. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/identity/principal.h"

static void taken(void **state)
{
    static const struct {
        const char *text, *name, *host, *realm;
    } cases[] = {
        { "alice", "alice", "", "" },
        { "alice@R", "alice", "", "R" },
        { "nm/host.example@EXAMPLE.COM", "nm", "host.example", "EXAMPLE.COM" },
        { "nm/host", "nm", "host", "" },
        { "a b@R", "a b", "", "R" },
        { "j\xc3\xb6rg@R", "j\xc3\xb6rg", "", "R" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        char text[SV_PRINCIPAL_MAX + 1];
        struct sv_principal p;

        assert_int_equal(sv_principal_parse(cases[i].text, strlen(cases[i].text), &p, NULL), 0);
        assert_string_equal(p.name, cases[i].name);
        assert_string_equal(p.host, cases[i].host);
        assert_string_equal(p.realm, cases[i].realm);
        sv_principal_text(&p, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void refused(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *words;
    } cases[] = {
        { "", 0, "is empty" },
        { "@R", 2, "empty component" },
        { "a/@R", 4, "empty component" },
        { "/h@R", 4, "empty component" },
        { "a/", 2, "empty component" },
        { "a@", 2, "empty realm" },
        { "a@R@S", 5, "a second @" },
        { "a@R/x", 5, "in its realm" },
        { "a/b/c", 5, "more than two" },
        { "a/b/c@R", 7, "more than two" },
        { "a\0b@R", 5, "a NUL" },
        { "a@R\0", 4, "a NUL" },
        { "a\n@R", 4, "a control character" },
        { "a\x7f@R", 4, "a control character" },
        { "a\xc2\x85@R", 5, "a control character" },
        { "a\xe2\x80\xa8@R", 6, "a control character" },
        { "a\xff@R", 4, "not UTF-8" },
        { "a\xc3", 2, "not UTF-8" },
        { "a\\@b@R", 6, "a backslash" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_error err = { 0 };
        struct sv_principal p;

        assert_int_equal(sv_principal_parse(cases[i].text, cases[i].len, &p, &err), -EINVAL);
        if (!strstr(err.text, cases[i].words))
            fail_msg("case %zu: \"%s\" has no \"%s\"", i, err.text, cases[i].words);
    }
}

static void bounds(void **state)
{
    char text[SV_PRINCIPAL_MAX + 2];
    struct sv_principal p;
    struct sv_error err = { 0 };

    (void)state;
    memset(text, 'a', sizeof(text));
    assert_int_equal(sv_principal_parse(text, SV_PRINCIPAL_MAX, &p, &err), 0);
    assert_int_equal(strlen(p.name), SV_PRINCIPAL_MAX);
    assert_int_equal(sv_principal_parse(text, SV_PRINCIPAL_MAX + 1, &p, &err), -EINVAL);
    assert_non_null(strstr(err.text, "longer than 512 bytes"));
}

static void hosts(void **state)
{
    static const struct {
        const char *configured, *host, *own, *expected; /* NULL: refused */
    } cases[] = {
        { "nm/_HOST@R", "Worker1.Example", NULL, "nm/worker1.example@R" },
        { "nm/_HOST@R", "0.0.0.0", "me.example", "nm/me.example@R" },
        { "nm/_HOST@R", "", "me.example", "nm/me.example@R" },
        { "nm/_HOST@R", NULL, "me.example", "nm/me.example@R" },
        { "nm/_HOST@R", "::", "me.example", "nm/me.example@R" },
        { "nm/host@R", "other", NULL, "nm/host@R" },
        { "nm/_host@R", "other", NULL, "nm/_host@R" },
        { "nm/x_HOST@R", "other", NULL, "nm/x_HOST@R" },
        { "nm/_HOST", "other", NULL, "nm/_HOST" }, /* two components for Hadoop, too */
        { "_HOST@R", "other", NULL, "_HOST@R" },
        { "nm@R", "other", NULL, "nm@R" },
        { "nm/_HOST@R", "10.0.0.1", "me.example", NULL },
        { "nm/_HOST@R", "fd00::1", "me.example", NULL },
        { "nm/_HOST@R", "", NULL, NULL },
        { "nm/_HOST@R", "", "", NULL },
        { "nm/_HOST@R", "a@EVIL", NULL, NULL },
        { "nm/_HOST@R", "a/b", NULL, NULL },
        { "nm/_HOST@R", "a\nb", NULL, NULL },
        { "nm/_HOST/x@R", "a", NULL, NULL },
        { "", "a", NULL, NULL },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        char text[SV_PRINCIPAL_MAX + 1] = "";
        struct sv_error err = { 0 };
        int r = sv_principal_for_host(cases[i].configured, cases[i].host, cases[i].own, text, &err);

        if (r != (cases[i].expected ? 0 : -EINVAL))
            fail_msg("case %zu: %d, \"%s\"", i, r, err.text);
        assert_string_equal(text, cases[i].expected ?: "");
    }
}

static void long_host(void **state)
{
    char host[SV_PRINCIPAL_MAX + 1], text[SV_PRINCIPAL_MAX + 1];

    (void)state;
    for (size_t n = 1; n < SV_PRINCIPAL_MAX; n++) {
        memset(host, 'h', n);
        host[n] = 0;
        assert_int_equal(sv_principal_for_host("nm/_HOST@R", host, NULL, text, NULL),
                         n + 5 <= SV_PRINCIPAL_MAX ? 0 : -EINVAL);
    }
}

static void servers(void **state)
{
    static const struct {
        const char *configured, *pattern, *host, *offered;
        int r;
        const char *words;
    } cases[] = {
        { "rm/_HOST@R", NULL, "Master", "rm/master@R", 0, "" },
        { "rm/_HOST@R", NULL, "master", "rm/other@R", -EACCES, "expected was rm/master@R" },
        { "rm/_HOST@R", NULL, "master", "rm/master@S", -EACCES, "not trusted" },
        { "rm/_HOST@R", NULL, "master", "nm/master@R", -EACCES, "not trusted" },
        { "rm/_HOST@R", NULL, "master", "rm/MASTER@R", -EACCES, "not trusted" },
        { "rm/a@R", NULL, "b", "rm/a@R", 0, "" },
        { "rm/_HOST@R", "", "master", "rm/master@R", 0, "" },
        { "rm/_HOST@R", "rm/*@R", "master", "rm/other@R", 0, "" },
        { "rm/_HOST@R", "rm/*@R", "master", "rm/other@S", -EACCES, "among the.key.pattern" },
        { NULL, "rm/*@R", "master", "rm/other@R", 0, "" },
        { "rm/_HOST@R", "rm/[@R", "master", "rm/other@R", -EINVAL, "the.key.pattern" },
        { NULL, NULL, "master", "rm/master@R", -EINVAL, "the.key is not set" },
        { "", NULL, "master", "rm/master@R", -EINVAL, "the.key is not set" },
        { "rm@R", NULL, "master", "rm@R", -EINVAL, "has no host" },
        { "rm/_HOST@R", NULL, "10.0.0.1", "rm/master@R", -EINVAL, "by its host name" },
        { "rm/_HOST@R", NULL, "master", "rm/master@R@S", -EINVAL, "server: principal" },
        { "rm/_HOST@R", "*", "master", "", -EINVAL, "server: principal" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        const struct sv_server_name s = { "the.key", cases[i].configured, cases[i].pattern,
                                          cases[i].host, NULL };
        struct sv_error err = { 0 };
        int r = sv_principal_check_server(&s, cases[i].offered, &err);

        if (r != cases[i].r || !strstr(err.text, cases[i].words))
            fail_msg("case %zu: %d, \"%s\"", i, r, err.text);
    }
}

/* A server names itself without a realm. */
static void recognized(void **state)
{
    static const struct {
        const char *configured, *pattern, *offered;
        int r;
        const char *full;
    } cases[] = {
        { "rm/_HOST@R", NULL, "rm/master", 0, "rm/master@R" },
        { "rm/_HOST@R", NULL, "rm/other", -EACCES, "" },
        { NULL, "rm/*@OWN", "rm/other", 0, "rm/other@OWN" },
        { "rm/_HOST@R", NULL, "rm/master@R", -EINVAL, "" },
        { NULL, NULL, "rm/master", -EINVAL, "" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        const struct sv_server_name s = { "the.key", cases[i].configured, cases[i].pattern,
                                          "master", NULL };
        char full[SV_PRINCIPAL_MAX + 1] = "";
        struct sv_error err = { 0 };

        assert_int_equal(sv_principal_recognize(&s, "nm/a@OWN", cases[i].offered, full, &err),
                         cases[i].r);
        assert_string_equal(full, cases[i].full);
    }
}

/* A name that is longer than any principal is not cut to one. */
static void long_offer(void **state)
{
    const struct sv_server_name s = { "the.key", NULL, "*", "master", NULL };
    char offered[SV_PRINCIPAL_MAX + 1], full[SV_PRINCIPAL_MAX + 1] = "";
    struct sv_error err = { 0 };

    (void)state;
    memset(offered, 'a', sizeof(offered) - 1);
    offered[sizeof(offered) - 1] = 0;
    assert_int_equal(sv_principal_recognize(&s, "nm/a@OWN", offered, full, &err), -EINVAL);
}

static void of_server(void **state)
{
    struct sv_server_name s = { "the.key", "rm/_HOST@R", NULL, "Master", NULL };
    char full[SV_PRINCIPAL_MAX + 1];

    (void)state;
    assert_int_equal(sv_principal_of_server(&s, full), 0);
    assert_string_equal(full, "rm/master@R");
    s.configured = NULL;
    assert_int_equal(sv_principal_of_server(&s, full), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken),      cmocka_unit_test(refused),    cmocka_unit_test(bounds),
        cmocka_unit_test(hosts),      cmocka_unit_test(long_host),  cmocka_unit_test(servers),
        cmocka_unit_test(recognized), cmocka_unit_test(long_offer), cmocka_unit_test(of_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
