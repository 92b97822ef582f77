/* See client.h. Submission of an application. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "client/lib/internal.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"

typedef Hadoop__Yarn__ApplicationSubmissionContextProto context;

/* ---- Parts of the context ---- */

static int texts_to(struct sv_arena *a, const struct cli_submission *s, context *ctx)
{
    const struct {
        const char *from;
        char **to;
    } texts[] = {
        { s->name, &ctx->application_name },
        { s->queue, &ctx->queue },
        { s->type, &ctx->applicationtype },
        { s->label, &ctx->node_label_expression },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(texts); i++)
        if (texts[i].from && !(*texts[i].to = sv_arena_strdup(a, texts[i].from)))
            return -ENOMEM;
    return 0;
}

int cli_tag_to(struct sv_arena *a, const char *tag, char **ret)
{
    size_t n = strlen(tag);
    char *copy;

    if (n == 0 || n > CLI_TAG_LEN_MAX)
        return -EINVAL;
    copy = sv_arena_strdup(a, tag);
    if (!copy)
        return -ENOMEM;
    for (char *p = copy; *p; p++) {
        if ((unsigned char)*p > 127)
            return -EINVAL;
        *p = (char)tolower((unsigned char)*p);
    }
    *ret = copy;
    return 0;
}

static int tags_to(struct sv_arena *a, const struct cli_submission *s, context *ctx)
{
    if (s->n_tags > CLI_TAGS_MAX)
        return -EINVAL;
    ctx->applicationtags = sv_newn(a, char *, s->n_tags + 1);
    if (!ctx->applicationtags)
        return -ENOMEM;
    for (; ctx->n_applicationtags < s->n_tags; ctx->n_applicationtags++) {
        int r = cli_tag_to(a, s->tags[ctx->n_applicationtags],
                           &ctx->applicationtags[ctx->n_applicationtags]);

        if (r < 0)
            return r;
    }
    return 0;
}

static int logs_to(struct sv_arena *a, const struct cli_submission *s, context *ctx)
{
    Hadoop__Yarn__LogAggregationContextProto *m =
        sv_new(a, Hadoop__Yarn__LogAggregationContextProto);

    if (!m)
        return -ENOMEM;
    hadoop__yarn__log_aggregation_context_proto__init(m);
    const struct {
        const char *from;
        char **to;
    } texts[] = {
        { s->log_include, &m->include_pattern },
        { s->log_exclude, &m->exclude_pattern },
        { s->rolled_logs, &m->rolled_logs_include_pattern },
        { s->rolled_exclude, &m->rolled_logs_exclude_pattern },
        { s->log_policy, &m->log_aggregation_policy_class_name },
        { s->log_policy_parameters, &m->log_aggregation_policy_parameters },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(texts); i++) {
        if (!texts[i].from)
            continue;
        *texts[i].to = sv_arena_strdup(a, texts[i].from);
        if (!*texts[i].to)
            return -ENOMEM;
        ctx->log_aggregation_context = m;
    }
    return 0;
}

static int lifetime_to(struct sv_arena *a, const struct cli_submission *s, context *ctx)
{
    Hadoop__Yarn__ApplicationTimeoutMapProto *m;

    if (s->lifetime_s <= 0)
        return 0;
    m = sv_new(a, Hadoop__Yarn__ApplicationTimeoutMapProto);
    ctx->application_timeouts = sv_newn(a, Hadoop__Yarn__ApplicationTimeoutMapProto *, 1);
    if (!m || !ctx->application_timeouts)
        return -ENOMEM;
    hadoop__yarn__application_timeout_map_proto__init(m);
    m->has_application_timeout_type = m->has_timeout = true;
    m->application_timeout_type =
        HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME;
    m->timeout = s->lifetime_s;
    ctx->application_timeouts[0] = m;
    ctx->n_application_timeouts = 1;
    return 0;
}

/* A request of its own for the master's container, where its label is another one. */
static int master_to(struct sv_arena *a, const struct cli_submission *s, context *ctx)
{
    Hadoop__Yarn__ResourceRequestProto *m;

    if (!s->am_label)
        return 0;
    m = sv_new(a, Hadoop__Yarn__ResourceRequestProto);
    ctx->am_container_resource_request = sv_newn(a, Hadoop__Yarn__ResourceRequestProto *, 1);
    if (!m || !ctx->am_container_resource_request)
        return -ENOMEM;
    hadoop__yarn__resource_request_proto__init(m);
    m->has_num_containers = m->has_relax_locality = true;
    m->num_containers = 1;
    m->relax_locality = true;
    m->priority = ctx->priority;
    m->resource_name = sv_arena_strdup(a, "*");
    m->capability = ctx->resource;
    m->node_label_expression = sv_arena_strdup(a, s->am_label);
    if (!m->resource_name || !m->node_label_expression)
        return -ENOMEM;
    ctx->am_container_resource_request[0] = m;
    ctx->n_am_container_resource_request = 1;
    return 0;
}

/* ---- Submission ---- */

static int context_to(struct sv_arena *a, const struct cli_submission *s, context *ctx)
{
    struct sv_error err = { .code = -ENOMEM };
    int r;

    ctx->application_id = yarn_app_id_to(a, s->app);
    ctx->resource = yarn_resource_to(a, s->resource);
    ctx->am_container_spec = cli_launch_to(a, &s->launch, &err);
    ctx->priority = sv_new(a, Hadoop__Yarn__PriorityProto);
    if (!ctx->application_id || !ctx->resource || !ctx->am_container_spec || !ctx->priority)
        return err.code;
    hadoop__yarn__priority_proto__init(ctx->priority);
    ctx->priority->has_priority = true;
    ctx->priority->priority = s->priority;
    ctx->has_maxappattempts = s->max_attempts > 0;
    ctx->maxappattempts = s->max_attempts;
    ctx->has_keep_containers_across_application_attempts = s->keep_containers;
    ctx->keep_containers_across_application_attempts = s->keep_containers;
    ctx->has_attempt_failures_validity_interval = s->failure_validity_ms > 0;
    ctx->attempt_failures_validity_interval = s->failure_validity_ms;
    r = texts_to(a, s, ctx);
    if (r >= 0)
        r = tags_to(a, s, ctx);
    if (r >= 0)
        r = logs_to(a, s, ctx);
    if (r >= 0)
        r = lifetime_to(a, s, ctx);
    return r < 0 ? r : master_to(a, s, ctx);
}

static void submitted(struct cli_call *call, const struct ipc_result *r, const struct sv_error *err)
{
    call->fn.done(r->status, err, call->userdata);
}

int cli_rm_submit(struct cli_rm *rm, const struct cli_submission *s, cli_done_fn fn, void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__SubmitApplicationRequestProto request =
        HADOOP__YARN__SUBMIT_APPLICATION_REQUEST_PROTO__INIT;
    context ctx = HADOOP__YARN__APPLICATION_SUBMISSION_CONTEXT_PROTO__INIT;
    int r = a ? context_to(a, s, &ctx) : -ENOMEM;

    if (r < 0)
        return r;
    request.application_submission_context = &ctx;
    return cli_call_start(
        rm, "submitApplication", &request.base,
        &hadoop__yarn__submit_application_response_proto__descriptor,
        (struct cli_call){ .answer = submitted, .fn = { .done = fn }, .userdata = userdata });
}
