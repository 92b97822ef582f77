/* See submission-check.h. */
#include "rm-lite/requests/submission-check.h"

#include <errno.h>
#include <string.h>

#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/core/text.h"
#include "wire/ipc/methods.h"

typedef Hadoop__Yarn__ApplicationSubmissionContextProto Submission;

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

/* Members of all lists, whatever they are. Recurses: the message has passed wire/depth.h. */
static size_t count_parts(const ProtobufCMessage *m)
{
    size_t parts = 0;

    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        const void *at = (const char *)m + f->offset;
        bool list = f->label == PROTOBUF_C_LABEL_REPEATED;
        size_t n =
            list ? *(const size_t *)(const void *)((const char *)m + f->quantifier_offset) : 1;
        ProtobufCMessage *const *messages = list ? *(ProtobufCMessage *const *const *)at : at;

        parts += list ? n : 0;
        for (size_t k = 0; f->type == PROTOBUF_C_TYPE_MESSAGE && k < n; k++)
            parts += messages[k] ? count_parts(messages[k]) : 0;
    }
    return parts;
}

/* Each part is copied and packed in the handler of the call; 10,000 take 5 ms. */
static int check_parts(const Submission *ctx, const char *application, struct sv_error *err)
{
    size_t n = count_parts(&ctx->base);

    if (n <= RM_PARTS_MAX)
        return 0;
    return sv_error_set(err, -EINVAL,
                        JAVA_ILLEGAL_ARGUMENT
                        ": %s: %zu resources, variables, commands and other parts, more than %d: "
                        "pack the resources into an archive",
                        application, n, RM_PARTS_MAX);
}

static int check_name(const Submission *ctx, const char *application, struct sv_error *err)
{
    size_t n = ctx->application_name ? strlen(ctx->application_name) : 0;

    if (n <= RM_NAME_MAX)
        return 0;
    return sv_error_set(err, -EINVAL,
                        JAVA_ILLEGAL_ARGUMENT ": %s: its name has %zu bytes, more than %d: submit "
                                              "it with a shorter name",
                        application, n, RM_NAME_MAX);
}

static int check_token_conf(const struct rm *rm, const Submission *ctx, struct sv_error *err)
{
    const Hadoop__Yarn__ContainerLaunchContextProto *clc = ctx->am_container_spec;
    size_t n = clc && clc->has_tokens_conf ? clc->tokens_conf.len : 0;

    if (n <= (size_t)rm->conf.token_conf_bytes)
        return 0;
    return sv_error_set(err, -EINVAL,
                        "Exceed yarn.resourcemanager.delegation-token.max-conf-size-bytes = %lld "
                        "bytes, current conf size = %zu bytes.",
                        (long long)rm->conf.token_conf_bytes, n);
}

int rm_submission_check(const struct rm *rm, const Submission *ctx, struct yarn_app_id id,
                        const char *user, const char **ret_class, struct sv_error *err)
{
    char application[YARN_ID_TEXT_MAX];
    int64_t lifetime_s;
    int r = check_name(ctx, yarn_app_id_text(id, application), err);

    if (r >= 0)
        r = check_tags(rm, ctx, err);
    if (r >= 0)
        r = check_parts(ctx, application, err);
    if (r >= 0)
        r = check_token_conf(rm, ctx, err);
    if (r >= 0)
        r = rm_app_lifetime(ctx, &lifetime_s, err);
    if (r >= 0 && asks_for_label(ctx)) {
        *ret_class = JAVA_INVALID_LABEL_REQUEST;
        r = sv_error_set(err, -EINVAL,
                         "Invalid resource request, node label not enabled but "
                         "request contains label expression");
    }
    if (r >= 0)
        r = rm_submission_fits(
            rm, application, user,
            hadoop__yarn__application_submission_context_proto__get_packed_size(ctx), err);
    return r;
}
