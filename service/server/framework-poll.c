/* Polls of the ResourceManager for the launcher's applications: the live ones in one answer, and
 * one by one those that are missing in it. An answer is taken in in turns of the loop. One that a
 * launcher has asked for which is gone is dropped. See frameworks.h. Hostile: tracking URLs and
 * diagnostics, which users' masters write. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "service/server/frameworks-internal.h"

#define SOON_MS 100      /* to a poll that something asks for */
#define REST_MS 1000     /* between two of these */
#define CALLS_AT_ONCE 16 /* for single applications */
#define URL_MAX 1024     /* bytes; a longer one is not shown */

struct framework_poll {
    sd_event_source *timer, *turn;
    bool open;                  /* one is under way */
    uint64_t life;              /* of the launcher that asked for it */
    int64_t polled_ms;          /* its end, monotonic */
    struct svc_lr_report *news; /* of live applications; URLs malloc'd */
    size_t n_news, at_news;
    struct yarn_app_id missing[SVC_LR_MISSING_MAX];
    size_t n_missing, at_missing;
    int calls;
};
struct question { /* for one application */
    struct svc_frameworks *s;
    struct yarn_app_id app;
};

/* ---- Times ---- */

static void poll_in(struct framework_poll *p, int64_t ms)
{
    uint64_t at = (uint64_t)(sv_now_ms() + ms) * 1000, old = 0;
    int on = SD_EVENT_OFF;

    if (!p || !p->timer)
        return;
    (void)sd_event_source_get_enabled(p->timer, &on); /* it is a timer, ignoring */
    (void)sd_event_source_get_time(p->timer, &old);   /* likewise, ignoring */
    if (on != SD_EVENT_OFF && old <= at)
        return;
    (void)sd_event_source_set_time(p->timer, at);                  /* likewise, ignoring */
    (void)sd_event_source_set_enabled(p->timer, SD_EVENT_ONESHOT); /* likewise, ignoring */
}

void svc_frameworks_poll_soon(void *u)
{
    struct framework_poll *p = ((struct svc_frameworks *)u)->poll;
    int64_t rest = p ? p->polled_ms + REST_MS - sv_now_ms() : 0;

    poll_in(p, SV_MAX(rest, (int64_t)SOON_MS));
}

static void end(struct svc_frameworks *s)
{
    struct framework_poll *p = s->poll;

    p->open = false;
    p->polled_ms = sv_now_ms();
    svc_lr_poll_end(s->l);
    poll_in(p, s->l->again ? REST_MS : s->cfg.settings->resync_s * 1000);
}

/* ---- Reports ---- */

static struct svc_lr_report report_of(const struct cli_report *r)
{
    return (struct svc_lr_report){
        .app = r->id,
        .state = cli_app_ended(r->state)       ? SVC_LR_HAS_ENDED
                 : r->state == CLI_APP_RUNNING ? SVC_LR_IS_RUNNING
                                               : SVC_LR_IS_WAITING,
        .final = r->final == CLI_FINAL_SUCCEEDED ? SVC_LR_FINAL_SUCCEEDED
                 : r->final == CLI_FINAL_KILLED || r->state == CLI_APP_KILLED
                     ? SVC_LR_FINAL_KILLED
                     : SVC_LR_FINAL_UNKNOWN,
        .diagnostics = r->diagnostics,
        .tracking_url = r->tracking_url,
    };
}

static void drop_news(struct framework_poll *p)
{
    for (size_t i = 0; i < p->n_news; i++)
        free((char *)(uintptr_t)p->news[i].tracking_url);
    free(p->news);
    p->news = NULL;
    p->n_news = p->at_news = 0;
}

/* The launcher that asked has gone: what was heard is nobody's. True: this is so. */
static bool drop_poll(struct svc_frameworks *s)
{
    struct framework_poll *p = s->poll;

    if (s->l && !s->losing && p->life == s->life)
        return false;
    drop_news(p);
    p->n_missing = p->at_missing = 0;
    p->open = p->calls > 0;
    if (!p->open)
        poll_in(p, 0);
    return true;
}

/* Keeps those that have news. Without memory they come with the next poll. */
static void keep_news(struct svc_frameworks *s, const struct cli_report *reports, size_t n)
{
    struct framework_poll *p = s->poll;
    size_t room = 0;

    for (size_t i = 0; i < n; i++) {
        struct svc_lr_report r = report_of(&reports[i]);
        const char *url = r.tracking_url;

        if (!svc_lr_poll_seen(s->l, &r))
            continue;
        if (p->n_news == room) {
            struct svc_lr_report *more = realloc(p->news, (room + 256) * sizeof(*more));

            if (!more)
                continue;
            p->news = more;
            room += 256;
        }
        r.diagnostics = NULL;
        r.tracking_url = strlen(url) <= URL_MAX ? strdup(url) : NULL;
        p->news[p->n_news++] = r;
    }
}

