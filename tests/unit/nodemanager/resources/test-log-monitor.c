/* resources/log-monitor.c on two log directories and their threads: which container is killed, by
 * which limit, and that a container with files without end holds up neither the others nor the end
 * of the daemon. */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/log-size.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"
#include "nodemanager/resources/log-monitor.h"

#define APP "application_1700000000000_0001"
#define CONTAINERS 20 /* more than are measured together */

static char top[] = "/tmp/selvedge-logmon-XXXXXX", local_dir[64], log_a[64], log_b[64];
static char *local[] = { local_dir, NULL }, *log_dirs[] = { log_a, log_b, NULL };
static struct nm_conf conf = {
    .local_dirs = local, .log_dirs = log_dirs, .log_check = true, .log_check_ms = 1
};
static struct nm_context ctx = { .conf = &conf };
static struct nm_container containers[CONTAINERS];
static struct nm_log_monitor *monitor;
static int kills;
static char killed_why[1024];
static const struct nm_container *killed;
static atomic_int turns, at_gate;
static atomic_bool endless, gate_shut;

void __wrap_nm_container_kill(struct nm_container *c, int exit_code, const char *why);
void __wrap_nm_container_kill(struct nm_container *c, int exit_code, const char *why)
{
    assert_int_equal(exit_code, -109);
    c->kill_requested = true;
    killed = c;
    kills++;
    snprintf(killed_why, sizeof(killed_why), "%s", why);
}

bool __real_nm_log_size_turn(struct nm_log_size *s, int64_t ms);
bool __wrap_nm_log_size_turn(struct nm_log_size *s, int64_t ms);

/* On the thread. Where `endless`, the first container that is measured is never counted whole. */
bool __wrap_nm_log_size_turn(struct nm_log_size *s, int64_t ms)
{
    static _Atomic(const struct nm_log_size *) first;
    bool whole;

    if (turns++ == 0)
        first = s;
    at_gate++;
    while (gate_shut)
        (void)sched_yield();
    at_gate--;
    whole = __real_nm_log_size_turn(s, ms);
    return whole && !(endless && s == first);
}

static int setup(void **state)
{
    struct sv_error err = { 0 };
    char path[256];

    (void)state;
    sv_log_set_level(SV_LOG_ERR);
    memcpy(top + sizeof(top) - 7, "XXXXXX", 7);
    if (!mkdtemp(top) || sd_event_new(&ctx.event) < 0)
        return -1;
    snprintf(local_dir, sizeof(local_dir), "%s/local", top);
    snprintf(log_a, sizeof(log_a), "%s/a", top);
    snprintf(log_b, sizeof(log_b), "%s/b", top);
    kills = 0;
    turns = 0;
    killed = NULL;
    conf.log_dir_bytes = conf.log_total_bytes = 1 << 20;
    for (int i = 0; i < CONTAINERS; i++) {
        struct nm_container *c = &containers[i];

        *c = (struct nm_container){ .ctx = &ctx, .state = NM_CONTAINER_RUNNING, .launch.pid = 7 };
        snprintf(c->text, sizeof(c->text), "container_1700000000000_0001_01_%06d", i + 1);
        if (yarn_container_id_parse(c->text, &c->id) < 0)
            return -1;
        HASH_ADD_STR(ctx.containers, text, c);
        for (int k = 0; k < 2; k++) {
            snprintf(path, sizeof(path), "%s/" APP "/%s", log_dirs[k], c->text);
            if (sv_mkdir_p(path, 0755) < 0)
                return -1;
        }
    }
    if (nm_dirs_new(ctx.event, &conf, NULL, NULL, &ctx.dirs, &err) < 0 ||
        nm_log_disks_new(ctx.event, ctx.dirs, &ctx.log_disks) < 0)
        return -1;
    return nm_log_monitor_new(&ctx, &monitor, &err) < 0 || !monitor ? -1 : 0;
}

static int teardown(void **state)
{
    int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC), r;

    (void)state;
    gate_shut = endless = false;
    monitor = nm_log_monitor_free(monitor);
    ctx.log_disks = nm_log_disks_free(ctx.log_disks);
    while (at_gate) /* a thread that was given up */
        (void)sched_yield();
    HASH_CLEAR(hh, ctx.containers);
    ctx.dirs = nm_dirs_free(ctx.dirs);
    ctx.event = sd_event_unref(ctx.event);
    r = tmp < 0 ? -1 : sv_remove_tree_at(tmp, top + strlen("/tmp/"));
    sv_close(tmp);
    return r;
}

