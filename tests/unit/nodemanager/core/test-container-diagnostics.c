/* core/container-diagnostics.c: error files of a failed container among hostile entries of its log
 * directory. readdir is linked through a counter (-Wl,--wrap=readdir). */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "nodemanager/core/container-diagnostics.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"

#define LINKS 3000
#define APP "application_1700000000000_0001"
#define CONTAINER "container_1700000000000_0001_01_000001"

struct dirent *__real_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d);

static int entries_read;

struct dirent *__wrap_readdir(DIR *d)
{
    entries_read++;
    return __real_readdir(d);
}

static char top[] = "/tmp/selvedge-diagnostics-XXXXXX", local_dir[64], log_dir[64];
static char *local[] = { local_dir, NULL }, *log_dirs[] = { log_dir, NULL };
static struct nm_conf conf = { .local_dirs = local,
                               .log_dirs = log_dirs,
                               .stderr_pattern = (char[]){ "{*stderr*,*STDERR*}" },
                               .stderr_tail_bytes = 100 };
static struct nm_context ctx = { .conf = &conf };
static struct nm_container container = { .ctx = &ctx, .text = CONTAINER };
static sd_event *event;
static int dir = -1;

static int setup(void **state)
{
    struct sv_error err = { 0 };
    char path[256];

    (void)state;
    memcpy(top + sizeof(top) - 7, "XXXXXX", 7);
    if (!mkdtemp(top) || sd_event_default(&event) < 0)
        return -1;
    snprintf(local_dir, sizeof(local_dir), "%s/local", top);
    snprintf(log_dir, sizeof(log_dir), "%s/logs", top);
    snprintf(path, sizeof(path), "%s/" APP "/" CONTAINER, log_dir);
    if (yarn_container_id_parse(CONTAINER, &container.id) < 0 || sv_mkdir_p(path, 0755) < 0 ||
        nm_dirs_new(event, &conf, NULL, NULL, &ctx.dirs, &err) < 0 ||
        nm_log_disks_new(event, ctx.dirs, &ctx.log_disks) < 0)
        return -1;
    HASH_ADD_STR(ctx.containers, text, &container);
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    entries_read = 0;
    return dir < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = tmp < 0 ? -1 : sv_remove_tree_at(tmp, top + strlen("/tmp/"));

    (void)state;
    sv_close(tmp);
    dir = sv_close(dir);
    HASH_DEL(ctx.containers, &container);
    ctx.log_disks = nm_log_disks_free(ctx.log_disks);
    ctx.dirs = nm_dirs_free(ctx.dirs);
    event = sd_event_unref(event);
    return r;
}

static void write_file(const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static char *taken;
static int calls;

static void take(struct nm_container *c, char *text)
{
    assert_ptr_equal(c, &container);
    taken = text;
    calls++;
}

/* The text, once the disk's thread has read the files. malloc'd. */
static char *text_of(int exit_code)
{
    calls = 0;
    nm_diagnostics_exit(&container, exit_code, take);
    while (!calls)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_int_equal(calls, 1);
    return taken;
}

static void last_bytes(void **state)
{
    char *text;

    (void)state;
    write_file("stderr", "the reason\n");
    write_file("stdout", "no reason\n");
    write_file("x.stderr", "");
    text = text_of(3);
    assert_non_null(strstr(text, "Container exited with a non-zero exit code 3. "));
    assert_non_null(strstr(text, "Error files: "));
    assert_non_null(strstr(text, "Last 100 bytes of stderr :\nthe reason\n"));
    assert_null(strstr(text, "no reason"));
    free(text);
}

/* Links whose names match are no error files, and each is an entry that was read. */
static void links(void **state)
{
    char name[32], *text;

    (void)state;
    for (int i = 0; i < LINKS; i++) {
        snprintf(name, sizeof(name), "stderr%d", i);
        assert_int_equal(symlinkat("x", dir, name), 0);
    }
    text = text_of(3);
    assert_string_equal(text, "Container exited with a non-zero exit code 3. ");
    assert_in_range(entries_read, 1000, 1001);
    free(text);
}

/* A kill has no error file, and needs no disk. */
static void killed(void **state)
{
    (void)state;
    write_file("stderr", "the reason\n");
    calls = 0;
    nm_diagnostics_exit(&container, YARN_EXIT_FORCE_KILLED, take);
    assert_int_equal(calls, 1);
    assert_string_equal(taken, "Container exited with a non-zero exit code 137. ");
    free(taken);
}

/* The disk's check has failed: the text says so. */
static void bad_directory(void **state)
{
    int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *text;

    (void)state;
    write_file("stderr", "the reason\n");
    assert_int_equal(sv_remove_tree_at(fd, "logs"), 0);
    assert_int_equal(symlinkat("/nothing", fd, "logs"), 0);
    sv_close(fd);
    nm_dirs_check(ctx.dirs);
    text = text_of(3);
    assert_non_null(strstr(text, "Container exited with a non-zero exit code 3. No error file was "
                                 "read: log directory /tmp/selvedge-diagnostics-"));
    assert_non_null(strstr(text, "/logs is bad: cannot be used"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(last_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(links, setup, teardown),
        cmocka_unit_test_setup_teardown(killed, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_directory, setup, teardown),
    };

    return cmocka_run_group_tests_name("container-diagnostics", tests, NULL, NULL);
}
