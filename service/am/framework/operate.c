/* Carries out what the engine wants, and ends the master. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/oom.h"
#include "common/str.h"
#include "service/am/framework/diagnostics.h"
#include "service/am/framework/master-internal.h"
#include "wire/exit-status.h"

#define TELL_WAIT_MS 30000  /* the launcher is told the last states, if it answers */
#define END_WAIT_MS 60000   /* the ResourceManager is told the end */
#define GPU_HOSTS_MAX 10000 /* of one request */

/* ---- Requests ---- */

/* Hosts with GPUs of the wanted types, by the cluster's configuration, for a request that does not
 * choose among nodes. */
static size_t gpu_hosts(const struct svc_fwm *m, const char *types, struct cli_locality *to)
{
    json_t *nodes = json_object_get(m->cluster, "nodes"), *node;
    _cleanup_strv_ char **wanted = NULL;
    const char *host;
    size_t n = 0;

    if (sv_strv_split(types, ',', &wanted) < 0)
        sv_out_of_memory();
    json_object_foreach(nodes, host, node)
    {
        const char *type = json_string_value(json_object_get(node, "gpuType"));
        bool fits = false;

        for (size_t i = 0; type && wanted[i]; i++)
            fits |= strcmp(wanted[i], type) == 0;
        if (fits && n < GPU_HOSTS_MAX)
            to[n++].host = host;
    }
    return n;
}

static int place(struct svc_fwm *m, const struct svc_fw_role *role,
                 const struct svc_place_choice *c, struct cli_locality *to, struct cli_ask *a,
                 struct sv_error *err)
{
    const char *types = role->gpu_type ? role->gpu_type : m->spec->gpu_type;

    a->places = to;
    if (c->host) {
        to[0].host = c->host;
        a->n_places = 1;
    } else if (types && json_is_object(json_object_get(m->cluster, "nodes"))) {
        a->n_places = gpu_hosts(m, types, to);
        if (a->n_places == 0)
            return sv_error_set(err, -ENXIO, "no node has GPUs of type %s", types);
    }
    a->strict = a->n_places > 0;
    return 0;
}

static int ask(struct svc_fwm *m, const struct svc_op *op, bool *ret_claimed, struct sv_error *err)
{
    const struct svc_fw_role *role = &m->spec->roles[svc_fwm_role_of(op->instance)];
    const json_t *nodes = json_object_get(m->cluster, "nodes");
    struct cli_locality *places = calloc(json_object_size(nodes) + 1, sizeof(*places));
    struct cli_ask a = {
        .request_id = op->request,
        .priority = op->priority,
        .resource = op->component->resource,
        .count = (int32_t)op->count,
    };
    struct svc_place_choice choice = { 0 };
    int r = places ? svc_fwm_choose(m, op->request, role, &choice, err) : -ENOMEM;

    *ret_claimed = r == 0 && choice.host;
    if (r == 0)
        r = place(m, role, &choice, places, &a, err);
    if (r == 0) {
        a.label = a.n_places == 0 && op->label && *op->label ? op->label : NULL;
        r = cli_am_ask(m->yarn, &a, err);
    }
    if (r < 0 && *ret_claimed)
        svc_places_settle(m->places, op->request, false);
    svc_place_choice_clear(&choice);
    free(places);
    return r;
}

