/* See node-status.h. */
#include "nodemanager/rm/node-status.h"

#include "common/clock.h"
#include "nodemanager/core/container-status.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/resources/container-resize.h"
#include "nodemanager/resources/container-scheduler.h"
#include "nodemanager/resources/containers-monitor.h"
#include "nodemanager/rm/rm-session.h"
#include "wire/container-use.h"

#define RESEND_MS 10000 /* a delivered end is reported again unless acknowledged */

static Hadoop__Yarn__NodeHealthStatusProto *health(const struct nm_context *ctx, struct sv_arena *a)
{
    Hadoop__Yarn__NodeHealthStatusProto *h = sv_new(a, Hadoop__Yarn__NodeHealthStatusProto);
    char report[NM_HEALTH_REPORT_MAX];

    if (!h)
        return NULL;
    hadoop__yarn__node_health_status_proto__init(h);
    h->has_is_node_healthy = true;
    h->is_node_healthy = nm_health_report(ctx->health, report);
    h->health_report = sv_arena_strdup(a, report);
    h->has_last_health_report_time = true;
    h->last_health_report_time = nm_health_checked_ms(ctx->health);
    return h->health_report ? h : NULL;
}

/* In Hadoop's units: memory in GB, rounded up; no estimate of the wait. */
static Hadoop__Yarn__OpportunisticContainersStatusProto *opportunistic(const struct nm_updater *u,
                                                                       struct sv_arena *a)
{
    Hadoop__Yarn__OpportunisticContainersStatusProto *m =
        sv_new(a, Hadoop__Yarn__OpportunisticContainersStatusProto);
    struct nm_scheduler_figures f;

    if (!m)
        return NULL;
    hadoop__yarn__opportunistic_containers_status_proto__init(m);
    nm_scheduler_figures(u->config.scheduler, &f);
    m->has_running_opport_containers = m->has_opport_memory_used = m->has_opport_cores_used = true;
    m->has_queued_opport_containers = m->has_wait_queue_length = true;
    m->has_estimated_queue_wait_time = m->has_opport_queue_capacity = true;
    m->running_opport_containers = f.running;
    m->opport_memory_used = (f.memory_mb + 1023) / 1024;
    m->opport_cores_used = (int32_t)SV_MIN(f.vcores, (int64_t)INT32_MAX);
    m->queued_opport_containers = f.queued_opportunistic;
    m->wait_queue_length = f.queued_opportunistic + f.queued_guaranteed;
    m->estimated_queue_wait_time = -1;
    m->opport_queue_capacity = f.queue_capacity;
    return m;
}

/* True if the container belongs into the next heartbeat: completed ones until delivered, then again
 * every RESEND_MS until acknowledged. */
static bool is_due(const struct nm_container *c, int64_t now)
{
    if (c->state == NM_CONTAINER_NEW && c->recovered)
        return false; /* its recovery is not complete */
    return !nm_container_is_done(c) || c->report.delivered_ms == 0 ||
           now - c->report.delivered_ms >= RESEND_MS;
}

/* Adds what it uses, as the monitor has read it last. */
static bool add_use(const struct nm_container *c, struct sv_arena *a,
                    Hadoop__Yarn__ContainerStatusProto *m)
{
    struct yarn_use use = { .bytes =
                                (int64_t)SV_MIN(c->usage.last.memory_current, (uint64_t)1 << 53),
                            .peak_bytes = (int64_t)SV_MIN(c->usage.peak_bytes, (uint64_t)1 << 53),
                            .millicores = (int64_t)(c->usage.cpu_cores * 1000) };
    Hadoop__Yarn__StringStringMapProto **v, *own;
    char text[YARN_USE_TEXT_MAX];

    if (!c->usage.read_ms || nm_container_is_done(c))
        return true;
    v = sv_newn(a, Hadoop__Yarn__StringStringMapProto *, m->n_container_attributes + 1);
    own = sv_new(a, Hadoop__Yarn__StringStringMapProto);
    if (!v || !own)
        return false;
    hadoop__yarn__string_string_map_proto__init(own);
    own->key = (char *)(uintptr_t)YARN_USE_KEY;
    own->value = sv_arena_strdup(a, yarn_use_text(&use, text));
    for (size_t i = 0; i < m->n_container_attributes; i++)
        v[i] = m->container_attributes[i];
    v[m->n_container_attributes++] = own;
    m->container_attributes = v;
    return own->value != NULL;
}

Hadoop__Yarn__NodeStatusProto *nm_rm_node_status(struct nm_updater *u, struct sv_arena *a)
{
    Hadoop__Yarn__NodeStatusProto *s = sv_new(a, Hadoop__Yarn__NodeStatusProto);
    const struct nm_context *ctx = u->ctx;
    int64_t now = sv_now_ms();

    if (!s)
        return NULL;
    hadoop__yarn__node_status_proto__init(s);
    s->node_id = yarn_node_id_to(a, &ctx->node_id);
    s->has_response_id = true;
    s->response_id = u->response_id;
    s->nodehealthstatus = health(ctx, a);
    s->containersstatuses =
        sv_newn(a, Hadoop__Yarn__ContainerStatusProto *, HASH_COUNT(ctx->containers) + 1);
    if (!s->node_id || !s->nodehealthstatus || !s->containersstatuses)
        return NULL;
    for (struct nm_container *c = ctx->containers; c; c = c->hh.next) {
        c->report.in_flight = false;
        if (!is_due(c, now))
            continue;
        s->containersstatuses[s->n_containersstatuses] = nm_container_status(c, a);
        if (!s->containersstatuses[s->n_containersstatuses] ||
            (u->rm_is_ours && !add_use(c, a, s->containersstatuses[s->n_containersstatuses])))
            return NULL;
        s->n_containersstatuses++;
        c->report.in_flight = nm_container_is_done(c);
    }
    s->increased_containers = nm_resize_increased(ctx, a, &s->n_increased_containers);
    s->opportunistic_containers_status = opportunistic(u, a);
    s->keep_alive_applications =
        nm_aggregation_keep_alive(u->config.aggregation, a, &s->n_keep_alive_applications);
    if (!s->increased_containers || !s->opportunistic_containers_status ||
        !s->keep_alive_applications)
        return NULL;
    s->containers_utilization = nm_monitor_containers_utilization(u->config.monitor, a);
    s->node_utilization = nm_monitor_node_utilization(u->config.monitor, a);
    return s;
}
