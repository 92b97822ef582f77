/* common/identity/krb5-conf.c: default_realm of texts and files; texts that libkrb5 does not
 * read. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/identity/krb5-conf.h"

static int no_include(const char *path, bool directory, void *userdata, struct sv_error *err)
{
    (void)directory, (void)userdata;
    return sv_error_set(err, -EPERM, "include of %s", path);
}

static void texts(void **state)
{
    static const struct {
        const char *text, *realm, *words; /* `words`: refused with them */
    } cases[] = {
        { "", "", NULL },
        { "[libdefaults]\ndefault_realm = A.B\n", "A.B", NULL },
        { "[libdefaults]\n\tdefault_realm=A.B", "A.B", NULL },
        { "\xef\xbb\xbf[libdefaults]\r\n default_realm = A.B \r\n", "A.B", NULL },
        { "# c\n; c\n\n[libdefaults]*\ndefault_realm* = A # no comment", "", "no realm has" },
        { "[libdefaults]*\ndefault_realm* = A", "A", NULL },
        { "[libdefaults]\ndefault_realm = \"A.B\" junk", "A.B", NULL },
        { "[libdefaults]\ndefault_realm = \"A\\.B", "A.B", NULL },
        { "[libdefaults]\ndefault_realm = A\ndefault_realm = B\n", "A", NULL },
        { "[libdefaults]\n[realms]\ndefault_realm = B\n[libdefaults]\ndefault_realm = A", "A",
          NULL },
        { "[LIBDEFAULTS]\ndefault_realm = A\n", "", NULL },
        { "[libdefaults]\nx = {\n default_realm = B\n}\nDEFAULT_REALM = C\n", "", NULL },
        { "[libdefaults]\nx =\n {\n y = {\n default_realm = B\n}\n}*\ndefault_realm = A\n", "A",
          NULL },
        { "[realms]\nR = {\n kdc = h:1\n auth_to_local = RULE:[1:$1](a=b)s/x/y/\n}\n", "", NULL },
        { "[libdefaults]\ndefault_realm = \n", "", "brace is not closed" },
        { "[libdefaults]\ndefault_realm =\nx = 1\n", "", "k:3: a tag without a value" },
        { "[libdefaults]\ndefault_realm = \"\"\n", "", "empty" },
        { "[libdefaults]\ndefault_realm = a/b\n", "", "no realm has" },
        { "[libdefaults]\ndefault_realm = a@b\n", "", "no realm has" },
        { "[libdefaults]\ndefault_realm = a b\n", "", "no realm has" },
        { "default_realm = A\n", "", "k:1: a relation before the first section" },
        { "[libdefaults\n", "", "without ]" },
        { "[libdefaults]\nx = {\n[realms]\n", "", "k:3: a section begins inside braces" },
        { "[libdefaults]\n}\n", "", "closing brace" },
        { "[libdefaults]\nx = {\n", "", "not closed" },
        { "[libdefaults]\nword\n", "", "neither a section" },
        { "[libdefaults]\n= x\n", "", "neither a section" },
        { "[libdefaults]\na b = x\n", "", "a blank in it" },
        { "module /x.so:y\n", "", "module" },
        { "include /x\n", "", "k:1: include of /x" },
        { "includedir\t/x \n", "", "k:1: include of /x" },
        { "include x\n", "", "absolute path" },
        { " include /x\n", "", "before the first section" },
        { "[libdefaults]\nincludes = x\n", "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        char realm[SV_REALM_MAX + 1] = "";
        struct sv_error err = { 0 };
        const size_t len = strlen(cases[i].text);
        int r = sv_krb5_parse("k", cases[i].text, len, no_include, NULL, realm, &err);

        if ((r < 0) != !!cases[i].words || (cases[i].words ? !strstr(err.text, cases[i].words)
                                                           : strcmp(realm, cases[i].realm) != 0))
            fail_msg("case %zu: %d, \"%s\", %s", i, r, realm, err.text);
    }
}

