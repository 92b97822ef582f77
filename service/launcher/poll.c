/* Reports of the ResourceManager, and the last words of masters in them; see launcher.h. Hostile:
 * diagnostics and tracking URLs, which users' masters write. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/utf8.h"
#include "service/engine/exit-table.h"
#include "service/launcher/diagnostics.h"
#include "service/launcher/internal.h"

#define URL_MAX 1024 /* bytes of a tracking URL */

void svc_lr_poll_asked(struct svc_lr *l)
{
    l->polled_ms = svc_lr_now(l);
}

void svc_lr_poll_begin(struct svc_lr *l)
{
    l->round++;
    l->again = false;
}

static void take_url(struct svc_lr *l, struct svc_framework *f, const char *url)
{
    if (f->st.tracking_url || !url || !*url || strlen(url) > URL_MAX)
        return;
    f->st.tracking_url = strdup(url); /* without memory it comes with the next report */
    svc_lr_write_status(l, f);
}

static void on_words(struct svc_lr *l, struct svc_framework *f, const char *text)
{
    struct svc_lr_exit x = { .trigger_index = -1 };
    struct svc_lr_input in = { .words = text && *text ? text : NULL };
    int r = in.words ? svc_lr_diagnostics(text, &x) : -ENOENT;

    if (!in.words && !f->st.code_kept && f->asked++ < l->settings->diagnostics_retries)
        return;
    if (r < 0)
        svc_lr_diagnostics_lost(
            r == -EBADMSG ? SVC_FW_EXIT_DIAGNOSTICS_BAD : SVC_FW_EXIT_DIAGNOSTICS_LOST, text, &x);
    in.exit = &x;
    svc_lr_post(l, f, SVC_LR_DIAGNOSTICS, &in);
    svc_lr_exit_free(&x);
}

static void on_end(struct svc_lr *l, struct svc_framework *f, const struct svc_lr_report *r)
{
    struct svc_lr_input in = { .has_code = r->final != SVC_LR_FINAL_UNKNOWN,
                               .code = r->final == SVC_LR_FINAL_KILLED ? SVC_FW_EXIT_APP_KILLED
                                                                       : SVC_FW_EXIT_SUCCEEDED };

    if (svc_lr_live(f->st.state))
        svc_lr_post(l, f, SVC_LR_SEEN_ENDED, &in);
    if (f->st.state == SVC_LR_RETRIEVING)
        on_words(l, f, r->diagnostics);
}

static bool has_news(const struct svc_framework *f, const struct svc_lr_report *r)
{
    int next = r->state == SVC_LR_IS_RUNNING ? SVC_LR_APP_RUNNING : SVC_LR_APP_WAITING;

    if (f->st.state == SVC_LR_CREATED) /* its submission's answer is on its way, or was lost */
        return !f->busy;
    return svc_lr_live(f->st.state) &&
           (f->st.state != next || (r->state == SVC_LR_IS_RUNNING && !f->st.tracking_url &&
                                    r->tracking_url && *r->tracking_url));
}

bool svc_lr_poll_seen(struct svc_lr *l, const struct svc_lr_report *r)
{
    struct svc_framework *f = l->broken ? NULL : svc_lr_find_app(&l->all, r->app);

    l->counts.reports++;
    if (!f || r->state == SVC_LR_HAS_ENDED) /* one that ends now is missing */
        return false;
    f->seen = l->round;
    return has_news(f, r);
}

static void take(struct svc_lr *l, const struct svc_lr_report *r)
{
    struct svc_framework *f = svc_lr_find_app(&l->all, r->app);
    struct svc_lr_input in = { 0 };
    int next = r->state == SVC_LR_IS_RUNNING ? SVC_LR_APP_RUNNING : SVC_LR_APP_WAITING;

    if (!f || (f->st.state == SVC_LR_CREATED && f->busy))
        return;
    f->seen = l->round;
    if (f->st.state == SVC_LR_CREATED)
        svc_lr_post(l, f, SVC_LR_SUBMITTED, &in);
    if (r->state == SVC_LR_HAS_ENDED) {
        on_end(l, f, r);
        return;
    }
    if (!svc_lr_live(f->st.state))
        return;
    if (r->state == SVC_LR_IS_RUNNING) /* before, it is a page of the ResourceManager */
        take_url(l, f, r->tracking_url);
    if (f->st.state != next)
        svc_lr_post(l, f, r->state == SVC_LR_IS_RUNNING ? SVC_LR_SEEN_RUNNING : SVC_LR_SEEN_WAITING,
                    &in);
}

void svc_lr_poll_take(struct svc_lr *l, const struct svc_lr_report *r, size_t n)
{
    if (l->broken || n == 0)
        return;
    svc_lr_begin(l);
    for (size_t i = 0; i < n; i++)
        take(l, &r[i]);
    if (svc_lr_commit(l) < 0)
        return; /* memory is read anew */
}

static int64_t asked_ms(const struct svc_lr *l)
{
    return l->polled_ms ? l->polled_ms : svc_lr_now(l);
}

/* Submitted before the question, and not in the answer. */
static bool is_missing(const struct svc_lr *l, const struct svc_framework *f)
{
    return f->st.state > SVC_LR_CREATED && f->st.state <= SVC_LR_RETRIEVING && f->st.app.id &&
           f->seen != l->round && f->st.launched_ms <= asked_ms(l);
}

/* Those that the poll before asked for come last: others may have waited for longer. */
size_t svc_lr_poll_missing(struct svc_lr *l, struct yarn_app_id ret[SVC_LR_MISSING_MAX])
{
    struct svc_framework *f;
    size_t n = 0;

    for (int pass = 0; pass < 2; pass++)
        for (f = l->broken ? NULL : l->all.by_name; f; f = f->hh.next) {
            bool late = f->missed && f->missed + 1 == l->round;

            if (late != (pass == 1) || f->missed == l->round || !is_missing(l, f))
                continue;
            l->again |= n == SVC_LR_MISSING_MAX;
            if (n == SVC_LR_MISSING_MAX)
                return n;
            f->missed = l->round;
            ret[n++] = f->st.app;
        }
    return n;
}

void svc_lr_poll_unknown(struct svc_lr *l, struct yarn_app_id app)
{
    struct svc_framework *f = l->broken ? NULL : svc_lr_find_app(&l->all, app);
    struct svc_lr_input in = { .words = "the ResourceManager does not know the application" };

    /* It may have been submitted just now. */
    if (!f || !is_missing(l, f) || asked_ms(l) - f->st.launched_ms < l->settings->resync_s * 1000)
        return;
    svc_lr_begin(l);
    if (f->st.state == SVC_LR_RETRIEVING)
        on_words(l, f, NULL);
    else
        svc_lr_post(l, f, SVC_LR_LOST, &in);
    if (svc_lr_commit(l) < 0)
        return; /* memory is read anew */
}

void svc_lr_poll_end(struct svc_lr *l)
{
    struct svc_framework *f;

    if (l->broken)
        return;
    for (f = l->all.by_name; f; f = f->hh.next)
        l->again |= f->ending && svc_lr_live(f->st.state);
    svc_lr_tick(l);
}