static void logs(const struct nm_container *c, int disk, off_t bytes)
{
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/" APP "/%s/stdout", log_dirs[disk], c->text);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, bytes), 0);
    sv_close(fd);
}

static void run_until_killed(int n)
{
    while (kills < n)
        assert_true(sd_event_run(ctx.event, UINT64_MAX) >= 0);
}

/* Some passes over all. */
static void run_passes(void)
{
    int until = turns + 3 * 2 * CONTAINERS;

    while (turns < until)
        assert_true(sd_event_run(ctx.event, UINT64_MAX) >= 0);
}

static void one_directory(void **state)
{
    (void)state;
    conf.log_dir_bytes = 1000;
    logs(&containers[0], 0, 1000);
    logs(&containers[0], 1, 1000);
    logs(&containers[18], 0, 999);
    run_passes();
    assert_int_equal(kills, 0);
    logs(&containers[18], 1, 1001);
    run_until_killed(1);
    assert_ptr_equal(killed, &containers[18]);
    assert_non_null(strstr(killed_why, "Container [pid=7,containerID=container_1700000000000_0001"
                                       "_01_000019] has larger logs than one log directory may"));
    assert_non_null(strstr(killed_why, "Limit: 1000 bytes, size: 1001 bytes, log directory: "));
    assert_non_null(strstr(killed_why, log_b));
    run_passes();
    assert_int_equal(kills, 1);
}

static void all_directories(void **state)
{
    (void)state;
    conf.log_total_bytes = 1500;
    logs(&containers[3], 0, 1500);
    logs(&containers[4], 0, 750);
    logs(&containers[4], 1, 750);
    run_passes();
    assert_int_equal(kills, 0);
    logs(&containers[4], 1, 751);
    run_until_killed(1);
    assert_ptr_equal(killed, &containers[4]);
    assert_non_null(strstr(killed_why, "total-size-limit-bytes"));
    assert_non_null(strstr(killed_why, "Limit: 1500 bytes, size: 1501 bytes at least."));
}

static void spared(void **state)
{
    struct nm_log_monitor *none = monitor;
    struct sv_error err = { 0 };

    (void)state;
    conf.log_dir_bytes = 1;
    for (int i = 1; i < CONTAINERS; i++)
        containers[i].state = i % 2 ? NM_CONTAINER_KILLING : NM_CONTAINER_SCHEDULED;
    for (int i = 1; i < CONTAINERS; i++)
        logs(&containers[i], 0, 1000);
    run_passes();
    assert_int_equal(kills, 0);
    conf.log_check = false;
    assert_int_equal(nm_log_monitor_new(&ctx, &none, &err), 0);
    conf.log_check = true;
    assert_null(none);
}

/* It takes turns with all others of its disk. */
static void files_without_end(void **state)
{
    (void)state;
    endless = true;
    conf.log_dir_bytes = 1000;
    for (int i = 1; i < CONTAINERS; i++)
        logs(&containers[i], 0, 1001);
    run_until_killed(CONTAINERS - 1);
}

/* Containers go while they are measured; those behind them are measured all the same. */
static void containers_go(void **state)
{
    (void)state;
    conf.log_dir_bytes = 1000;
    logs(&containers[CONTAINERS - 1], 0, 1001);
    while (turns < 3)
        assert_true(sd_event_run(ctx.event, UINT64_MAX) >= 0);
    for (int i = 0; i < CONTAINERS - 1; i++)
        HASH_DEL(ctx.containers, &containers[i]);
    run_until_killed(1);
    assert_ptr_equal(killed, &containers[CONTAINERS - 1]);
}

/* A turn hangs while the daemon ends. */
static void end_of_daemon(void **state)
{
    (void)state;
    gate_shut = true;
    while (!at_gate)
        assert_true(sd_event_run(ctx.event, 1000) >= 0);
    monitor = nm_log_monitor_free(monitor);
    ctx.log_disks = nm_log_disks_free(ctx.log_disks);
    assert_true(at_gate > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(all_directories, setup, teardown),
        cmocka_unit_test_setup_teardown(spared, setup, teardown),
        cmocka_unit_test_setup_teardown(files_without_end, setup, teardown),
        cmocka_unit_test_setup_teardown(containers_go, setup, teardown),
        cmocka_unit_test_setup_teardown(end_of_daemon, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
