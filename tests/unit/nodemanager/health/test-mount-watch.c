/* health/mount-watch.c: relevant mounts, and the kernel's notification of a change. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "nodemanager/health/mount-watch.h"

#define ROOT "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"

static uint64_t digest(const char *more)
{
    char text[4096];
    (void)snprintf(text, sizeof(text), ROOT "%s", more);
    return nm_mounts_digest(text, strlen(text));
}

static void test_digest(void **state)
{
    static const char *const same[] = {
        "30 22 0:30 / /run rw - tmpfs tmpfs rw\n",
        "30 22 0:30 / /run/x/y rw - tmpfs tmpfs rw\n",
        "31 22 0:31 / /proc rw - proc proc rw\n",
        "32 22 0:32 / /tmp/a rw shared:3 - tmpfs t rw\n",
        "33 22 0:4 mnt:[4026532000] /var/lib/s/strict-1.ns rw - nsfs nsfs rw\n",
        "",
        "\n",
    };
    static const char *const other[] = {
        "40 22 0:40 / /opt/jdk rw - tmpfs tmpfs rw\n",
        "40 22 0:40 / /usr/share ro - nfs a:/b ro\n",
        "40 22 0:40 / /runner rw - tmpfs tmpfs rw\n",
        "40 22 0:40 / /data rw shared:9 - xfs /dev/sdb rw\n",
        "x",
        "a b c",
        "1 2 3 4 /opt",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        assert_true(digest(same[i]) == digest(""));
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        assert_true(digest(other[i]) != digest(""));
    assert_true(digest(other[0]) != digest("40 22 0:40 / /opt/jdk ro - tmpfs tmpfs rw\n"));
}

static void on_changed(void *userdata)
{
    ++*(int *)userdata;
}

static void fail_now(const char *what)
{
    perror(what);
    _exit(1);
}

static int wait_until(sd_event *event, const int *notified, int expected)
{
    for (int i = 0; i < 100 && *notified < expected; i++)
        if (sd_event_run(event, 100000) < 0)
            return -1;
    return *notified == expected ? 0 : -1;
}

/* In a child process with its own mount namespace. */
static void watch(void)
{
    struct nm_mount_watch *w = NULL;
    struct sv_error err = { 0 };
    sd_event *event;
    int notified = 0;
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        fail_now("unshare");
    if (sd_event_new(&event) < 0 ||
        nm_mount_watch_new(event, "/proc/self/mountinfo", on_changed, &notified, &w, &err) < 0)
        fail_now(err.text);
    if (mount("none", "/opt", "tmpfs", 0, NULL) < 0 || wait_until(event, &notified, 1) < 0)
        fail_now("a mount is reported");
    if (umount("/opt") < 0 || mount("none", "/opt", "tmpfs", MS_RDONLY, NULL) < 0 ||
        wait_until(event, &notified, 2) < 0)
        fail_now("two changes are reported once");
    /* A mount that no container sees: no callback until a relevant one. */
    if (mount("none", "/proc", "tmpfs", 0, NULL) < 0 || sd_event_run(event, 700000) < 0 ||
        sd_event_run(event, 700000) < 0 || notified != 2)
        fail_now("a mount on /proc is not reported");
    if (umount("/opt") < 0 || wait_until(event, &notified, 3) < 0)
        fail_now("an unmount is reported");
    w = nm_mount_watch_free(w);
    (void)sd_event_unref(event);
    _exit(w != NULL);
}

static void test_watch(void **state)
{
    int status;
    (void)state;
    if (geteuid() != 0) {
        print_message("# only root can mount\n");
        skip();
    }
    pid_t pid = fork();
    if (pid == 0)
        watch();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
