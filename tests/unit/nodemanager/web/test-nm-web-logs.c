/* web/nm-web-logs.c: hostile contents of a job's log directory, and the files that are read and
 * sent. readdir is linked through a counter (-Wl,--wrap=readdir). */
#include <dirent.h>
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
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/web/nm-web-logs.h"

#define LINKS 20000
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

static char top[] = "/tmp/selvedge-logs-XXXXXX", local_dir[64], log_a[64], log_b[64];
static char *local[] = { local_dir, NULL }, *log_dirs[] = { log_a, log_b, NULL };
static struct nm_conf conf = { .local_dirs = local,
                               .log_dirs = log_dirs,
                               .web = { .logs_enabled = true } };
static struct nm_context ctx = { .conf = &conf, .node_id_text = "node:8041" };
static sd_event *event;
static struct yarn_container_id id;

/* A handle to the container's directory below a log directory. */
static int container_dir(const char *log)
{
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/" APP "/" CONTAINER, log);
    assert_true(sv_mkdir_p(path, 0755) >= 0);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void write_file(int dir, const char *name)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "text\n", 5), 5);
    close(fd);
}

static int setup(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    memcpy(top + sizeof(top) - 7, "XXXXXX", 7);
    if (!mkdtemp(top) || sd_event_default(&event) < 0)
        return -1;
    snprintf(local_dir, sizeof(local_dir), "%s/local", top);
    snprintf(log_a, sizeof(log_a), "%s/a", top);
    snprintf(log_b, sizeof(log_b), "%s/b", top);
    entries_read = 0;
    return yarn_container_id_parse(CONTAINER, &id) < 0 ||
                   nm_dirs_new(event, &conf, NULL, NULL, &ctx.dirs, &err) < 0
               ? -1
               : 0;
}

static int teardown(void **state)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = tmp < 0 ? -1 : sv_remove_tree_at(tmp, top + strlen("/tmp/"));

    (void)state;
    sv_close(tmp);
    ctx.dirs = nm_dirs_free(ctx.dirs);
    event = sd_event_unref(event);
    return r;
}

static bool named(const char *name)
{
    json_t *list = nm_web_log_names(&ctx, id), *one;
    bool found = false;
    size_t i;

    json_array_foreach(list, i, one) found = found || !strcmp(json_string_value(one), name);
    json_decref(list);
    return found;
}

static unsigned status_of(const char *file)
{
    struct sv_http_request req = { .method = "GET", .path = "/" };
    struct sv_http_response ret = { .status = 404, .fd = -1 };

    assert_true(nm_web_log_file(&ctx, id, file, true, &req, &ret) >= 0);
    free(ret.body);
    free(ret.before);
    free(ret.after);
    sv_close(ret.fd);
    return ret.status;
}

/* 300,000 links stopped the daemon's only thread for more than a second a request. */
static void entries_are_bounded(void **state)
{
    int dirs[] = { container_dir(log_a), container_dir(log_b) };
    struct sv_http_response ret = { .status = 404, .fd = -1 };
    char name[32];

    (void)state;
    for (size_t d = 0; d < 2; d++) {
        for (int i = 0; i < LINKS; i++) {
            snprintf(name, sizeof(name), "%d", i);
            assert_int_equal(symlinkat("/nothing", dirs[d], name), 0);
        }
        close(dirs[d]);
    }
    json_decref(nm_web_log_names(&ctx, id));
    assert_in_range(entries_read, 1000, 1002);
    entries_read = 0;
    assert_int_equal(nm_web_log_list(&ctx, id, &ret), 0);
    assert_in_range(entries_read, 1000, 1002);
    assert_non_null(strstr(ret.body, "\"entriesRead\":1000,\"cut\":true"));
    free(ret.body);
}

static void only_files_with_one_name(void **state)
{
    int dir = container_dir(log_b);

    (void)state;
    write_file(dir, "stdout");
    write_file(dir, "twice");
    write_file(dir, "launch_container.sh");
    write_file(dir, "directory.info");
    assert_int_equal(linkat(dir, "twice", dir, "again", 0), 0);
    assert_int_equal(symlinkat("stdout", dir, "link"), 0);
    assert_int_equal(mkfifoat(dir, "fifo", 0644), 0);
    assert_true(named("stdout"));
    assert_int_equal(status_of("stdout"), 200);
    for (char **n = (char *[]){ "twice", "again", "link", "fifo", "nothing", ".", "..",
                                "launch_container.sh", "directory.info", NULL };
         *n; n++) {
        assert_false(named(*n));
        assert_in_range(status_of(*n), 400, 404);
    }
    close(dir);
}

static void no_directory(void **state)
{
    struct sv_http_response ret = { .status = 200, .fd = -1 };

    (void)state;
    assert_int_equal(nm_web_log_list(&ctx, id, &ret), 0);
    assert_int_equal(ret.status, 404);
    free(ret.body);
    assert_int_equal(entries_read, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(only_files_with_one_name, setup, teardown),
        cmocka_unit_test_setup_teardown(no_directory, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
