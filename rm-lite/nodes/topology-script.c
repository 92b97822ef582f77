/* See topology-script.h. The script is the operator's and trusted, but it may hang or print
 * anything: its time and its output are bounded. */
#include "rm-lite/nodes/topology-script.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fd.h"
#include "common/loop-guard.h"

#define OUTPUT_MAX (256u << 10)
#define WORDS_MAX 1024

struct rm_topology_run {
    pid_t pid;        /* -1: reaped */
    int out, process; /* pipe of its output; pidfd */
    size_t n;
    struct sv_buf text;
    bool eof;
    siginfo_t status; /* once reaped */
    int64_t timeout_ms;
    sd_event_source *io, *exit, *timer;
    rm_topology_run_done done;
    void *userdata;
};

/* ---- The process ---- */

static int spawn(const char *script, const char *const *addresses, size_t n, int out, pid_t *ret)
{
    char **argv = calloc(n + 2, sizeof(*argv));
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t all, none;
    int r = argv ? posix_spawn_file_actions_init(&actions) : ENOMEM;

    if (r != 0) {
        free(argv);
        return -r;
    }
    argv[0] = (char *)(uintptr_t)script;
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = (char *)(uintptr_t)addresses[i];
    r = posix_spawnattr_init(&attr);
    if (r == 0) {
        (void)sigfillset(&all);
        (void)sigemptyset(&none);
        (void)posix_spawnattr_setsigdefault(&attr, &all);
        (void)posix_spawnattr_setsigmask(&attr, &none);
        (void)posix_spawnattr_setpgroup(&attr, 0);
        (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETPGROUP);
        r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (r == 0)
            r = posix_spawn_file_actions_adddup2(&actions, out, 1);
        if (r == 0)
            r = posix_spawn(ret, script, &actions, &attr, argv, environ);
        (void)posix_spawnattr_destroy(&attr);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    free(argv);
    return -r;
}

struct rm_topology_run *rm_topology_run_free(struct rm_topology_run *r)
{
    if (!r)
        return NULL;
    if (r->pid > 0) { /* not reaped: the number is still this child's */
        (void)kill(-r->pid, SIGKILL);
        (void)kill(r->pid, SIGKILL);
        (void)waitpid(r->pid, NULL, 0);
    }
    sd_event_source_disable_unref(r->io);
    sd_event_source_disable_unref(r->exit);
    sd_event_source_disable_unref(r->timer);
    sv_close(r->out);
    sv_close(r->process);
    sv_buf_free(&r->text);
    free(r);
    return NULL;
}

/* ---- Its end ---- */

static void finish(struct rm_topology_run *r, char *const *racks, const struct sv_error *err)
{
    rm_topology_run_done done = r->done;
    void *userdata = r->userdata;

    done(racks, err, userdata); /* `racks` point into r->text */
    rm_topology_run_free(r);
}

static void fail(struct rm_topology_run *r, const char *why)
{
    struct sv_error err = { 0 };

    (void)sv_error_set(&err, -EIO, "%s", why);
    finish(r, NULL, &err);
}

char *rm_topology_word(char **at)
{
    static const char blanks[] = " \t\r\n";
    char *word = *at + strspn(*at, blanks);
    size_t n = strcspn(word, blanks);

    *at = word + n;
    if (n == 0)
        return NULL;
    if (**at)
        *(*at)++ = '\0';
    return word;
}

/* Returns max + 1 if there are more. */
static size_t split(char *text, char **words, size_t max)
{
    size_t n = 0;

    for (char *w = rm_topology_word(&text); w; w = rm_topology_word(&text)) {
        if (n == max)
            return max + 1;
        words[n++] = w;
    }
    return n;
}

/* Once both the output and the process have ended. */
static void on_end(struct rm_topology_run *r)
{
    char *words[WORDS_MAX], why[96];
    size_t n;

    if (!r->eof || r->pid > 0)
        return;
    if (r->status.si_code != CLD_EXITED || r->status.si_status != 0) {
        snprintf(why, sizeof(why), "it ended with %s%d",
                 r->status.si_code == CLD_EXITED ? "" : "signal ", r->status.si_status);
        fail(r, why);
        return;
    }
    if (sv_buf_put(&r->text, "", 1) < 0) {
        fail(r, "out of memory");
        return;
    }
    n = split((char *)r->text.data, words, SV_MIN(r->n, (size_t)WORDS_MAX));
    if (n != r->n) {
        snprintf(why, sizeof(why), "it printed %s words than the %zu addresses it was given",
                 n < r->n ? "fewer" : "more", r->n);
        fail(r, why);
        return;
    }
    finish(r, words, NULL);
}

static int on_output(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm_topology_run *r = userdata;
    char part[4096];
    ssize_t n = read(fd, part, sizeof(part));

    (void)s;
    (void)revents;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0) {
        r->eof = true;
        r->io = sd_event_source_disable_unref(r->io);
        on_end(r);
    } else if (sv_buf_put(&r->text, part, (size_t)n) < 0) {
        fail(r, "it printed too much");
    }
    return 0;
}

static int on_process(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm_topology_run *r = userdata;

    (void)s;
    (void)fd;
    (void)revents;
    if (waitid(P_PID, (id_t)r->pid, &r->status, WEXITED | WNOHANG) < 0 || r->status.si_pid == 0)
        return 0;
    r->pid = -1;
    r->exit = sd_event_source_disable_unref(r->exit);
    on_end(r);
    return 0;
}

static int on_timeout(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm_topology_run *r = userdata;
    char why[64];

    (void)s;
    (void)usec;
    snprintf(why, sizeof(why), "it was killed after %g seconds", (double)r->timeout_ms / 1000);
    fail(r, why);
    return 0;
}

int rm_topology_run_start(sd_event *event, const char *script, const char *const *addresses,
                          size_t n, int64_t timeout_ms, rm_topology_run_done done, void *userdata,
                          struct rm_topology_run **ret, struct sv_error *err)
{
    struct rm_topology_run *r = calloc(1, sizeof(*r));
    int pipes[2], k;

    if (!r || n > WORDS_MAX || pipe2(pipes, O_CLOEXEC) < 0) {
        free(r);
        return sv_error_errno(err, n > WORDS_MAX ? -E2BIG : -ENOMEM, "%s", script);
    }
    *r = (struct rm_topology_run){ .pid = -1,
                                   .out = pipes[0],
                                   .process = -1,
                                   .n = n,
                                   .text = SV_BUF_INIT(OUTPUT_MAX),
                                   .timeout_ms = timeout_ms,
                                   .done = done,
                                   .userdata = userdata };
    k = spawn(script, addresses, n, pipes[1], &r->pid);
    sv_close(pipes[1]);
    if (k >= 0 && fcntl(r->out, F_SETFL, O_NONBLOCK) < 0)
        k = -errno;
    if (k >= 0)
        k = sd_event_add_io(event, &r->io, r->out, EPOLLIN, on_output, r);
    if (k >= 0 && (r->process = (int)syscall(SYS_pidfd_open, r->pid, 0)) < 0)
        k = -errno;
    if (k >= 0)
        k = sd_event_add_io(event, &r->exit, r->process, EPOLLIN, on_process, r);
    if (k >= 0)
        k = sd_event_add_time_relative(event, &r->timer, CLOCK_MONOTONIC,
                                       (uint64_t)timeout_ms * 1000, 0, on_timeout, r);
    if (k < 0) {
        rm_topology_run_free(r);
        return sv_error_errno(err, k, "%s", script);
    }
    *ret = r;
    return 0;
}
