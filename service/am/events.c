/* Reports of YARN and of the loop become inputs of the engine. */
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/oom.h"
#include "service/am/facts/reports.h"
#include "service/am/master-internal.h"

/* False: the container is released, since the table is full or has it already. */
static bool add(struct svc_master *m, const struct cli_allocation *c)
{
    if (svc_containers_add(&m->containers, c->id, &c->node, &c->resource, c->http_address))
        return true;
    if (!svc_containers_find(&m->containers, c->id))
        (void)cli_am_release(m->yarn, c->id); /* just allocated, ignoring */
    return false;
}

static void on_allocated(struct cli_am *yarn, const struct cli_allocation *c, void *userdata)
{
    struct svc_master *m = userdata;
    const struct svc_allocated a = svc_allocated_of(c);

    (void)yarn;
    if (!add(m, c))
        return;
    svc_engine_allocated(m->engine, sv_now_ms(), &a);
    svc_master_operate(m);
}

/* A container of the attempt before: the journal has its name. */
static void on_recovered(struct cli_am *yarn, const struct cli_allocation *c, void *userdata)
{
    struct svc_master *m = userdata;
    struct svc_allocated a = svc_allocated_of(c);
    struct svc_container *known = svc_containers_find(&m->expected, c->id), *own;
    const char *name = known ? known->instance : "";
    char id[YARN_ID_TEXT_MAX];

    (void)yarn;
    if (!add(m, c))
        return;
    sv_log(SV_LOG_INFO, yarn_container_id_text(c->id, id), "%s on %s: kept, %s", id, c->node.host,
           known ? name : "of an unknown instance");
    own = svc_containers_find(&m->containers, c->id);
    own->started_ms = own->allocated_ms;
    if (known && svc_container_name(own, name) < 0)
        sv_out_of_memory();
    if (known) {
        own->upgrade = known->upgrade;
        own->turning = known->turning;
        a.target = svc_master_runs_target(m, known);
    }
    svc_names_changed(m->names, own->instance);
    svc_engine_recovered(m->engine, sv_now_ms(), &a, name);
    svc_containers_remove(&m->expected, c->id);
    svc_master_operate(m);
    svc_master_turn_recovered(m, c->id);
}

static void on_registered(struct cli_am *yarn, const struct cli_registration *r, void *userdata)
{
    struct svc_master *m = userdata;

    (void)yarn;
    sv_log_info("registered in queue %s with %zu containers of earlier attempts", r->queue,
                m->containers.n);
    for (struct svc_container *c = m->expected.table; c; c = c->hh.next) {
        svc_engine_expected(m->engine, sv_now_ms(), c->id, c->instance);
        svc_master_operate(m);
    }
    m->started = true;
    svc_master_register(m);
    svc_engine_start(m->engine, sv_now_ms());
    svc_master_operate(m);
    svc_master_resume(m);
}

static void on_rejected(struct cli_am *yarn, const struct cli_rejection *r, void *userdata)
{
    struct svc_master *m = userdata;
    const char *why = r->reason == CLI_COULD_NOT_PLACE ? "no node meets the placement policy"
                                                       : "the chosen node had no room";

    (void)yarn;
    svc_engine_rejected(m->engine, sv_now_ms(), r->request_id, r->count, why);
    svc_master_operate(m);
}

static void on_started(struct cli_am *yarn, struct yarn_container_id id, int status,
                       const struct sv_error *err, void *userdata)
{
    struct svc_master *m = userdata;
    struct svc_container *c = svc_containers_find(&m->containers, id);
    const char *why = svc_why_not_started(status, err);

    (void)yarn;
    if (!c)
        return;
    if (status < 0) {
        sv_log(SV_LOG_WARNING, c->key, "%s: %s not started: %s", c->instance ? c->instance : "",
               c->key, why);
        svc_engine_start_failed(m->engine, sv_now_ms(), id, why);
    } else {
        c->started_ms = sv_wall_ms();
        svc_containers_forget(&m->containers, c->instance);
        svc_engine_started(m->engine, sv_now_ms(), id);
        svc_master_localized(m, id);
    }
    svc_master_operate(m);
}

