/* State machine of instances. Names of states and events are those of Hadoop's ComponentInstance;
 * LAUNCHING and STOPPING (a container that is not started yet, that ends) are INIT there,
 * FAILED_UPGRADE, SUCCEEDED and FAILED are states of its container records. */
#include <errno.h>

#include "service/engine/nodes.h"
#include "service/engine/policy.h"
#include "service/engine/states.h"

#define S(x) SVC_INSTANCE_##x
#define E(x) SVC_INSTANCE_EV_##x

static struct svc_engine *engine_of(const struct svc_inst *i)
{
    return i->comp->engine;
}

static void emit(struct svc_inst *i, enum svc_op_type type)
{
    (void)svc_container_op(engine_of(i), type, &i->container);
}

/* Aims at the component's version. */
static void aim(struct svc_inst *i)
{
    i->version = i->comp->version;
    i->target = false;
    svc_list_version(i, &i->comp->at[i->version]);
}

static void took_container(struct svc_inst *i)
{
    i->launches++;
    i->created_at = engine_of(i)->now;
    i->killed = i->failure_counted = i->reinit_on_start = i->cancel_pending = false;
    svc_entry_get(i->comp, i->container.node)->here++;
    svc_move(i, SVC_LIVE);
    aim(i);
}

/* ---- start -----------------------------------------------------------------------------------*/

static int act_launch(void *o, int event, void *arg)
{
    struct svc_inst *i = o;
    const struct svc_policy *p = engine_of(i)->policy;

    (void)event;
    (void)arg;
    took_container(i);
    if (!p->may_launch || p->may_launch(i))
        emit(i, SVC_OP_LAUNCH);
    return S(LAUNCHING);
}

static int started(struct svc_inst *i)
{
    i->started_at = engine_of(i)->now;
    emit(i, SVC_OP_CHECK);
    return S(STARTED);
}

/* The argument of RECOVERED says whether it runs the version of an upgrade that goes on. */
static int act_recovered(void *o, int event, void *arg)
{
    const bool *target = arg;
    struct svc_inst *i = o;
    struct svc_comp *c = i->comp;

    (void)event;
    took_container(i);
    i->target = *target && !c->upgrading; /* the upgrade is about to go on */
    if (c->upgrading && *target == c->cancelling) {
        i->version = !c->version;
        svc_list_version(i, &c->at[i->version]);
    }
    return started(i);
}

/* Checks of the new version replace those of the old one. */
static int act_upgraded(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    aim(o);
    return started(o);
}

static int act_start(void *o, int event, void *arg)
{
    struct svc_inst *i = o;

    (void)event;
    (void)arg;
    i->comp->started_total++;
    if (!i->reinit_on_start)
        return started(i);
    i->reinit_on_start = false;
    i->started_at = engine_of(i)->now;
    emit(i, SVC_OP_REINITIALIZE);
    return i->comp->cancelling ? S(CANCEL_UPGRADING) : S(UPGRADING);
}

/* ---- upgrade ---------------------------------------------------------------------------------*/

static int reinitialize(struct svc_inst *i, int event)
{
    aim(i);
    emit(i, SVC_OP_REINITIALIZE);
    return event == E(UPGRADE) ? S(UPGRADING) : S(CANCEL_UPGRADING);
}

static int act_reinitialize(void *o, int event, void *arg)
{
    (void)arg;
    return reinitialize(o, event);
}

/* LAUNCH named one version; START follows with it, and then the other is due or not. */
static int act_turn_launching(void *o, int event, void *arg)
{
    struct svc_inst *i = o;
    uint8_t launched = i->reinit_on_start ? !i->version : i->version;

    (void)event;
    (void)arg;
    aim(i);
    i->reinit_on_start = i->version != launched;
    return S(LAUNCHING);
}

/* The node still works on the upgrade: it gets the next REINITIALIZE after its answer. */
static int act_cancel_in_flight(void *o, int event, void *arg)
{
    struct svc_inst *i = o;

    (void)event;
    (void)arg;
    aim(i);
    i->cancel_pending = true;
    return S(CANCEL_UPGRADING);
}

static int act_retry_failed(void *o, int event, void *arg)
{
    struct svc_inst *i = o;

    (void)arg;
    if (i->has_container)
        return reinitialize(i, event);
    svc_list_version(i, NULL);
    svc_move(i, SVC_PENDING);
    return S(INIT);
}

static int act_reinitialized(void *o, int event, void *arg)
{
    struct svc_inst *i = o;

    (void)event;
    (void)arg;
    if (i->cancel_pending) {
        i->cancel_pending = false;
        emit(i, SVC_OP_REINITIALIZE);
        return S(CANCEL_UPGRADING);
    }
    started(i);
    return S(REINITIALIZED);
}

