/* See health-script.h. What the script writes is judged here; script-runner.c runs it. */
#include "nodemanager/health/health-script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/utf8.h"
#include "nodemanager/health/script-output.h"
#include "nodemanager/health/script-runner.h"

#define TIMED_OUT "Node health script timed out" /* Hadoop's words */

struct nm_script {
    const struct nm_conf_script *conf;
    struct nm_runner *runner;
    int64_t checked_ms;
    struct nm_script_output text;
    char failed[64]; /* how its last run did; logged when it changes; "" = well */
    char report[NM_SCRIPT_REPORT_MAX];
};

static void set_report(struct nm_script *s, const char *report)
{
    if (strcmp(s->report, report) != 0 && *report)
        sv_log_warning("health script %s: the node is unhealthy: %s", s->conf->name, report);
    else if (*s->report && !*report)
        sv_log_notice("health script %s: the node is healthy again by it", s->conf->name);
    snprintf(s->report, sizeof(s->report), "%s", report);
    s->checked_ms = sv_wall_ms();
}

static void set_fault(struct nm_script *s, const char *why)
{
    char report[NM_SCRIPT_REPORT_MAX], text[NM_SCRIPT_REPORT_MAX];

    (void)snprintf(text, sizeof(text), "%s: %s", s->conf->argv[0], why);
    sv_utf8_copy(report, sizeof(report), text, strlen(text));
    set_report(s, report);
}

/* As in Hadoop, the output of a script that fails is ignored: it may be wrong itself. */
static void judge(struct nm_script *s, const char *failed)
{
    char report[NM_SCRIPT_REPORT_MAX] = "";

    if (*failed && strcmp(failed, s->failed) != 0)
        sv_log_warning("health script %s %s: its output does not count, and the node is healthy by "
                       "it",
                       s->conf->name, failed);
    (void)snprintf(s->failed, sizeof(s->failed), "%s", failed);
    if (!*failed)
        nm_script_output_report(&s->text, report);
    set_report(s, report);
}

static void on_part(const char *part, size_t n, void *userdata)
{
    struct nm_script *s = userdata;

    nm_script_output_add(&s->text, part, n);
}

static void on_ended(enum nm_run_end end, const char *text, void *userdata)
{
    struct nm_script *s = userdata;

    if (end == NM_RUN_GOOD || end == NM_RUN_FAILED)
        judge(s, end == NM_RUN_FAILED ? text : "");
    else if (end == NM_RUN_TIMED_OUT)
        set_report(s, TIMED_OUT);
    else
        set_fault(s, text);
    nm_script_output_begin(&s->text);
}

int nm_script_new(sd_event *event, const struct nm_conf_health *all,
                  const struct nm_conf_script *conf, const char *group, struct nm_script **ret,
                  struct sv_error *err)
{
    struct nm_script *s = calloc(1, sizeof(*s));
    char name[128];
    int r;

    (void)snprintf(name, sizeof(name), "health script %s", conf->name);
    if (!s)
        return sv_error_errno(err, -ENOMEM, "%s", name);
    s->conf = conf;
    nm_script_output_begin(&s->text);
    r = nm_runner_new(event,
                      &(struct nm_runner_conf){
                          .group = group,
                          .name = name,
                          .argv = conf->argv,
                          .interval_ms = conf->interval_ms ? &conf->interval_ms : &all->interval_ms,
                          .timeout_ms = conf->timeout_ms ? &conf->timeout_ms : &all->timeout_ms,
                          .part = on_part,
                          .ended = on_ended,
                          .userdata = s },
                      &s->runner, err);
    if (r < 0) {
        nm_script_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct nm_script *nm_script_free(struct nm_script *s)
{
    if (!s)
        return NULL;
    nm_runner_free(s->runner);
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
