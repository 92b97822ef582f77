/* Reports. See reports.h. States and statuses are always set: unmodified clients read them without
 * a null check. */
#include "rm-lite/requests/reports.h"

#include <string.h>

#include "common/str.h"
#include "rm-lite/core/app-usage.h"
#include "rm-lite/core/log-status.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/core/tracking.h"
#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/requests/wait-reason.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/security/tokens.h"

/* Messages borrow strings of the objects, which outlive the packing of the answer. */
#define STR(s) ((char *)(uintptr_t)(s))

Hadoop__Yarn__PriorityProto *rm_priority_to(struct sv_arena *a, int32_t priority)
{
    Hadoop__Yarn__PriorityProto *m = sv_new(a, Hadoop__Yarn__PriorityProto);

    if (!m)
        return NULL;
    hadoop__yarn__priority_proto__init(m);
    m->has_priority = true;
    m->priority = priority;
    return m;
}

static Hadoop__Yarn__ResourceTypeInfoProto *type_info(struct sv_arena *a, const char *name,
                                                      const char *units)
{
    Hadoop__Yarn__ResourceTypeInfoProto *m = sv_new(a, Hadoop__Yarn__ResourceTypeInfoProto);

    if (!m)
        return NULL;
    hadoop__yarn__resource_type_info_proto__init(m);
    m->name = STR(name);
    m->units = STR(units);
    m->has_type = true;
    m->type = HADOOP__YARN__RESOURCE_TYPES_PROTO__COUNTABLE;
    return m;
}

Hadoop__Yarn__ResourceTypeInfoProto **rm_resource_types(struct sv_arena *a, size_t *ret_n)
{
    const struct rm_types *types = rm_types();
    size_t n = 2 + (size_t)types->n;
    Hadoop__Yarn__ResourceTypeInfoProto **v = sv_newn(a, Hadoop__Yarn__ResourceTypeInfoProto *, n);

    if (!v)
        return NULL;
    v[0] = type_info(a, "memory-mb", "Mi");
    v[1] = type_info(a, "vcores", "");
    for (int i = 0; i < types->n; i++)
        v[2 + i] = type_info(a, types->names[i], "");
    for (size_t i = 0; i < n; i++)
        if (!v[i])
            return NULL;
    *ret_n = n;
    return v;
}

Hadoop__Yarn__ApplicationACLMapProto **rm_app_acls(struct rm_app *app, size_t *ret_n)
{
    const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx = rm_app_context(app);

    *ret_n = 0;
    if (!ctx || !ctx->am_container_spec)
        return NULL;
    *ret_n = ctx->am_container_spec->n_application_acls;
    return ctx->am_container_spec->application_acls;
}

static Hadoop__Yarn__ResourceUtilizationProto *use_to(struct sv_arena *a, int32_t pmem,
                                                      int32_t vmem, float cpu)
{
    Hadoop__Yarn__ResourceUtilizationProto *m = sv_new(a, Hadoop__Yarn__ResourceUtilizationProto);

    if (!m)
        return NULL;
    hadoop__yarn__resource_utilization_proto__init(m);
    m->has_pmem = m->has_vmem = m->has_cpu = true;
    m->pmem = pmem;
    m->vmem = vmem;
    m->cpu = cpu;
    return m;
}

Hadoop__Yarn__NodeReportProto *rm_node_report(struct sv_arena *a, const struct rm_node *n)
{
    Hadoop__Yarn__NodeReportProto *m = sv_new(a, Hadoop__Yarn__NodeReportProto);
    struct rm_node_usage use = { .total = n->total };

    if (!m)
        return NULL;
    (void)rm_sched_node_usage(n->rm->sched, &n->id,
                              &use); /* not in the scheduler: nothing used, ignoring */
    hadoop__yarn__node_report_proto__init(m);
    m->nodeid = yarn_node_id_to(a, &n->id);
    m->httpaddress = n->http;
    m->rackname = n->rack;
    m->used = rm_res_to(a, use.used);
    m->capability = rm_res_to(a, n->total);
    m->has_numcontainers = true;
    m->numcontainers = use.containers;
    m->has_node_state = true;
    m->node_state = (Hadoop__Yarn__NodeStateProto)rm_node_wire_state(n);
    m->health_report = n->health ? n->health : STR("");
    m->has_last_health_report_time = true;
    m->last_health_report_time = n->health_ms;
    m->containers_utilization = use_to(a, n->used_pmem, n->used_vmem, n->used_cpu);
    m->node_utilization = use_to(a, n->node_pmem, n->node_vmem, n->node_cpu);
    m->has_node_update_type = true;
    m->node_update_type = n->state == RM_NODE_ST_RUNNING
                              ? HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_USABLE
                          : n->state == RM_NODE_ST_DECOMMISSIONING
                              ? HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_DECOMMISSIONING
                              : HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_UNUSABLE;
    return m->nodeid && m->used && m->capability ? m : NULL;
}

