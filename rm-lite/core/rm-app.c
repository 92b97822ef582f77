/* Applications as objects; see rm-app.h. The submission is a client's: names and numbers are
 * checked or cut here. */
#include "rm-lite/core/rm-app.h"

#include <errno.h>
#include <string.h>

#include "common/acl.h"
#include "common/oom.h"
#include "common/str.h"
#include "rm-lite/core/ended-containers.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/core/text.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"

#define S(x) HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__##x
#define F(x) HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_##x
#define NO_MEMORY "no memory for the submission"

typedef Hadoop__Yarn__ApplicationSubmissionContextProto Submission;

static int amount(const Hadoop__Yarn__ResourceProto *m, struct rm_res *ret, struct sv_error *err)
{
    char unknown[RM_TYPE_NAME_MAX];

    if (rm_res_from(m, ret) < 0)
        return sv_error_set(err, -EINVAL, "Invalid resource request, its amount is no number");
    rm_res_unknown(m, unknown, sizeof(unknown));
    return *unknown ? sv_error_set(err, -EINVAL,
                                   "Invalid resource request, resource type %s is not known to "
                                   "this ResourceManager; add it to yarn.resource-types",
                                   unknown)
                    : 0;
}

/* The ApplicationMaster's resource: the "*" row if there are rows, else the old field. */
static int master_resource(const Submission *ctx, struct rm_res *ret, struct sv_error *err)
{
    int any = 0;

    if (ctx->n_am_container_resource_request == 0) {
        if (!ctx->resource)
            return sv_error_set(err, -EINVAL, "Invalid resource request, no resources requested");
        return amount(ctx->resource, ret, err);
    }
    for (size_t i = 0; i < ctx->n_am_container_resource_request; i++) {
        const Hadoop__Yarn__ResourceRequestProto *q = ctx->am_container_resource_request[i];

        if (!sv_streq(q->resource_name, RM_ANY))
            continue;
        any++;
        if (amount(q->capability, ret, err) < 0)
            return err->code;
    }
    if (any == 0)
        return sv_error_set(err, -EINVAL,
                            "Invalid resource request, no resource request specified with *");
    if (any > 1)
        return sv_error_set(err, -EINVAL,
                            "Invalid resource request, only one resource request with * is "
                            "allowed");
    return 0;
}

static char **copy_tags(const Submission *ctx)
{
    char **tags = calloc(ctx->n_applicationtags + 1, sizeof(char *));

    if (!tags)
        sv_out_of_memory();
    for (size_t i = 0; i < ctx->n_applicationtags; i++)
        tags[i] = rm_strdup(ctx->applicationtags[i]);
    return tags;
}

/* The full path of the queue, as Hadoop 3.4 reports it; for a queue unknown to the scheduler the
 * submission's name. */
static char *queue_path(const struct rm *rm, const char *name)
{
    struct rm_queue_info q;

    if (!name || !*name)
        name = "default";
    return rm_strdup(rm->sched && rm_sched_queue(rm->sched, name, &q) >= 0 ? q.path : name);
}

/* A list too long to be compared at each request admits nobody; NodeManagers refuse it. */
static char *copy_acl(const Submission *ctx, Hadoop__Yarn__ApplicationAccessTypeProto type)
{
    const Hadoop__Yarn__ContainerLaunchContextProto *clc = ctx->am_container_spec;

    for (size_t i = 0; clc && i < clc->n_application_acls; i++) {
        const Hadoop__Yarn__ApplicationACLMapProto *one = clc->application_acls[i];

        if (one->has_accesstype && one->accesstype == type && one->acl &&
            strlen(one->acl) <= SV_ACL_MAX)
            return rm_strdup(one->acl);
    }
    return NULL;
}

static const char *given(const char *s, const char *otherwise)
{
    return s && *s ? s : otherwise;
}