static void limits(void **state)
{
    char realm[SV_REALM_MAX + 1] = "", line[SV_KRB5_LINE_MAX + 2], text[400];
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(sv_krb5_parse("k", "#\0\n", 3, no_include, NULL, realm, &err), -EINVAL);
    assert_non_null(strstr(err.text, "NUL"));
    memset(line, '#', sizeof(line));
    assert_int_equal(sv_krb5_parse("k", line, SV_KRB5_LINE_MAX, no_include, NULL, realm, &err), 0);
    assert_int_equal(sv_krb5_parse("k", line, SV_KRB5_LINE_MAX + 1, no_include, NULL, realm, &err),
                     -E2BIG);
    for (int n = SV_REALM_MAX; n <= SV_REALM_MAX + 1; n++) {
        int len = snprintf(text, sizeof(text), "[libdefaults]\ndefault_realm = %0*d", n, 0);

        realm[0] = 0;
        assert_int_equal(sv_krb5_parse("k", text, (size_t)len, no_include, NULL, realm, &err),
                         n > SV_REALM_MAX ? -EINVAL : 0);
        assert_int_equal(strlen(realm), n > SV_REALM_MAX ? 0 : n);
    }
}

/* ---- Files ---- */

static char dir[] = "/tmp/test-krb5-conf-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int read_conf(char realm[SV_REALM_MAX + 1], struct sv_error *err)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/krb5.conf", dir);
    *err = (struct sv_error){ 0 };
    return sv_krb5_default_realm(path, realm, err);
}

/* Files are read where they are named, those of a directory by name, and others are not. */
static void includes(void **state)
{
    char realm[SV_REALM_MAX + 1], text[512];
    struct sv_error err;

    (void)state;
    assert_int_equal(read_conf(realm, &err), -ENOENT);
    put("krb5.conf", "[libdefaults]\nrdns = false\n");
    assert_int_equal(read_conf(realm, &err), -ENODATA);
    assert_non_null(strstr(err.text, "no default_realm"));
    snprintf(text, sizeof(text), "%s/d", dir);
    assert_int_equal(mkdir(text, 0755), 0);
    snprintf(text, sizeof(text),
             "includedir %s/d\n[libdefaults]\ninclude %s/one\ndefault_realm = LAST\n", dir, dir);
    put("krb5.conf", text);
    assert_int_equal(read_conf(realm, &err), -ENOENT);
    assert_non_null(strstr(err.text, "krb5.conf:3: "));
    put("one", "[realms]\n");
    assert_int_equal(read_conf(realm, &err), 0);
    assert_string_equal(realm, "LAST"); /* the file's own section goes on */
    put("one", "[libdefaults]\ndefault_realm = ONE\n");
    put("d/.hidden", "[libdefaults]\ndefault_realm = HIDDEN\n");
    put("d/a.rpmnew", "[libdefaults]\ndefault_realm = RPMNEW\n");
    put("d/.conf", "broken");
    assert_int_equal(read_conf(realm, &err), 0);
    assert_string_equal(realm, "ONE");
    put("d/2.x.conf", "[libdefaults]\ndefault_realm = TWO\n");
    assert_int_equal(read_conf(realm, &err), 0);
    assert_string_equal(realm, "TWO");
    put("d/1_a-B", "[libdefaults]\ndefault_realm = FIRST\n");
    assert_int_equal(read_conf(realm, &err), 0);
    assert_string_equal(realm, "FIRST");
    put("d/1_a-B", "broken\n");
    assert_int_equal(read_conf(realm, &err), -EINVAL);
    assert_non_null(strstr(err.text, "krb5.conf:1: "));
    assert_non_null(strstr(err.text, "d/1_a-B:1: "));
}

/* A file that includes itself; more files than are read; one that is too large. */
static void endless(void **state)
{
    char realm[SV_REALM_MAX + 1], text[8192];
    struct sv_error err;
    int n = 0;

    (void)state;
    snprintf(text, sizeof(text), "include %s/krb5.conf\n", dir);
    put("krb5.conf", text);
    assert_int_equal(read_conf(realm, &err), -E2BIG);
    assert_non_null(strstr(err.text, "include one another"));
    put("one", "[libdefaults]\n");
    for (int i = 0; i < SV_KRB5_FILES_MAX; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "include %s/one\n", dir);
    put("krb5.conf", text);
    assert_int_equal(read_conf(realm, &err), -E2BIG);
    assert_non_null(strstr(err.text, "more than 64 files"));
    snprintf(text, sizeof(text), "%s/krb5.conf", dir);
    assert_int_equal(truncate(text, (off_t)SV_KRB5_FILE_MAX + 1), 0);
    assert_int_equal(read_conf(realm, &err), -EFBIG);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    _cleanup_close_ int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

    return sv_remove_tree_at(tmp, strrchr(dir, '/') + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts), cmocka_unit_test(limits),
                                        cmocka_unit_test(includes), cmocka_unit_test(endless) };

    return cmocka_run_group_tests(tests, setup, teardown);
}
