/* See submission.h. */
#include "rm-lite/core/submission.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/acl.h"
#include "rm-lite/core/name-set.h"
#include "rm-lite/core/rm-app.h"

typedef Hadoop__Yarn__ApplicationSubmissionContextProto Submission;
typedef Hadoop__Yarn__ContainerLaunchContextProto Launch;

static int64_t sum_of(const struct rm *rm, const char *user)
{
    const struct rm_name_set *sum = rm_set_get(rm->submitters, user);

    return sum ? sum->number : 0;
}

int rm_submission_fits(const struct rm *rm, const char *application, const char *user, size_t size,
                       struct sv_error *err)
{
    int64_t n = (int64_t)size;

    if (size > RM_SUBMISSION_MAX)
        return sv_error_set(err, -EDQUOT,
                            "%s: its ApplicationSubmissionContext has %zu bytes, more than %zu: "
                            "give large data as a file among its local resources, not in its "
                            "environment, commands or tokens",
                            application, size, RM_SUBMISSION_MAX);
    if (sum_of(rm, user) + n > RM_SUBMISSIONS_OF_USER_MAX)
        return sv_error_set(err, -EDQUOT,
                            "%s: with its %zu bytes the ApplicationSubmissionContexts of user "
                            "%.100s would have more than %lld MiB: submit it when some of the "
                            "user's applications have ended, or with a smaller context",
                            application, size, user, (long long)RM_SUBMISSIONS_OF_USER_MAX >> 20);
    if (rm->submission_bytes + n > RM_SUBMISSIONS_MAX)
        return sv_error_set(err, -EDQUOT,
                            "%s: with its %zu bytes all ApplicationSubmissionContexts of the "
                            "cluster would have more than %lld MiB: submit it when some "
                            "applications have ended, or with a smaller context",
                            application, size, (long long)RM_SUBMISSIONS_MAX >> 20);
    return 0;
}

static void count(struct rm_app *app, int64_t bytes)
{
    struct rm *rm = app->rm;
    struct rm_name_set *sum = rm_set_add(&rm->submitters, app->user);

    rm->submission_bytes += bytes;
    sum->number += bytes;
    if (sum->number == 0)
        rm_set_remove(&rm->submitters, app->user);
}

void rm_submission_set(struct rm_app *app, uint8_t *bytes, size_t len)
{
    rm_app_context_drop(app);
    count(app, (int64_t)len - (int64_t)app->submission_len);
    free(app->submission);
    app->submission = bytes;
    app->submission_len = len;
}

int rm_submission_pack(struct rm_app *app, const Submission *ctx)
{
    size_t n = hadoop__yarn__application_submission_context_proto__get_packed_size(ctx);
    uint8_t *bytes = malloc(SV_MAX(n, (size_t)1));

    if (!bytes)
        return -ENOMEM;
    hadoop__yarn__application_submission_context_proto__pack(ctx, bytes);
    rm_submission_set(app, bytes, n);
    return 0;
}

/* The lists that reports obey: the first of each type, if it is not too long. */
static void keep_acls(Launch *to, Hadoop__Yarn__ApplicationACLMapProto *rows[2], const Launch *from)
{
    bool view = false, modify = false;

    to->application_acls = rows;
    for (size_t i = 0; i < from->n_application_acls; i++) {
        Hadoop__Yarn__ApplicationACLMapProto *one = from->application_acls[i];
        bool *have =
            one->accesstype == HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP
                ? &view
                : &modify;

        if (!one->has_accesstype || !one->acl || strlen(one->acl) > SV_ACL_MAX || *have)
            continue;
        *have = true;
        rows[to->n_application_acls++] = one;
    }
}

void rm_submission_shrink(struct rm_app *app)
{
    Launch launch = HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    Hadoop__Yarn__ApplicationACLMapProto *rows[2];
    const Submission *old = rm_app_context(app);
    Submission now;

    if (!old || !old->am_container_spec)
        return;
    now = *old;
    keep_acls(&launch, rows, old->am_container_spec);
    now.am_container_spec = &launch;
    (void)!rm_submission_pack(app, &now); /* it stays as it is, ignoring */
    rm_app_context_drop(app);
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
