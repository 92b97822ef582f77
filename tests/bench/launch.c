/* Launches containers through libselvedge-executor as the NodeManager does, for bench-launch and
 * tests/integration/executor/test-many: cgroup with limits, setuid helper, profile strict, exit
 * record read, cgroup and record removed. Runs as the daemon's account.
 *
 * usage: launch HELPER CGROUP_ROOT USER APP_TIMESTAMP PROGRAM_DIR LOG_DIR LOCAL_DIR…
 * PROGRAM_DIR has `true` and `pause` (payload.c) and is visible in the containers. Commands:
 *   one N      the program is what the container's first line names: one after the other,
 *              "WHOLE_US STARTED_US" for each
 *   bash N     the same through a script for bash
 *   rate MS K  for MS milliseconds always K on their way: "launched L good G us T"
 *   idle N K   N containers of `pause`, K starting at a time: "alive N"; at the next line they are
 *              killed: "ended N"
 * Each ends with "cpu USEC" and "done", when its cgroups are gone. */
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>
#include <utlist.h>

#include "common/str.h"
#include "executor/exe.h"
#include "tests/bench/command.h"

#define BY_SHELL 3 /* payload.c */

struct bench;
struct item {
    struct bench *bench;
    struct item *prev, *next;
    struct exe_container *container;
    int64_t asked, started;
};

enum mode { ONE, RATE, IDLE };

struct bench {
    sd_event *event;
    struct exe *exe;
    struct cg_root *cgroups;
    const char *user, *dir;
    int64_t ts, next; /* sequence number of the next container */
    uint32_t local_mask;
    /* State of the current command. */
    enum mode mode;
    bool shell;
    char script[1024];
    struct item *items;
    long starting, running, good, bad;
    long wanted, at_once;
    int64_t until_us;
};

static void gone(struct item *i)
{
    DL_DELETE(i->bench->items, i);
    exe_container_forget(i->container);
    free(i);
}

static void on_started(struct exe_container *c, pid_t pid, void *userdata)
{
    struct item *i = userdata;
    (void)c;
    (void)pid;
    i->started = now_us();
    i->bench->starting--;
    i->bench->running++;
}

static void on_failed(struct exe_container *c, const struct exe_failure *f, void *userdata)
{
    struct item *i = userdata;
    (void)c;
    (void)fprintf(stderr, "%s\n", f->text);
    i->bench->starting--;
    i->bench->bad++;
    gone(i);
}

static void on_exited(struct exe_container *c, const struct exe_exit *e, void *userdata)
{
    struct item *i = userdata;
    struct bench *b = i->bench;
    (void)c;
    bool ok = b->mode == IDLE ? e->signal == 9 : e->exit_code == (b->shell ? BY_SHELL : 0);
    if (ok && !e->lost) {
        b->good++;
    } else {
        (void)fprintf(stderr, "exit code %d, signal %d%s\n", e->exit_code, e->signal,
                      e->lost ? ", lost" : "");
        b->bad++;
    }
    if (b->mode == ONE)
        (void)printf("%lld %lld\n", (long long)(now_us() - i->asked),
                     (long long)(i->started - i->asked));
    b->running--;
    gone(i);
}

static int launch_one(struct bench *b)
{
    static const struct exe_container_ops ops = { on_started, on_failed, on_exited };
    struct sv_error err = { 0 };
    struct item *i = calloc(1, sizeof(*i));
    if (!i)
        return -ENOMEM;
    i->bench = b;
    i->asked = now_us();
    const struct exe_launch l = {
        .id = { .attempt = { .app = { .cluster_ts = b->ts, .id = 1 }, .attempt = 1 },
                .id = b->next++ },
        .user = b->user,
        .submitter = b->user,
        .local_mask = b->local_mask,
        .log_mask = 1,
        .resource = { .memory_bytes = 64 << 20, .vcores = 1 },
        .profile = EXE_PROFILE_STRICT,
        .script = b->script,
        .script_len = strlen(b->script),
        .credentials = "t",
        .credentials_len = 1,
    };
    int e = exe_launch(b->exe, &l, &ops, i, &i->container, &err);
    if (e < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        free(i);
        b->bad++;
        return e;
    }
    DL_APPEND(b->items, i);
    b->starting++;
    return 0;
}

static bool more_to_launch(const struct bench *b)
{
    return b->bad == 0 && (b->mode == RATE ? now_us() < b->until_us : b->wanted > 0);
}

