/* Tests localizer/policy.c and pattern.c: rules for the contents of archives, PATTERN's
 * expressions. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "localizer/channel.h"
#include "localizer/policy.h"
#include "localizer/unpack.h"

static const struct loc_limits limits = { 1000, 100, 200, 1024, 64, 0 };

static int path(const char *raw, char *out)
{
    const char *why = "";
    int r = loc_policy_path(&limits, raw, out, &why);

    assert_true((r < 0) == (why != NULL));
    return r;
}

static void test_paths(void **state)
{
    static const char *const bad[] = {
        "",          "/",    "/abs",  "//abs",  "..",    "../x",       "a/..",
        "a/../../x", "./..", "C:\\x", "c:/x",   "z:",    "..\\x",      "a\\..",
        "a\\../b",   "\\x",  "a\nb",  "\x1b[m", "a\x7f", "a/b/../c/d", "a/\x01",
    };
    static const struct {
        const char *raw, *clean;
    } good[] = {
        { "a", "a" },
        { "a/b/", "a/b" },
        { "./a", "a" },
        { "a//b", "a/b" },
        { ".", "" },
        { "./", "" },
        { "././", "" },
        { "a/./b", "a/b" },
        { "...", "..." },
        { "..a/b..", "..a/b.." },
        { "-rf", "-rf" },
        { "a\\b", "a\\b" },
        { "\xe9", "\xe9" },
        { "a:b", "a:b" },
        { "ab:\\c", "ab:\\c" },
        { " ", " " },
    };
    char out[LOC_PATH_MAX + 1], big[2000];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        if (path(bad[i], out) != -EPERM)
            fail_msg("accepted: %s", bad[i]);
    for (size_t i = 0; i < SV_ARRAY_LEN(good); i++) {
        assert_int_equal(path(good[i].raw, out), 0);
        assert_string_equal(out, good[i].clean);
    }
    memset(big, 'a', sizeof(big));
    big[256] = 0;
    assert_int_equal(path(big, out), -ENAMETOOLONG);
    big[255] = 0;
    assert_int_equal(path(big, out), 0);
    for (int i = 0; i < 1025; i++)
        big[i] = i % 200 ? 'a' : '/';
    big[0] = 'a';
    big[1025] = 0;
    assert_int_equal(path(big, out), -ENAMETOOLONG);
    big[1024] = 0;
    assert_int_equal(path(big, out), 0);
    for (int i = 0; i < 129; i++)
        big[i] = i % 2 ? '/' : 'd';
    big[129] = 0; /* 65 components */
    assert_int_equal(path(big, out), -ENAMETOOLONG);
    big[127] = 0;
    assert_int_equal(path(big, out), 0);
}

static int link_to(const char *at, const char *target)
{
    const char *why;

    return loc_policy_symlink(&limits, at, target, &why);
}

static void test_links(void **state)
{
    (void)state;
    assert_int_equal(link_to("l", "x"), 0);
    assert_int_equal(link_to("l", "x/y/z"), 0);
    assert_int_equal(link_to("l", "./x"), 0);
    assert_int_equal(link_to("l", "."), 0);
    assert_int_equal(link_to("a/l", "../x"), 0);
    assert_int_equal(link_to("a/b/l", "../../x"), 0);
    assert_int_equal(link_to("a/b/l", ".././../x"), 0);
    assert_int_equal(link_to("l", ".."), -EPERM);
    assert_int_equal(link_to("l", "../l"), -EPERM);
    assert_int_equal(link_to("a/l", "../../x"), -EPERM);
    assert_int_equal(link_to("a/l", "/x"), -EPERM);
    assert_int_equal(link_to("a/b/l", "x/.."),
                     -EPERM); /* may leave the archive through another link */
    assert_int_equal(link_to("a/l", "./x/../.."), -EPERM);
    assert_int_equal(link_to("l", ""), -EPERM);
    assert_int_equal(link_to("l", NULL), -EPERM);
    assert_int_equal(link_to("l", "a\nb"), -EPERM);
}