static Hadoop__Yarn__StringLongMapProto **
seconds_map(struct sv_arena *a, const struct rm_usage_row *rows, int n, bool preempted)
{
    Hadoop__Yarn__StringLongMapProto **v = sv_newn(a, Hadoop__Yarn__StringLongMapProto *, n);

    for (int i = 0; v && i < n; i++) {
        v[i] = sv_new(a, Hadoop__Yarn__StringLongMapProto);
        if (!v[i])
            return NULL;
        hadoop__yarn__string_long_map_proto__init(v[i]);
        v[i]->key = STR(rows[i].type);
        v[i]->value = (preempted ? rows[i].preempted_ms : rows[i].used_ms) / 1000;
    }
    return v;
}

/* Clients print the maps, of all types; old clients read memory and virtual cores alone. */
static bool use_of_types(struct sv_arena *a, const struct rm_app *app,
                         Hadoop__Yarn__ApplicationResourceUsageReportProto *m)
{
    struct rm_usage_row rows[RM_USAGE_ROWS];
    int n = rm_app_usage_rows(app, rows);

    m->has_memory_seconds = m->has_vcore_seconds = true;
    m->memory_seconds = rows[0].used_ms / 1000;
    m->vcore_seconds = rows[1].used_ms / 1000;
    m->has_preempted_memory_seconds = m->has_preempted_vcore_seconds = true;
    m->preempted_memory_seconds = rows[0].preempted_ms / 1000;
    m->preempted_vcore_seconds = rows[1].preempted_ms / 1000;
    m->application_resource_usage_map = seconds_map(a, rows, n, false);
    m->application_preempted_resource_usage_map = seconds_map(a, rows, n, true);
    m->n_application_resource_usage_map = m->n_application_preempted_resource_usage_map = (size_t)n;
    return m->application_resource_usage_map && m->application_preempted_resource_usage_map;
}

static Hadoop__Yarn__ApplicationResourceUsageReportProto *usage(struct sv_arena *a,
                                                                const struct rm_app *app)
{
    Hadoop__Yarn__ApplicationResourceUsageReportProto *m =
        sv_new(a, Hadoop__Yarn__ApplicationResourceUsageReportProto);
    struct rm_app_usage use = { .queue_path = NULL };
    struct rm_queue_info q;
    struct rm_res cluster = rm_sched_cluster(app->rm->sched);
    enum rm_calculator calc = rm_sched_calculator(app->rm->sched);

    if (!m)
        return NULL;
    hadoop__yarn__application_resource_usage_report_proto__init(m);
    if (rm_sched_app_usage(app->rm->sched, app->id, &use) < 0 && rm_app_final_stored(app)) {
        use.used = use.reserved = (struct rm_res){ -1, -1, { -1, -1 } }; /* no longer known */
        use.containers = use.reserved_containers = -1;
    }
    m->has_num_used_containers = m->has_num_reserved_containers = true;
    m->num_used_containers = use.containers;
    m->num_reserved_containers = use.reserved_containers;
    m->used_resources = rm_res_to(a, use.used);
    m->reserved_resources = rm_res_to(a, use.reserved);
    m->needed_resources =
        rm_res_to(a, use.containers < 0 ? use.used : rm_res_add(use.used, use.reserved));
    m->has_cluster_usage_percentage = m->has_queue_usage_percentage = true;
    m->cluster_usage_percentage =
        use.containers < 0 ? 0 : (float)(rm_res_share(calc, use.used, cluster) * 100);
    if (use.queue_path && rm_sched_queue(app->rm->sched, use.queue_path, &q) >= 0)
        m->queue_usage_percentage = (float)(rm_res_share(calc, use.used, q.effective_min) * 100);
    return use_of_types(a, app, m) && m->used_resources && m->reserved_resources &&
                   m->needed_resources
               ? m
               : NULL;
}

