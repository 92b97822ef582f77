/* See past-apps.h. Texts of rows are users'. */
#include "rm-lite/requests/past-apps.h"

#include "rm-lite/core/rm-app.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/scheduler/resource-types.h"

#define S(x) HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__##x
/* Messages borrow texts of the row, which is in the same arena. */
#define STR(s) ((char *)(uintptr_t)(s))

int rm_past_wire_state(const struct rm_past_app *past)
{
    return past->state == RM_APP_ST_FINISHED ? S(FINISHED)
           : past->state == RM_APP_ST_FAILED ? S(FAILED)
                                             : S(KILLED);
}

const char *rm_past_state_name(const struct rm_past_app *past)
{
    return past->state == RM_APP_ST_FINISHED ? "FINISHED"
           : past->state == RM_APP_ST_FAILED ? "FAILED"
                                             : "KILLED";
}

bool rm_past_matches(const struct rm_app_filter *f, const struct rm_past_app *past)
{
    const struct rm_app_facts facts = { .state = rm_past_wire_state(past),
                                        .final = past->final_status,
                                        .start_ms = past->start_ms,
                                        .finish_ms = past->finish_ms,
                                        .user = past->user,
                                        .queue = past->queue,
                                        .name = past->name,
                                        .type = past->type };

    return rm_app_filter_takes_facts(f, &facts);
}

/* Newer clients read the map, older ones the two numbers. */
static bool put_types(struct sv_arena *a, const struct rm_past_app *past,
                      Hadoop__Yarn__ApplicationResourceUsageReportProto *m)
{
    m->application_resource_usage_map =
        sv_newn(a, Hadoop__Yarn__StringLongMapProto *, (size_t)past->n_used);
    for (int i = 0; m->application_resource_usage_map && i < past->n_used; i++) {
        Hadoop__Yarn__StringLongMapProto *row = sv_new(a, Hadoop__Yarn__StringLongMapProto);

        if (!row)
            return false;
        hadoop__yarn__string_long_map_proto__init(row);
        row->key = STR(past->used[i].type);
        row->value = past->used[i].used_ms / 1000;
        m->application_resource_usage_map[m->n_application_resource_usage_map++] = row;
    }
    return m->application_resource_usage_map != NULL;
}

/* `sees`: else as Hadoop's of somebody else's application, without numbers. */
static Hadoop__Yarn__ApplicationResourceUsageReportProto *
usage(struct sv_arena *a, const struct rm_past_app *past, bool sees)
{
    static const struct rm_res unknown = { -1, -1, { -1, -1 } };
    Hadoop__Yarn__ApplicationResourceUsageReportProto *m =
        sv_new(a, Hadoop__Yarn__ApplicationResourceUsageReportProto);

    if (!m)
        return NULL;
    hadoop__yarn__application_resource_usage_report_proto__init(m);
    m->has_num_used_containers = m->has_num_reserved_containers = true;
    m->num_used_containers = m->num_reserved_containers = -1;
    m->used_resources = m->reserved_resources = m->needed_resources = rm_res_to(a, unknown);
    m->has_memory_seconds = m->has_vcore_seconds = true;
    m->memory_seconds = sees ? past->used[0].used_ms / 1000 : -1;
    m->vcore_seconds = sees ? past->used[1].used_ms / 1000 : -1;
    return m->used_resources && (!sees || put_types(a, past, m)) ? m : NULL;
}

/* No attempt is named: none is known any more. */
Hadoop__Yarn__ApplicationReportProto *rm_past_report(const struct rm_viewer *v, struct sv_arena *a,
                                                     const struct rm_past_app *past)
{
    const bool sees = rm_viewer_sees_past(v, past);
    Hadoop__Yarn__ApplicationReportProto *m = sv_new(a, Hadoop__Yarn__ApplicationReportProto);

    if (!m)
        return NULL;
    hadoop__yarn__application_report_proto__init(m);
    m->applicationid = yarn_app_id_to(a, past->id);
    m->user = STR(past->user);
    m->queue = STR(past->queue);
    m->name = STR(past->name);
    m->applicationtype = STR(past->type);
    m->host = m->trackingurl = m->originaltrackingurl = STR("N/A");
    m->diagnostics = STR("");
    m->has_rpc_port = m->has_progress = m->has_yarn_application_state = true;
    m->rpc_port = -1;
    m->progress = 1.0f;
    m->yarn_application_state = (Hadoop__Yarn__YarnApplicationStateProto)rm_past_wire_state(past);
    m->has_starttime = m->has_finishtime = m->has_launchtime = m->has_submittime = true;
    m->starttime = m->submittime = past->start_ms;
    m->launchtime = past->launch_ms;
    m->finishtime = past->finish_ms;
    m->has_final_application_status = true;
    m->final_application_status = (Hadoop__Yarn__FinalApplicationStatusProto)past->final_status;
    m->app_resource_usage = usage(a, past, sees);
    m->priority = rm_priority_to(a, 0);
    m->rmclusterid = STR(v->rm->conf.cluster_id);
    if (sees)
        m->diagnostics = STR(past->diagnostics);
    return m->applicationid && m->app_resource_usage && m->priority ? m : NULL;
}