static void fill(struct rm_app *app, const Submission *ctx)
{
    const struct rm_conf *c = &app->rm->conf;
    int64_t asked = ctx->maxappattempts;

    /* Cut in a store of an earlier version alone. */
    app->name = rm_strdup_cut(given(ctx->application_name, "N/A"), RM_NAME_MAX);
    app->queue = queue_path(app->rm, ctx->queue);
    app->type = rm_strdup_cut(given(ctx->applicationtype, "YARN"), RM_TYPE_MAX);
    app->priority = ctx->priority ? ctx->priority->priority : 0;
    app->priority = (int32_t)SV_MIN((int64_t)app->priority, c->max_priority);
    app->unmanaged = ctx->unmanaged_am;
    app->keep_containers = ctx->keep_containers_across_application_attempts;
    app->validity_ms = ctx->attempt_failures_validity_interval;
    if (asked <= 0)
        app->max_attempts = (int32_t)c->am_max_attempts;
    else if (asked > c->am_global_max_attempts)
        app->max_attempts = (int32_t)c->am_global_max_attempts;
    else
        app->max_attempts = (int32_t)asked;
    app->tags = copy_tags(ctx);
    app->view_acl = copy_acl(ctx, HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP);
    app->modify_acl =
        copy_acl(ctx, HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP);
}

int rm_app_lifetime(const Submission *ctx, int64_t *ret_s, struct sv_error *err)
{
    int64_t s = 0;

    for (size_t i = 0; i < ctx->n_application_timeouts; i++) {
        const Hadoop__Yarn__ApplicationTimeoutMapProto *t = ctx->application_timeouts[i];

        if (!t->has_application_timeout_type ||
            t->application_timeout_type !=
                HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME)
            continue;
        if (t->timeout < 0)
            return sv_error_set(err, -EINVAL,
                                "Invalid application timeout, value=%lld for type=LIFETIME",
                                (long long)t->timeout);
        s = t->timeout;
    }
    *ret_s = s;
    return 0;
}

struct rm_app *rm_app_new(struct rm *rm, struct yarn_app_id id, const char *user,
                          const uint8_t *submission, size_t len, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Submission *ctx;
    struct rm_app *app;
    struct rm_res am = { 0, 0 };
    int64_t lifetime_s;
    uint8_t *bytes;

    if (!a) {
        (void)sv_error_set(err, -ENOMEM, NO_MEMORY);
        return NULL;
    }
    ctx = hadoop__yarn__application_submission_context_proto__unpack(sv_arena_protobuf(a), len,
                                                                     submission);
    if (!ctx) {
        (void)sv_error_set(err, -EBADMSG, "the application's submission cannot be read");
        return NULL;
    }
    if (!ctx->unmanaged_am || ctx->resource || ctx->n_am_container_resource_request > 0)
        if (master_resource(ctx, &am, err) < 0)
            return NULL;
    if (rm_app_lifetime(ctx, &lifetime_s, err) < 0)
        return NULL;
    app = calloc(1, sizeof(*app));
    bytes = malloc(SV_MAX(len, (size_t)1));
    if (!app || !bytes) {
        free(app);
        free(bytes);
        (void)sv_error_set(err, -ENOMEM, NO_MEMORY);
        return NULL;
    }
    app->lifetime_s = lifetime_s;
    app->rm = rm;
    app->id = id;
    app->key.ts = id.cluster_ts;
    app->key.id = id.id;
    yarn_app_id_text(id, app->id_str);
    app->state = RM_APP_ST_NEW;
    app->user = rm_strdup(user);
    app->am_resource = am;
    memcpy(bytes, submission, len);
    rm_submission_set(app, bytes, len);
    app->submit_ms = app->start_ms = sv_wall_ms();
    fill(app, ctx);
    HASH_ADD(hh, rm->apps, key, sizeof(app->key), app);
    DL_APPEND(rm->app_list, app);
    app->counted = app->state;
    rm->app_counts[app->counted]++;
    return app;
}

void rm_app_set_queue(struct rm_app *app, const char *path)
{
    const Submission *old = rm_app_context(app);
    Submission now;

    if (!old)
        sv_out_of_memory();
    now = *old;
    now.queue = (char *)(uintptr_t)path; /* only read */
    if (rm_submission_pack(app, &now) < 0)
        sv_out_of_memory();
    free(app->queue);
    app->queue = rm_strdup(path);
    app->counters = NULL;
}

void rm_app_recount(struct rm_app *app)
{
    app->rm->app_counts[app->counted]--;
    app->counted = app->state;
    app->rm->app_counts[app->counted]++;
}

