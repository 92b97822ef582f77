/* setuid-helper/user-lookup.c with a name service of the test's own, in place of the C library's:
 * which answers are passed on. */
#include <grp.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

int lookup_main(int argc, char **argv);
static const struct passwd *by_name(const char *name);
static const struct passwd *by_uid(uid_t uid);
static int groups_of(gid_t *groups, int *n);
#define main lookup_main
#define getpwnam(name) by_name(name)
#define getpwuid(uid) by_uid(uid)
#define getgrouplist(name, gid, groups, n) groups_of(groups, n)
#define geteuid() 65533 /* the suite may run as root */
#include "setuid-helper/user-lookup.c"
#undef main

/* One buffer for both calls, as the C library has: the second overwrites the first one's answer. */
static struct passwd answer;

static const struct passwd *by_name(const char *name)
{
    answer = (struct passwd){ .pw_name = (char *)(uintptr_t)name, .pw_uid = 4711, .pw_gid = 12 };
    if (strcmp(name, "thief") == 0) /* a name of the service's own with another one's id */
        answer.pw_uid = 4712;
    if (strcmp(name, "unnamed") == 0)
        answer.pw_uid = 4713;
    return strcmp(name, "nobody-knows") == 0 ? NULL : &answer;
}

static const struct passwd *by_uid(uid_t uid)
{
    answer = (struct passwd){ .pw_name = (char *)(uintptr_t)(uid == 4711 ? "ghost" : "victim"),
                              .pw_uid = 1,
                              .pw_gid = 1 };
    return uid == 4713 ? NULL : &answer;
}

static int groups_of(gid_t *groups, int *n)
{
    groups[0] = 12;
    groups[1] = 13;
    return *n = 2;
}

/* Returns the exit status; the output in 32-bit numbers. */
static int ask(const char *name, uint32_t v[8], size_t *ret_n)
{
    int p[2], status;
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = { (char *)(uintptr_t) "user-lookup", (char *)(uintptr_t)name, NULL };
        (void)dup2(p[1], 1);
        int r = lookup_main(2, argv);
        _exit(prctl(PR_GET_DUMPABLE) == 0 ? r : 99);
    }
    (void)close(p[1]);
    ssize_t n = read(p[0], v, 8 * sizeof(*v));
    (void)close(p[0]);
    *ret_n = n > 0 ? (size_t)n / sizeof(*v) : 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_names(void **state)
{
    uint32_t v[8];
    size_t n;
    (void)state;
    assert_int_equal(ask("ghost", v, &n), 0);
    assert_int_equal(n, 5);
    assert_memory_equal(v, ((uint32_t[]){ 4711, 12, 2, 12, 13 }), 20);
    static const char *const refused[] = { "thief", "unnamed", "nobody-knows", "other" };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_int_equal(ask(refused[i], v, &n), 1);
        assert_int_equal(n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
