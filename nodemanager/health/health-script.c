/* See health-script.h. The script is the operator's: it may hang, fork, write without end or be
 * gone, and a disk that it looks at may hang. The daemon neither waits for it nor opens it. */
#include "nodemanager/health/health-script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/utf8.h"
#include "nodemanager/health/operator-program.h"
#include "nodemanager/health/script-output.h"

#define READ_MAX 65536
#define LAST_READS 16 /* of what is left in the pipe at the end: 1 MiB is the largest of pipes */
#define LINGER_MS 10000
#define LINGER_RETRY_MS 100
#define TIMED_OUT "Node health script timed out" /* Hadoop's words */

struct nm_script {
    const struct nm_conf_health *all;
    const struct nm_conf_script *conf;
    sd_event *event;
    struct cg_child_group group;
    enum {
        SCRIPT_WAITS, /* for its time */
        SCRIPT_RUNS,
        SCRIPT_KILLED, /* for its timeout; it may take long to end */
    } state;
    struct nm_program program;
    int64_t started_ms, checked_ms;
    int64_t lingers_ms; /* since when a run waits for the end of processes of the last one; 0 */
    sd_event_source *timer, *exited, *output;
    struct nm_script_output text;
    struct sv_child_end last; /* logged when it changes */
    char report[NM_SCRIPT_REPORT_MAX];
};

static int64_t interval(const struct nm_script *s)
{
    return s->conf->interval_ms ? s->conf->interval_ms : s->all->interval_ms;
}

static int64_t timeout(const struct nm_script *s)
{
    return s->conf->timeout_ms ? s->conf->timeout_ms : s->all->timeout_ms;
}