static int entry(struct loc_policy *p, const char *name, mode_t mode, const char *symlink,
                 const char *hardlink, int64_t size, enum loc_entry_kind *kind)
{
    struct loc_entry e = { name, mode, symlink, hardlink, size };
    char out[LOC_PATH_MAX + 1];

    return loc_policy_entry(p, &e, out, kind, NULL);
}

static void test_kinds(void **state)
{
    struct loc_policy p = { .limits = limits, .what = "archive" };
    enum loc_entry_kind k;

    (void)state;
    assert_int_equal(entry(&p, "f", S_IFREG | 06777, NULL, NULL, 10, &k), 0);
    assert_int_equal(k, LOC_ENTRY_FILE);
    assert_int_equal(entry(&p, "d", S_IFDIR, NULL, NULL, 0, &k), 0);
    assert_int_equal(k, LOC_ENTRY_DIR);
    assert_int_equal(entry(&p, "l", S_IFLNK, "f", NULL, 0, &k), 0);
    assert_int_equal(k, LOC_ENTRY_SYMLINK);
    assert_int_equal(entry(&p, "h", S_IFREG, NULL, "f", 0, &k), 0);
    assert_int_equal(k, LOC_ENTRY_HARDLINK);
    assert_int_equal(entry(&p, ".", S_IFDIR, NULL, NULL, 0, &k), 0);
    assert_int_equal(entry(&p, ".", S_IFREG, NULL, NULL, 0, &k), -EPERM);
    assert_int_equal(entry(&p, "h", S_IFREG, NULL, "../f", 0, &k), -EPERM);
    assert_int_equal(entry(&p, "h", S_IFREG, NULL, ".", 0, &k), -EPERM);
    assert_int_equal(entry(&p, "h", S_IFDIR, NULL, "f", 0, &k), -EPERM);
    assert_int_equal(entry(&p, "f", S_IFREG, "x", NULL, 0, &k), -EPERM);
    for (unsigned type = 0; type <= S_IFMT; type += 010000)
        if (type != S_IFREG && type != S_IFDIR && type != S_IFLNK)
            assert_int_equal(entry(&p, "x", (mode_t)type, NULL, NULL, 0, &k), -EPERM);
    assert_int_equal(entry(&p, "f", S_IFREG, NULL, NULL, 1001, &k), -EFBIG);
    assert_int_equal(entry(&p, "f", S_IFREG, NULL, NULL, INT64_MAX, &k), -EFBIG);
    assert_int_equal(entry(&p, "f", S_IFREG, NULL, NULL, INT64_MIN, &k), -EFBIG);
}

static void test_limits(void **state)
{
    struct loc_policy p = { .limits = { UINT64_MAX, 2, 200, 8, 2, 0 }, .what = "archive" };
    enum loc_entry_kind k;
    char out[LOC_PATH_MAX + 1];
    struct sv_error err;

    (void)state;
    assert_int_equal(entry(&p, "a", S_IFREG, NULL, NULL, 0, &k), 0);
    assert_int_equal(loc_policy_implied_dir(&p, "a/b", NULL), 0);
    assert_int_equal(entry(&p, "c", S_IFREG, NULL, NULL, 0, &k), -EFBIG);
    assert_int_equal(loc_policy_bytes(&p, LOC_RATIO_FROM, 0, "f", NULL), 0);
    assert_int_equal(loc_policy_bytes(&p, 1, LOC_RATIO_FROM / 200 + 1, "f", NULL), 0);
    assert_int_equal(loc_policy_bytes(&p, 1, 1000, "x\ny", &err), -EFBIG);
    assert_non_null(strstr(err.text, "200 times"));
    assert_null(strchr(err.text, '\n'));
    p = (struct loc_policy){ .limits = { 10, 9, 1, 8, 2, 0 }, .what = "directory" };
    assert_int_equal(entry(&p, "a/b", S_IFDIR, NULL, NULL, 0, &k), 0);
    assert_int_equal(entry(&p, "12345678", S_IFDIR, NULL, NULL, 0, &k), 0);
    assert_int_equal(entry(&p, "123456789", S_IFDIR, NULL, NULL, 0, &k), -EFBIG);
    assert_int_equal(entry(&p, "x", S_IFLNK, "123456789", NULL, 0, &k), -EFBIG);
    assert_int_equal(
        loc_policy_entry(&p, &(struct loc_entry){ "a/b/c", S_IFDIR, NULL, NULL, 0 }, out, &k, &err),
        -EFBIG);
    assert_string_equal(err.text, "directory refused: entry \"a/b/c\": path is deeper than 2 "
                                  "components");
    assert_int_equal(loc_policy_bytes(&p, 10, 10, "f", NULL), 0);
    assert_int_equal(loc_policy_bytes(&p, 1, 10, "f", NULL), -EFBIG);
    assert_int_equal(loc_policy_bytes(&p, UINT64_MAX, 10, "f", NULL), -EFBIG);
}

