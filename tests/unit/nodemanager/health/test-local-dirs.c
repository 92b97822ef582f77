/* health/local-dirs.c: health of directories, the choice for a container, and the health report. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/health/local-dirs.h"

/* Fault of directory `b`'s disk: fdatasync of a file on it fails, or does not return. */
static atomic_int fault;         /* 0 or errno */
static int hang[2] = { -1, -1 }; /* a pipe that is read before fdatasync returns */

static char top[] = "/tmp/selvedge-dirs-XXXXXX";
static char a[64], b[64], logs[64];
static char *local[] = { a, b, NULL }, *log_dirs[] = { logs, NULL };
static sd_event *event;
static struct nm_conf conf;

/* The space of `b`, of 1000 MiB: */
static bool fake_space;
static atomic_int free_mb;
static int hang_measure[2] = { -1, -1 }; /* the same pipe for fstatvfs */

static bool is_below(int fd, const char *dir)
{
    char link[64], file[128];
    ssize_t n;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, file, sizeof(file) - 1);
    file[n < 0 ? 0 : n] = '\0';
    return strncmp(file, dir, strlen(dir)) == 0;
}

int fstatvfs(int fd, struct statvfs *ret)
{
    struct statfs fs;
    char byte;

    if (fstatfs(fd, &fs) < 0)
        return -1;
    *ret = (struct statvfs){ .f_blocks = fs.f_blocks,
                             .f_bavail = fs.f_bavail,
                             .f_frsize = (unsigned long)fs.f_bsize,
                             .f_files = fs.f_files,
                             .f_favail = fs.f_ffree };
    if (!fake_space || !is_below(fd, b))
        return 0;
    if (hang_measure[0] >= 0)
        (void)!read(hang_measure[0], &byte, 1);
    ret->f_blocks = 1000;
    ret->f_bavail = (fsblkcnt_t)free_mb;
    ret->f_frsize = 1 << 20;
    return 0;
}

/* The entry of this name that the daemon may not use, whoever runs this test. */
static const char *volatile refused_entry;

int faccessat(int dir, const char *name, int mode, int flags)
{
    const char *refused = refused_entry;

    if (refused && strcmp(name, refused) == 0) {
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_faccessat2, dir, name, mode, flags);
}

int fdatasync(int fd)
{
    char byte;

    if (!is_below(fd, b))
        return 0;
    if (hang[0] >= 0)
        (void)!read(hang[0], &byte, 1);
    errno = fault;
    return fault ? -1 : 0;
}

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
                             .utilization_checked = true,
                             .free_space_checked = true,
                             .max_disk_utilization = 100.0,
                             .low_disk_utilization = 100.0,
                             .min_free_inodes = 1000 };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    event = sd_event_unref(event);
    /* The thread of a probe that was abandoned may still make its file. */
    for (int i = 0; i < 1000; i++) {
        if (remove_dir(top) == 0)
            return 0;
        (void)poll(NULL, 0, 10);
    }
    return -1;
}

static int failed_index, returned_index, lost_index;
static void on_changed(int index, bool usable, bool lost, void *userdata)
{
    (void)userdata;
    *(usable ? &returned_index : &failed_index) = index;
    if (lost)
        lost_index = index;
}

static struct nm_dirs *make(void)
{
    struct nm_dirs *d = NULL;
    struct sv_error err = { 0 };

    if (nm_dirs_new(event, &conf, on_changed, NULL, &d, &err) < 0)
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
        assert_int_equal(nm_dirs_pick_local(d, UINT32_MAX, 0), 0);
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
    assert_int_equal(nm_dirs_pick_local(d, UINT32_MAX, 0), -ENOSPC);
    assert_int_equal(nm_dirs_pick_log(d), -ENOSPC);
    assert_false(nm_dirs_healthy(d, &report));
    assert_non_null(strstr(report, "used space above threshold of -1.0%"));
    conf.disk_check_enabled = false;
    nm_dirs_check(d);
    assert_true(nm_dirs_pick_local(d, UINT32_MAX, 0) >= 0);
    assert_int_equal(nm_dirs_pick_local(d, UINT32_MAX, INT64_MAX), -ENOSPC);
    nm_dirs_free(d);
}

