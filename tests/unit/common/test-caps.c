/* Tests common/caps.c, as far as an unprivileged process allows; as root the sets are full at
 * first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/caps.h"

/* Dropped sets cannot be restored: each test changes those of a child. */
static int in_child(int (*fn)(void))
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(fn());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool empty(void)
{
    cap_t now = cap_get_proc(), none = cap_init();
    bool same = cap_compare(now, none) == 0;

    (void)cap_free(now);
    (void)cap_free(none);
    return same;
}

static int drop(void)
{
    char had[SV_CAPS_TEXT_MAX] = "?";
    bool root = geteuid() == 0;

    if (sv_caps_drop_all(had) != 0 || !empty())
        return 1;
    if (root && !strstr(had, "cap_chown"))
        return 2;
    if (sv_caps_drop_all(had) != 0 || *had) /* nothing is left the second time */
        return 3;
    return sv_caps_drop_all(NULL) == 0 ? 0 : 4;
}

static int drop_ambient(void)
{
    const cap_value_t net = CAP_NET_ADMIN;
    cap_t caps = cap_get_proc();

    if (cap_set_flag(caps, CAP_INHERITABLE, 1, &net, CAP_SET) < 0 || cap_set_proc(caps) < 0 ||
        cap_set_ambient(net, CAP_SET) < 0)
        return 77;
    (void)cap_free(caps);
    if (sv_caps_drop_all(NULL) != 0 || cap_get_ambient(net) != 0 || !empty())
        return 1;
    return 0;
}

static int unbounded(void)
{
    static const cap_value_t wanted[] = { CAP_CHOWN, CAP_SYS_CHROOT, CAP_SETUID };
    char names[SV_CAPS_TEXT_MAX];

    if (prctl(PR_CAPBSET_DROP, CAP_SYS_CHROOT, 0, 0, 0) < 0)
        return 77;
    if (sv_caps_unbounded(wanted, 1, names) != 0 || *names)
        return 1;
    if (sv_caps_unbounded(wanted, 3, names) != 1 || strcmp(names, "cap_sys_chroot") != 0)
        return 2;
    if (prctl(PR_CAPBSET_DROP, CAP_SETUID, 0, 0, 0) < 0)
        return 77;
    return sv_caps_unbounded(wanted, 3, names) == 2 &&
                   strcmp(names, "cap_sys_chroot,cap_setuid") == 0
               ? 0
               : 3;
}

/* 77: needs capabilities that this process lacks. */
static void check(int (*fn)(void))
{
    int r = in_child(fn);

    if (r == 77) {
        print_message("# needs CAP_SETPCAP and CAP_NET_ADMIN\n");
        skip();
    }
    assert_int_equal(r, 0);
}

static void test_drop(void **state)
{
    (void)state;
    check(drop);
}

static void test_ambient(void **state)
{
    (void)state;
    check(drop_ambient);
}

static void test_unbounded(void **state)
{
    (void)state;
    check(unbounded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drop),
        cmocka_unit_test(test_ambient),
        cmocka_unit_test(test_unbounded),
    };
    return cmocka_run_group_tests_name("caps", tests, NULL, NULL);
}
