/* See launch-failures.h. */
#include "nodemanager/health/launch-failures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/conf/conf.h"

#define LONGEST 16 /* times retry_ms */

struct nm_launch_failures {
    sd_event *event;
    unsigned limit;
    int64_t retry_ms;
    struct yarn_app_id apps[NM_LAUNCH_FAILURES_MAX]; /* that have failed since the last success */
    unsigned n;
    int64_t wait_ms; /* of the next time without launches; 0 = no such time since a success */
    sd_event_source *timer; /* runs while the node is unhealthy */
    char report[600];       /* "" = healthy */
};

int nm_launch_failures_new(sd_event *event, unsigned limit, int64_t retry_ms,
                           struct nm_launch_failures **ret, struct sv_error *err)
{
    struct nm_launch_failures *f = calloc(1, sizeof(*f));

    if (!f)
        return sv_error_errno(err, -ENOMEM, "launch failures");
    *f = (struct nm_launch_failures){ .event = event,
                                      .limit = SV_MIN(limit, (unsigned)NM_LAUNCH_FAILURES_MAX),
                                      .retry_ms = retry_ms };
    *ret = f;
    return 0;
}

struct nm_launch_failures *nm_launch_failures_free(struct nm_launch_failures *f)
{
    if (!f)
        return NULL;
    sd_event_source_disable_unref(f->timer);
    free(f);
    return NULL;
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_launch_failures *f = userdata;

    (void)s;
    (void)usec;
    f->timer = sd_event_source_disable_unref(f->timer);
    f->report[0] = '\0';
    sv_log_notice("node is offered again, to try a launch; the next failure makes it unhealthy");
    return 0;
}

static void trip(struct nm_launch_failures *f, const char *why)
{
    if (f->timer) /* a pending one */
        return;
    f->wait_ms = f->wait_ms ? SV_MIN(2 * f->wait_ms, LONGEST * f->retry_ms) : f->retry_ms;
    if (sd_event_add_time_relative(f->event, &f->timer, CLOCK_BOOTTIME, (uint64_t)f->wait_ms * 1000,
                                   0, on_retry, f) < 0)
        return; /* no memory: the node remains available */
    snprintf(
        f->report, sizeof(f->report),
        "launches of %u applications one after the other have failed for reasons of this node; "
        "a launch is tried in %lld ms; the last: %s",
        f->n, (long long)f->wait_ms, why);
    sv_log_err("node is unhealthy: %s", f->report);
}

void nm_launch_failures_add(struct nm_launch_failures *f, struct yarn_app_id app, const char *why)
{
    bool known = false;

    for (unsigned i = 0; i < f->n; i++)
        known = known || yarn_app_id_cmp(f->apps[i], app) == 0;
    if (!known && f->n < NM_LAUNCH_FAILURES_MAX)
        f->apps[f->n++] = app;
    if (f->limit && f->n >= f->limit)
        trip(f, why);
}

void nm_launch_failures_clear(struct nm_launch_failures *f)
{
    if (f->wait_ms)
        sv_log_notice("a launch has succeeded: the node is healthy");
    f->n = 0;
    f->wait_ms = 0;
    f->timer = sd_event_source_disable_unref(f->timer);
    f->report[0] = '\0';
}

const char *nm_launch_failures_report(const struct nm_launch_failures *f)
{
    return *f->report ? f->report : NULL;
}