/* A write error of the disk appears in the report, and disappears again. */
static void failing_disk(void **state)
{
    static const struct {
        int error;
        uint32_t mask; /* a full disk stays readable */
    } faults[] = { { EIO, 1 }, { EROFS, 1 }, { ENOSPC, 3 }, { EDQUOT, 3 } };
    struct nm_dirs *d = make();
    const char *report;
    char words[256], file[128];

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        fault = faults[i].error;
        failed_index = returned_index = lost_index = -1;
        nm_dirs_check(d);
        assert_false(nm_dirs_healthy(d, &report));
        assert_int_equal(lost_index, faults[i].mask == 1 ? 1 : -1);
        (void)snprintf(words, sizeof(words), "%s : a file cannot be written: %s", b,
                       strerror(fault));
        assert_non_null(strstr(report, words));
        assert_int_equal(nm_dirs_local_mask(d), faults[i].mask);
        assert_int_equal(nm_dirs_local_usable(d), 1);
        assert_int_equal(failed_index, 1);
        assert_int_equal(returned_index, -1);
        for (int k = 0; k < 20; k++)
            assert_int_equal(nm_dirs_pick_local(d, UINT32_MAX, 0), 0);
        fault = 0;
        nm_dirs_check(d);
        assert_true(nm_dirs_healthy(d, &report));
        assert_string_equal(report, "");
        assert_int_equal(nm_dirs_local_usable(d), 3);
        assert_int_equal(returned_index, 1);
    }
    (void)snprintf(file, sizeof(file), "%s/.selvedge-probe", b);
    assert_int_equal(access(file, F_OK), -1);
    nm_dirs_free(d);
}

static void run_until(struct nm_dirs *d, bool healthy)
{
    const char *report;

    while (nm_dirs_healthy(d, &report) != healthy)
        assert_true(sd_event_run(event, 10000000) > 0);
}

/* A disk that does not answer: the loop goes on, the directory is bad until the check ends. */
static void hanging_disk(void **state)
{
    struct nm_dirs *d;
    const char *report;

    (void)state;
    conf.disk_check_ms = 200;
    d = make();
    assert_int_equal(pipe(hang), 0);
    run_until(d, false);
    (void)nm_dirs_healthy(d, &report);
    assert_non_null(strstr(report, b));
    assert_non_null(strstr(report, "does not end: the disk hangs"));
    assert_int_equal(nm_dirs_local_mask(d), 1);
    assert_int_equal(write(hang[1], "x", 1), 1);
    sv_close(hang[1]); /* later reads end at once */
    run_until(d, true);
    assert_int_equal(nm_dirs_local_mask(d), 3);
    nm_dirs_free(d);
    sv_close(hang[0]);
    hang[0] = hang[1] = -1;
}

static struct nm_dir_space space_of(const struct nm_dirs *d, int index)
{
    struct nm_dir_space s;

    assert_true(nm_dirs_space(d, index, &s));
    return s;
}

/* Until the measurement that runs has its result. */
static void measure_until(struct nm_dirs *d, uint64_t used_mb)
{
    while (space_of(d, 1).used_bytes >> 20 != used_mb) {
        nm_dirs_measure(d);
        (void)poll(NULL, 0, 10);
    }
}

/* Free space as shown to users: from the last check, then measured anew. A measurement that hangs
 * blocks nobody, is the only one of its directory, and leaves its health and last values
 * unchanged. */
static void space(void **state)
{
    struct nm_dirs *d;
    struct nm_dir_space s;
    const char *report;

    (void)state;
    fake_space = true;
    free_mb = 250;
    d = make();
    s = space_of(d, 1);
    assert_string_equal(s.path, b);
    assert_true(s.local && s.readable && s.usable && s.device != 0 && !*s.why && s.silent_ms == 0);
    assert_int_equal(s.all_bytes, (uint64_t)1000 << 20);
    assert_int_equal(s.used_bytes, (uint64_t)750 << 20);
    assert_true(s.used_percent > 74.9 && s.used_percent < 75.1);
    assert_string_equal(space_of(d, 2).path, logs);
    assert_false(space_of(d, 2).local);
    assert_false(nm_dirs_space(d, 3, &s));
    assert_false(nm_dirs_space(d, -1, &s));
    free_mb = 100;
    assert_int_equal(pipe(hang_measure), 0);
    nm_dirs_measure(d);
    nm_dirs_measure(d);
    assert_int_equal(space_of(d, 1).used_bytes, (uint64_t)750 << 20);
    while (space_of(d, 1).silent_ms < 20)
        (void)poll(NULL, 0, 10);
    assert_true(nm_dirs_healthy(d, &report));
    assert_int_equal(nm_dirs_local_mask(d), 3);
    assert_int_equal(write(hang_measure[1], "x", 1), 1); /* one waits: the second did not begin */
    measure_until(d, 900);
    assert_int_equal(space_of(d, 1).silent_ms, 0);
    nm_dirs_free(d);
    sv_close(hang_measure[0]);
    sv_close(hang_measure[1]);
    hang_measure[0] = hang_measure[1] = -1;
    fake_space = false;
}

static void expect_space(struct nm_dirs *d, int free, bool good, const char *words)
{
    const char *report;

    free_mb = free;
    nm_dirs_check(d);
    assert_int_equal(nm_dirs_pick_local(d, 2, 0), good ? 1 : -ENOSPC);
    (void)nm_dirs_healthy(d, &report);
    if (!good && !strstr(report, words))
        fail_msg("%s", report);
}