static void test_formats(void **state)
{
    (void)state;
    assert_int_equal(loc_format_of("a.zip"), LOC_FORMAT_ZIP);
    assert_int_equal(loc_format_of("A.JAR"), LOC_FORMAT_ZIP);
    assert_int_equal(loc_format_of("a.Tar.Gz"), LOC_FORMAT_TAR_GZ);
    assert_int_equal(loc_format_of("a.tgz"), LOC_FORMAT_TAR_GZ);
    assert_int_equal(loc_format_of("a.tar"), LOC_FORMAT_TAR);
    assert_int_equal(loc_format_of("a.gz"), LOC_FORMAT_NONE);
    assert_int_equal(loc_format_of("tar"), LOC_FORMAT_NONE);
    assert_int_equal(loc_format_of("zip"), LOC_FORMAT_NONE);
    assert_true(loc_is_jar("x.Jar"));
    assert_false(loc_is_jar("x.zip"));
}

static int match(const char *pattern, const char *name)
{
    _cleanup_(sv_pattern_freep) struct sv_pattern *p = NULL;
    int r = sv_pattern_new(pattern, &p, NULL);

    return r < 0 ? r : sv_pattern_match(p, name);
}

static void test_patterns(void **state)
{
    char big[SV_PATTERN_MAX + 2];

    (void)state;
    assert_int_equal(match("(?:classes/|lib/).*", "classes/A.class"), 1);
    assert_int_equal(match("(?:classes/|lib/).*", "lib/x/y.jar"), 1);
    assert_int_equal(match("(?:classes/|lib/).*", "META-INF/lib/"), 0);
    assert_int_equal(match("lib", "lib/a"), 0); /* the whole path */
    assert_int_equal(match("a|ab", "ab"), 1);
    assert_int_equal(match(".*?\\.xml", "a/b.xml"), 1);
    assert_int_equal(match("[\\w/]+\\d{2}", "a/b12"), 1);
    assert_int_equal(match("(", "x"), -EINVAL);
    assert_int_equal(match("", "x"), -EINVAL);
    assert_int_equal(match("(a)\\1", "aa"), -EINVAL);
    assert_int_equal(match("\\C", "x"), -EINVAL);
    assert_int_equal(match("(((a{1,1000}){1,1000}){1,1000})", "a"), -EINVAL);
    memset(big, 'a', sizeof(big));
    big[sizeof(big) - 1] = 0;
    assert_int_equal(match(big, "x"), -EINVAL);
}

/* Expressions with exponential cost in a backtracking matcher. */
static void test_pattern_time(void **state)
{
    static const char *const patterns[] = {
        "(a+)+$",      "(a*)*b", "(a|aa)+c", "(.*)*(.*)*(.*)*x", "(?:(?:a?){30}){20}z",
        "((a?b?)*)*c", "(?R)?a"
    };
    struct timespec start, end;
    char name[LOC_PATH_MAX + 1];

    (void)state;
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (size_t i = 0; i < SV_ARRAY_LEN(patterns); i++)
        (void)match(patterns[i], name); /* matched, not matched or over the limit: all are valid */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_true(end.tv_sec - start.tv_sec < 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),        cmocka_unit_test(test_links),
        cmocka_unit_test(test_kinds),        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_formats),      cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_pattern_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
