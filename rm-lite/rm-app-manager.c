/* RMAppManager: makes applications from submissions, forgets the oldest finished ones, finds what
 * the manager owns. The submission is a client's: names and numbers are checked or cut here. */
#include "rm-lite/rm-app-manager.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/machines.h"
#include "rm-lite/store.h"
#include "wire/methods.h"

#define TYPE_MAX 20 /* YarnConfiguration.APPLICATION_TYPE_LENGTH */

typedef Hadoop__Yarn__ApplicationSubmissionContextProto Submission;

/* The ApplicationMaster's resource: the "*" row where rows are given, else the old field. */
static int master_resource(const Submission *ctx, struct rm_res *ret, struct sv_error *err)
{
    struct yarn_resource r;
    int any = 0;

    if (ctx->n_am_container_resource_request == 0) {
        if (!ctx->resource)
            return sv_error_set(err, -EINVAL, "Invalid resource request, no resources requested");
        if (yarn_resource_from(ctx->resource, &r) < 0)
            return sv_error_set(err, -EINVAL, "Invalid resource request, its amount is no number");
        *ret = rm_res_of(r);
        return 0;
    }
    for (size_t i = 0; i < ctx->n_am_container_resource_request; i++) {
        const Hadoop__Yarn__ResourceRequestProto *q = ctx->am_container_resource_request[i];

        if (!sv_streq(q->resource_name, RM_ANY))
            continue;
        any++;
        if (yarn_resource_from(q->capability, &r) < 0)
            return sv_error_set(err, -EINVAL, "Invalid resource request, its amount is no number");
        *ret = rm_res_of(r);
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
        rm_out_of_memory();
    for (size_t i = 0; i < ctx->n_applicationtags; i++)
        tags[i] = rm_strdup(ctx->applicationtags[i]);
    return tags;
}

static void fill(struct rm_app *app, const Submission *ctx)
{
    const struct rm_conf *c = &app->rm->conf;
    int64_t asked = ctx->maxappattempts;

    app->name =
        rm_strdup(ctx->application_name && *ctx->application_name ? ctx->application_name : "N/A");
    app->queue = rm_strdup(ctx->queue && *ctx->queue ? ctx->queue : "default");
    app->type = strndup(
        ctx->applicationtype && *ctx->applicationtype ? ctx->applicationtype : "YARN", TYPE_MAX);
    if (!app->type)
        rm_out_of_memory();
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
}

struct rm_app *rm_app_new(struct rm *rm, struct yarn_app_id id, const char *user,
                          const uint8_t *submission, size_t len, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Submission *ctx;
    struct rm_app *app;
    struct rm_res am = { 0, 0 };

    if (!a)
        rm_out_of_memory();
    ctx = hadoop__yarn__application_submission_context_proto__unpack(sv_arena_protobuf(a), len,
                                                                     submission);
    if (!ctx) {
        (void)sv_error_set(err, -EBADMSG, "the application's submission cannot be read");
        return NULL;
    }
    if (!ctx->unmanaged_am || ctx->resource || ctx->n_am_container_resource_request > 0)
        if (master_resource(ctx, &am, err) < 0)
            return NULL;
    app = calloc(1, sizeof(*app));
    if (!app)
        rm_out_of_memory();
    app->rm = rm;
    app->id = id;
    app->key.ts = id.cluster_ts;
    app->key.id = id.id;
    yarn_app_id_text(id, app->id_str);
    app->state = RM_APP_ST_NEW;
    app->user = rm_strdup(user);
    app->am_resource = am;
    app->submission = malloc(SV_MAX(len, (size_t)1));
    if (!app->submission)
        rm_out_of_memory();
    memcpy(app->submission, submission, len);
    app->submission_len = len;
    app->submit_ms = app->start_ms = sv_wall_ms();
    fill(app, ctx);
    HASH_ADD(hh, rm->apps, key, sizeof(app->key), app);
    DL_APPEND(rm->app_list, app);
    return app;
}

const Submission *rm_app_context(struct rm_app *app)
{
    if (!app->context) {
        if (!app->context_arena)
            app->context_arena = sv_arena_new(0);
        if (app->context_arena)
            app->context = hadoop__yarn__application_submission_context_proto__unpack(
                sv_arena_protobuf(app->context_arena), app->submission_len, app->submission);
    }
    return app->context;
}

void rm_app_context_drop(struct rm_app *app)
{
    app->context = NULL;
    app->context_arena = sv_arena_free(app->context_arena);
}

void rm_app_free(struct rm_app *app)
{
    struct rm_attempt *att, *tmp;

    rm_app_context_drop(app);

    DL_FOREACH_SAFE (app->attempts, att, tmp) {
        DL_DELETE(app->attempts, att);
        rm_attempt_free(att);
    }
    HASH_DEL(app->rm->apps, app);
    DL_DELETE(app->rm->app_list, app);
    rm_set_clear(&app->ran_on);
    sv_strv_free(app->tags);
    free(app->submission);
    free(app->user);
    free(app->name);
    free(app->queue);
    free(app->type);
    free(app->diagnostics);
    free(app->kill_text);
    free(app->tracking_url);
    free(app);
}

static int check_tags(const struct rm *rm, const Submission *ctx, struct sv_error *err)
{
    if ((int64_t)ctx->n_applicationtags > rm->conf.max_tags)
        return sv_error_set(err, -EINVAL,
                            JAVA_ILLEGAL_ARGUMENT ": Too many applicationTags, a maximum "
                                                  "of only %lld are allowed!",
                            (long long)rm->conf.max_tags);
    for (size_t i = 0; i < ctx->n_applicationtags; i++) {
        const char *t = ctx->applicationtags[i];

        if ((int64_t)strlen(t) > rm->conf.max_tag_length)
            return sv_error_set(err, -EINVAL,
                                JAVA_ILLEGAL_ARGUMENT ": Tag %.100s is too long, maximum "
                                                      "allowed length of a tag is %lld",
                                t, (long long)rm->conf.max_tag_length);
        for (const char *p = t; *p; p++)
            if ((unsigned char)*p >= 0x80)
                return sv_error_set(err, -EINVAL,
                                    JAVA_ILLEGAL_ARGUMENT ": A tag can only have ASCII characters! "
                                                          "Invalid tag - %.100s",
                                    t);
    }
    return 0;
}

static bool named(const char *s)
{
    return s && *s;
}

static bool asks_for_label(const Submission *ctx)
{
    for (size_t i = 0; i < ctx->n_am_container_resource_request; i++)
        if (named(ctx->am_container_resource_request[i]->node_label_expression))
            return true;
    return named(ctx->node_label_expression);
}

int rm_app_submit(struct rm *rm, const Submission *ctx, const char *user, const char **ret_class,
                  struct sv_error *err)
{
    struct yarn_app_id id;
    _cleanup_free_ uint8_t *bytes = NULL;
    struct rm_app *app;
    struct rm_res asked;
    size_t n;
    int r;

    *ret_class = JAVA_YARN_EXCEPTION;
    if (!ctx || yarn_app_id_from(ctx->application_id, &id) < 0)
        return sv_error_set(err, -EINVAL, "Invalid application id: null");
    if (rm_app_find(rm, id))
        return 0; /* a repeated submission is answered as the first */
    r = check_tags(rm, ctx, err);
    if (r < 0)
        return r;
    if (asks_for_label(ctx)) {
        *ret_class = JAVA_INVALID_LABEL_REQUEST;
        return sv_error_set(err, -EINVAL,
                            "Invalid resource request, node label not enabled but "
                            "request contains label expression");
    }
    n = hadoop__yarn__application_submission_context_proto__get_packed_size(ctx);
    bytes = malloc(SV_MAX(n, (size_t)1));
    if (!bytes)
        return sv_error_set(err, -ENOMEM, "no memory for the submission");
    hadoop__yarn__application_submission_context_proto__pack(ctx, bytes);
    app = rm_app_new(rm, id, user, bytes, n, err);
    if (!app) {
        *ret_class = JAVA_INVALID_RESOURCE_REQUEST;
        return err->code;
    }
    asked = app->am_resource;
    r = app->unmanaged ? 0 : rm_sched_normalize(rm->sched, app->queue, &app->am_resource);
    if (r < 0) {
        struct rm_res max = rm_sched_max_allocation(rm->sched, app->queue);

        *ret_class = JAVA_INVALID_RESOURCE_REQUEST;
        rm_invalid_resource(asked, max, err);
        rm_app_free(app);
        return r;
    }
    rm->counters.apps_submitted++;
    sv_log(SV_LOG_INFO, app->id_str, "%s: submitted by user %s to queue %s", app->id_str, user,
           app->queue);
    rm_post(rm, RM_M_APP, app, RM_APP_EV_START);
    return 0;
}

void rm_invalid_resource(struct rm_res asked, struct rm_res max, struct sv_error *err)
{
    bool mem = asked.mem < 0 || asked.mem > max.mem;
    bool less = (mem ? asked.mem : asked.vcores) < 0;

    (void)sv_error_set(err, -ERANGE,
                       "Invalid resource request! Cannot allocate containers as requested "
                       "resource is %s Requested resource type=[%s], Requested resource=<memory:"
                       "%lld, vCores:%lld>, maximum allowed allocation=<memory:%lld, vCores:%lld>, "
                       "please note that maximum allowed allocation is calculated by scheduler "
                       "based on maximum resource of registered NodeManagers, which might be less "
                       "than configured maximum allocation=<memory:%lld, vCores:%lld>",
                       less ? "less than 0!" : "greater than maximum allowed allocation.",
                       mem ? "memory-mb" : "vcores", (long long)asked.mem, (long long)asked.vcores,
                       (long long)max.mem, (long long)max.vcores, (long long)max.mem,
                       (long long)max.vcores);
}

void rm_app_evict(struct rm *rm)
{
    struct rm_app *app, *tmp;

    DL_FOREACH_SAFE (rm->app_list, app, tmp) {
        struct rm_container *c;

        if ((int64_t)rm->n_completed <= rm->conf.max_completed_apps)
            return;
        if (!rm_app_is_final(app))
            continue;
        for (c = rm->containers; c && c->app != app; c = c->hh.next)
            ;
        if (c) /* a late container still points here */
            continue;
        sv_log_debug("%s: forgotten, more than %lld applications are finished", app->id_str,
                     (long long)rm->conf.max_completed_apps);
        rm_store_app_remove(rm, app);
        rm_app_free(app);
        rm->n_completed--;
    }
}

/* ------------------------------------------------------------------ look-up */

struct rm_app *rm_app_find(struct rm *rm, struct yarn_app_id id)
{
    struct rm_app *app, probe = { .key = { id.cluster_ts, id.id } };

    HASH_FIND(hh, rm->apps, &probe.key, sizeof(probe.key), app);
    return app;
}

struct rm_attempt *rm_attempt_find(struct rm *rm, struct yarn_attempt_id id)
{
    struct rm_app *app = rm_app_find(rm, id.app);
    struct rm_attempt *att;

    if (!app)
        return NULL;
    if (app->current && app->current->id.attempt == id.attempt)
        return app->current;
    DL_FOREACH (app->attempts, att)
        if (att->id.attempt == id.attempt)
            return att;
    return NULL;
}

struct rm_container *rm_container_find(struct rm *rm, struct yarn_container_id id)
{
    struct rm_container *c,
        probe = { .key = { id.attempt.app.cluster_ts,
                           (int64_t)((uint64_t)id.attempt.app.id << 32) | id.attempt.attempt,
                           id.id } };

    HASH_FIND(hh, rm->containers, &probe.key, sizeof(probe.key), c);
    return c;
}

struct rm_node *rm_node_find(struct rm *rm, const struct yarn_node_id *id)
{
    char key[300];
    struct rm_node *n;

    yarn_node_id_text(id, key);
    HASH_FIND_STR(rm->nodes, key, n);
    return n;
}