/* Bad above the one threshold, good again up to the other; either check can be off. Of 1000 MB. */
static void watermarks(void **state)
{
    struct nm_dirs *d;

    (void)state;
    fake_space = true;
    free_mb = 500;
    conf.max_disk_utilization = 90;
    conf.low_disk_utilization = 60;
    d = make();
    expect_space(d, 100, true, "");
    expect_space(d, 99, false, "used space above threshold of 90.0%");
    expect_space(d, 399, false, "used space above threshold of 60.0%");
    expect_space(d, 400, true, "");
    expect_space(d, 399, true, "");
    expect_space(d, 0, false, "used space above threshold of 90.0%");
    conf.utilization_checked = false;
    expect_space(d, 0, true, "");
    conf.min_free_mb = 50;
    conf.high_free_mb = 70;
    expect_space(d, 50, true, "");
    expect_space(d, 49, false, "free space below the minimum of 50 MB");
    expect_space(d, 69, false, "free space below the minimum of 70 MB");
    expect_space(d, 70, true, "");
    expect_space(d, 69, true, "");
    conf.free_space_checked = false;
    expect_space(d, 1, true, "");
    nm_dirs_free(d);
    fake_space = false;
}

/* Something of the daemon's that it cannot use; what is another's, or a link, does not count. */
static void content(void **state)
{
    struct nm_dirs *d;
    const char *report;
    char path[128], words[256];

    (void)state;
    conf.content_checked = true;
    d = make();
    assert_true(nm_dirs_healthy(d, &report));
    snprintf(path, sizeof(path), "%s/nmPrivate/app", b);
    assert_return_code(mkdir(path, 0700), errno);
    snprintf(path, sizeof(path), "%s/nmPrivate/app/link", b);
    assert_return_code(symlink("/nonexistent", path), errno);
    snprintf(path, sizeof(path), "%s/nmPrivate/app/file", b);
    assert_return_code(mknod(path, S_IFREG | 0600, 0), errno);
    nm_dirs_check(d);
    assert_true(nm_dirs_healthy(d, &report));
    refused_entry = "file";
    nm_dirs_check(d);
    assert_false(nm_dirs_healthy(d, &report));
    snprintf(words, sizeof(words), "%s : nmPrivate/app/file: cannot be read: %s", b,
             strerror(EACCES));
    if (!strstr(report, words))
        fail_msg("%s", report);
    assert_int_equal(nm_dirs_local_mask(d), 1);
    nm_dirs_check(d); /* looked at again, though the next check goes on where one has ended */
    assert_false(nm_dirs_healthy(d, &report));
    refused_entry = NULL;
    nm_dirs_check(d);
    assert_true(nm_dirs_healthy(d, &report));
    refused_entry = "app";
    nm_dirs_check(d);
    assert_false(nm_dirs_healthy(d, &report));
    assert_non_null(strstr(report, "nmPrivate/app: cannot be accessed: "));
    refused_entry = "link";
    nm_dirs_check(d);
    assert_true(nm_dirs_healthy(d, &report));
    refused_entry = "file";
    conf.content_checked = false;
    nm_dirs_check(d);
    assert_true(nm_dirs_healthy(d, &report));
    refused_entry = NULL;
    nm_dirs_free(d);
}

/* Real file systems, in a mount namespace of this program: no inodes, then read-only. */
static void small_file_system(void **state)
{
    struct nm_dirs *d;
    const char *report;

    (void)state;
    if (geteuid() != 0) {
        print_message("# only root can mount\n");
        skip();
    }
    assert_int_equal(unshare(CLONE_NEWNS), 0);
    assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    d = make();
    assert_int_equal(nm_dirs_pick_local(d, 2, 0), 1);
    assert_int_equal(nm_dirs_pick_local(d, 4, 0), -ENOSPC);
    lost_index = -1;
    nm_dirs_check(d);
    assert_int_equal(lost_index, -1);
    assert_int_equal(mount("none", b, "tmpfs", 0, "nr_inodes=64,mode=755"), 0);
    nm_dirs_check(d);
    assert_int_equal(lost_index, 1); /* its content is gone, though the directory is good */
    assert_false(nm_dirs_healthy(d, &report));
    assert_non_null(strstr(report, " free inodes, below the minimum of 1000"));
    assert_int_equal(nm_dirs_local_mask(d), 3);
    assert_int_equal(nm_dirs_pick_local(d, UINT32_MAX, 0), 0);
    assert_int_equal(mount("none", b, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    nm_dirs_check(d);
    assert_false(nm_dirs_healthy(d, &report));
    assert_non_null(strstr(report, strerror(EROFS)));
    assert_int_equal(nm_dirs_local_mask(d), 1);
    assert_int_equal(umount(b), 0);
    nm_dirs_check(d);
    assert_true(nm_dirs_healthy(d, &report));
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
        cmocka_unit_test_setup_teardown(failing_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(hanging_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(space, setup, teardown),
        cmocka_unit_test_setup_teardown(watermarks, setup, teardown),
        cmocka_unit_test_setup_teardown(content, setup, teardown),
        cmocka_unit_test_setup_teardown(small_file_system, setup, teardown),
        cmocka_unit_test_setup_teardown(no_usable_directory, setup, teardown),
    };

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
