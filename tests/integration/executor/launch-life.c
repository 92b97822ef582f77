/* A daemon's part in one container, for tests/integration/executor/test-launch-life: launches it
 * and is killed somewhere on the way, or comes back afterwards and says what it finds. Runs as the
 * daemon's account.
 *
 * usage: launch-life launch|adopt|again HELPER CGROUP_ROOT USER APP_TIMESTAMP NUMBER LOG_DIR
 * LOCAL_DIR… launch  "asked", "started PID", and then waits until it is killed adopt   "running
 * PID", freezes and thaws it, freezes it again and kills it, or "never", or "ended CODE"; "killed
 * CODE" after the kill; then forgets it and ends when its group is gone again   as adopt, but what
 * was never launched is launched at once, by the same name */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "executor/exe.h"

static sd_event *event;
static struct exe_container *container;
static bool adopting, again, running, over;

struct plan {
    struct exe *exe;
    struct yarn_container_id id;
    const char *user;
    uint32_t local_mask;
};

static int launch(const struct plan *p, struct sv_error *err);

static void freeze(struct exe_container *c, bool frozen)
{
    struct cg_leaf *leaf = exe_container_cgroup(c);
    int e = leaf ? cg_leaf_freeze(leaf, frozen) : -1;
    for (int tries = 10000; e >= 0 && (e = cg_leaf_frozen(leaf)) == !frozen && tries > 0; tries--)
        (void)poll(NULL, 0, 1); /* cgroup.events reports it once every process is frozen */
    if (e != frozen)
        (void)printf("%s: %d\n", frozen ? "freeze" : "thaw", e);
}

static void on_started(struct exe_container *c, pid_t pid, void *userdata)
{
    (void)userdata;
    running = true;
    (void)printf("%s %d\n", adopting ? "running" : "started", (int)pid);
    (void)fflush(stdout);
    for (int i = 0; adopting && i < 3; i++)
        freeze(c, i % 2 == 0);
    if (adopting && exe_kill(c) < 0) /* one that stands still */
        (void)printf("kill failed\n");
}

static void on_failed(struct exe_container *c, const struct exe_failure *f, void *userdata)
{
    const struct plan *p = userdata;
    struct sv_error err = { 0 };
    (void)printf("%s\n", f->status == EXE_STATUS_LOST ? "never" : f->text);
    over = !again || f->status != EXE_STATUS_LOST;
    again = false;
    if (over)
        return;
    exe_container_forget(c);
    container = NULL;
    if (launch(p, &err) < 0) {
        (void)printf("%s\n", err.text);
        over = true;
    }
}

static void on_exited(struct exe_container *c, const struct exe_exit *e, void *userdata)
{
    (void)c;
    (void)userdata;
    (void)printf("%s %d\n", running ? "killed" : "ended", e->exit_code);
    over = true;
}

static const struct exe_container_ops ops = { .started = on_started,
                                              .failed = on_failed,
                                              .exited = on_exited };

static int launch(const struct plan *p, struct sv_error *err)
{
    static const char script[] = "#!/bin/bash\nexec sleep 600\n";
    const struct exe_launch l = { .id = p->id,
                                  .user = p->user,
                                  .submitter = p->user,
                                  .local_mask = p->local_mask,
                                  .log_mask = 1,
                                  .resource = { .memory_bytes = 64 << 20, .vcores = 1 },
                                  .profile = EXE_PROFILE_STRICT,
                                  .script = script,
                                  .script_len = sizeof(script) - 1,
                                  .credentials = "t",
                                  .credentials_len = 1 };
    return exe_launch(p->exe, &l, &ops, (void *)p, &container, err);
}

static int settle(struct cg_root *cgroups)
{
    for (;;) {
        _cleanup_strv_ char **names = NULL;
        int e = cg_root_list(cgroups, &names);
        if (e < 0 || !names[0])
            return e;
        e = sd_event_run(event, 5000);
        if (e < 0)
            return e;
    }
}

int main(int argc, char **argv)
{
    struct sv_error err = { 0 };
    struct cg_root *cgroups = NULL;
    struct plan p = { .exe = NULL };
    int e;
    if (argc < 9 || sd_event_default(&event) < 0)
        return 2;
    again = sv_streq(argv[1], "again");
    adopting = again || sv_streq(argv[1], "adopt");
    char *logs[] = { argv[7], NULL };
    p.id = (struct yarn_container_id){
        .attempt = { .app = { .cluster_ts = strtoll(argv[5], NULL, 10), .id = 1 }, .attempt = 1 },
        .id = strtoll(argv[6], NULL, 10),
    };
    p.user = argv[4];
    p.local_mask = (1u << (argc - 8)) - 1;
    e = cg_root_open(argv[3], CG_CPU | CG_MEMORY | CG_PIDS, 0, &cgroups, &err);
    if (e >= 0)
        e = exe_new(event,
                    &(struct exe_settings){ .helper = argv[2],
                                            .cgroups = cgroups,
                                            .log_dirs = logs,
                                            .local_dirs = argv + 8,
                                            .socket = getenv("SELVEDGE_TEST_SOCKET"), /* or NULL */
                                            .unenforced_allowed = true },
                    &p.exe, &err);
    if (e >= 0 && adopting)
        e = exe_adopt(p.exe, p.id, argv[4], 0, &ops, &p, &container, &err);
    else if (e >= 0)
        e = launch(&p, &err);
    if (e < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    (void)printf("asked\n");
    (void)fflush(stdout);
    while (!over && e >= 0)
        e = sd_event_run(event, UINT64_MAX);
    if (container)
        exe_container_forget(container);
    if (e >= 0)
        e = settle(cgroups);
    (void)exe_free(p.exe);
    (void)cg_root_free(cgroups);
    (void)sd_event_unref(event);
    return e < 0;
}
