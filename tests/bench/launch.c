/* Launches containers of an empty script one after the other through libselvedge-executor, as the
 * NodeManager does, and prints the microseconds of each: "launch→started started→exited".
 * usage: launch HELPER CGROUP_ROOT USER APP_TIMESTAMP COUNT LOG_DIR LOCAL_DIR… (run by bench-launch,
 * as the daemon's account). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "executor/exe.h"

struct run {
    sd_event *event;
    int64_t started;
    bool failed;
};

static int64_t now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void on_started(struct exe_container *c, pid_t pid, void *userdata)
{
    (void)c;
    (void)pid;
    ((struct run *)userdata)->started = now_us();
}

static void on_failed(struct exe_container *c, const struct exe_failure *f, void *userdata)
{
    struct run *r = userdata;
    (void)c;
    (void)fprintf(stderr, "%s\n", f->text);
    r->failed = true;
    (void)sd_event_exit(r->event, 1);
}

static void on_exited(struct exe_container *c, const struct exe_exit *e, void *userdata)
{
    struct run *r = userdata;
    (void)c;
    r->failed = e->exit_code != 0;
    (void)sd_event_exit(r->event, 0);
}

int main(int argc, char **argv)
{
    static const struct exe_container_ops ops = { on_started, on_failed, on_exited };
    static const char script[] = "#!/bin/bash\nexit 0\n";
    struct sv_error err = { 0 };
    struct cg_root *cgroups = NULL;
    if (argc < 8)
        return 2;
    if (cg_root_open(argv[2], CG_CPU | CG_MEMORY | CG_PIDS, &cgroups, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    char *logs[] = { argv[6], NULL };
    for (int i = 0; i < strtol(argv[5], NULL, 10); i++) {
        sd_event *event = NULL;
        struct exe *x = NULL;
        struct exe_container *c = NULL;
        if (sd_event_new(&event) < 0)
            return 1;
        struct run run = { .event = event };
        const struct exe_settings s = { .helper = argv[1], .cgroups = cgroups, .log_dirs = logs,
                                        .local_dirs = argv + 7, .unenforced_allowed = true };
        const struct exe_launch l = {
            .id = { .attempt = { .app = { .cluster_ts = strtol(argv[4], NULL, 10), .id = 1 }, .attempt = 1 },
                    .id = 1000 + i },
            .user = argv[3], .local_mask = (1u << (argc - 7)) - 1, .log_mask = 1,
            .limits = { .memory_bytes = 64 << 20, .cpu_weight = 100, .pids_max = 100 },
            .profile = EXE_PROFILE_STRICT, .script = script, .script_len = sizeof(script) - 1,
            .credentials = "t", .credentials_len = 1,
        };
        if (exe_new(event, &s, &x, &err) < 0)
            return 1;
        int64_t start = now_us();
        if (exe_launch(x, &l, &ops, &run, &c, &err) < 0) {
            (void)fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        if (sd_event_loop(event) != 0 || run.failed)
            return 1;
        (void)printf("%lld %lld\n", (long long)(run.started - start),
                     (long long)(now_us() - run.started));
        exe_container_forget(c);
        (void)exe_free(x);
        (void)sd_event_unref(event);
    }
    (void)cg_root_free(cgroups);
    return 0;
}
