/* See script-runner.h. */
#include "nodemanager/health/script-runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/health/operator-program.h"

#define READ_MAX 65536
#define LAST_READS 16 /* of what is left in the pipe at the end: 1 MiB is the largest of pipes */
#define LINGER_MS 10000
#define LINGER_RETRY_MS 100

struct nm_runner {
    struct nm_runner_conf conf;
    sd_event *event;
    struct cg_child_group group;
    enum {
        RUN_WAITS, /* for its time */
        RUN_GOES_ON,
        RUN_KILLED, /* its result is told; it may take long to end */
    } state;
    struct nm_program program;
    int64_t started_ms;
    int64_t lingers_ms; /* since when a run waits for the end of processes of the last one; 0 */
    sd_event_source *timer, *exited, *output;
    struct sv_buf text;
};

static void set_timer(struct nm_runner *r, int64_t ms)
{
    (void)sd_event_source_set_time_relative(r->timer, (uint64_t)SV_MAX(ms, INT64_C(0)) * 1000);
    (void)sd_event_source_set_enabled(r->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

/* A fixed rate, as Hadoop's timers; a run that took longer delays the next one. */
static void wait_for_next(struct nm_runner *r)
{
    r->state = RUN_WAITS;
    if (*r->conf.interval_ms >= 0)
        set_timer(r, r->started_ms + *r->conf.interval_ms - sv_now_ms());
    else
        (void)sd_event_source_set_enabled(r->timer, SD_EVENT_OFF); /* ours, ignoring */
}

static void kill_all(const struct nm_runner *r)
{
    nm_program_kill(&r->program, &r->group);
}

static void close_run(struct nm_runner *r)
{
    r->exited = sd_event_source_disable_unref(r->exited);
    r->output = sd_event_source_disable_unref(r->output);
    nm_program_close(&r->program);
    sv_buf_free(&r->text);
}

/* Tells the result; the process is yet to be reaped. */
static void give_up(struct nm_runner *r, enum nm_run_end end, const char *why)
{
    r->state = RUN_KILLED;
    (void)sd_event_source_set_enabled(r->timer, SD_EVENT_OFF); /* ours, ignoring */
    r->output = sd_event_source_disable_unref(r->output);
    kill_all(r);
    r->conf.ended(end, why, r->conf.userdata);
}

/* ---- its output and its end -------------------------------------------------------------------*/

static int take(struct nm_runner *r, const char *part, size_t n)
{
    if (r->conf.part) {
        r->conf.part(part, n, r->conf.userdata);
        return 1;
    }
    return sv_buf_put(&r->text, part, n) < 0 || r->text.len > NM_RUN_OUTPUT_MAX ? -EMSGSIZE : 1;
}

/* 1: more may be there; 0: nothing now; -EMSGSIZE: too much; -EPIPE: nothing ever. */
static int read_part(struct nm_runner *r)
{
    char part[READ_MAX];
    ssize_t n = read(r->program.out, part, sizeof(part));

    if (n > 0)
        return take(r, part, (size_t)n);
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EPIPE;
}

static void too_much(struct nm_runner *r)
{
    char why[64];

    snprintf(why, sizeof(why), "it printed more than %d bytes", NM_RUN_OUTPUT_MAX);
    give_up(r, NM_RUN_TOO_MUCH, why);
}

static int on_output(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_runner *r = userdata;
    int result = read_part(r);

    (void)source, (void)fd, (void)revents;
    if (result == -EMSGSIZE)
        too_much(r);
    else if (result < 0)
        r->output = sd_event_source_disable_unref(r->output);
    return 0;
}

static void tell_not_started(struct nm_runner *r, const char *reason)
{
    char why[sizeof("cannot be started: ") + sizeof(((struct sv_error *)0)->text)];

    snprintf(why, sizeof(why), "cannot be started: %s", reason);
    r->conf.ended(NM_RUN_NOT_STARTED, why, r->conf.userdata);
}

static void tell(struct nm_runner *r, struct sv_child_end end)
{
    char why[64];
    const int error = nm_program_error(&r->program);

    if (error)
        tell_not_started(r, strerror(error));
    else if (end.how != SV_CHILD_EXITED || end.number != 0)
        r->conf.ended(NM_RUN_FAILED, sv_child_end_text(end, why, sizeof(why)), r->conf.userdata);
    else if (sv_buf_put(&r->text, "", 1) < 0)
        r->conf.ended(NM_RUN_FAILED, "its output: out of memory", r->conf.userdata);
    else
        r->conf.ended(NM_RUN_GOOD, (const char *)r->text.data, r->conf.userdata);
}

/* Processes that it has left behind end with it: they could hold its pipe for ever. */
static int on_exited(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_runner *r = userdata;
    struct sv_child_end end;
    int result = 1;

    (void)source, (void)fd, (void)revents;
    kill_all(r);
    for (int i = 0; i < LAST_READS && r->state == RUN_GOES_ON && result > 0; i++)
        result = read_part(r);
    if (result == -EMSGSIZE)
        too_much(r);
    end = sv_child_reap(&r->program.child);
    if (r->state == RUN_GOES_ON)
        tell(r, end);
    close_run(r);
    wait_for_next(r);
    return 0;
}

/* ---- its start ------------------------------------------------------------------------------- */

static int start(struct nm_runner *r, struct sv_error *err)
{
    int result;

    r->text = SV_BUF_INIT(NM_RUN_OUTPUT_MAX + READ_MAX);
    result = nm_program_start(&r->program, r->conf.argv, &r->group, err);
    if (result < 0)
        return result;
    result = sd_event_add_io(r->event, &r->exited, r->program.child.pidfd, EPOLLIN, on_exited, r);
    if (result >= 0)
        result = sd_event_add_io(r->event, &r->output, r->program.out, EPOLLIN, on_output, r);
    if (result >= 0) /* a program that prints without end comes behind everything else */
        result = sd_event_source_set_priority(r->output, SD_EVENT_PRIORITY_IDLE);
    return result < 0 ? sv_error_errno(err, result, "watching the process") : 0;
}

/* Processes of the last run, or of a killed daemon's, are killed and have not ended: they may wait
 * for a disk or a network file system. Another run would only add to them. */
static bool waits_for_last_run(struct nm_runner *r)
{
    if (r->group.dir < 0 || cg_child_group_populated(&r->group) <= 0) {
        r->lingers_ms = 0;
        return false;
    }
    kill_all(r);
    if (!r->lingers_ms)
        r->lingers_ms = sv_now_ms();
    if (sv_now_ms() - r->lingers_ms >= LINGER_MS)
        r->conf.ended(NM_RUN_LINGERS, "processes of its last run do not end", r->conf.userdata);
    set_timer(r, LINGER_RETRY_MS);
    return true;
}

static void run(struct nm_runner *r)
{
    struct sv_error err = { 0 };

    if (waits_for_last_run(r))
        return;
    r->started_ms = sv_now_ms();
    if (start(r, &err) < 0) {
        kill_all(r);
        close_run(r);
        wait_for_next(r);
        tell_not_started(r, err.text);
        return;
    }
    r->state = RUN_GOES_ON;
    set_timer(r, *r->conf.timeout_ms);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_runner *r = userdata;
    char why[64];

    (void)source, (void)usec;
    if (r->state == RUN_WAITS) {
        run(r);
    } else if (r->state == RUN_GOES_ON) {
        snprintf(why, sizeof(why), "it did not end within %lld ms", (long long)*r->conf.timeout_ms);
        give_up(r, NM_RUN_TIMED_OUT, why);
    }
    return 0;
}

int nm_runner_new(sd_event *event, const struct nm_runner_conf *conf, struct nm_runner **ret,
                  struct sv_error *err)
{
    struct nm_runner *r = calloc(1, sizeof(*r));
    struct sv_error why = { 0 };
    int result;

    if (!r)
        return sv_error_errno(err, -ENOMEM, "%s", conf->name);
    *r = (struct nm_runner){
        .conf = *conf, .event = event, .group = CG_NO_CHILD_GROUP, .program = NM_NO_PROGRAM
    };
    if (cg_child_group_open(conf->group, &r->group, &why) < 0)
        sv_log_notice("%s has no cgroup of its own: %s; what leaves its process group is "
                      "not ended with it (Delegate= of the unit)",
                      conf->name, why.text);
    result = sd_event_add_time_relative(event, &r->timer, CLOCK_BOOTTIME, 0, 0, on_timer, r);
    if (result < 0) {
        nm_runner_free(r);
        return sv_error_errno(err, result, "%s", conf->name);
    }
    *ret = r;
    return 0;
}

struct nm_runner *nm_runner_free(struct nm_runner *r)
{
    if (!r)
        return NULL;
    sd_event_source_disable_unref(r->exited);
    sd_event_source_disable_unref(r->output);
    sd_event_source_disable_unref(r->timer);
    nm_program_end(&r->program, &r->group);
    sv_buf_free(&r->text);
    free(r);
    return NULL;
}