/* An object's text, or a copy of that in the buffer. */
static char *kept(struct sv_arena *a, const char *text, const char *buffer)
{
    return text == buffer ? sv_arena_strdup(a, text) : STR(text);
}

static bool timeouts_to(struct sv_arena *a, const struct rm_app *app,
                        Hadoop__Yarn__ApplicationReportProto *m)
{
    char date[RM_LIFETIME_DATE_MAX];
    Hadoop__Yarn__AppTimeoutsMapProto *row = sv_new(a, Hadoop__Yarn__AppTimeoutsMapProto);
    Hadoop__Yarn__ApplicationTimeoutProto *t = sv_new(a, Hadoop__Yarn__ApplicationTimeoutProto);

    m->apptimeouts = sv_newn(a, Hadoop__Yarn__AppTimeoutsMapProto *, 1);
    if (!row || !t || !m->apptimeouts)
        return false;
    hadoop__yarn__app_timeouts_map_proto__init(row);
    hadoop__yarn__application_timeout_proto__init(t);
    t->application_timeout_type =
        HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME;
    rm_lifetime_report(app, date, &t->remaining_time);
    t->expire_time = sv_arena_strdup(a, date);
    t->has_remaining_time = true;
    row->has_application_timeout_type = true;
    row->application_timeout_type = t->application_timeout_type;
    row->application_timeout = t;
    m->apptimeouts[m->n_apptimeouts++] = row;
    return t->expire_time != NULL;
}

static char *page_url(struct sv_arena *a, struct rm_app *app)
{
    char url[1024];

    if (app->current)
        rm_tracking_url(app->current, url, sizeof(url));
    else
        rm_app_page(app, url, sizeof(url));
    return sv_arena_strdup(a, url);
}

/* The master knows its key once it has registered; Hadoop gives tokens from its launch on. */
static bool client_may_call(const struct rm_attempt *att)
{
    return att->rm->conf.kerberos.own.on &&
           (att->state == RM_ATT_ST_LAUNCHED || att->state == RM_ATT_ST_RUNNING);
}

static bool report_attempt(struct sv_arena *a, struct rm_app *app, const char *viewer,
                           Hadoop__Yarn__ApplicationReportProto *m)
{
    struct rm_attempt *att = app->current;

    m->host = att && att->host && *att->host ? att->host : STR("N/A");
    m->rpc_port = att ? att->rpc_port : -1;
    m->originaltrackingurl =
        att && att->tracking_url && *att->tracking_url ? att->tracking_url : STR("N/A");
    m->progress = rm_app_final_stored(app) ? 1.0f : att ? att->progress : 0;
    if (!att)
        return true;
    m->currentapplicationattemptid = yarn_attempt_id_to(a, att->id);
    /* The token makes its holder the master, so only the owner gets it. */
    if (app->unmanaged && att->token_live && att->state == RM_ATT_ST_LAUNCHED &&
        sv_streq(viewer, app->user)) {
        struct yarn_token t;

        if (rm_token_amrm(a, att, &t) >= 0)
            m->am_rm_token = yarn_token_to(a, &t);
    }
    if (client_may_call(att))
        m->client_to_am_token = rm_token_client_am(a, att, viewer);
    return m->currentapplicationattemptid != NULL;
}

