/* See app-control.h. */
#include "rm-lite/requests/app-control.h"

#include <errno.h>

#include "common/str.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/requests/rm-app-manager.h"
#include "rm-lite/security/queue-access.h"
#include "rm-lite/store/store.h"
#include "wire/ipc/methods.h"

#define JAVA_DATE_PARSE "java.time.format.DateTimeParseException"

int rm_control_kill(struct rm_app *app, const struct rm_caller *by, const char *message)
{
    SV_DISPATCH_BATCH(app->rm->dispatcher);
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    bool unmanaged = app->unmanaged;
    const char *why;

    if (rm_app_final_stored(app))
        return 1;
    why = a ? rm_kill_text(a, app, by->user, by->ip, message) : NULL;
    if (!why)
        return -ENOMEM;
    rm_audit_ok(&(struct rm_audit){ .user = by->user,
                                    .ip = by->ip,
                                    .operation = "Kill Application Request",
                                    .target = by->target,
                                    .app = app->id_str });
    rm_app_post(app, RM_APP_EV_KILL, why);
    return unmanaged;
}

int32_t rm_control_priority(struct rm_app *app, int32_t priority)
{
    SV_DISPATCH_BATCH(app->rm->dispatcher);
    struct rm_sched_event ev = { .type = RM_SCHED_APP_PRIORITY,
                                 .app_priority = { .app = app->id } };

    if (rm_app_is_final(app))
        return app->priority;
    app->priority = (int32_t)SV_MIN((int64_t)priority, app->rm->conf.max_priority);
    ev.app_priority.priority = app->priority;
    (void)rm_schedule(app->rm, &ev,
                      NULL); /* not accepted yet: added with the new priority, ignoring */
    rm_store_app_update(app->rm, app);
    return app->priority;
}

static bool in_scheduler(const struct rm_app *app)
{
    return app->state == RM_APP_ST_SUBMITTED || app->state == RM_APP_ST_ACCEPTED ||
           app->state == RM_APP_ST_RUNNING;
}

static int move(struct rm_app *app, const struct rm_caller *by, const char *queue,
                struct sv_error *err)
{
    struct rm_sched_event ev = { .type = RM_SCHED_APP_MOVED,
                                 .app_moved = { .app = app->id, .queue = queue } };
    struct rm_queue_info to;
    int r = rm_queue_may_move(app->rm, queue, by->user, app->id, err);

    if (r < 0)
        return r;
    if (!in_scheduler(app))
        return sv_error_set(err, -EINVAL, "App in %s state cannot be moved.",
                            rm_app_wire_state_name(app));
    if (!rm_app_context(app)) /* rm_app_set_queue rewrites it, and may not fail */
        return sv_error_set(err, -ENOMEM, "no memory for the submission");
    r = rm_schedule(app->rm, &ev, err);
    if (r >= 0)
        r = rm_sched_queue(app->rm->sched, queue, &to); /* exists: the move has found it */
    if (r < 0 || sv_streq(app->queue, to.path)) {
        rm_app_context_drop(app);
        return r;
    }
    sv_log(SV_LOG_INFO, app->id_str, "%s: moved by user %s from queue %s to %s", app->id_str,
           by->user, app->queue, to.path);
    rm_app_set_queue(app, to.path);
    rm_store_app_update(app->rm, app);
    rm_request_pass(app->rm);
    return 0;
}

int rm_control_move(struct rm_app *app, const struct rm_caller *by, const char *queue,
                    struct sv_error *err)
{
    SV_DISPATCH_BATCH(app->rm->dispatcher);
    struct rm_audit line = { .user = by->user,
                             .ip = by->ip,
                             .operation = "Move Application Request",
                             .target = by->target,
                             .app = app->id_str };
    int r = move(app, by, queue, err);

    if (r >= 0) {
        rm_audit_ok(&line);
        return 0;
    }
    line.permissions = "UNKNOWN";
    line.description = err->text;
    rm_audit_fail(&line);
    return r;
}

int rm_control_lifetime(struct rm_app *app, const char *date, const char **ret_class,
                        struct sv_error *err)
{
    char now_text[RM_LIFETIME_DATE_MAX];
    int64_t now = sv_wall_ms(), end;
    int r;

    *ret_class = JAVA_YARN_EXCEPTION;
    if (rm_app_final_stored(app))
        return 0;
    if (!date)
        return sv_error_set(err, -EINVAL,
                            "At least one ApplicationTimeoutType should be configured for updating "
                            "timeouts.");
    if (rm_lifetime_parse(date, &end) < 0) {
        *ret_class = JAVA_DATE_PARSE;
        return sv_error_set(err, -EINVAL, "Text '%.100s' could not be parsed at index 0", date);
    }
    if (end <= now) {
        rm_lifetime_format(now, now_text);
        return sv_error_set(err, -EINVAL,
                            "Expire time is less than current time, current-time=%s expire-time=%s",
                            now_text, date);
    }
    r = rm_lifetime_set_end(app, end);
    return r < 0 ? sv_error_errno(err, r, "%s: timeout", app->id_str) : 0;
}
