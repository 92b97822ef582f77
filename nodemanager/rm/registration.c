/* See registration.h. */
#include "nodemanager/rm/registration.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "common/version.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container-status.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/resources/container-scheduler.h"
#include "nodemanager/resources/containers-monitor.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/rm/label-messages.h"
#include "nodemanager/rm/node-status.h"
#include "nodemanager/rm/rm-session.h"
#include "wire/ipc/methods.h"

static bool version_accepted(struct nm_updater *u, const char *rm_version)
{
    const char *min = u->ctx->conf->rm_minimum_version;
    int a[3] = { 0 }, b[3] = { 0 };

    if (sv_streq(min, "NONE"))
        return true;
    if (sv_streq(min, "EqualToNM"))
        min = NM_HADOOP_VERSION;
    if (!rm_version || sscanf(rm_version, "%d.%d.%d", &a[0], &a[1], &a[2]) < 2 ||
        sscanf(min, "%d.%d.%d", &b[0], &b[1], &b[2]) < 1)
        return false;
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] > b[i];
    return true;
}

static int set_keys(struct nm_updater *u, const Hadoop__Yarn__RegisterNodeManagerResponseProto *m)
{
    struct nm_secrets *secrets = u->ctx->secrets;
    int r = 0;

    if (m->container_token_master_key)
        r = nm_secrets_set_container_key(secrets, m->container_token_master_key);
    if (r >= 0 && m->nm_token_master_key)
        r = nm_secrets_set_nm_key(secrets, m->nm_token_master_key);
    return r;
}

void nm_rm_set_total(struct nm_updater *u, const Hadoop__Yarn__ResourceProto *m)
{
    const struct yarn_types *types = yarn_types();
    const struct yarn_resource *own = &u->ctx->total;
    struct yarn_resource total;

    if (!m || yarn_resource_from(m, &total) != 0)
        return;
    total.gpus = own->gpus; /* the machine's */
    for (size_t i = 0; i < types->n; i++)
        if (!yarn_resource_names(m, types->types[i].name))
            total.extra[i] = own->extra[i]; /* the ResourceManager does not know the type */
    nm_limits_set_total(u->config.limits, total);
    nm_scheduler_run(u->config.scheduler);
}

static void on_registered(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct nm_updater *u = userdata;
    const Hadoop__Yarn__RegisterNodeManagerResponseProto *m = (const void *)r->response;

    u->call = 0;
    if (u->ended)
        return;
    if (r->status < 0) {
        nm_rm_labels_unanswered(u);
        if (r->status != -ECANCELED)
            nm_rm_unavailable(u, "registration", r, err->text);
        return;
    }
    if (m->has_nodeaction && m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__SHUTDOWN) {
        nm_rm_shut_down(
            u, NM_END_REFUSED,
            "Received SHUTDOWN signal from Resourcemanager, Registration of NodeManager "
            "failed,",
            m->diagnostics_message);
        return;
    }
    if (!version_accepted(u, m->rm_version)) { /* perhaps during an upgrade: containers continue */
        char version[64], why[256];

        sv_escape(version, sizeof(version), m->rm_version ? m->rm_version : "");
        snprintf(why, sizeof(why),
                 "its version %s is below the %s of yarn.nodemanager.resourcemanager.minimum."
                 "version",
                 version, u->ctx->conf->rm_minimum_version);
        nm_rm_unavailable(u, "registration", NULL, why);
        return;
    }
    nm_rm_recovered(u);
    if (set_keys(u, m) < 0) {
        nm_rm_unavailable(u, "registration", NULL,
                          "master keys are malformed or cannot be recorded");
        return;
    }
    nm_rm_set_total(u, m->resource);
    nm_rm_labels_answered(u, m->has_arenodelabelsacceptedbyrm && m->arenodelabelsacceptedbyrm,
                          m->has_arenodeattributesacceptedbyrm && m->arenodeattributesacceptedbyrm,
                          m->diagnostics_message);
    u->rm_identifier = m->rm_identifier;
    u->rm_is_ours = m->selvedge_version != NULL;
    u->rm_takes_earlier = m->selvedge_takes_earlier;
    u->registered = true;
    u->changed = u->told_gpus != u->ctx->total.gpus;
    nm_aggregation_reports_delivered(u->config.aggregation);
    u->response_id = 0;
    for (struct nm_container *c = u->ctx->containers; c; c = c->hh.next)
        if (c->report.in_flight)
            c->report.delivered_ms = sv_now_ms();
    sv_log_info("Registered with ResourceManager as %s with total resource of <memory:%lld, "
                "vCores:%d>",
                u->ctx->node_id_text, (long long)u->ctx->total.memory_mb, u->ctx->total.vcores);
    u->config.registered(u->config.userdata);
    u->again = false;
    u->send(u); /* the first heartbeat */
}

