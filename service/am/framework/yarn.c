/* Reports of the ResourceManager and of nodes become inputs of the engine. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/oom.h"
#include "common/str.h"
#include "service/am/facts/reports.h"
#include "service/am/framework/master-internal.h"
#include "wire/exit-status.h"

static void give_back(struct svc_fwm *m, const struct svc_fwm_container *c, size_t role,
                      const char *why)
{
    _cleanup_free_ char *text = NULL;

    if (sv_asprintf(&text, "ports: %s on %s; the container is given back", why, c->node.host) < 0)
        sv_out_of_memory();
    sv_log(SV_LOG_WARNING, c->key, "%s, for a task of %s: %s", c->key, m->spec->roles[role].name,
           text);
    svc_fwm_why_set(m, role, text);
}

/* False: the host has too few ports for the role that the container is for. */
static bool take_ports(struct svc_fwm *m, struct svc_fwm_container *c, size_t role)
{
    uint32_t random = 0;
    char *ports;
    int r;

    if (m->spec->roles[role].resource.n_ports == 0) {
        svc_fwm_why_set(m, role, NULL);
        return true;
    }
    (void)!getrandom(&random, sizeof(random), 0); /* a place in the range alone, ignoring */
    r = svc_ports_take(m->ports, c->node.host, &m->spec->roles[role].resource, random, &ports);
    svc_fwm_need(r);
    if (r < 0) {
        give_back(m, c, role,
                  r == -EADDRINUSE ? "another task of the framework has them"
                  : r == -ENOSPC   ? "too few of selvedge.framework.port-range are free"
                                   : strerror(-r));
        return false;
    }
    svc_fwm_why_set(m, role, NULL);
    free(c->ports);
    c->ports = ports;
    return true;
}

static void on_allocated(struct cli_am *yarn, const struct cli_allocation *c, void *userdata)
{
    struct svc_fwm *m = userdata;
    struct svc_fwm_container *own = svc_fwm_container_add(m, c->id, &c->node, c->http_address);
    struct svc_allocated a = svc_allocated_of(c);
    size_t role;

    (void)yarn;
    if (!own)
        return; /* it was told twice */
    if (svc_fwm_request_role(m, c->priority, &role) == 0) {
        a.refused = !take_ports(m, own, role);
        svc_fwm_request_take(m, c->priority, a.refused ? NULL : own);
    }
    svc_engine_allocated(m->engine, sv_now_ms(), &a);
    svc_fwm_operate(m);
}

/* A container of the attempt before: the launcher told its task and ports, or the engine releases
 * it. */
static void on_recovered(struct cli_am *yarn, const struct cli_allocation *c, void *userdata)
{
    struct svc_fwm *m = userdata;
    struct svc_fwm_container *own = svc_fwm_container(m, c->id);
    const struct svc_allocated a = svc_allocated_of(c);
    char name[SVC_FWM_NAME];

    (void)yarn;
    if (!own)
        own = svc_fwm_container_add(m, c->id, &c->node, c->http_address);
    if (strcmp(own->node.host, c->node.host) != 0) {
        svc_ports_give(m->ports, own->node.host, own->ports);
        svc_fwm_need(svc_ports_adopt(m->ports, c->node.host, own->ports));
    }
    own->node = c->node;
    free(own->http);
    own->http = strdup(c->http_address);
    if (!own->http)
        sv_out_of_memory();
    sv_log(SV_LOG_INFO, own->key, "%s on %s: kept, of %s", own->key, c->node.host,
           svc_fwm_name(m, own->instance, name));
    svc_engine_recovered(m->engine, sv_now_ms(), &a, "");
    if (m->registered)
        svc_fwm_operate(m);
}

char *svc_fwm_cannot(const struct svc_fw_descriptor *d, const struct yarn_resource *maximum)
{
    char *text = NULL;

    if (maximum->memory_mb == 0 && maximum->vcores == 0)
        return NULL; /* not known */
    for (size_t i = 0; !text && i < d->n_roles; i++) {
        const struct svc_fw_resource *r = &d->roles[i].resource;
        const struct {
            const char *name;
            int64_t wanted, most;
        } needs[] = {
            { "memoryMB", r->memory_mb, maximum->memory_mb },
            { "cpuNumber", r->cpus, maximum->vcores },
            { "gpuNumber", r->gpus, maximum->gpus },
        };

        for (size_t k = 0; !text && k < SV_ARRAY_LEN(needs); k++)
            if (needs[k].wanted > needs[k].most &&
                sv_asprintf(&text,
                            "taskRoles[%s].taskService.resource.%s: %lld: the cluster gives a "
                            "container at most %lld",
                            d->roles[i].name, needs[k].name, (long long)needs[k].wanted,
                            (long long)needs[k].most) < 0)
                sv_out_of_memory();
    }
    return text;
}