static void set_timer(struct nm_script *s, int64_t ms)
{
    (void)sd_event_source_set_time_relative(s->timer, (uint64_t)SV_MAX(ms, INT64_C(0)) * 1000);
    (void)sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

/* A fixed rate, as Hadoop's timer; a run that took longer delays the next one. */
static void wait_for_next(struct nm_script *s)
{
    s->state = SCRIPT_WAITS;
    set_timer(s, s->started_ms + interval(s) - sv_now_ms());
}

static void set_report(struct nm_script *s, const char *report)
{
    if (strcmp(s->report, report) != 0 && *report)
        sv_log_warning("health script %s: the node is unhealthy: %s", s->conf->name, report);
    else if (*s->report && !*report)
        sv_log_notice("health script %s: the node is healthy again by it", s->conf->name);
    snprintf(s->report, sizeof(s->report), "%s", report);
    s->checked_ms = sv_wall_ms();
}

_printf_(2, 3) static void set_fault(struct nm_script *s, const char *fmt, ...)
{
    char report[NM_SCRIPT_REPORT_MAX], text[NM_SCRIPT_REPORT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sv_utf8_copy(report, sizeof(report), text, strlen(text));
    set_report(s, report);
}

static void kill_all(const struct nm_script *s)
{
    nm_program_kill(&s->program, &s->group);
}

static void close_run(struct nm_script *s)
{
    s->exited = sd_event_source_disable_unref(s->exited);
    s->output = sd_event_source_disable_unref(s->output);
    nm_program_close(&s->program);
}

/* ---- its output and its end -------------------------------------------------------------------*/

/* False: nothing is there now, or ever. */
static bool read_output(struct nm_script *s, bool *ret_end)
{
    char part[READ_MAX];
    ssize_t n = read(s->program.out, part, sizeof(part));

    *ret_end = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (n > 0)
        nm_script_output_add(&s->text, part, (size_t)n);
    return n > 0;
}

static int on_output(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_script *s = userdata;
    bool end;

    (void)source;
    (void)fd;
    (void)revents;
    (void)read_output(s, &end); /* only the end counts, ignoring */
    if (end)
        s->output = sd_event_source_disable_unref(s->output);
    return 0;
}

/* As in Hadoop, the output of a script that fails is ignored: it may be wrong itself. */
static void judge(struct nm_script *s, struct sv_child_end end)
{
    bool good = end.how == SV_CHILD_EXITED && end.number == 0;
    char how[64], report[NM_SCRIPT_REPORT_MAX] = "";
    const int error = nm_program_error(&s->program);

    if (error) {
        set_fault(s, "%s: cannot be started: %s", s->conf->argv[0], strerror(error));
        return;
    }
    if (!good && (end.how != s->last.how || end.number != s->last.number))
        sv_log_warning("health script %s %s: its output does not count, and the node is healthy by "
                       "it",
                       s->conf->name, sv_child_end_text(end, how, sizeof(how)));
    s->last = end;
    if (good)
        nm_script_output_report(&s->text, report);
    set_report(s, report);
}

/* Processes that it has left behind end with it: they could hold its pipe for ever. */
static int on_exited(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_script *s = userdata;
    struct sv_child_end end;
    bool over = false;

    (void)source;
    (void)fd;
    (void)revents;
    kill_all(s);
    for (int i = 0; i < LAST_READS && read_output(s, &over);)
        i++;
    end = sv_child_reap(&s->program.child);
    if (s->state == SCRIPT_RUNS)
        judge(s, end);
    close_run(s);
    wait_for_next(s);
    return 0;
}

/* ---- its start ------------------------------------------------------------------------------- */

static int start(struct nm_script *s, struct sv_error *err)
{
    int r;

    nm_script_output_begin(&s->text);
    r = nm_program_start(&s->program, s->conf->argv, &s->group, err);
    if (r < 0)
        return r;
    r = sd_event_add_io(s->event, &s->exited, s->program.child.pidfd, EPOLLIN, on_exited, s);
    if (r >= 0)
        r = sd_event_add_io(s->event, &s->output, s->program.out, EPOLLIN, on_output, s);
    if (r >= 0) /* a script that writes without end comes behind everything else */
        r = sd_event_source_set_priority(s->output, SD_EVENT_PRIORITY_IDLE);
    return r < 0 ? sv_error_errno(err, r, "watching the process") : 0;
}

/* Processes of the last run, or of a killed daemon's, are killed and have not ended: they may wait
 * for a disk or a network file system. Another run would only add to them. */
static bool waits_for_last_run(struct nm_script *s)
{
    if (s->group.dir < 0 || cg_child_group_populated(&s->group) <= 0) {
        s->lingers_ms = 0;
        return false;
    }
    kill_all(s);
    if (!s->lingers_ms)
        s->lingers_ms = sv_now_ms();
    if (sv_now_ms() - s->lingers_ms >= LINGER_MS)
        set_fault(s, "%s: processes of its last run do not end", s->conf->argv[0]);
    set_timer(s, LINGER_RETRY_MS);
    return true;
}

static void run(struct nm_script *s)
{
    struct sv_error err = { 0 };

    if (waits_for_last_run(s))
        return;
    s->started_ms = sv_now_ms();
    if (start(s, &err) < 0) {
        set_fault(s, "%s: cannot be started: %s", s->conf->argv[0], err.text);
        kill_all(s);
        close_run(s);
        wait_for_next(s);
        return;
    }
    s->state = SCRIPT_RUNS;
    set_timer(s, timeout(s));
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_script *s = userdata;

    (void)source;
    (void)usec;
    if (s->state == SCRIPT_WAITS) {
        run(s);
    } else if (s->state == SCRIPT_RUNS) {
        s->state = SCRIPT_KILLED;
        set_report(s, TIMED_OUT);
        kill_all(s);
        s->output = sd_event_source_disable_unref(s->output);
    }
    return 0;
}

int nm_script_new(sd_event *event, const struct nm_conf_health *all,
                  const struct nm_conf_script *conf, struct cg_child_group *group,
                  struct nm_script **ret, struct sv_error *err)
{
    struct nm_script *s = calloc(1, sizeof(*s));
    int r;

    if (!s) {
        cg_child_group_close(group);
        return sv_error_errno(err, -ENOMEM, "health script %s", conf->name);
    }
    *s = (struct nm_script){
        .all = all, .conf = conf, .event = event, .group = *group, .program = NM_NO_PROGRAM
    };
    *group = CG_NO_CHILD_GROUP;
    r = sd_event_add_time_relative(event, &s->timer, CLOCK_BOOTTIME, 0, 0, on_timer, s);
    if (r < 0) {
        nm_script_free(s);
        return sv_error_errno(err, r, "health script %s", conf->name);
    }
    *ret = s;
    return 0;
}

struct nm_script *nm_script_free(struct nm_script *s)
{
    if (!s)
        return NULL;
    sd_event_source_disable_unref(s->exited);
    sd_event_source_disable_unref(s->output);
    sd_event_source_disable_unref(s->timer);
    nm_program_end(&s->program, &s->group);
    free(s);
    return NULL;
}

const char *nm_script_report(const struct nm_script *s)
{
    return s->report;
}

int64_t nm_script_checked_ms(const struct nm_script *s)
{
    return s->checked_ms;
}
