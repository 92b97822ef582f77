/* Uploads of rolled logs while the application runs (AppLogAggregatorImpl's rolling mode), each
 * roll-monitoring interval: from running containers the files that match the application's rolled
 * patterns, from ended ones all files. The uploader records the uploaded files beside the logs
 * (logs/uploaded-list.h), so the daemon records nothing of it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/logs/log-internal.h"

static void next(struct nm_upload *u)
{
    u->roll_ms = sv_now_ms() + u->g->ctx->conf->logs.roll_ms;
}

void nm_rolling_begin(struct nm_upload *u)
{
    if (u->rolls)
        next(u);
}

bool nm_rolling_due(const struct nm_upload *u, int64_t now)
{
    return u->rolls && u->state == NM_UPLOAD_APP_RUNS && u->g->ctx->conf->logs.roll_ms > 0 &&
           u->roll_ms <= now;
}

void nm_rolling_container_done(struct nm_upload *u, const char *container)
{
    int r = u->rolls ? logs_upload_put_text(&u->ended, LOGS_TAG_CONTAINER, container) : 0;

    if (r == 0 && u->rolls)
        r = logs_upload_put_text(&u->ended, LOGS_TAG_ENDED, container);
    if (r < 0)
        sv_log(SV_LOG_INFO, container, "%s: its logs are uploaded at the application's end: %s",
               container, strerror(-r));
}

/* Adds the running containers: those whose logs the policy wants on success or, if all others are
 * searched, those to skip. */
static int put_running(const struct nm_upload *u, const struct nm_app *a, struct sv_buf *b)
{
    const struct nm_app_member *m, *tmp;
    int r = 0;

    HASH_ITER (hh, a->members, m, tmp) {
        const struct nm_container *c = m->c;

        if (r < 0 || c->state == NM_CONTAINER_DONE)
            continue;
        if (nm_log_policy_wants((enum nm_log_policy)u->head.policy, u->sample,
                                c->container_type == 1, c->id.id & NM_UPLOAD_SEQUENCE, 0))
            r = logs_upload_put_text(b, LOGS_TAG_CONTAINER, c->text);
        else if (u->recovered)
            r = logs_upload_put_text(b, LOGS_TAG_SKIP, c->text);
    }
    return r;
}

/* After a restart earlier ends of containers are unknown: the uploader searches. A container that
 * starts now has a directory younger than the daemon. */
static int put_others(const struct nm_upload *u, struct sv_buf *b)
{
    int r = logs_upload_put_u64(b, LOGS_TAG_OTHERS_BEFORE, (uint64_t)u->g->ctx->start_ms);

    return r < 0 || u->skips.len == 0 ? r : sv_buf_put(b, u->skips.data, u->skips.len);
}

/* The containers of one upload. */
static int put_fields(const struct nm_upload *u, const struct nm_app *a, struct sv_buf *b)
{
    const struct nm_conf *conf = u->g->ctx->conf;
    uint8_t yes = 1, delete = conf->logs.delete_uploaded && conf->delete_debug_delay_ms == 0;
    char time[24];
    int r = put_running(u, a, b);

    if (r == 0 && u->recovered)
        r = put_others(u, b);
    if (r == 0 && u->ended_sent > 0)
        r = sv_buf_put(b, u->ended.data, u->ended_sent);
    if (r == 0 && b->len == 0)
        r = -ENODATA;
    (void)snprintf(time, sizeof time, "%lld", (long long)sv_wall_ms());
    if (r == 0)
        r = logs_upload_put_text(b, LOGS_TIME, time);
    if (r == 0)
        r = logs_upload_put(b, LOGS_TAG_APP_RUNS, &yes, 1);
    return r < 0 ? r : logs_upload_put(b, LOGS_TAG_DELETE, &delete, 1);
}

int nm_rolling_start(struct nm_upload *u, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf fields = SV_BUF_INIT(LOGS_UPLOAD_MAX);
    const struct nm_app *a = nm_app_find(u->g->ctx, u->text);
    int r;

    next(u);
    u->ended_sent = u->ended.len;
    r = a && a->log_dirs ? put_fields(u, a, &fields) : -ENODATA;
    if (r < 0)
        return r == -ENODATA ? r : sv_error_errno(err, r, "request");
    memcpy(u->head.categories, a->categories, sizeof u->head.categories);
    u->head.log_dirs = a->log_dirs;
    u->state = NM_UPLOAD_ROLLS;
    r = nm_upload_start(u, &fields, err);
    if (r < 0)
        u->state = NM_UPLOAD_APP_RUNS;
    return r;
}

static void report_uploaded(struct nm_upload *u, const struct logs_answer *a)
{
    char text[LOGS_UPLOAD_TEXT_MAX + 200] = "";

    u->recovered = false;
    u->ended.len -= u->ended_sent;
    if (u->ended.len > 0)
        memmove(u->ended.data, u->ended.data + u->ended_sent, u->ended.len);
    if (a->outcome == LOGS_DONE) {
        (void)snprintf(
            text, sizeof text,
            "Log uploaded successfully for Application: %s in NodeManager: %.100s%s%.300s\n",
            u->text, u->g->ctx->node_id_text, *a->text ? "; " : "", a->text);
        sv_log(SV_LOG_INFO, u->text, "%s: uploaded %u rolled logs of %llu bytes%s%s", u->text,
               a->files, (unsigned long long)a->bytes, *a->text ? "; " : "", a->text);
    }
    nm_upload_report(u, HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_RUNNING, 0, text);
}

void nm_rolling_answered(struct nm_upload *u, const struct logs_answer *a)
{
    if (a->outcome == LOGS_DONE || a->outcome == LOGS_NOTHING) {
        report_uploaded(u, a);
    } else {
        sv_log(SV_LOG_WARNING, u->text,
               "%s: cannot upload its rolled logs: %s; retried at the next upload", u->text,
               a->text);
        nm_upload_report(u, HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_RUNNING_WITH_FAILURE, 0,
                         a->text);
    }
    u->ended_sent = 0;
    u->state = u->app_ended ? NM_UPLOAD_WAITS : NM_UPLOAD_APP_RUNS;
}