/* False: there was nothing to be done. */
static bool turn(struct bench *b, uint64_t usec)
{
    int e = sd_event_run(b->event, usec);
    if (e < 0) {
        (void)fprintf(stderr, "event loop: %s\n", strerror(-e));
        exit(1);
    }
    return e > 0;
}

/* Launches containers until all have ended or, idle, have started. */
static void launch_all(struct bench *b)
{
    for (;;) {
        while (more_to_launch(b) && b->starting + (b->mode == IDLE ? 0 : b->running) < b->at_once) {
            b->wanted--;
            if (launch_one(b) < 0)
                break;
        }
        if (b->starting == 0 && (b->mode == IDLE || b->running == 0) && !more_to_launch(b))
            return;
        (void)turn(b, UINT64_MAX);
    }
}

/* Waits until the loop has removed the cgroups of this command's containers. */
static void settle(struct bench *b)
{
    for (;;) {
        _cleanup_strv_ char **names = NULL;
        long left = 0;
        if (cg_root_list(b->cgroups, &names) < 0)
            return;
        for (char **n = names; *n; n++)
            left += sv_has_prefix(*n, "container_");
        if (left == 0)
            break;
        (void)turn(b, 5000);
    }
    while (turn(b, 0))
        ;
}

static void wait_and_kill(struct bench *b)
{
    char word[16];
    long x, y;
    struct item *i;
    (void)printf("alive %ld\n", b->running);
    (void)fflush(stdout);
    (void)next_command(word, &x, &y);
    DL_FOREACH (b->items, i)
        if (exe_kill(i->container) < 0)
            b->bad++;
    while (b->running > 0)
        (void)turn(b, UINT64_MAX);
    (void)printf("ended %ld\n", b->good);
}

static void run(struct bench *b, const char *word, long x, long y)
{
    int64_t cpu = cpu_us(), start = now_us(), first = b->next;
    b->mode = strcmp(word, "rate") == 0 ? RATE : strcmp(word, "idle") == 0 ? IDLE : ONE;
    const char *program = b->mode == IDLE ? "pause" : "true";
    b->shell = strcmp(word, "bash") == 0;
    (void)snprintf(b->script, sizeof(b->script),
                   b->shell ? "#!/bin/bash\nexec %s/%s by shell\n" : "#!%s/%s\n", b->dir, program);
    b->good = b->bad = 0;
    b->wanted = x;
    b->until_us = start + x * 1000;
    b->at_once = y > 0 ? y : 1;
    launch_all(b);
    if (b->mode == RATE)
        (void)printf("launched %lld good %ld us %lld\n", (long long)(b->next - first), b->good,
                     (long long)(now_us() - start));
    if (b->mode == IDLE)
        wait_and_kill(b);
    settle(b);
    (void)printf("cpu %lld\ndone\n", (long long)(cpu_us() - cpu));
    (void)fflush(stdout);
}

/* Descriptors for a thousand containers, as the NodeManager's unit has them. */
static void raise_limit(void)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
        l.rlim_cur = l.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &l);
    }
}

int main(int argc, char **argv)
{
    struct sv_error err = { 0 };
    struct bench b = { .next =
                           (int64_t)getpid() * 1000000 + 1 }; /* not a number of an earlier run */
    char word[16];
    long x, y;
    if (argc < 8)
        return 2;
    raise_limit();
    char *logs[] = { argv[6], NULL };
    struct exe_settings s = { .helper = argv[1],
                              .socket = getenv("SELVEDGE_TEST_SOCKET"),
                              .log_dirs = logs,
                              .local_dirs = argv + 7,
                              .unenforced_allowed = true };
    b.user = argv[3];
    b.ts = strtoll(argv[4], NULL, 10);
    b.dir = argv[5];
    b.local_mask = (1u << (argc - 7)) - 1;
    if (cg_root_open(argv[2], CG_CPU | CG_MEMORY | CG_PIDS, 0, &b.cgroups, &err) < 0 ||
        sd_event_new(&b.event) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    s.cgroups = b.cgroups;
    if (exe_new(b.event, &s, &b.exe, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    while (next_command(word, &x, &y)) {
        run(&b, word, x, y);
        if (b.bad)
            return 1;
    }
    b.exe = exe_free(b.exe);
    b.cgroups = cg_root_free(b.cgroups);
    b.event = sd_event_unref(b.event);
    return 0;
}
