/* setuid-helper/user-lookup.c with a name service of the test's own, in place of the C library's:
 * which answers are passed on. */
#include <grp.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

int lookup_main(int argc, char **argv);
static const struct passwd *by_name(const char *name);
static const struct passwd *by_uid(uid_t uid);
static int groups_of(gid_t *groups, int *n);
static const struct group *by_gid(gid_t gid);
static time_t seconds(void);
#define main lookup_main
#define getpwnam(name) by_name(name)
#define getpwuid(uid) by_uid(uid)
#define getgrouplist(name, gid, groups, n) groups_of(groups, n)
#define getgrgid(gid) by_gid(gid)
#define clock_gettime(clock, t) ((t)->tv_sec = seconds(), 0)
#define geteuid() 65533 /* the suite may run as root */
#include "setuid-helper/user-lookup.c"
#undef main
#undef clock_gettime

static int n_groups = 2;
static bool late; /* ids take as long as the helper waits for all */

static time_t seconds(void)
{
    static time_t t;
    return t += late ? SECONDS_ALL : 0;
}

/* One buffer for both calls, as the C library has: the second overwrites the first one's answer. */
static struct passwd entry;

static const struct passwd *by_name(const char *name)
{
    static char dir[] = "/home/ghost", shell[] = "/bin/ksh";
    if (prctl(PR_GET_DUMPABLE) != 0)
        _exit(99);
    entry = (struct passwd){ .pw_name = (char *)(uintptr_t)name,
                             .pw_uid = 4711,
                             .pw_gid = 12,
                             .pw_dir = dir,
                             .pw_shell = shell };
    if (strcmp(name, "thief") == 0) /* a name of the service's own with another one's id */
        entry.pw_uid = 4712;
    if (strcmp(name, "unnamed") == 0)
        entry.pw_uid = 4713;
    return strcmp(name, "nobody-knows") == 0 ? NULL : &entry;
}

static const struct passwd *by_uid(uid_t uid)
{
    if (prctl(PR_GET_DUMPABLE) != 0)
        _exit(99);
    entry = (struct passwd){ .pw_name = (char *)(uintptr_t)(uid == 4711 ? "ghost" : "victim"),
                             .pw_uid = 1,
                             .pw_gid = 1 };
    return uid == 4713 ? NULL : &entry;
}

static int groups_of(gid_t *groups, int *n)
{
    const int room = *n;
    for (int i = 0; i < n_groups && i < room; i++)
        groups[i] = (gid_t)(12 + i);
    *n = n_groups;
    return n_groups > room ? -1 : n_groups;
}

/* 13 has a name that is too long; 14 has none; the service stops to answer at 16. */
static const struct group *by_gid(gid_t gid)
{
    static char name[HLP_FIELD_MAX + 1];
    static struct group g = { .gr_name = name };
    if (gid == 14)
        return NULL;
    if (gid == 16)
        (void)raise(SIGALRM);
    memset(name, 0, sizeof(name));
    memset(name, 'g', gid == 13 ? HLP_FIELD_MAX : gid);
    return &g;
}

/* Returns the exit status; the answer, and its length. */
static int ask(const char *name, const char *more, struct hlp_account *ret, size_t *ret_n)
{
    int p[2], status;
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = { (char *)(uintptr_t) "user-lookup", (char *)(uintptr_t)name,
                         (char *)(uintptr_t)more, NULL };
        (void)dup2(p[1], 1);
        _exit(lookup_main(more ? 3 : 2, argv));
    }
    (void)close(p[1]);
    memset(ret, 0, sizeof(*ret));
    ssize_t n = read(p[0], ret, sizeof(*ret));
    (void)close(p[0]);
    *ret_n = n > 0 ? (size_t)n : 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_ids(void **state)
{
    struct hlp_account a;
    size_t n;
    (void)state;
    assert_int_equal(ask("ghost", NULL, &a, &n), 0);
    assert_int_equal(n, offsetof(struct hlp_account, home));
    assert_memory_equal(&a, ((uint32_t[]){ 4711, 12, 2, 12, 13 }), 20);
    static const char *const refused[] = { "thief", "unnamed", "nobody-knows", "other" };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_int_equal(ask(refused[i], NULL, &a, &n), 1);
        assert_int_equal(n, 0);
    }
}

static void test_names(void **state)
{
    struct hlp_account a;
    size_t n;
    (void)state;
    n_groups = 4;
    assert_int_equal(ask("ghost", "names", &a, &n), 0);
    assert_int_equal(n, offsetof(struct hlp_account, names) + 4 * HLP_FIELD_MAX);
    assert_string_equal(a.home, "/home/ghost");
    assert_string_equal(a.shell, "/bin/ksh");
    assert_string_equal(a.names[0], "gggggggggggg");
    assert_string_equal(a.names[1], "");
    assert_string_equal(a.names[2], "");
    assert_string_equal(a.names[3], "ggggggggggggggg");
}

/* Names that came in time are passed on, and never a part of one. */
static void test_slow_names(void **state)
{
    struct hlp_account a;
    size_t n;
    (void)state;
    n_groups = 6;
    assert_int_equal(ask("ghost", "names", &a, &n), 0);
    assert_int_equal(n, offsetof(struct hlp_account, names) + 4 * HLP_FIELD_MAX);
    assert_int_equal(a.n_groups, 6);
    assert_string_equal(a.names[3], "ggggggggggggggg");
    late = true;
    assert_int_equal(ask("ghost", "names", &a, &n), 0);
    late = false;
    assert_int_equal(n, offsetof(struct hlp_account, names));
    assert_string_equal(a.home, "/home/ghost");
}

static void test_a_thousand_groups(void **state)
{
    struct hlp_account a;
    size_t n;
    (void)state;
    n_groups = 1000;
    assert_int_equal(ask("ghost", NULL, &a, &n), 0);
    assert_int_equal(n, offsetof(struct hlp_account, home));
    assert_int_equal(a.n_groups, 64);
    assert_int_equal(a.groups[63], 12 + 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_slow_names),
        cmocka_unit_test(test_a_thousand_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