static void next_turn(struct svc_fwm *m, const struct svc_fwm_released *what)
{
    struct svc_fwm_released *p = malloc(sizeof(*p));

    if (!p)
        sv_out_of_memory();
    *p = *what;
    DL_APPEND(m->released, p);
    (void)sd_event_source_set_enabled(m->turn, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static void on_ask(struct svc_fwm *m, const struct svc_op *op)
{
    struct sv_error err = { 0 };
    char name[SVC_FWM_NAME];
    bool claimed;
    int r = ask(m, op, &claimed, &err);

    svc_fwm_need(r);
    if (r < 0 || err.code) /* it may be asked for anywhere although no node has room */
        svc_fwm_why_set(m, svc_fwm_role_of(op->instance), err.code ? err.text : strerror(-r));
    if (r < 0) {
        const char *why = err.code ? err.text : strerror(-r);
        struct svc_fwm_released refused = { .request = op->request, .why = strdup(why) };

        if (!refused.why)
            sv_out_of_memory();
        sv_log_warning("%s: no container can be requested: %s", svc_fwm_name(m, op->instance, name),
                       why);
        next_turn(m, &refused);
        return;
    }
    svc_fwm_request_add(m, op->priority, svc_fwm_role_of(op->instance), op->request, claimed);
}

static void on_cancel(struct svc_fwm *m, const struct svc_op *op)
{
    svc_fwm_request_take(m, op->priority, NULL);
    (void)!cli_am_cancel(m->yarn, op->priority, op->request); /* answered already, ignoring */
}

/* ---- Containers ---- */

/* The library reports no end of a released container: the engine gets one in the next turn. */
static void on_release(struct svc_fwm *m, const struct svc_op *op)
{
    struct svc_fwm_container *c = svc_fwm_container(m, op->container);

    (void)!cli_am_release(m->yarn, op->container); /* it may have ended already, ignoring */
    if (c)
        svc_fwm_container_remove(m, c);
    next_turn(m, &(struct svc_fwm_released){ .id = op->container, .request = -1 });
}

static void on_launch(struct svc_fwm *m, const struct svc_op *op)
{
    struct svc_fwm_container *c = svc_fwm_container(m, op->container);

    if (!c || c->waits)
        return;
    free(c->instance);
    c->instance = strdup(op->instance);
    if (!c->instance)
        sv_out_of_memory();
    svc_fwm_forget_ended(m, op->instance);
    c->waits = true;
    DL_APPEND(m->waiting, c);
    m->addresses = svc_shared_text_unref(m->addresses); /* another task is somewhere else */
    (void)sd_event_source_set_enabled(m->turn, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static void on_stop(struct svc_fwm *m, const struct svc_op *op)
{
    struct svc_fwm_container *c = svc_fwm_container(m, op->container);

    if (c)
        c->prepares = false;
    if (c && c->waits) {
        DL_DELETE(m->waiting, c);
        c->waits = false;
    }
    if (cli_am_stop(m->yarn, op->container) < 0)
        on_release(m, op); /* never started, or it has ended */
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_fwm *m = userdata;
    struct svc_fwm_released *p;

    (void)s;
    while ((p = m->released)) {
        DL_DELETE(m->released, p);
        if (p->request >= 0)
            svc_engine_rejected(m->engine, sv_now_ms(), p->request, 0, p->why);
        else
            svc_engine_completed(m->engine, sv_now_ms(), p->id, YARN_EXIT_ABORTED,
                                 "Container released by application");
        free(p->why);
        free(p);
        svc_fwm_operate(m);
    }
    if (m->too_long && !m->ending) {
        svc_fw_finish(
            m->engine, sv_now_ms(), SVC_FW_EXIT_AM_NON_TRANSIENT,
            "gangAllocation: the addresses of all tasks are too long to be given to each");
        svc_fwm_operate(m);
        svc_fwm_maybe_finish(m);
        return 0;
    }
    svc_fwm_start(m);
    return 0;
}

/* ---- The end ---- */

static void later(sd_event_source *timer, int64_t ms)
{
    (void)sd_event_source_set_time_relative(timer, (uint64_t)ms * 1000);
    (void)sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static void finish(struct svc_fwm *m)
{
    int r = cli_am_finish(m->yarn, m->final, m->final_text);

    m->finished = true;
    later(m->end_timer, END_WAIT_MS);
    if (r < 0) {
        sv_log_err("ResourceManager: cannot report the end: %s", strerror(-r));
        svc_fwm_exit(m, m->exit_code);
    }
}

void svc_fwm_maybe_finish(struct svc_fwm *m)
{
    if (m->ending && !m->finished && (m->gone || (!m->tasks && svc_link_ended(m->link))))
        finish(m);
}

static int on_end_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_fwm *m = userdata;

    (void)s;
    (void)usec;
    if (m->finished)
        return sd_event_exit(m->event, m->exit_code);
    sv_log_warning("selvedge-services was not told the last states of all tasks");
    finish(m);
    return 0;
}

void svc_fwm_exit(struct svc_fwm *m, int code)
{
    m->ended = true;
    m->exit_code = code;
    (void)sd_event_exit(m->event, code); /* the loop runs, ignoring */
}

static void on_unregister(struct svc_fwm *m)
{
    struct svc_fw_end end;

    svc_fw_end(m->engine, &end);
    sv_log_info("the application ends with %d (%s): %s", (int)end.code, svc_fw_type_text(end.type),
                end.trigger ? end.trigger : end.description);
    m->ending = true;
    m->final = end.type == SVC_FW_SUCCEEDED ? CLI_FINAL_SUCCEEDED : CLI_FINAL_FAILED;
    m->exit_code = svc_fw_exit_status(end.type);
    svc_fwm_need(svc_am_diagnostics(&end, &m->final_text));
    later(m->end_timer, TELL_WAIT_MS);
    svc_link_end(m->link);
    svc_fwm_maybe_finish(m);
}

/* ---- Operations ---- */

static void on_timer(struct svc_fwm *m, const struct svc_op *op)
{
    later(m->engine_timer, SV_MAX(op->at - sv_now_ms(), 0));
}

static void operate(struct svc_fwm *m, const struct svc_op *op)
{
    switch (op->type) {
    case SVC_OP_ASK:
        on_ask(m, op);
        break;
    case SVC_OP_CANCEL:
        on_cancel(m, op);
        break;
    case SVC_OP_RELEASE:
        on_release(m, op);
        break;
    case SVC_OP_LAUNCH:
        on_launch(m, op);
        break;
    case SVC_OP_STOP:
        on_stop(m, op);
        break;
    case SVC_OP_BLACKLIST:
        svc_fwm_blacklist(m, op->host, op->on);
        break;
    case SVC_OP_TIMER:
        on_timer(m, op);
        break;
    case SVC_OP_STATE:
        if (op->instance)
            svc_fwm_changed(m, op->instance);
        break;
    case SVC_OP_UNREGISTER:
        on_unregister(m);
        break;
    case SVC_OP_REINITIALIZE: /* frameworks have no upgrades, */
    case SVC_OP_CHECK:        /* no readiness checks, */
    case SVC_OP_PERSIST:      /* and the launcher stores them */
    case SVC_OP_FINALIZE:
    case SVC_OP_DROP:
        break;
    }
}

void svc_fwm_operate(struct svc_fwm *m)
{
    struct svc_fw_state state;
    size_t n;
    const struct svc_op *ops = svc_engine_ops(m->engine, &n);

    for (size_t i = 0; i < n; i++)
        operate(m, &ops[i]);
    if (n == 0)
        return;
    svc_fw_state(m->engine, &state);
    cli_am_progress(m->yarn, (float)(m->progress >= 0 ? m->progress : state.progress));
}

static int on_engine_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_fwm *m = userdata;

    (void)s;
    (void)usec;
    svc_engine_timer(m->engine, sv_now_ms());
    svc_fwm_operate(m);
    return 0;
}

static int new_timer(struct svc_fwm *m, sd_event_time_handler_t handler, sd_event_source **ret)
{
    int r = sd_event_add_time_relative(m->event, ret, CLOCK_MONOTONIC, 0, 1000, handler, m);

    return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

int svc_fwm_operate_new(struct svc_fwm *m)
{
    int r = sd_event_add_defer(m->event, &m->turn, on_turn, m);

    m->operate = svc_fwm_operate;
    if (r >= 0)
        r = sd_event_source_set_enabled(m->turn, SD_EVENT_OFF);
    if (r >= 0)
        r = svc_fwm_avoid_new(m);
    if (r >= 0)
        r = new_timer(m, on_engine_time, &m->engine_timer);
    return r < 0 ? r : new_timer(m, on_end_time, &m->end_timer);
}
