/* See log-aggregation.h: the list of uploads, their order, their records. */
#include "nodemanager/logs/log-aggregation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/logs/log-internal.h"
#include "nodemanager/services/log-handler.h"
#include "nodemanager/store/state-store.h"

#define ATTEMPTS_MAX 5
#define RETRY_MS 10000 /* multiplied by the square of the number of attempts */

static void arm(struct nm_log_aggregation *g);

/* ---- Order ---- */

/* Ends the upload, with success or not; its last report is still to be delivered. */
static void over(struct nm_upload *u, int final_status, int status, const char *text)
{
    u->state = NM_UPLOAD_OVER;
    nm_upload_unrecord(u);
    nm_upload_credentials_forget(u);
    nm_upload_report(u, status, final_status, text);
    nm_context_changed(u->g->ctx);
}

static void uploaded(struct nm_upload *u, const struct logs_answer *a)
{
    char text[LOGS_UPLOAD_TEXT_MAX + 200] = "";

    if (a->outcome == LOGS_DONE) {
        (void)snprintf(
            text, sizeof(text),
            "Log uploaded successfully for Application: %s in NodeManager: %.100s%s%.300s\n",
            u->text, u->g->ctx->node_id_text, *a->text ? "; " : "", a->text);
        sv_log(SV_LOG_INFO, u->text, "%s: uploaded %u logs of %llu bytes%s%s", u->text, a->files,
               (unsigned long long)a->bytes, *a->text ? "; " : "", a->text);
    }
    over(u, HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_SUCCEEDED,
         HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_RUNNING, text);
    if (u->g->ctx->conf->logs.delete_uploaded)
        nm_log_handler_expire(u->g->handler, u->text);
}

static void give_up(struct nm_upload *u, const char *why)
{
    int64_t until = nm_log_handler_until(u->g->handler, u->text);
    int r = 0;

    sv_log(SV_LOG_ERR, u->text,
           "%s: its logs are not uploaded: %s; kept on this node for "
           "yarn.nodemanager.log.retain-seconds",
           u->text, why);
    over(u, HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_FAILED,
         HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_RUNNING_WITH_FAILURE, why);
    if (until > 0)
        r = nm_log_failures_add(&u->g->failures, u->text, u->account, why, until);
    if (r < 0)
        sv_log(SV_LOG_ERR, u->text, "%s: cannot record failed upload in state store: %s", u->text,
               strerror(-r));
}

static void on_deleted(const char *app, void *userdata)
{
    struct nm_log_aggregation *g = userdata;

    nm_log_failures_remove(&g->failures, app);
}

const struct nm_log_failures *nm_aggregation_failures(const struct nm_log_aggregation *g)
{
    return &g->failures;
}

static void failed_once(struct nm_upload *u, const char *why)
{
    int64_t wait;

    u->attempts++;
    wait = (int64_t)RETRY_MS * u->attempts * u->attempts;
    if (u->attempts >= ATTEMPTS_MAX) {
        give_up(u, why);
        return;
    }
    u->state = NM_UPLOAD_WAITS;
    u->retry_ms = sv_now_ms() + wait;
    sv_log(SV_LOG_WARNING, u->text, "%s: upload of its logs: %s; the next attempt is in %lld s",
           u->text, why, (long long)wait / 1000);
    nm_upload_report(u, HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_RUNNING_WITH_FAILURE, 0,
                     why);
}

static void on_answered(struct nm_upload *u, const struct logs_answer *a)
{
    nm_upload_stop(u);
    u->g->running--;
    if (u->state == NM_UPLOAD_ROLLS)
        nm_rolling_answered(u, a);
    else if (a->outcome == LOGS_DONE || a->outcome == LOGS_NOTHING)
        uploaded(u, a);
    else if (a->outcome == LOGS_REFUSED)
        give_up(u, a->text);
    else
        failed_once(u, a->text);
    arm(u->g);
}