static int failed_upgrade(struct svc_inst *i)
{
    svc_list_version(i, &i->comp->failed_upgrade);
    if (engine_of(i)->limits.rollback_on_failure)
        engine_of(i)->roll_back = true;
    return S(FAILED_UPGRADE);
}

static int act_reinit_failed(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    return failed_upgrade(o);
}

/* ---- end -------------------------------------------------------------------------------------*/

static void stopping(struct svc_inst *i, enum svc_op_type type)
{
    emit(i, type);
    i->container.told = i->container.first_told = engine_of(i)->resyncs;
    svc_entry_get(i->comp, i->container.node)->releasing++;
    svc_list_version(i, NULL);
    svc_move(i, SVC_RESTARTING);
}

static int act_release(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    stopping(o, SVC_OP_RELEASE);
    return S(STOPPING);
}

static int act_stop(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    stopping(o, SVC_OP_STOP);
    return S(STOPPING);
}

/* The node could not go back to the old version either: a new container will. */
static int act_cancel_failed(void *o, int event, void *arg)
{
    struct svc_inst *i = o;

    if (i->cancel_pending)
        return act_reinitialized(o, event, arg);
    stopping(i, SVC_OP_STOP);
    return S(STOPPING);
}

static void lost_container(struct svc_inst *i)
{
    struct svc_entry *n = svc_entry_get(i->comp, i->container.node);

    n->here--;
    if (i->state == S(STOPPING))
        n->releasing--;
    i->has_container = false;
    svc_container_remove(engine_of(i), &i->container);
}

static int pending(struct svc_inst *i)
{
    svc_list_version(i, NULL);
    i->taken_back = i->cancel_pending = false;
    svc_move(i, SVC_PENDING);
    return S(INIT);
}

static int act_ended(void *o, int event, void *arg)
{
    const struct svc_stop_step *step = arg;
    struct svc_inst *i = o;

    (void)event;
    lost_container(i);
    if (i->list == SVC_RELEASING)
        return S(INIT); /* and svc_instance_event()'s caller removes it */
    if (step->relaunch || i->taken_back)
        return pending(i);
    svc_list_version(i, NULL);
    svc_move(i, SVC_ENDED);
    if (step->success)
        i->comp->succeeded++;
    else
        i->comp->failed++;
    return step->success ? S(SUCCEEDED) : S(FAILED);
}

/* It ended for good in the master's attempt before. The argument says how. */
static int act_ended_before(void *o, int event, void *arg)
{
    const struct svc_stop_step *step = arg;
    struct svc_inst *i = o;

    (void)event;
    svc_move(i, SVC_ENDED);
    if (step->success)
        i->comp->succeeded++;
    else
        i->comp->failed++;
    return step->success ? S(SUCCEEDED) : S(FAILED);
}

static int act_ended_upgrading(void *o, int event, void *arg)
{
    struct svc_inst *i = o;

    (void)event;
    (void)arg;
    lost_container(i);
    if (!i->comp->upgrading || i->comp->cancelling)
        return pending(i);
    svc_move(i, SVC_ENDED);
    return failed_upgrade(i);
}

static int act_ended_cancelling(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    lost_container(o);
    return pending(o);
}

static int act_ended_failed(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    lost_container(o);
    svc_move(o, SVC_ENDED);
    return S(FAILED_UPGRADE);
}

/* ---- table -----------------------------------------------------------------------------------*/

static const char *const state_names[S(N_STATES)] = {
    [S(INIT)] = "INIT",
    [S(LAUNCHING)] = "LAUNCHING",
    [S(STARTED)] = "STARTED",
    [S(READY)] = "READY",
    [S(UPGRADING)] = "UPGRADING",
    [S(CANCEL_UPGRADING)] = "CANCEL_UPGRADING",
    [S(REINITIALIZED)] = "REINITIALIZED",
    [S(FAILED_UPGRADE)] = "FAILED_UPGRADE",
    [S(STOPPING)] = "STOPPING",
    [S(SUCCEEDED)] = "SUCCEEDED",
    [S(FAILED)] = "FAILED",
};

static const char *const event_names[SVC_INSTANCE_N_EVENTS] = {
    [E(ALLOCATED)] = "ALLOCATED",
    [E(RECOVERED)] = "RECOVERED",
    [E(START)] = "START",
    [E(START_FAILED)] = "START_FAILED",
    [E(REINIT_FAILED)] = "REINIT_FAILED",
    [E(BECOME_READY)] = "BECOME_READY",
    [E(BECOME_NOT_READY)] = "BECOME_NOT_READY",
    [E(UPGRADE)] = "UPGRADE",
    [E(CANCEL_UPGRADE)] = "CANCEL_UPGRADE",
    [E(UPGRADED)] = "UPGRADED",
    [E(DESTROY)] = "DESTROY",
    [E(STOP)] = "STOP",
    [E(ENDED_BEFORE)] = "ENDED_BEFORE",
};

