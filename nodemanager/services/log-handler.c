/* See log-handler.h. */
#include "nodemanager/services/log-handler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "executor/request.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/context.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/store/state-store.h"

struct deleter {
    struct deleter *prev, *next;
    struct yarn_app_id app;
    char text[YARN_ID_TEXT_MAX];
    char user[EXE_USER_MAX + 1];
    int64_t at_ms; /* wall clock */
};

struct nm_log_handler {
    struct nm_context *ctx;
    struct nm_deletion *deletion;
    struct deleter *list;
    sd_event_source *timer;
    void (*deleted)(const char *app, void *userdata);
    void *deleted_userdata;
};

static void arm(struct nm_log_handler *h)
{
    int64_t now = sv_wall_ms(), next = INT64_MAX;
    struct deleter *d;

    DL_FOREACH (h->list, d)
        next = SV_MIN(next, d->at_ms);
    if (next == INT64_MAX)
        return;
    next = SV_MIN(next - now, 3600 * 1000); /* the wall clock may be set meanwhile */
    (void)sd_event_source_set_time_relative(h->timer, next > 0 ? (uint64_t)next * 1000 : 0);
    (void)sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_log_handler *h = userdata;
    int64_t now = sv_wall_ms();
    struct deleter *d, *tmp;
    struct nm_app *app;
    int r;

    (void)s;
    (void)usec;
    DL_FOREACH_SAFE (h->list, d, tmp) {
        if (d->at_ms > now)
            continue;
        nm_deletion_app_logs(h->deletion, d->app,
                             d->user); /* in the same transaction as the removal */
        app = nm_app_find(h->ctx, d->text);
        if (app)
            nm_app_post(app, NM_APP_EV_LOG_HANDLING_FINISHED, NULL);
        r = nm_store_log_deleter_remove(h->ctx->store, d->text);
        if (r < 0)
            sv_log(SV_LOG_ERR, d->text, "%s: cannot remove log deadline from state store: %s",
                   d->text, strerror(-r));
        if (h->deleted)
            h->deleted(d->text, h->deleted_userdata);
        DL_DELETE(h->list, d);
        free(d);
    }
    arm(h);
    return 0;
}

static int remember(struct nm_log_handler *h, struct yarn_app_id app, const char *user,
                    int64_t at_ms)
{
    struct deleter *d = calloc(1, sizeof(*d));

    if (!d)
        return -ENOMEM;
    d->app = app;
    yarn_app_id_text(app, d->text);
    snprintf(d->user, sizeof(d->user), "%s", user);
    d->at_ms = at_ms;
    DL_APPEND(h->list, d);
    return 0;
}

static int set_deadline(struct nm_log_handler *h, struct yarn_app_id app, const char *user)
{
    int64_t at = sv_wall_ms() + h->ctx->conf->log_retain_ms;
    char text[YARN_ID_TEXT_MAX];
    int r = remember(h, app, user, at);

    yarn_app_id_text(app, text);
    if (r >= 0)
        r = nm_store_log_deleter(h->ctx->store, text, user, at);
    if (r < 0)
        sv_log(SV_LOG_ERR, text, "%s: its logs have no deadline: %s", text, strerror(-r));
    return r;
}

void nm_log_handler_left(struct nm_log_handler *h, struct yarn_app_id app, const char *user)
{
    char text[YARN_ID_TEXT_MAX];

    if (nm_log_handler_keeps(h, yarn_app_id_text(app, text)) ||
        nm_deletion_has_app_logs(h->deletion, app)) /* perhaps delayed for debugging */
        return;
    if (set_deadline(h, app, user) >= 0)
        sv_log_info("logs of %s (%s): left behind, removed after %s", text, user,
                    "yarn.nodemanager.log.retain-seconds");
    arm(h);
}

void nm_log_handler_app_finished(struct nm_log_handler *h, struct nm_app *a)
{
    int r = a->init_error ? 0 : set_deadline(h, a->id, a->run_as);

    if (r < 0 || a->init_error)
        nm_app_post(a, NM_APP_EV_LOG_HANDLING_FINISHED, NULL);
    arm(h);
}

void nm_log_handler_expire(struct nm_log_handler *h, const char *app)
{
    struct deleter *d;

    DL_FOREACH (h->list, d)
        if (strcmp(d->text, app) == 0)
            d->at_ms = 0;
    arm(h);
}

static const struct deleter *find(const struct nm_log_handler *h, const char *app)
{
    const struct deleter *d;

    DL_FOREACH (h->list, d)
        if (strcmp(d->text, app) == 0)
            return d;
    return NULL;
}

bool nm_log_handler_keeps(const struct nm_log_handler *h, const char *app)
{
    return find(h, app) != NULL;
}

int64_t nm_log_handler_until(const struct nm_log_handler *h, const char *app)
{
    const struct deleter *d = find(h, app);

    return d ? d->at_ms : 0;
}

void nm_log_handler_on_deleted(struct nm_log_handler *h,
                               void (*fn)(const char *app, void *userdata), void *userdata)
{
    h->deleted = fn;
    h->deleted_userdata = userdata;
}

int nm_log_handler_new(struct nm_context *ctx, struct nm_deletion *deletion,
                       struct nm_log_handler **ret, struct sv_error *err)
{
    struct nm_log_handler *h = calloc(1, sizeof(*h));
    int r;

    if (!h)
        return sv_error_errno(err, -ENOMEM, "log handler");
    h->ctx = ctx;
    h->deletion = deletion;
    r = sd_event_add_time_relative(ctx->event, &h->timer, CLOCK_BOOTTIME, 0, 100000, on_timer, h);
    if (r >= 0)
        r = sd_event_source_set_enabled(h->timer, SD_EVENT_OFF);
    if (r < 0) {
        nm_log_handler_free(h);
        return sv_error_errno(err, r, "log handler");
    }
    *ret = h;
    return 0;
}

struct nm_log_handler *nm_log_handler_free(struct nm_log_handler *h)
{
    struct deleter *d, *tmp;

    if (!h)
        return NULL;
    sd_event_source_disable_unref(h->timer);
    DL_FOREACH_SAFE (h->list, d, tmp) {
        DL_DELETE(h->list, d);
        free(d);
    }
    free(h);
    return NULL;
}

static int recover_one(const char *app, const char *user, int64_t at_ms, void *userdata)
{
    struct yarn_app_id id;

    if (yarn_app_id_parse(app, &id) < 0) {
        sv_log_err("state store: log deadline of \"%.80s\" is malformed, ignoring", app);
        return 0;
    }
    return remember(userdata, id, user, at_ms);
}

int nm_log_handler_recover(struct nm_log_handler *h)
{
    int r = nm_store_each_log_deleter(h->ctx->store, recover_one, h);

    if (r >= 0)
        arm(h);
    return r;
}
