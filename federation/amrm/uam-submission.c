/* The submission of an unmanaged master; see uam-submission.h. Hostile: the context, which a user
 * wrote. */
#include "federation/amrm/uam-submission.h"

#define MASTER_MB 1024 /* Java's UnmanagedApplicationManager; nothing is allocated for it */

typedef Hadoop__Yarn__ApplicationSubmissionContextProto context_proto;

/* The fields that the scheduler and log aggregation of the sub-cluster need. */
static void copy_context(context_proto *to, const context_proto *from)
{
    to->priority = from->priority;
    to->applicationtype = from->applicationtype;
    to->applicationtags = from->applicationtags;
    to->n_applicationtags = from->n_applicationtags;
    to->log_aggregation_context = from->log_aggregation_context;
    to->node_label_expression = from->node_label_expression;
    to->application_timeouts = from->application_timeouts;
    to->n_application_timeouts = from->n_application_timeouts;
    to->application_scheduling_properties = from->application_scheduling_properties;
    to->n_application_scheduling_properties = from->n_application_scheduling_properties;
}

static bool set_own(struct sv_arena *a, context_proto *c, const struct fed_uam_application *app)
{
    Hadoop__Yarn__ContainerLaunchContextProto *launch =
        sv_new(a, Hadoop__Yarn__ContainerLaunchContextProto);

    if (launch)
        hadoop__yarn__container_launch_context_proto__init(launch);
    c->am_container_spec = launch;
    c->application_id = yarn_app_id_to(a, app->id);
    c->application_name = sv_arena_printf(a, "UnmanagedAM-%s", app->home);
    c->queue = sv_arena_strdup(a, app->queue && *app->queue ? app->queue : "default");
    c->resource =
        yarn_resource_to(a, (struct yarn_resource){ .memory_mb = MASTER_MB, .vcores = 1 });
    c->has_unmanaged_am = c->unmanaged_am = true;
    c->has_keep_containers_across_application_attempts = true;
    c->keep_containers_across_application_attempts = true;
    return launch && c->application_id && c->application_name && c->queue && c->resource;
}

Hadoop__Yarn__SubmitApplicationRequestProto *
fed_uam_submission(struct sv_arena *a, const struct fed_uam_application *app)
{
    Hadoop__Yarn__SubmitApplicationRequestProto *q =
        sv_new(a, Hadoop__Yarn__SubmitApplicationRequestProto);
    context_proto *c = sv_new(a, context_proto);

    if (!q || !c)
        return NULL;
    hadoop__yarn__submit_application_request_proto__init(q);
    hadoop__yarn__application_submission_context_proto__init(c);
    q->application_submission_context = c;
    if (app->context)
        copy_context(c, app->context);
    return set_own(a, c, app) ? q : NULL;
}
