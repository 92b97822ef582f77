/* State machine of components, with the names of Hadoop's Component; SUCCEEDED and FAILED are
 * states of its specification. What changes the counts is in instance-fsm.c: this table says what
 * the counts mean. */
#include <errno.h>

#include "service/engine/policy.h"
#include "service/engine/states.h"

#define S(x) SVC_COMPONENT_##x
#define E(x) SVC_COMPONENT_EV_##x

static int settled(const struct svc_comp *c)
{
    const struct svc_policy *p = c->engine->policy;

    if (svc_wanted(c) != c->target)
        return S(FLEXING);
    if (p->is_long_lived(c))
        return c->ready == c->target ? S(STABLE) : S(FLEXING);
    if (p->is_complete(c) && c->target)
        return c->failed ? S(FAILED) : S(SUCCEEDED);
    return c->running + c->succeeded + c->failed >= c->target ? S(STABLE) : S(FLEXING);
}

static int act_check(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    return settled(o);
}

static int act_check_upgrade(void *o, int event, void *arg)
{
    struct svc_comp *c = o;

    (void)event;
    (void)arg;
    if (c->at[!c->version].n || c->failed_upgrade.n || c->in_flight || settled(c) != S(STABLE))
        return c->state;
    c->upgrading = c->cancelling = c->driven = false;
    return S(STABLE);
}

static int act_upgrade(void *o, int event, void *arg)
{
    struct svc_comp *c = o;

    (void)arg;
    c->upgrading = true;
    c->cancelling = event == E(CANCEL_UPGRADE);
    c->driven = false;
    c->version = !c->version;
    return c->state == S(INIT) ? S(INIT) : c->cancelling ? S(CANCEL_UPGRADING) : S(UPGRADING);
}

/* It waits for dependencies, so nothing of it runs: what starts will be of this version. */
static int act_upgrade_init(void *o, int event, void *arg)
{
    struct svc_comp *c = o;

    (void)act_upgrade(o, event, arg);
    c->upgrading = c->cancelling = false;
    return S(INIT);
}

static const char *const state_names[S(N_STATES)] = {
    [S(INIT)] = "INIT",
    [S(FLEXING)] = "FLEXING",
    [S(STABLE)] = "STABLE",
    [S(UPGRADING)] = "UPGRADING",
    [S(CANCEL_UPGRADING)] = "CANCEL_UPGRADING",
    [S(SUCCEEDED)] = "SUCCEEDED",
    [S(FAILED)] = "FAILED",
};

static const char *const event_names[SVC_COMPONENT_N_EVENTS] = {
    [E(START)] = "START",
    [E(UPGRADE)] = "UPGRADE",
    [E(CANCEL_UPGRADE)] = "CANCEL_UPGRADE",
    [E(CHECK_STABLE)] = "CHECK_STABLE",
    [E(FAIL)] = "FAIL",
};

static const struct sv_fsm_cell cells[S(N_STATES)][SVC_COMPONENT_N_EVENTS] = {
    [S(INIT)][E(START)] = { NULL, S(FLEXING), { 0 } },
    [S(INIT)][E(UPGRADE)] = { act_upgrade_init, S(INIT), { 0 } },
    [S(INIT)][E(CANCEL_UPGRADE)] = { act_upgrade_init, S(INIT), { 0 } },
    [S(INIT)][E(CHECK_STABLE)] = { NULL, S(INIT), { 0 } },

    [S(FLEXING)][E(UPGRADE)] = { act_upgrade, S(UPGRADING), { 0 } },
    [S(FLEXING)][E(CANCEL_UPGRADE)] = { act_upgrade, S(CANCEL_UPGRADING), { 0 } },
    [S(FLEXING)][E(FAIL)] = { NULL, S(FAILED), { 0 } },
    [S(FLEXING)][E(CHECK_STABLE)] = { act_check,
                                      S(FLEXING),
                                      { S(STABLE), S(SUCCEEDED), S(FAILED) } },

    [S(STABLE)][E(UPGRADE)] = { act_upgrade, S(UPGRADING), { 0 } },
    [S(STABLE)][E(CANCEL_UPGRADE)] = { act_upgrade, S(CANCEL_UPGRADING), { 0 } },
    [S(STABLE)][E(FAIL)] = { NULL, S(FAILED), { 0 } },
    [S(STABLE)][E(CHECK_STABLE)] = { act_check,
                                     S(STABLE),
                                     { S(FLEXING), S(SUCCEEDED), S(FAILED) } },

    [S(UPGRADING)][E(CANCEL_UPGRADE)] = { act_upgrade, S(CANCEL_UPGRADING), { 0 } },
    [S(UPGRADING)][E(FAIL)] = { NULL, S(FAILED), { 0 } },
    [S(UPGRADING)][E(CHECK_STABLE)] = { act_check_upgrade, S(UPGRADING), { S(STABLE) } },

    [S(CANCEL_UPGRADING)][E(FAIL)] = { NULL, S(FAILED), { 0 } },
    [S(CANCEL_UPGRADING)][E(CHECK_STABLE)] = { act_check_upgrade,
                                               S(CANCEL_UPGRADING),
                                               { S(STABLE) } },

    [S(SUCCEEDED)][E(CHECK_STABLE)] = { act_check, S(SUCCEEDED), { S(FLEXING), S(STABLE) } },
    [S(FAILED)][E(CHECK_STABLE)] = { act_check,
                                     S(FAILED),
                                     { S(FLEXING), S(STABLE), S(SUCCEEDED) } },
};

static const struct sv_fsm fsm = {
    .name = "component",
    .n_states = S(N_STATES),
    .n_events = SVC_COMPONENT_N_EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = &cells[0][0],
};

const struct sv_fsm *svc_component_fsm(void)
{
    return &fsm;
}

bool svc_component_event(struct svc_comp *c, int event)
{
    int was = c->state, r = sv_fsm_run(&fsm, &c->state, event, c, NULL);

    if (r == -EBADE)
        abort(); /* an action and its cell disagree: a defect of this file */
    if (c->state != was) {
        struct svc_op *op = svc_op_add(&c->engine->ops, SVC_OP_STATE);

        op->component = c->spec[c->version].component;
        svc_dirty(c);
    }
    return r >= 0;
}
