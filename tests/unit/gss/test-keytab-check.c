/* Tests gss/keytab-check.c: files that are refused, principals that are found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "common/fd.h"
#include "gss/keytab-check.h"
#include "tests/unit/gss/keys.h"

static const char *dir;
static char one[64], two[64];

static int check(const struct sgss_keytabs *k, const char *path, const char *words)
{
    struct sv_error err = { 0 };
    int r = sgss_keytab_check(k, path, &err);

    if (r < 0) {
        assert_non_null(strstr(err.text, path));
        if (!strstr(err.text, words))
            fail_msg("%s: %s", words, err.text);
    }
    return r;
}

static void test_modes(void **state)
{
    (void)state;
    const struct sgss_keytabs k = { 0 };
    static const mode_t bad[] = { 0440, 0404, 0600 | 020, 0600 | 02, 0410, 0401, 0644, 0777 };

    assert_int_equal(check(&k, one, ""), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_int_equal(chmod(one, bad[i]), 0);
        assert_int_equal(check(&k, one, "chmod 0400"), -EACCES);
    }
    assert_int_equal(chmod(one, 0600), 0);
    assert_int_equal(check(&k, one, ""), 0);
    assert_int_equal(chmod(one, 0400), 0);
    assert_int_equal(check(&k, dir, "not a regular file"), -EACCES);
    assert_int_equal(check(&k, "/nowhere/keytab", "No such file"), -ENOENT);
}

/* systemd's directory of credentials: an access list shows as the group's right to read. */
static void test_credentials(void **state)
{
    (void)state;
    const struct sgss_keytabs k = { .credentials = dir };

    if (geteuid() != 0)
        skip(); /* the files there are root's */
    assert_int_equal(chmod(one, 0440), 0);
    assert_int_equal(check(&k, one, ""), 0);
    assert_int_equal(chmod(one, 0460), 0);
    assert_int_equal(check(&k, one, "chmod"), -EACCES);
    assert_int_equal(chmod(one, 0444), 0);
    assert_int_equal(check(&k, one, "chmod"), -EACCES);
    assert_int_equal(chmod(one, 0400), 0);
}

static void test_owner(void **state)
{
    (void)state;
    const struct sgss_keytabs k = { 0 };

    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(one, 65533, 65533), 0);
    assert_int_equal(check(&k, one, "uid 65533"), -EACCES);
    assert_int_equal(chown(one, 0, 0), 0);
}

static void test_local_dirs(void **state)
{
    (void)state;
    char sibling[120], link[80], slash[80];
    struct sgss_keytabs k = { .local_dirs = { dir }, .n_local = 1 };

    assert_int_equal(check(&k, one, "a directory of jobs"), -EACCES);
    snprintf(slash, sizeof(slash), "%s/", dir);
    k.local_dirs[0] = slash;
    assert_int_equal(check(&k, one, "a directory of jobs"), -EACCES);
    k.local_dirs[0] = "/";
    assert_int_equal(check(&k, one, "a directory of jobs"), -EACCES);
    /* a name that only begins alike, and one that is not there */
    snprintf(sibling, sizeof(sibling), "%.*s", (int)strlen(dir) - 1, dir);
    k.local_dirs[0] = sibling;
    assert_int_equal(check(&k, one, ""), 0);
    /* through a link, on either side */
    snprintf(link, sizeof(link), "%s-link", dir);
    assert_int_equal(symlink(dir, link), 0);
    k.local_dirs[0] = link;
    assert_int_equal(check(&k, one, "a directory of jobs"), -EACCES);
    k.local_dirs[0] = dir;
    snprintf(sibling, sizeof(sibling), "%s/nm.keytab", link);
    assert_int_equal(check(&k, sibling, "a directory of jobs"), -EACCES);
    assert_int_equal(unlink(link), 0);
}

static void test_find(void **state)
{
    (void)state;
    const struct sgss_keytabs k = { .paths = { one, two }, .n = 2 }, none = { 0 },
                              first = { .paths = { one }, .n = 1 };
    struct sv_error err = { 0 };
    const char *path = NULL;

    assert_int_equal(sgss_keytab_find(&k, "nm/host@R", &path, &err), 0);
    assert_string_equal(path, one);
    assert_int_equal(sgss_keytab_find(&k, "HTTP/host@R", &path, &err), 0);
    assert_string_equal(path, two);
    assert_int_equal(sgss_keytab_find(&k, "nm/host@OTHER", &path, &err), -ENOKEY);
    assert_non_null(strstr(err.text, "no keytab has a key of nm/host@OTHER"));
    assert_non_null(strstr(err.text, "nm.keytab has nm/host@R, rm/host@R"));
    assert_non_null(strstr(err.text, "http.keytab has HTTP/host@R"));
    assert_int_equal(sgss_keytab_find(&none, "nm/host@R", &path, &err), -ENOKEY);
    /* any key of a web server */
    assert_int_equal(sgss_keytab_find(&k, "*", &path, &err), 0);
    assert_string_equal(path, two);
    assert_int_equal(sgss_keytab_find(&first, "*", &path, &err), -ENOKEY);
    assert_non_null(strstr(err.text, "no keytab has a key of HTTP/*: "));
    assert_non_null(strstr(err.text, "nm.keytab has nm/host@R, rm/host@R"));
    /* the second one is not looked at for a key of the first */
    assert_int_equal(chmod(two, 0444), 0);
    assert_int_equal(sgss_keytab_find(&k, "nm/host@R", &path, &err), 0);
    assert_int_equal(sgss_keytab_find(&k, "HTTP/host@R", &path, &err), -EACCES);
    assert_non_null(strstr(err.text, two));
    assert_int_equal(chmod(two, 0400), 0);
}

/* No keytab at all, cut off, of random bytes. */
static void test_content(void **state)
{
    (void)state;
    char path[80];
    const struct sgss_keytabs k = { .paths = { path }, .n = 1 };
    struct sv_error err = { 0 };
    const char *found;

    snprintf(path, sizeof(path), "%s/bad.keytab", dir);
    static const char *const contents[] = { "", "\5", "\5\2", "\5\2\177\377\377\377xx", "text" };
    for (size_t i = 0; i < SV_ARRAY_LEN(contents); i++) {
        int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0400);

        assert_true(fd >= 0);
        assert_true(write(fd, contents[i], strlen(contents[i])) >= 0);
        sv_close(fd);
        assert_true(sgss_keytab_find(&k, "nm/host@R", &found, &err) < 0);
        assert_non_null(strstr(err.text, "bad.keytab"));
        assert_true(sgss_keytab_find(&k, "*", &found, &err) < 0);
        assert_int_equal(unlink(path), 0);
    }
}

static int make(void **state)
{
    (void)state;
    dir = keys_dir();
    snprintf(one, sizeof(one), "%s/nm.keytab", dir);
    snprintf(two, sizeof(two), "%s/http.keytab", dir);
    keys_add(one, "nm/host@R");
    keys_add(one, "rm/host@R");
    keys_add(two, "HTTP/host@R");
    return 0;
}

static int clean(void **state)
{
    (void)state;
    keys_remove(dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes), cmocka_unit_test(test_credentials),
        cmocka_unit_test(test_owner), cmocka_unit_test(test_local_dirs),
        cmocka_unit_test(test_find),  cmocka_unit_test(test_content),
    };

    return cmocka_run_group_tests(tests, make, clean);
}