Hadoop__Yarn__ApplicationReportProto *rm_app_report(struct sv_arena *a, struct rm_app *app,
                                                    const char *viewer)
{
    Hadoop__Yarn__ApplicationReportProto *m = sv_new(a, Hadoop__Yarn__ApplicationReportProto);
    char waits[RM_WAIT_TEXT_MAX];

    if (!m)
        return NULL;
    hadoop__yarn__application_report_proto__init(m);
    m->applicationid = yarn_app_id_to(a, app->id);
    m->user = app->user;
    m->queue = app->queue;
    m->name = app->name;
    m->has_rpc_port = m->has_progress = true;
    if (!report_attempt(a, app, viewer, m))
        return NULL;
    m->has_yarn_application_state = true;
    m->yarn_application_state = (Hadoop__Yarn__YarnApplicationStateProto)rm_app_wire_state(app);
    m->trackingurl = page_url(a, app);
    m->diagnostics = kept(a, rm_app_diagnostics(app, waits), waits);
    m->has_starttime = m->has_finishtime = m->has_launchtime = m->has_submittime = true;
    m->starttime = app->start_ms;
    m->submittime = app->submit_ms;
    m->launchtime = app->launch_ms;
    m->finishtime = app->finish_ms;
    m->has_final_application_status = true;
    m->final_application_status = (Hadoop__Yarn__FinalApplicationStatusProto)rm_app_wire_final(app);
    m->app_resource_usage = usage(a, app);
    m->applicationtype = app->type;
    m->applicationtags = app->tags;
    m->n_applicationtags = sv_strv_len(app->tags);
    m->has_log_aggregation_status = true;
    m->log_aggregation_status = (Hadoop__Yarn__LogAggregationStatusProto)rm_log_status(app);
    m->has_unmanaged_application = true;
    m->unmanaged_application = app->unmanaged;
    m->priority = rm_priority_to(a, app->priority);
    m->appnodelabelexpression = STR("<Not set>");
    if (!app->unmanaged) /* its master has no place */
        m->amnodelabelexpression = STR("<DEFAULT_PARTITION>");
    m->rmclusterid = STR(app->rm->conf.cluster_id);
    return m->applicationid && m->trackingurl && m->diagnostics && m->app_resource_usage &&
                   m->priority && timeouts_to(a, app, m)
               ? m
               : NULL;
}

Hadoop__Yarn__ApplicationAttemptReportProto *rm_attempt_report(struct sv_arena *a,
                                                               const struct rm_attempt *att)
{
    Hadoop__Yarn__ApplicationAttemptReportProto *m =
        sv_new(a, Hadoop__Yarn__ApplicationAttemptReportProto);
    char url[1024], waits[RM_WAIT_TEXT_MAX];

    if (!m)
        return NULL;
    hadoop__yarn__application_attempt_report_proto__init(m);
    rm_tracking_url(att, url, sizeof(url));
    m->application_attempt_id = yarn_attempt_id_to(a, att->id);
    m->host = att->host && *att->host ? att->host : STR("N/A");
    m->has_rpc_port = true;
    m->rpc_port = att->rpc_port;
    m->tracking_url = sv_arena_strdup(a, url);
    m->original_tracking_url =
        att->tracking_url && *att->tracking_url ? att->tracking_url : STR("N/A");
    m->diagnostics = kept(a, rm_attempt_diagnostics(att, waits), waits);
    m->has_yarn_application_attempt_state = true;
    m->yarn_application_attempt_state =
        (Hadoop__Yarn__YarnApplicationAttemptStateProto)rm_attempt_wire_state(att);
    if (att->has_master)
        m->am_container_id = yarn_container_id_to(a, att->master_id);
    m->has_starttime = m->has_finishtime = true;
    m->starttime = att->start_ms;
    m->finishtime = att->finish_ms;
    return m->application_attempt_id && m->tracking_url && m->diagnostics ? m : NULL;
}

Hadoop__Yarn__ContainerReportProto *rm_container_report(struct sv_arena *a,
                                                        const struct rm_container *c)
{
    Hadoop__Yarn__ContainerReportProto *m = sv_new(a, Hadoop__Yarn__ContainerReportProto);

    if (!m)
        return NULL;
    hadoop__yarn__container_report_proto__init(m);
    m->container_id = yarn_container_id_to(a, c->id);
    m->resource = rm_res_to(a, c->resource);
    m->node_id = yarn_node_id_to(a, &c->node_id);
    m->priority = rm_priority_to(a, c->priority);
    m->has_creation_time = m->has_finish_time = true;
    m->creation_time = c->created_ms;
    m->finish_time = c->finish_ms;
    m->diagnostics_info = c->diagnostics;
    m->log_url = sv_arena_printf(a, "%s://%s/node/containerlogs/%s/%s", rm_web_scheme(c->app->rm),
                                 c->node_http, c->id_str, c->app->user);
    m->has_container_exit_status = true;
    m->container_exit_status = c->finish_ms ? c->exit_status : 0;
    m->has_container_state = true;
    m->container_state = (Hadoop__Yarn__ContainerStateProto)rm_container_wire_state(c);
    m->node_http_address = sv_arena_printf(a, "%s://%s", rm_web_scheme(c->app->rm), c->node_http);
    m->has_executiontype = true;
    m->executiontype = (Hadoop__Yarn__ExecutionTypeProto)rm_container_wire_type(c->opportunistic);
    return m->container_id && m->resource && m->node_id && m->priority && m->log_url ? m : NULL;
}
