/* health/local-dirs.c: health of directories, the choice for a container, and the health report. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/health/local-dirs.h"

static char top[] = "/tmp/selvedge-dirs-XXXXXX";
static char a[64], b[64], logs[64];
static char *local[] = { a, b, NULL }, *log_dirs[] = { logs, NULL };
static sd_event *event;
static struct nm_conf conf;

/* All test directories are ours and directly in /tmp. */
static int remove_dir(const char *path)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = tmp < 0 ? -errno : sv_remove_tree_at(tmp, path + strlen("/tmp/"));

    sv_close(tmp);
    return r;
}

static int setup(void **state)
{
    (void)state;
    memcpy(top + sizeof(top) - 7, "XXXXXX", 7);
    if (!mkdtemp(top) || sd_event_default(&event) < 0)
        return -1;
    snprintf(a, sizeof(a), "%s/a", top);
    snprintf(b, sizeof(b), "%s/b", top);
    snprintf(logs, sizeof(logs), "%s/logs", top);
    conf = (struct nm_conf){ .local_dirs = local,
                             .log_dirs = log_dirs,
                             .disk_check_enabled = true,
                             .disk_check_ms = 100000,
                             .min_healthy_disks = 0.6,
                             .max_disk_utilization = 100.0 };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    event = sd_event_unref(event);
    return remove_dir(top);
}

static int failed_index;
static void on_failed(int index, void *userdata)
{
    (void)userdata;
    failed_index = index;
}

static struct nm_dirs *make(void)
{
    struct nm_dirs *d = NULL;
    struct sv_error err = { 0 };

    if (nm_dirs_new(event, &conf, on_failed, NULL, &d, &err) < 0)
        fail_msg("%s", err.text);
    return d;
}

static void created_with_modes(void **state)
{
    struct nm_dirs *d = make();
    char path[128];
    struct stat st;

    (void)state;
    assert_int_equal(nm_dirs_local_mask(d), 3);
    assert_int_equal(nm_dirs_log_mask(d), 1);
    snprintf(path, sizeof(path), "%s/nmPrivate", b);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    snprintf(path, sizeof(path), "%s/usercache", a);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_null(nm_dirs_local(d, 2));
    nm_dirs_free(d);
}

/* A file in the place of a directory: bad, reported once, not picked; the other directories stay in
 * use. */
static void bad_directory(void **state)
{
    struct nm_dirs *d = make();
    const char *report;
    int fd;

    (void)state;
    failed_index = -1;
    assert_true(nm_dirs_healthy(d, &report));
    assert_string_equal(report, "");
    fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sv_remove_tree_at(fd, "b"), 0);
    sv_close(fd);
    fd = open(b, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    sv_close(fd);
    nm_dirs_check(d);
    assert_int_equal(failed_index, 1);
    assert_int_equal(nm_dirs_local_mask(d), 1);
    for (int i = 0; i < 50; i++)
        assert_int_equal(nm_dirs_pick_local(d, 0), 0);
    assert_false(nm_dirs_healthy(d, &report)); /* 1 of 2 is less than 0.6 */
    assert_non_null(strstr(report, b));
    assert_non_null(strstr(report, "1/2 local-dirs are bad"));
    assert_int_equal(unlink(b), 0);
    nm_dirs_check(d);
    assert_true(nm_dirs_healthy(d, &report));
    assert_int_equal(nm_dirs_local_mask(d), 3);
    nm_dirs_free(d);
}

/* A full disk keeps its contents and is not picked. */
static void full_disk(void **state)
{
    struct nm_dirs *d = make();
    const char *report;

    (void)state;
    conf.max_disk_utilization = -1;
    nm_dirs_check(d);
    assert_int_equal(nm_dirs_local_mask(d), 3);
    assert_int_equal(nm_dirs_pick_local(d, 0), -ENOSPC);
    assert_int_equal(nm_dirs_pick_log(d), -ENOSPC);
    assert_false(nm_dirs_healthy(d, &report));
    assert_non_null(strstr(report, "used space above threshold of -1.0%"));
    conf.disk_check_enabled = false;
    nm_dirs_check(d);
    assert_true(nm_dirs_pick_local(d, 0) >= 0);
    assert_int_equal(nm_dirs_pick_local(d, INT64_MAX), -ENOSPC);
    nm_dirs_free(d);
}

static void no_usable_directory(void **state)
{
    struct nm_dirs *d = NULL;
    struct sv_error err = { 0 };
    int fd = open(logs, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)state;
    assert_true(fd >= 0);
    sv_close(fd);
    sv_log_set_level(SV_LOG_ERR);
    assert_int_equal(nm_dirs_new(event, &conf, NULL, NULL, &d, &err), -ENODEV);
    assert_non_null(strstr(err.text, logs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(created_with_modes, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(full_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(no_usable_directory, setup, teardown),
    };

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
