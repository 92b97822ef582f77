/* See app-lifetime.h. */
#include "rm-lite/fsm/app-lifetime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/store/store.h"

#define LIFETIME HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME
#define KILLED "Application is killed by ResourceManager as it has exceeded the lifetime period."

typedef Hadoop__Yarn__ApplicationSubmissionContextProto Submission;

int64_t rm_lifetime_end_ms(const struct rm_app *app)
{
    int64_t ms;

    if (app->lifetime_s <= 0 || __builtin_mul_overflow(app->lifetime_s, INT64_C(1000), &ms) ||
        __builtin_add_overflow(app->submit_ms, ms, &ms))
        return 0;
    return ms;
}

/* Stores the submission with another lifetime: a restarted ResourceManager reads it there. */
static int rewrite(struct rm_app *app, int64_t seconds)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationTimeoutMapProto row =
        HADOOP__YARN__APPLICATION_TIMEOUT_MAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationTimeoutMapProto *rows[] = { &row };
    Submission *ctx = a ? hadoop__yarn__application_submission_context_proto__unpack(
                              sv_arena_protobuf(a), app->submission_len, app->submission)
                        : NULL;

    if (!ctx)
        return -ENOMEM;
    row.has_application_timeout_type = row.has_timeout = true;
    row.application_timeout_type = LIFETIME;
    row.timeout = seconds;
    ctx->application_timeouts = rows;
    ctx->n_application_timeouts = 1;
    return rm_submission_pack(app, ctx);
}

int rm_lifetime_set_end(struct rm_app *app, int64_t end_ms)
{
    int64_t s = SV_MAX((end_ms - app->submit_ms + 999) / 1000, (int64_t)1);
    int r = rewrite(app, s);

    if (r < 0)
        return r;
    app->lifetime_s = s;
    rm_store_app_update(app->rm, app);
    return 0;
}

int rm_lifetime_of_queue(struct rm_app *app)
{
    struct rm_queue_info q;
    int64_t s = app->lifetime_s;
    int r;

    if (rm_sched_queue(app->rm->sched, app->queue, &q) < 0)
        return 0; /* the scheduler rejects the application */
    if (s <= 0)
        s = q.default_lifetime_s;
    else if (q.max_lifetime_s > 0)
        s = SV_MIN(s, q.max_lifetime_s);
    if (s == app->lifetime_s)
        return 0;
    r = rewrite(app, s);
    if (r >= 0)
        app->lifetime_s = s;
    return r;
}

void rm_lifetime_report(const struct rm_app *app, char ret_date[static RM_LIFETIME_DATE_MAX],
                        int64_t *ret_left_s)
{
    int64_t end = rm_lifetime_end_ms(app);

    if (end == 0) {
        (void)snprintf(ret_date, RM_LIFETIME_DATE_MAX, RM_LIFETIME_UNLIMITED);
        *ret_left_s = -1;
        return;
    }
    rm_lifetime_format(end, ret_date);
    *ret_left_s = rm_app_final_stored(app) ? 0 : SV_MAX((end - sv_wall_ms()) / 1000, (int64_t)0);
}

void rm_lifetime_enforce(struct rm *rm, int64_t now_ms)
{
    struct rm_app *app;

    DL_FOREACH (rm->app_list, app) {
        int64_t end = app->lifetime_s > 0 ? rm_lifetime_end_ms(app) : 0;

        if (end == 0 || now_ms < end ||
            (app->state != RM_APP_ST_SUBMITTED && app->state != RM_APP_ST_ACCEPTED &&
             app->state != RM_APP_ST_RUNNING))
            continue;
        sv_log(SV_LOG_NOTICE, app->id_str, "%s: its lifetime of %lld s is over: killed",
               app->id_str, (long long)app->lifetime_s);
        rm_app_post(app, RM_APP_EV_KILL, KILLED);
    }
}

/* ------------------------------------------------------------------- dates */

/* Parses `n` digits. */
static bool number(const char **p, int n, int *ret)
{
    int v = 0;

    for (; n > 0; n--, (*p)++) {
        if (**p < '0' || **p > '9')
            return false;
        v = v * 10 + (**p - '0');
    }
    *ret = v;
    return true;
}

static bool literal(const char **p, char c)
{
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

static bool parse_zone(const char *p, int *ret_minutes)
{
    int sign = *p == '-' ? -1 : 1, hours, minutes;

    if (*p != '+' && *p != '-')
        return false;
    p++;
    if (!number(&p, 2, &hours) || !number(&p, 2, &minutes) || *p || hours > 18 || minutes > 59)
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return true;
}

int rm_lifetime_parse(const char *date, int64_t *ret_ms)
{
    struct tm tm = { 0 }, again;
    const char *p = date;
    int year, month, ms, zone;
    time_t t;

    if (!number(&p, 4, &year) || !literal(&p, '-') || !number(&p, 2, &month) || !literal(&p, '-') ||
        !number(&p, 2, &tm.tm_mday) || !literal(&p, 'T') || !number(&p, 2, &tm.tm_hour) ||
        !literal(&p, ':') || !number(&p, 2, &tm.tm_min) || !literal(&p, ':') ||
        !number(&p, 2, &tm.tm_sec) || !literal(&p, '.') || !number(&p, 3, &ms) ||
        !parse_zone(p, &zone))
        return -EINVAL;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    again = tm;
    t = timegm(&again);
    if (again.tm_mon != tm.tm_mon || again.tm_mday != tm.tm_mday || again.tm_hour != tm.tm_hour ||
        again.tm_min != tm.tm_min || again.tm_sec != tm.tm_sec)
        return -EINVAL; /* the 30th of February */
    *ret_ms = ((int64_t)t - (int64_t)zone * 60) * 1000 + ms;
    return 0;
}

void rm_lifetime_format(int64_t ms, char ret[static RM_LIFETIME_DATE_MAX])
{
    time_t t = ms / 1000;
    char text[32] = "";
    struct tm tm;

    if (gmtime_r(&t, &tm))
        (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(ret, RM_LIFETIME_DATE_MAX, "%s.%03d+0000", text, (int)(ms % 1000));
}