static const struct sv_fsm_cell cells[S(N_STATES)][SVC_INSTANCE_N_EVENTS] = {
    [S(INIT)][E(ALLOCATED)] = { act_launch, S(LAUNCHING), { 0 } },
    [S(INIT)][E(RECOVERED)] = { act_recovered, S(STARTED), { 0 } },
    [S(INIT)][E(ENDED_BEFORE)] = { act_ended_before, S(SUCCEEDED), { S(FAILED) } },

    [S(LAUNCHING)][E(START)] = { act_start, S(STARTED), { S(UPGRADING), S(CANCEL_UPGRADING) } },
    [S(LAUNCHING)][E(START_FAILED)] = { act_release, S(STOPPING), { 0 } },
    [S(LAUNCHING)][E(UPGRADE)] = { act_turn_launching, S(LAUNCHING), { 0 } },
    [S(LAUNCHING)][E(CANCEL_UPGRADE)] = { act_turn_launching, S(LAUNCHING), { 0 } },
    [S(LAUNCHING)][E(DESTROY)] = { act_release, S(STOPPING), { 0 } },
    [S(LAUNCHING)][E(STOP)] = { act_ended, S(INIT), { S(SUCCEEDED), S(FAILED) } },

    [S(STARTED)][E(BECOME_READY)] = { NULL, S(READY), { 0 } },
    [S(STARTED)][E(BECOME_NOT_READY)] = { NULL, S(STARTED), { 0 } },
    [S(STARTED)][E(UPGRADE)] = { act_reinitialize, S(UPGRADING), { 0 } },
    [S(STARTED)][E(CANCEL_UPGRADE)] = { act_reinitialize, S(CANCEL_UPGRADING), { 0 } },
    [S(STARTED)][E(UPGRADED)] = { act_upgraded, S(STARTED), { 0 } },
    [S(STARTED)][E(DESTROY)] = { act_stop, S(STOPPING), { 0 } },
    [S(STARTED)][E(STOP)] = { act_ended, S(INIT), { S(SUCCEEDED), S(FAILED) } },

    [S(READY)][E(BECOME_READY)] = { NULL, S(READY), { 0 } },
    [S(READY)][E(BECOME_NOT_READY)] = { NULL, S(STARTED), { 0 } },
    [S(READY)][E(UPGRADE)] = { act_reinitialize, S(UPGRADING), { 0 } },
    [S(READY)][E(CANCEL_UPGRADE)] = { act_reinitialize, S(CANCEL_UPGRADING), { 0 } },
    [S(READY)][E(UPGRADED)] = { act_upgraded, S(STARTED), { 0 } },
    [S(READY)][E(DESTROY)] = { act_stop, S(STOPPING), { 0 } },
    [S(READY)][E(STOP)] = { act_ended, S(INIT), { S(SUCCEEDED), S(FAILED) } },

    [S(UPGRADING)][E(START)] = { act_reinitialized, S(REINITIALIZED), { 0 } },
    [S(UPGRADING)][E(REINIT_FAILED)] = { act_reinit_failed, S(FAILED_UPGRADE), { 0 } },
    [S(UPGRADING)][E(BECOME_READY)] = { NULL, S(UPGRADING), { 0 } }, /* of the old version */
    [S(UPGRADING)][E(BECOME_NOT_READY)] = { NULL, S(UPGRADING), { 0 } },
    [S(UPGRADING)][E(CANCEL_UPGRADE)] = { act_cancel_in_flight, S(CANCEL_UPGRADING), { 0 } },
    [S(UPGRADING)][E(DESTROY)] = { act_stop, S(STOPPING), { 0 } },
    [S(UPGRADING)][E(STOP)] = { act_ended_upgrading, S(FAILED_UPGRADE), { S(INIT) } },

    [S(CANCEL_UPGRADING)][E(START)] = { act_reinitialized,
                                        S(REINITIALIZED),
                                        { S(CANCEL_UPGRADING) } },
    [S(CANCEL_UPGRADING)][E(REINIT_FAILED)] = { act_cancel_failed,
                                                S(STOPPING),
                                                { S(CANCEL_UPGRADING) } },
    [S(CANCEL_UPGRADING)][E(BECOME_READY)] = { NULL, S(CANCEL_UPGRADING), { 0 } },
    [S(CANCEL_UPGRADING)][E(BECOME_NOT_READY)] = { NULL, S(CANCEL_UPGRADING), { 0 } },
    [S(CANCEL_UPGRADING)][E(DESTROY)] = { act_stop, S(STOPPING), { 0 } },
    [S(CANCEL_UPGRADING)][E(STOP)] = { act_ended_cancelling, S(INIT), { 0 } },

    [S(REINITIALIZED)][E(BECOME_READY)] = { NULL, S(READY), { 0 } },
    [S(REINITIALIZED)][E(BECOME_NOT_READY)] = { NULL, S(REINITIALIZED), { 0 } },
    [S(REINITIALIZED)][E(CANCEL_UPGRADE)] = { act_reinitialize, S(CANCEL_UPGRADING), { 0 } },
    [S(REINITIALIZED)][E(DESTROY)] = { act_stop, S(STOPPING), { 0 } },
    [S(REINITIALIZED)][E(STOP)] = { act_ended_upgrading, S(FAILED_UPGRADE), { S(INIT) } },

    [S(FAILED_UPGRADE)][E(BECOME_READY)] = { NULL, S(FAILED_UPGRADE), { 0 } },
    [S(FAILED_UPGRADE)][E(BECOME_NOT_READY)] = { NULL, S(FAILED_UPGRADE), { 0 } },
    [S(FAILED_UPGRADE)][E(UPGRADE)] = { act_retry_failed, S(UPGRADING), { S(INIT) } },
    [S(FAILED_UPGRADE)][E(CANCEL_UPGRADE)] = { act_retry_failed, S(CANCEL_UPGRADING), { S(INIT) } },
    [S(FAILED_UPGRADE)][E(DESTROY)] = { act_stop, S(STOPPING), { 0 } },
    [S(FAILED_UPGRADE)][E(STOP)] = { act_ended_failed, S(FAILED_UPGRADE), { 0 } },

    [S(STOPPING)][E(BECOME_READY)] = { NULL, S(STOPPING), { 0 } },
    [S(STOPPING)][E(BECOME_NOT_READY)] = { NULL, S(STOPPING), { 0 } },
    [S(STOPPING)][E(STOP)] = { act_ended, S(INIT), { S(FAILED) } },
};