/* A container of the attempt before that is not handed back any more: it had ended before, or was
 * never started. */
static void end_expected(struct svc_master *m, struct yarn_container_id id)
{
    struct svc_container *c = svc_containers_find(&m->expected, id);

    if (!c)
        return;
    svc_engine_unexpected(m->engine, sv_now_ms(), c->instance);
    svc_containers_remove(&m->expected, id);
    svc_master_operate(m);
}

/* Nothing is kept for an instance that goes. */
static void keep_ended(struct svc_master *m, const char *instance)
{
    struct svc_instance_view v;

    if (svc_engine_find(m->engine, instance, &v) < 0 || v.has_container)
        svc_containers_forget(&m->containers, instance);
}

static void on_completed(struct cli_am *yarn, struct yarn_container_id id, int32_t exit_status,
                         const char *diagnostics, void *userdata)
{
    struct svc_master *m = userdata;
    struct svc_container *c = svc_containers_find(&m->containers, id);
    _cleanup_free_ char *instance = c && c->instance ? strdup(c->instance) : NULL;

    (void)yarn;
    if (c && c->instance && !instance)
        sv_out_of_memory();
    if (c)
        sv_log(SV_LOG_INFO, c->key, "%s: %s on %s ended with %d", instance ? instance : "", c->key,
               c->node.host, exit_status);
    svc_checks_remove(m->checks, id);
    svc_master_unrecord(m, id);
    svc_addresses_remove(m->addresses, id);
    svc_containers_end(&m->containers, id, exit_status == 0);
    end_expected(m, id);
    svc_engine_completed(m->engine, sv_now_ms(), id, exit_status, diagnostics);
    if (instance)
        keep_ended(m, instance);
    svc_master_operate(m);
}

static void on_node(struct cli_am *yarn, const struct cli_node_update *n, void *userdata)
{
    struct svc_master *m = userdata;

    (void)yarn;
    svc_engine_node(m->engine, sv_now_ms(), &n->id, n->change == CLI_NODE_USABLE);
    svc_master_operate(m);
}

/* The library has sent all requests again; what was open of the engine's is open still. */
static void on_resynced(struct cli_am *yarn, void *userdata)
{
    struct svc_master *m = userdata;

    (void)yarn;
    sv_log_info("the ResourceManager has restarted");
    svc_engine_resync(m->engine, sv_now_ms());
    svc_master_operate(m);
}

static void on_finished(struct cli_am *yarn, void *userdata)
{
    (void)yarn;
    svc_master_exit(userdata, 0);
}

static void on_lost(struct cli_am *yarn, const struct sv_error *err, void *userdata)
{
    struct svc_master *m = userdata;

    (void)yarn;
    sv_log_err("ResourceManager: %s", err && err->code ? err->text : "lost");
    svc_master_exit(m, m->ended ? m->exit_code : 1);
}

const struct cli_am_ops svc_master_yarn_ops = {
    .registered = on_registered,
    .recovered = on_recovered,
    .allocated = on_allocated,
    .rejected = on_rejected,
    .started = on_started,
    .completed = on_completed,
    .node = on_node,
    .resynced = on_resynced,
    .finished = on_finished,
    .lost = on_lost,
};

void svc_master_checked(struct yarn_container_id id, bool ready, const char *why, void *userdata)
{
    struct svc_master *m = userdata;
    struct svc_container *c = svc_containers_find(&m->containers, id);

    if (c && !ready)
        sv_log(SV_LOG_INFO, c->key, "%s is not ready: %s", c->instance ? c->instance : c->key, why);
    svc_engine_ready(m->engine, sv_now_ms(), id, ready);
    svc_master_operate(m);
}

void svc_master_status_done(int status, void *userdata)
{
    struct svc_master *m = userdata;

    svc_client_am_status_done(&m->client, status);
    svc_rest_status_done(m->rest);
}
