/* Carries out what the engine wants. */
#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/oom.h"
#include "service/am/master-internal.h"

#define EXIT_WAIT_MS 10000 /* for files being stored */

/* ---- Requests ---- */

static int schedule(struct svc_master *m, const struct svc_op *op, struct sv_error *err)
{
    const struct svc_component_plan *p = svc_master_plan_of(m, op->component);
    const char *tags[] = { op->component->name };
    const struct cli_scheduling_request q = {
        .request_id = op->request,
        .priority = op->priority,
        .resource = op->component->resource,
        .count = (int32_t)op->count,
        .tags = tags,
        .n_tags = 1,
        .constraint = p ? p->constraint : NULL,
        .enforce = true,
    };

    return cli_am_schedule(m->yarn, &q, err);
}

static int ask(struct svc_master *m, const struct svc_op *op, struct sv_error *err)
{
    struct cli_locality *places = calloc(op->n_hosts + 1, sizeof(*places));
    struct cli_ask a = {
        .request_id = op->request,
        .priority = op->priority,
        .resource = op->component->resource,
        .count = (int32_t)op->count,
        .places = places,
        .n_places = op->n_hosts,
        .strict = op->n_hosts > 0 && !op->relax,
        .label = op->label && *op->label ? op->label : NULL,
    };
    int r;

    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < op->n_hosts; i++)
        places[i].host = op->hosts[i];
    r = cli_am_ask(m->yarn, &a, err);
    free(places);
    return r;
}

static void on_ask(struct svc_master *m, const struct svc_op *op)
{
    struct sv_error err = { 0 };
    int r = m->plan->constrained ? schedule(m, op, &err) : ask(m, op, &err);

    svc_master_need(r);
    if (r < 0)
        sv_log_err("component %s: cannot request %lld containers: %s", op->component->name,
                   (long long)op->count, err.code ? err.text : strerror(-r));
}

static void forget(struct svc_master *m, struct yarn_container_id id)
{
    svc_checks_remove(m->checks, id);
    svc_addresses_remove(m->addresses, id);
    svc_master_unrecord(m, id);
    svc_containers_remove(&m->containers, id);
}

/* The library reports no end of a released container: the engine gets one in the next turn. */
static void on_release(struct svc_master *m, const struct svc_op *op)
{
    (void)cli_am_release(m->yarn, op->container); /* it may have ended already, ignoring */
    forget(m, op->container);
    svc_master_end(m, op->container);
}

static void on_stop(struct svc_master *m, const struct svc_op *op)
{
    struct svc_container *c = svc_containers_find(&m->containers, op->container);

    svc_checks_remove(m->checks, op->container);
    if (c)
        c->launching = false;
    if (cli_am_stop(m->yarn, op->container) < 0)
        on_release(m, op); /* never started, or it has ended */
}

/* ---- The service ---- */

static void on_state(struct svc_master *m, const struct svc_op *op)
{
    int64_t desired = 0, ready = 0;
    struct svc_component_view v;

    if (op->instance || op->component)
        return;
    if (svc_engine_target(m->engine))
        svc_master_journal_changed(m); /* it may be cancelled */
    for (size_t i = 0; i < svc_engine_components(m->engine); i++) {
        svc_engine_component(m->engine, i, &v);
        desired += v.desired;
        ready += v.ready;
    }
    cli_am_progress(m->yarn, desired > 0 ? (float)ready / (float)desired : 1);
    sv_log_info("service %s: %s", m->options->name,
                svc_service_state_text(svc_engine_state(m->engine)));
}

static int on_exit_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_master *m = userdata;

    (void)s;
    (void)usec;
    return sd_event_exit(m->event, m->exit_code);
}

void svc_master_exit(struct svc_master *m, int code)
{
    m->ended = true;
    m->exit_code = code;
    (void)sd_event_source_set_time_relative(m->exit_timer, EXIT_WAIT_MS * 1000ull);
    (void)sd_event_source_set_enabled(m->exit_timer, SD_EVENT_ONESHOT); /* exists, ignoring */
    svc_master_maybe_exit(m);
}

static void on_unregister(struct svc_master *m, const struct svc_op *op)
{
    int r = cli_am_finish(m->yarn, op->success ? CLI_FINAL_SUCCEEDED : CLI_FINAL_FAILED, op->text);

    sv_log_info("service %s ends: %s", m->options->name, op->text);
    svc_master_unregister(m);
    if (r < 0) {
        sv_log_err("ResourceManager: cannot report the end: %s", strerror(-r));
        svc_master_exit(m, 1);
    }
}

static void on_timer(struct svc_master *m, const struct svc_op *op)
{
    int64_t wait = SV_MAX(op->at - sv_now_ms(), 0);

    (void)sd_event_source_set_time_relative(m->engine_timer, (uint64_t)wait * 1000);
    (void)sd_event_source_set_enabled(m->engine_timer, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static void operate(struct svc_master *m, const struct svc_op *op)
{
    switch (op->type) {
    case SVC_OP_ASK:
        on_ask(m, op);
        break;
    case SVC_OP_CANCEL:
        (void)!cli_am_cancel(m->yarn, op->priority, op->request); /* answered already, ignoring */
        break;
    case SVC_OP_RELEASE:
        on_release(m, op);
        break;
    case SVC_OP_LAUNCH:
    case SVC_OP_REINITIALIZE:
        svc_master_launch(m, op, op->type == SVC_OP_REINITIALIZE);
        break;
    case SVC_OP_STOP:
        on_stop(m, op);
        break;
    case SVC_OP_CHECK:
        svc_master_check(m, op);
        break;
    case SVC_OP_BLACKLIST:
        svc_master_need(cli_am_blacklist(m->yarn, op->host, op->on));
        break;
    case SVC_OP_TIMER:
        on_timer(m, op);
        break;
    case SVC_OP_PERSIST:
        svc_master_persist(m, op);
        break;
    case SVC_OP_FINALIZE:
        svc_master_finalize(m, op);
        break;
    case SVC_OP_DROP:
        svc_master_drop(m, op);
        break;
    case SVC_OP_STATE:
        on_state(m, op);
        break;
    case SVC_OP_UNREGISTER:
        on_unregister(m, op);
        break;
    }
}

void svc_master_operate(struct svc_master *m)
{
    size_t n;
    const struct svc_op *ops = svc_engine_ops(m->engine, &n);

    for (size_t i = 0; i < n; i++)
        operate(m, &ops[i]);
    svc_master_store(m);
    if (n > 0) {
        svc_status_changed(m->status);
    }
}

static int on_engine_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_master *m = userdata;

    (void)s;
    (void)usec;
    svc_engine_timer(m->engine, sv_now_ms());
    svc_master_operate(m);
    return 0;
}

static int new_timer(struct svc_master *m, sd_event_time_handler_t handler, sd_event_source **ret)
{
    int r = sd_event_add_time_relative(m->event, ret, CLOCK_MONOTONIC, 0, 1000, handler, m);

    return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

int svc_master_operations_new(struct svc_master *m)
{
    int r = svc_master_launching_new(m);

    m->operate = svc_master_operate;
    if (r >= 0)
        r = svc_master_checking_new(m);
    if (r >= 0)
        r = svc_master_localized_new(m);
    if (r >= 0)
        r = new_timer(m, on_engine_time, &m->engine_timer);
    return r < 0 ? r : new_timer(m, on_exit_time, &m->exit_timer);
}