static const struct sv_fsm fsm = {
    .name = "instance",
    .n_states = S(N_STATES),
    .n_events = SVC_INSTANCE_N_EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = &cells[0][0],
};

const struct sv_fsm *svc_instance_fsm(void)
{
    return &fsm;
}

/* ---- running it ------------------------------------------------------------------------------*/

static bool is_running(const struct svc_inst *i)
{
    switch (i->state) {
    case S(STARTED):
    case S(READY):
    case S(UPGRADING):
    case S(CANCEL_UPGRADING):
    case S(REINITIALIZED):
        return true;
    case S(FAILED_UPGRADE):
        return i->has_container;
    default:
        return false;
    }
}

static void count(const struct svc_inst *i, int64_t by)
{
    struct svc_comp *c = i->comp;

    c->ready += i->state == S(READY) ? by : 0;
    c->in_flight += i->state == S(UPGRADING) || i->state == S(CANCEL_UPGRADING) ? by : 0;
    c->running += is_running(i) ? by : 0;
}

bool svc_instance_event(struct svc_inst *i, int event, void *arg)
{
    struct svc_engine *e = engine_of(i);
    int state = i->state, r;

    count(i, -1);
    r = sv_fsm_run(&fsm, &state, event, i, arg);
    if (r == -EBADE)
        abort(); /* an action and its cell disagree: a defect of this file */
    if (r >= 0 && state != i->state) {
        i->state = (uint8_t)state;
        if (state != S(LAUNCHING)) {
            struct svc_op *op = svc_op_add(&e->ops, SVC_OP_STATE);

            op->instance = i->name;
            op->component = svc_spec_of(i)->component;
            if (i->has_container)
                op->container = svc_container_id(&i->container);
        }
    }
    count(i, 1);
    svc_dirty(i->comp);
    return r >= 0;
}

void svc_instance_retire(struct svc_inst *i)
{
    struct svc_comp *c = i->comp;

    svc_number_give(&c->numbers, i->number);
    i->taken_back = false;
    if (i->has_container) {
        if (i->state != S(STOPPING))
            (void)svc_instance_event(i, E(DESTROY), NULL);
        svc_move(i, SVC_RELEASING);
        return;
    }
    c->succeeded -= i->state == S(SUCCEEDED);
    c->failed -= i->state == S(FAILED);
    svc_inst_remove(i);
}