/* ---- Missing ones ---- */

static void ask_missing(struct svc_frameworks *s);

static void on_report(int status, const struct cli_report *reports, size_t n,
                      const struct sv_error *err, void *userdata)
{
    _cleanup_free_ struct question *q = userdata;
    struct svc_frameworks *s = q->s;

    if (status == -ECANCELED) /* the end of the program */
        return;
    s->poll->calls--;
    if (drop_poll(s))
        return;
    if (status == 0 && n == 1) {
        struct svc_lr_report r = report_of(reports);

        svc_lr_poll_take(s->l, &r, 1);
    } else if (status == -EREMOTEIO &&
               sv_streq(cli_rm_exception(s->rm), "ApplicationNotFoundException")) {
        svc_lr_poll_unknown(s->l, q->app);
    } else {
        s->failed_polls++;
        sv_log_debug("frameworks: the ResourceManager: %s", err ? err->text : "");
    }
    ask_missing(s);
}

static void ask_missing(struct svc_frameworks *s)
{
    struct framework_poll *p = s->poll;

    while (p->calls < CALLS_AT_ONCE && p->at_missing < p->n_missing) {
        struct question *q = calloc(1, sizeof(*q));

        if (q)
            *q = (struct question){ s, p->missing[p->at_missing] };
        p->at_missing++;
        if (q && cli_rm_report(s->rm, q->app, on_report, q) >= 0)
            p->calls++;
        else
            free(q); /* it is asked for with the next poll */
    }
    if (p->calls == 0)
        end(s);
}

/* ---- Turns ---- */

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_frameworks *s = userdata;
    struct framework_poll *p = s->poll;
    size_t n = SV_MIN(p->n_news - p->at_news, (size_t)SVC_LR_REPORTS_AT_ONCE);

    if (drop_poll(s))
        return 0;
    if (n) {
        svc_lr_poll_take(s->l, &p->news[p->at_news], n);
        p->at_news += n;
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
    }
    drop_news(p);
    p->n_missing = svc_lr_poll_missing(s->l, p->missing);
    p->at_missing = 0;
    ask_missing(s);
    return 0;
}

static void on_reports(int status, const struct cli_report *reports, size_t n,
                       const struct sv_error *err, void *userdata)
{
    struct svc_frameworks *s = userdata;

    if (status == -ECANCELED || drop_poll(s)) /* the end of the program */
        return;
    if (status < 0) {
        s->failed_polls++;
        sv_log_debug("frameworks: the ResourceManager: %s", err->text);
        end(s);
        return;
    }
    s->polls++;
    svc_lr_poll_begin(s->l);
    keep_news(s, reports, n);
    (void)sd_event_source_set_enabled(s->poll->turn, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static int on_poll(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_frameworks *s = userdata;
    struct cli_app_filter f = { .types = { "LAUNCHER" }, .n_types = 1 };

    (void)source;
    (void)usec;
    if (!s->l || s->losing || s->poll->open)
        return 0;
    s->poll->life = s->life;
    cli_app_filter_live(&f);
    svc_lr_poll_asked(s->l);
    if (cli_rm_applications_where(s->rm, &f, on_reports, s) < 0)
        poll_in(s->poll, REST_MS);
    else
        s->poll->open = true;
    return 0;
}

/* ---- Start and end ---- */

int svc_frameworks_poll_new(struct svc_frameworks *s)
{
    struct framework_poll *p = s->poll = calloc(1, sizeof(*p));
    int r =
        p ? sd_event_add_time(s->cfg.event, &p->timer, CLOCK_BOOTTIME, 0, 0, on_poll, s) : -ENOMEM;

    if (r >= 0)
        r = sd_event_add_defer(s->cfg.event, &p->turn, on_turn, s);
    return r < 0 ? r : sd_event_source_set_enabled(p->turn, SD_EVENT_OFF);
}

void svc_frameworks_poll_free(struct svc_frameworks *s)
{
    if (!s->poll)
        return;
    s->poll->timer = sd_event_source_disable_unref(s->poll->timer);
    s->poll->turn = sd_event_source_disable_unref(s->poll->turn);
    drop_news(s->poll);
    free(s->poll);
    s->poll = NULL;
}
