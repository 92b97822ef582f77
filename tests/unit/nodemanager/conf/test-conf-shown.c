/* nodemanager/conf/conf-shown.c: what a profile shows, and the line that shows more. Directories
 * that every Linux has in the place of a node's. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/str.h"
#include "nodemanager/conf/conf-shown.h"

#define LINE "selvedge.sandbox.read-only-paths="

static char cfg[] = "/tmp/selvedge-test-conf-shown.XXXXXX";

static int set_up(void **state)
{
    int fd = mkstemp(cfg);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(cfg);
}

static void expect(struct nm_shown *s, const char *path, int wanted, const char *words)
{
    char at[PATH_MAX] = "";
    const char *why;
    int got = nm_shown_add(s, path, at, &why);

    if (got != wanted)
        fail_msg("%s: %d, wanted %d (%s: %s)", path, got, wanted, at, why ? why : "");
    if (words && (!why || !strstr(why, words)))
        fail_msg("%s: \"%s\" does not say \"%s\"", path, why ? why : "", words);
}

static void expect_line(const struct nm_shown *s, const char *wanted)
{
    _cleanup_free_ char *line = nm_shown_line(s);

    if (wanted)
        assert_string_equal(line, wanted);
    else
        assert_null(line);
}

static void test_strict(void **state)
{
    const struct nm_conf c = { .profile = EXE_PROFILE_STRICT };
    _cleanup_(nm_shown_freep) struct nm_shown *s = nm_shown_new(&c, "/nowhere");

    (void)state;
    assert_non_null(s);
    expect(s, "/usr", NM_SHOWN_SEEN, NULL);
    expect(s, "/bin/sh", NM_SHOWN_SEEN, NULL); /* through a link, to a file */
    expect(s, "/etc/ssl", NM_SHOWN_SEEN, NULL);
    expect(s, "/usr/nowhere/at-all", NM_SHOWN_ABSENT, NULL);
    expect_line(s, NULL);
    expect(s, "/etc", NM_SHOWN_REFUSED, "holds much");
    expect(s, "/", NM_SHOWN_REFUSED, "holds much");
    expect(s, "/run", NM_SHOWN_REFUSED, "holds much");
    expect(s, "/etc/passwd", NM_SHOWN_REFUSED, "holds much"); /* its directory */
    expect(s, "/dev", NM_SHOWN_REFUSED, "no container may see it");
    expect(s, "/tmp", NM_SHOWN_REFUSED, "no container may see it");
    expect(s, "/etc//default/../default/.", NM_SHOWN_ADDED, NULL);
    expect(s, "/etc/default", NM_SHOWN_SEEN, NULL);
    expect_line(s, LINE "/etc/default");
}

/* A service's directory, which it makes when it starts. */
static void test_run(void **state)
{
    const struct nm_conf c = { .profile = EXE_PROFILE_STRICT };
    _cleanup_(nm_shown_freep) struct nm_shown *s = nm_shown_new(&c, "/nowhere");

    (void)state;
    assert_non_null(s);
    expect(s, "/run/selvedge-none/a/b", NM_SHOWN_ADDED, NULL);
    expect(s, "/run/selvedge-none/a/b/c", NM_SHOWN_SEEN, NULL);
    expect(s, "/run/selvedge-none/a", NM_SHOWN_ADDED, NULL);
    expect(s, "/run/with,comma", NM_SHOWN_REFUSED, "takes no such path");
    expect(s, "/run/.hidden", NM_SHOWN_REFUSED, "takes no such path");
    expect_line(s, LINE "/run/selvedge-none/a");
    if (access("/var/run/.", F_OK) == 0) /* a link, where systemd is */
        expect(s, "/var/run/selvedge-more", NM_SHOWN_ADDED, NULL);
    expect_line(s, LINE "/run/selvedge-none/a,/run/selvedge-more");
}

static void test_other_profiles(void **state)
{
    struct nm_conf c = { .profile = EXE_PROFILE_HADOOP };
    struct nm_shown *s = nm_shown_new(&c, "/nowhere");

    (void)state;
    assert_non_null(s);
    expect(s, "/etc/default", NM_SHOWN_SEEN, NULL);
    expect(s, "/tmp", NM_SHOWN_REFUSED, "no container may see it");
    expect(s, "/run/selvedge-none", NM_SHOWN_ADDED, NULL);
    nm_shown_free(s);
    c.profile = EXE_PROFILE_HOST;
    s = nm_shown_new(&c, "/nowhere");
    assert_non_null(s);
    expect(s, "/tmp", NM_SHOWN_SEEN, NULL);
    expect(s, "/run/selvedge-none", NM_SHOWN_SEEN, NULL);
    expect_line(s, NULL);
    nm_shown_free(s);
}

/* A path that the file has already counts as shown, and stays in the line. */
static void test_file(void **state)
{
    char *local[] = { "/etc/default/local", NULL };
    struct nm_conf c = { .profile = EXE_PROFILE_STRICT, .local_dirs = local };
    FILE *f = fopen(cfg, "we");

    (void)state;
    assert_non_null(f);
    assert_true(fputs("#" LINE "/x\nselvedge.sandbox.writable-paths=/run/w\n" LINE
                      "/run/a,/run/b\nmin.user.id=1000\n",
                      f) >= 0);
    assert_int_equal(fclose(f), 0);
    _cleanup_(nm_shown_freep) struct nm_shown *s = nm_shown_new(&c, cfg);
    assert_non_null(s);
    expect(s, "/run/a/c", NM_SHOWN_SEEN, NULL);
    expect(s, "/run/w/c", NM_SHOWN_SEEN, NULL);
    expect(s, "/etc/default", NM_SHOWN_REFUSED, "overlaps");
    expect_line(s, NULL);
    for (unsigned i = 2; i < EXE_DIRS_MAX; i++) {
        char path[64];
        (void)snprintf(path, sizeof(path), "/run/selvedge-none/%u", i);
        expect(s, path, NM_SHOWN_ADDED, NULL);
    }
    expect(s, "/run/selvedge-more", NM_SHOWN_REFUSED, "takes 32 paths");
    _cleanup_free_ char *line = nm_shown_line(s);
    assert_true(line && sv_has_prefix(line, LINE "/run/a,/run/b,/run/selvedge-none/2,"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_other_profiles),
        cmocka_unit_test(test_file),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