static int add_recovered(struct nm_updater *u, struct sv_arena *a,
                         Hadoop__Yarn__RegisterNodeManagerRequestProto *m)
{
    const struct nm_context *ctx = u->ctx;

    m->container_statuses =
        sv_newn(a, Hadoop__Yarn__NMContainerStatusProto *, HASH_COUNT(ctx->containers) + 1);
    m->runningapplications =
        sv_newn(a, Hadoop__Yarn__ApplicationIdProto *, HASH_COUNT(ctx->apps) + 1);
    if (!m->container_statuses || !m->runningapplications)
        return -ENOMEM;
    for (struct nm_container *c = ctx->containers; c; c = c->hh.next) {
        Hadoop__Yarn__NMContainerStatusProto *s = nm_container_nm_status(c, a);

        if (!s)
            return -ENOMEM;
        m->container_statuses[m->n_container_statuses++] = s;
        c->report.in_flight = nm_container_is_done(c);
        c->report.told = true;
    }
    for (struct nm_app *app = ctx->apps; app; app = app->hh.next) {
        Hadoop__Yarn__ApplicationIdProto *id;

        if (app->state == NM_APP_FINISHED)
            continue;
        id = yarn_app_id_to(a, app->id);
        if (!id)
            return -ENOMEM;
        m->runningapplications[m->n_runningapplications++] = id;
    }
    return 0;
}

void nm_rm_send_register(struct nm_updater *u)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RegisterNodeManagerRequestProto m;
    int r = -ENOMEM;

    hadoop__yarn__register_node_manager_request_proto__init(&m);
    if (a) {
        m.node_id = yarn_node_id_to(a, &u->ctx->node_id);
        m.has_http_port = true;
        m.http_port = u->ctx->http_port;
        m.resource = yarn_resource_to(a, u->ctx->total);
        u->told_gpus = u->ctx->total.gpus;
        m.nm_version = (char *)(uintptr_t)NM_HADOOP_VERSION;
        m.selvedge_version = (char *)(uintptr_t)SV_VERSION;
        m.physicalresource = nm_monitor_physical(u->config.monitor, a);
        m.nodestatus = nm_rm_node_status(u, a);
        if (m.nodestatus) /* they travel as container_statuses here */
            m.nodestatus->n_containersstatuses = 0;
        m.log_aggregation_reports_for_apps =
            nm_aggregation_reports(u->config.aggregation, a, &m.n_log_aggregation_reports_for_apps);
        r = m.node_id && m.resource && m.nodestatus && m.log_aggregation_reports_for_apps
                ? add_recovered(u, a, &m)
                : -ENOMEM;
    }
    if (r >= 0)
        r = nm_rm_labels(u, a, true, &m.nodelabels, &m.nodeattributes);
    if (r >= 0)
        r = ipc_proxy_call(u->rm, "registerNodeManager", &m.base,
                           &hadoop__yarn__register_node_manager_response_proto__descriptor,
                           NM_RM_CALL_MS, on_registered, u, &u->call);
    if (r < 0)
        nm_rm_unavailable(u, "registration", NULL, strerror(-r));
}