static void start(struct nm_upload *u)
{
    struct sv_error err = { 0 };

    if (u->head.too_long) {
        give_up(u, "a pattern or the policy of its LogAggregationContext is too long");
    } else if (u->attempts > 0 && !nm_log_handler_keeps(u->g->handler, u->text)) {
        give_up(u, "its logs have been deleted");
    } else if (nm_upload_start(u, &u->skips, &err) < 0) {
        failed_once(u, err.text);
    } else {
        u->state = NM_UPLOAD_RUNS;
        u->g->running++;
    }
}

static void start_rolling(struct nm_upload *u)
{
    struct sv_error err = { 0 };
    int r = nm_rolling_start(u, &err);

    if (r == 0)
        u->g->running++;
    else if (r != -ENODATA)
        sv_log(SV_LOG_WARNING, u->text, "%s: its rolled logs are not uploaded now: %s", u->text,
               err.text);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_log_aggregation *g = userdata;
    int64_t now = sv_now_ms();
    struct nm_upload *u;

    (void)s;
    (void)usec;
    DL_FOREACH (g->list, u) {
        if (g->running >= g->ctx->conf->logs.uploads_max)
            break;
        if (u->state == NM_UPLOAD_WAITS && u->retry_ms <= now)
            start(u);
        else if (nm_rolling_due(u, now))
            start_rolling(u);
    }
    arm(g);
    return 0;
}