static void on_registered(struct cli_am *yarn, const struct cli_registration *r, void *userdata)
{
    struct svc_fwm *m = userdata;
    _cleanup_free_ char *cannot = svc_fwm_cannot(m->spec, &r->maximum);

    (void)yarn;
    m->registered = true;
    sv_log_info("framework %s: registered in queue %s", m->options->name, r->queue);
    svc_fwm_operate(m);
    if (cannot)
        svc_fw_finish(m->engine, sv_now_ms(), SVC_FW_EXIT_AM_NON_TRANSIENT, cannot);
    else
        svc_fwm_cluster_start(m);
    svc_fwm_operate(m);
}

static void on_started(struct cli_am *yarn, struct yarn_container_id id, int status,
                       const struct sv_error *err, void *userdata)
{
    struct svc_fwm *m = userdata;
    struct svc_fwm_container *c = svc_fwm_container(m, id);
    const char *why = svc_why_not_started(status, err);
    char name[SVC_FWM_NAME];

    (void)yarn;
    if (!c)
        return;
    if (status < 0) {
        sv_log(SV_LOG_WARNING, c->key, "%s: %s not started: %s", svc_fwm_name(m, c->instance, name),
               c->key, why);
        svc_engine_start_failed(m->engine, sv_now_ms(), id, why);
    } else {
        svc_engine_started(m->engine, sv_now_ms(), id);
    }
    svc_fwm_operate(m);
}

static void on_completed(struct cli_am *yarn, struct yarn_container_id id, int32_t exit_status,
                         const char *diagnostics, void *userdata)
{
    struct svc_fwm *m = userdata;
    struct svc_fwm_container *c = svc_fwm_container(m, id);
    char name[SVC_FWM_NAME];

    (void)yarn;
    if (c)
        sv_log(SV_LOG_INFO, c->key, "%s: %s on %s ended with %d",
               svc_fwm_name(m, c->instance, name), c->key, c->node.host, exit_status);
    if (c)
        svc_fwm_unclaim(m, c);
    if (c && c->instance && exit_status == YARN_EXIT_PORT_CONFLICT)
        svc_fwm_avoid(m, c->node.host, svc_fwm_role_of(c->instance));
    svc_engine_completed(m->engine, sv_now_ms(), id, exit_status, diagnostics);
    if (m->registered)
        svc_fwm_operate(m);
    c = svc_fwm_container(m, id);
    if (c)
        svc_fwm_container_end(m, c);
}

static void on_node(struct cli_am *yarn, const struct cli_node_update *n, void *userdata)
{
    struct svc_fwm *m = userdata;

    (void)yarn;
    if (m->places && n->change != CLI_NODE_USABLE)
        svc_places_remove(m->places, n->id.host);
    svc_engine_node(m->engine, sv_now_ms(), &n->id, n->change == CLI_NODE_USABLE);
    svc_fwm_operate(m);
}

static void on_resynced(struct cli_am *yarn, void *userdata)
{
    struct svc_fwm *m = userdata;

    (void)yarn;
    sv_log_info("the ResourceManager has restarted");
    svc_engine_resync(m->engine, sv_now_ms());
    svc_fwm_operate(m);
}

static void on_finished(struct cli_am *yarn, void *userdata)
{
    struct svc_fwm *m = userdata;

    (void)yarn;
    svc_fwm_exit(m, m->exit_code);
}

/* Without an unregistration the ResourceManager starts the next attempt, if there is one. */
static void on_lost(struct cli_am *yarn, const struct sv_error *err, void *userdata)
{
    struct svc_fwm *m = userdata;

    (void)yarn;
    sv_log_err("ResourceManager: %s", err && err->code ? err->text : "lost");
    svc_fwm_exit(m, m->finished ? m->exit_code : 201);
}

const struct cli_am_ops svc_fwm_yarn_ops = {
    .registered = on_registered,
    .recovered = on_recovered,
    .allocated = on_allocated,
    .started = on_started,
    .completed = on_completed,
    .node = on_node,
    .resynced = on_resynced,
    .finished = on_finished,
    .lost = on_lost,
};
