/* RMAppManager: accepts submissions, evicts the oldest finished applications. The submission is a
 * client's: its texts are checked by submission-check.c, its numbers by rm-app.c. */
#include "rm-lite/requests/rm-app-manager.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/federation/member.h"
#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/requests/submission-check.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/security/queue-access.h"
#include "rm-lite/security/token-renewer.h"
#include "rm-lite/store/store.h"
#include "wire/ipc/methods.h"

typedef Hadoop__Yarn__ApplicationSubmissionContextProto Submission;

static bool named(const char *s)
{
    return s && *s;
}

/* Checks the submission and selects its queue. */
static int admit(struct rm *rm, const Submission *ctx, struct yarn_app_id id, const char *user,
                 const char **ret_queue, const char **ret_class, struct sv_error *err)
{
    int r = rm_submission_check(rm, ctx, id, user, ret_class, err);

    if (r < 0)
        return r;
    r = rm_queue_of_submission(rm, named(ctx->queue) ? ctx->queue : "default", user, ret_queue,
                               err);
    if (r < 0)
        return r;
    return rm_queue_may_submit(rm, *ret_queue, user, id, err);
}

/* The application of an admitted submission, with the ApplicationMaster's size as the scheduler
 * gives it. */
static int new_app(struct rm *rm, const Submission *ctx, struct yarn_app_id id, const char *user,
                   struct rm_app **ret, struct sv_error *err)
{
    size_t n = hadoop__yarn__application_submission_context_proto__get_packed_size(ctx);
    _cleanup_free_ uint8_t *bytes = malloc(SV_MAX(n, (size_t)1));
    struct rm_res asked;
    struct rm_app *app;
    int r;

    if (!bytes)
        return sv_error_set(err, -ENOMEM, "no memory for the submission");
    hadoop__yarn__application_submission_context_proto__pack(ctx, bytes);
    app = rm_app_new(rm, id, user, bytes, n, err);
    if (!app)
        return err->code;
    asked = app->am_resource;
    r = app->unmanaged ? 0 : rm_sched_normalize(rm->sched, app->queue, &app->am_resource);
    if (r < 0) {
        rm_invalid_resource(asked, rm_sched_max_allocation(rm->sched, app->queue), err);
        rm_app_free(app);
        return r;
    }
    r = rm_lifetime_of_queue(app);
    if (r < 0) {
        rm_app_free(app);
        return sv_error_set(err, r, "no memory for the submission");
    }
    *ret = app;
    return 0;
}

/* As in Hadoop a repeated submission gets the same answer, after a lost one. Hadoop gives it to
 * everybody: then the job of a user whose id somebody else has taken vanishes without a word. */
static int repeated(const struct rm_app *app, const char *user, struct sv_error *err)
{
    if (sv_streq(app->user, user))
        return 0;
    return sv_error_set(err, -EEXIST,
                        "%s: another user has submitted an application with this id: get a new "
                        "id (getNewApplication) and submit again",
                        app->id_str);
}

int rm_app_submit(struct rm *rm, const Submission *ctx, const char *user, const char **ret_class,
                  struct sv_error *err)
{
    struct yarn_app_id id;
    const char *queue;
    Submission placed;
    struct rm_app *app;
    int r;

    *ret_class = JAVA_YARN_EXCEPTION;
    if (!ctx || yarn_app_id_from(ctx->application_id, &id) < 0)
        return sv_error_set(err, -EINVAL, "Invalid application id: null");
    app = rm_app_find(rm, id);
    if (app)
        return repeated(app, user, err);
    r = admit(rm, ctx, id, user, &queue, ret_class, err);
    if (r < 0)
        return r;
    placed = *ctx; /* as stored, so that a restart does not map it again */
    placed.queue = (char *)(uintptr_t)queue;
    r = new_app(rm, &placed, id, user, &app, err);
    if (r < 0) {
        if (r != -ENOMEM)
            *ret_class = JAVA_INVALID_RESOURCE_REQUEST;
        return r;
    }
    r = rm_token_renewer_admit(app, err);
    if (r < 0) {
        rm_app_free(app);
        return r;
    }
    rm_queue_count(app, RM_COUNT_SUBMITTED);
    sv_log(SV_LOG_INFO, app->id_str, "%s: submitted by user %s to queue %s", app->id_str, user,
           app->queue);
    if (r > 0)
        rm_app_post(app, RM_APP_EV_START, NULL);
    return 0;
}

/* Name of the first type that is out of bounds; *ret_less: it is negative. */
static const char *bad_type(struct rm_res asked, struct rm_res max, bool *ret_less)
{
    const struct rm_types *types = rm_types();

    for (int i = 0; i < types->n; i++)
        if (asked.extra[i] < 0 || asked.extra[i] > max.extra[i]) {
            *ret_less = asked.extra[i] < 0;
            return types->names[i];
        }
    if (asked.mem < 0 || asked.mem > max.mem) {
        *ret_less = asked.mem < 0;
        return "memory-mb";
    }
    *ret_less = asked.vcores < 0;
    return "vcores";
}

void rm_invalid_resource(struct rm_res asked, struct rm_res max, struct sv_error *err)
{
    char a[RM_RES_TEXT_MAX], m[RM_RES_TEXT_MAX];
    bool less;
    const char *type = bad_type(asked, max, &less);

    rm_res_text(asked, a);
    rm_res_text(max, m);
    (void)sv_error_set(err, -ERANGE,
                       "Invalid resource request! Cannot allocate containers as requested "
                       "resource is %s Requested resource type=[%s], Requested resource=%s, "
                       "maximum allowed allocation=%s, please note that maximum allowed "
                       "allocation is calculated by scheduler based on maximum resource of "
                       "registered NodeManagers, which might be less than configured maximum "
                       "allocation=%s",
                       less ? "less than 0!" : "greater than maximum allowed allocation.", type, a,
                       m, m);
}

void rm_app_evict(struct rm *rm)
{
    struct rm_app *app, *tmp;

    DL_FOREACH_SAFE (rm->app_list, app, tmp) {
        if ((int64_t)rm->n_completed <= rm->conf.max_completed_apps)
            return;
        if (!rm_app_is_final(app))
            continue;
        if (app->containers) /* a late container still refers to it */
            continue;
        sv_log_debug("%s: evicted, more than %lld applications are finished", app->id_str,
                     (long long)rm->conf.max_completed_apps);
        rm_store_app_remove(rm, app);
        rm_member_forget(rm, app->id);
        rm_app_free(app);
        rm->n_completed--;
    }
}

char *rm_kill_text(struct sv_arena *a, const struct rm_app *app, const char *user,
                   const char *address, const char *message)
{
    char ip[64];

    /* "1.2.3.4:5678" or "[::1]:5678" without its port */
    (void)snprintf(ip, sizeof(ip), "%s", address ? address : "");
    if (strrchr(ip, ':'))
        *strrchr(ip, ':') = 0;
    return sv_arena_printf(a, "Application %s was killed by user %s%s%s%s%s", app->id_str, user,
                           *ip ? " at " : "", ip,
                           message && *message ? " with diagnostic message: " : "",
                           message && *message ? message : "");
}