/* Arms the timer for the next upload that may start; call it after each change of their number. */
static void arm(struct nm_log_aggregation *g)
{
    int64_t next = INT64_MAX, now = sv_now_ms();
    const struct nm_upload *u;

    nm_uploads_share(g);

    DL_FOREACH (g->list, u)
        if (u->state == NM_UPLOAD_WAITS)
            next = SV_MIN(next, u->retry_ms);
        else if (nm_rolling_due(u, INT64_MAX))
            next = SV_MIN(next, u->roll_ms);
    if (next == INT64_MAX || g->running >= g->ctx->conf->logs.uploads_max)
        return;
    (void)sd_event_source_set_time_relative(g->timer,
                                            next > now ? (uint64_t)(next - now) * 1000 : 0);
    (void)sd_event_source_set_enabled(g->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

/* ---- Applications ---- */

static void choose_policy(const struct nm_log_aggregation *g, struct nm_upload *u,
                          const char *wanted)
{
    const char *configured = g->ctx->conf->logs.policy;
    enum nm_log_policy policy = NM_LOGS_ALL;

    if (*wanted && nm_log_policy_parse(wanted, &policy) < 0) {
        char shown[100];

        sv_escape(shown, sizeof(shown), wanted);
        sv_log(SV_LOG_WARNING, u->text,
               "%s: log aggregation policy %s is not supported; %s is used", u->text, shown,
               configured);
        wanted = "";
    }
    if (!*wanted) /* checked at start */
        (void)!nm_log_policy_parse(configured, &policy);
    u->head.policy = (uint8_t)policy;
}

/* The application's parameters, else the configured ones. */
static void choose_sample(struct nm_upload *u, const char *parameters)
{
    char shown[100];

    if (nm_log_sample_parse(parameters, &u->sample) == 0)
        return;
    sv_escape(shown, sizeof(shown), parameters);
    sv_log(SV_LOG_WARNING, u->text,
           "%s: parameters \"%s\" of its log aggregation policy are malformed: expected "
           "SR:0.2,MIN:20; these values replace malformed ones",
           u->text, shown);
}

static int put_rolled(struct nm_upload *u, const struct yarn_container_token *t)
{
    int r = logs_upload_put_text(&u->fields, LOGS_ROLLED_INCLUDE, t->log_rolled_include);

    u->rolls = *t->log_rolled_include != 0;
    return r < 0 ? r : logs_upload_put_text(&u->fields, LOGS_ROLLED_EXCLUDE, t->log_rolled_exclude);
}

static int put_fields(struct nm_upload *u, const struct nm_app *a,
                      const struct yarn_container_token *t)
{
    char bucket[16];
    const char *parameters = *t->log_policy_parameters ? t->log_policy_parameters
                                                       : u->g->ctx->conf->logs.policy_parameters;
    int r = logs_upload_put_text(&u->fields, LOGS_USER, a->user);

    choose_sample(u, parameters);
    (void)snprintf(bucket, sizeof(bucket), "%04d", a->id.id % 10000);
    if (r == 0)
        r = logs_upload_put_text(&u->fields, LOGS_APP, a->text);
    if (r == 0)
        r = logs_upload_put_text(&u->fields, LOGS_BUCKET, bucket);
    if (r == 0)
        r = logs_upload_put_text(&u->fields, LOGS_INCLUDE, t->log_include);
    if (r == 0)
        r = logs_upload_put_text(&u->fields, LOGS_EXCLUDE, t->log_exclude);
    if (r == 0 && u->g->ctx->conf->logs.roll_ms > 0)
        r = put_rolled(u, t);
    if (r == 0)
        r = logs_upload_put_text(&u->fields, LOGS_SAMPLE, parameters);
    if (r == 0)
        r = logs_upload_put_text(&u->fields, LOGS_TAG_RIGHT, "VIEW_APP");
    if (r == 0)
        r = logs_upload_put_text(&u->fields, LOGS_TAG_LIST, a->view_acl ? a->view_acl : " ");
    if (r == 0)
        r = logs_upload_put_text(&u->fields, LOGS_TAG_RIGHT, "MODIFY_APP");
    return r < 0 ? r
                 : logs_upload_put_text(&u->fields, LOGS_TAG_LIST,
                                        a->modify_acl ? a->modify_acl : " ");
}

int nm_aggregation_app_started(struct nm_log_aggregation *g, const struct nm_app *a,
                               const struct yarn_container_token *t,
                               struct fs_credentials credentials)
{
    struct nm_upload *u;
    int r;

    if (!g->ctx->conf->logs.aggregate || nm_upload_find(g, a->text))
        return 0;
    u = nm_upload_add(g, a->id, a->run_as);
    if (!u)
        return -ENOMEM;
    u->head.too_long = t->log_too_long;
    choose_policy(g, u, t->log_policy);
    r = put_fields(u, a, t);
    if (r == 0)
        r = nm_upload_record(u);
    if (r < 0) {
        nm_upload_drop(u);
        return r;
    }
    nm_upload_credentials_submitted(u, credentials);
    nm_rolling_begin(u);
    arm(g);
    return 0;
}

void nm_aggregation_container_done(struct nm_log_aggregation *g, const struct nm_container *c)
{
    struct nm_upload *u = c->app ? nm_upload_find(g, c->app->text) : NULL;
    int r;

    if (!u || (u->state != NM_UPLOAD_APP_RUNS && u->state != NM_UPLOAD_ROLLS))
        return;
    if (nm_log_policy_wants((enum nm_log_policy)u->head.policy, u->sample, c->container_type == 1,
                            c->id.id & NM_UPLOAD_SEQUENCE, c->exit_code)) {
        nm_rolling_container_done(u, c->text);
        return;
    }
    r = logs_upload_put_text(&u->skips, LOGS_TAG_SKIP, c->text);
    if (r == 0)
        r = nm_store_log_skip(g->ctx->store, u->text, c->text);
    if (r < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: its logs are uploaded against the policy: %s", c->text,
               strerror(-r));
}

/* Records the time, so that the upload is repeated under the same name. */
static int put_time(struct nm_upload *u)
{
    char time[24];

    if (u->g->ctx->conf->logs.roll_ms == 0)
        return 0;
    (void)snprintf(time, sizeof(time), "%lld", (long long)sv_wall_ms());
    return logs_upload_put_text(&u->fields, LOGS_TIME, time);
}

void nm_aggregation_app_finished(struct nm_log_aggregation *g, struct nm_app *a)
{
    struct nm_upload *u = nm_upload_find(g, a->text);
    int r;

    nm_log_handler_app_finished(g->handler, a);
    if (!u || (u->state != NM_UPLOAD_APP_RUNS && u->state != NM_UPLOAD_ROLLS) || u->app_ended)
        return;
    if (put_time(u) < 0)
        sv_log(SV_LOG_ERR, u->text, "%s: out of memory: its last file replaces another one",
               u->text);
    memcpy(u->head.categories, a->categories, sizeof(u->head.categories));
    u->head.log_dirs = a->log_dirs;
    u->app_ended = true;
    nm_upload_credentials_last(u);
    nm_upload_keep_alive(u, false);
    if (u->state != NM_UPLOAD_ROLLS)
        u->state = NM_UPLOAD_WAITS;
    u->retry_ms = 0;
    if (a->init_error || a->log_dirs == 0) { /* no directory, no logs */
        over(u, HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_SUCCEEDED,
             HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_RUNNING, "");
        return;
    }
    r = nm_upload_record(u);
    if (r < 0)
        sv_log(SV_LOG_ERR, u->text, "%s: cannot record upload in state store: %s", u->text,
               strerror(-r));
    nm_upload_report(u, HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_RUNNING, 0, "");
    arm(g);
}

void nm_aggregation_reports_delivered(struct nm_log_aggregation *g)
{
    struct nm_upload *u, *tmp;

    DL_FOREACH_SAFE (g->list, u, tmp) {
        nm_upload_keep_alive_told(u);
        if (!u->in_flight)
            continue;
        u->in_flight = false;
        u->status = u->final_status = 0;
        if (u->state == NM_UPLOAD_OVER)
            nm_upload_drop(u);
    }
}

/* ---- Start and end ---- */

int nm_aggregation_new(struct nm_context *ctx, struct nm_log_handler *handler,
                       struct nm_log_aggregation **ret, struct sv_error *err)
{
    struct nm_log_aggregation *g = calloc(1, sizeof(*g));
    enum nm_log_policy policy;
    int r = 0;

    if (!g)
        return sv_error_errno(err, -ENOMEM, "log aggregation");
    g->ctx = ctx;
    g->handler = handler;
    g->answered = on_answered;
    g->remote.root = -1;
    g->failures.store = ctx->store;
    nm_log_handler_on_deleted(handler, on_deleted, g);
    if (ctx->conf->logs.aggregate) {
        if (nm_log_policy_parse(ctx->conf->logs.policy, &policy) < 0)
            r = sv_error_set(err, -EINVAL,
                             "yarn.nodemanager.log-aggregation.policy.class: %s is not supported",
                             ctx->conf->logs.policy);
        if (r == 0)
            r = nm_log_remote_open(ctx->conf, &g->remote, err);
    }
    if (r == 0)
        r = sd_event_add_time_relative(ctx->event, &g->timer, CLOCK_BOOTTIME, 0, 100000, on_timer,
                                       g);
    if (r >= 0)
        r = sd_event_source_set_enabled(g->timer, SD_EVENT_OFF);
    if (r < 0) {
        nm_aggregation_free(g);
        return err->code ? r : sv_error_errno(err, r, "log aggregation");
    }
    *ret = g;
    return 0;
}

struct nm_log_aggregation *nm_aggregation_free(struct nm_log_aggregation *g)
{
    if (!g)
        return NULL;
    nm_log_handler_on_deleted(g->handler, NULL, NULL);
    while (g->list)
        nm_upload_drop(g->list);
    nm_log_failures_clear(&g->failures);
    sd_event_source_disable_unref(g->timer);
    nm_log_remote_close(&g->remote);
    free(g);
    return NULL;
}

/* The fields that the daemon itself needs. */
static int recover_fields(struct nm_upload *u)
{
    uint8_t *copy = malloc(u->fields.len + 1);
    struct logs_upload fields;
    int r;

    if (!copy)
        return -ENOMEM;
    if (u->fields.len > 0)
        memcpy(copy, u->fields.data, u->fields.len);
    r = logs_upload_parse(copy, u->fields.len, &fields);
    if (r < 0)
        return r;
    (void)!nm_log_sample_parse(fields.text[LOGS_SAMPLE], &u->sample); /* warned before, ignoring */
    u->rolls = *fields.text[LOGS_ROLLED_INCLUDE] != 0;
    logs_upload_clear(&fields);
    return 0;
}

/* Reports the failure again: the ResourceManager may not have it yet. */
static int recover_failure(struct nm_log_aggregation *g, const struct nm_stored_upload *s)
{
    int64_t until = nm_log_handler_until(g->handler, s->app);
    const struct nm_log_failure *failure;
    struct yarn_app_id id;
    struct nm_upload *u;
    int r = nm_log_failures_restore(&g->failures, s, until, &failure);

    if (r < 0 || until == 0 || yarn_app_id_parse(s->app, &id) < 0)
        return r;
    u = nm_upload_add(g, id, s->account);
    if (!u)
        return -ENOMEM;
    u->state = NM_UPLOAD_OVER;
    nm_upload_report(u, HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_RUNNING_WITH_FAILURE,
                     HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_FAILED, failure->why);
    return 0;
}

static int recover_one(const struct nm_stored_upload *s, void *userdata)
{
    struct nm_log_aggregation *g = userdata;
    struct yarn_app_id id;
    struct nm_upload *u;
    int r = 0;

    if (s->state == NM_STORED_UPLOAD_FAILED)
        return recover_failure(g, s);
    u = s->len >= sizeof(u->head) && yarn_app_id_parse(s->app, &id) == 0
            ? nm_upload_add(g, id, s->account)
            : NULL;
    if (u)
        memcpy(&u->head, s->value, sizeof(u->head));
    if (u && s->len > sizeof(u->head))
        r = sv_buf_put(&u->fields, (const uint8_t *)s->value + sizeof(u->head),
                       s->len - sizeof(u->head));
    if (u && r == 0)
        r = recover_fields(u);
    if (!u || r < 0) {
        sv_log_err("state store: upload of the logs of \"%.80s\" cannot be restored, ignoring",
                   s->app);
        return 0;
    }
    u->state = s->state == NM_STORED_UPLOAD_PENDING ? NM_UPLOAD_WAITS : NM_UPLOAD_APP_RUNS;
    u->recovered = u->rolls;
    if (u->state == NM_UPLOAD_WAITS)
        nm_upload_keep_alive(u, true);
    nm_rolling_begin(u);
    return 0;
}

static int recover_skip(const char *app, const char *container, void *userdata)
{
    struct nm_upload *u = nm_upload_find(userdata, app);

    return u ? logs_upload_put_text(&u->skips, LOGS_TAG_SKIP, container) : 0;
}

int nm_aggregation_recover(struct nm_log_aggregation *g)
{
    struct nm_log_failure *failure, *next;
    struct nm_upload *u, *tmp;
    int r;

    if (!g->ctx->conf->logs.aggregate)
        return 0;
    r = nm_store_each_log_upload(g->ctx->store, recover_one, g);
    if (r >= 0)
        r = nm_store_each_log_skip(g->ctx->store, recover_skip, g);
    if (r >= 0)
        r = nm_upload_credentials_restore(g);
    DL_FOREACH_SAFE (g->list, u, tmp)
        if (u->state == NM_UPLOAD_APP_RUNS && !nm_app_find(g->ctx, u->text)) {
            nm_upload_unrecord(u); /* its first container was never recorded */
            nm_upload_credentials_forget(u);
            nm_upload_drop(u);
        }
    HASH_ITER (hh, g->failures.all, failure, next)
        if (failure->until_ms == 0) /* its logs were deleted */
            nm_log_failures_remove(&g->failures, failure->app);
    arm(g);
    return r;
}