void rm_app_free(struct rm_app *app)
{
    struct rm_attempt *att, *tmp;

    rm_submission_set(app, NULL, 0);
    rm_ended_forget(app);
    DL_FOREACH_SAFE (app->attempts, att, tmp) {
        DL_DELETE(app->attempts, att);
        rm_attempt_free(att);
    }
    app->rm->app_counts[app->counted]--;
    HASH_DEL(app->rm->apps, app);
    DL_DELETE(app->rm->app_list, app);
    rm_set_clear(&app->ran_on);
    rm_set_clear(&app->log_nodes);
    sv_strv_free(app->tags);
    free(app->view_acl);
    free(app->modify_acl);
    free(app->user);
    free(app->name);
    free(app->queue);
    free(app->type);
    free(app->diagnostics);
    free(app->kill_text);
    free(app->tracking_url);
    free(app);
}

bool rm_app_is_final(const struct rm_app *app)
{
    return app->state == RM_APP_ST_FINISHED || app->state == RM_APP_ST_FAILED ||
           app->state == RM_APP_ST_KILLED;
}

bool rm_app_final_stored(const struct rm_app *app)
{
    return rm_app_is_final(app) || app->state == RM_APP_ST_FINISHING;
}

static int shown_state(const struct rm_app *app)
{
    return app->state == RM_APP_ST_FINAL_SAVING || app->state == RM_APP_ST_KILLING ? app->before
                                                                                   : app->state;
}

int rm_app_wire_state(const struct rm_app *app)
{
    switch (shown_state(app)) {
    case RM_APP_ST_NEW:
        return S(NEW);
    case RM_APP_ST_NEW_SAVING:
        return S(NEW_SAVING);
    case RM_APP_ST_SUBMITTED:
        return S(SUBMITTED);
    case RM_APP_ST_ACCEPTED:
        return S(ACCEPTED);
    case RM_APP_ST_FINISHING:
    case RM_APP_ST_FINISHED:
        return S(FINISHED);
    case RM_APP_ST_FAILED:
        return S(FAILED);
    case RM_APP_ST_KILLED:
        return S(KILLED);
    default:
        return S(RUNNING);
    }
}

const char *rm_app_wire_state_name(const struct rm_app *app)
{
    static const char *const names[] = { "",          "NEW",      "NEW_SAVING",
                                         "SUBMITTED", "ACCEPTED", "RUNNING",
                                         "FINISHED",  "FAILED",   "KILLED" };

    return names[rm_app_wire_state(app)];
}

int rm_app_wire_final(const struct rm_app *app)
{
    const struct rm_attempt *att = app->current;

    if (app->recovered && rm_app_is_final(app))
        return app->final_status;
    switch (shown_state(app)) {
    case RM_APP_ST_FINISHING:
    case RM_APP_ST_FINISHED:
        return att && att->final_status != F(UNDEFINED) ? att->final_status : app->final_status;
    case RM_APP_ST_FAILED:
        return F(FAILED);
    case RM_APP_ST_KILLED:
        return F(KILLED);
    default:
        return F(UNDEFINED);
    }
}

static struct rm_seconds use_until(const struct rm_app *app, int64_t now)
{
    int64_t ms = SV_MAX(now - app->settled_ms, (int64_t)0);
    struct rm_seconds sum = app->seconds;

    sum.memory_ms += app->live.mem * ms;
    sum.vcore_ms += app->live.vcores * ms;
    for (int i = 0; i < RM_RES_EXTRA; i++)
        sum.extra_ms[i] += app->live.extra[i] * ms;
    return sum;
}

struct rm_seconds rm_app_use(const struct rm_app *app)
{
    return use_until(app, sv_now_ms());
}

void rm_app_settle(struct rm_app *app)
{
    int64_t now = sv_now_ms();

    app->seconds = use_until(app, now);
    app->settled_ms = now;
}

void rm_app_seconds(const struct rm_app *app, int64_t *ret_mb_s, int64_t *ret_vcore_s)
{
    struct rm_seconds sum = rm_app_use(app);

    *ret_mb_s = sum.memory_ms / 1000;
    *ret_vcore_s = sum.vcore_ms / 1000;
}

void rm_app_post(struct rm_app *app, enum rm_app_event event, const char *text)
{
    sv_dispatcher_post(
        app->rm->dispatcher,
        &(struct sv_event){ .machine = RM_M_APP, .type = event, .object = app, .text = text });
}
