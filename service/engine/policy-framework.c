/* FrameworkLauncher's frameworks: a request a task with a priority of its own, tasks that are
 * retried by what their containers ended with, tails that shrink, hosts with one task at most,
 * gangs (gang.c), ends by completion policies (completion.c). */
#include <stdlib.h>

#include "service/engine/framework-task.h"
#include "service/engine/nodes.h"

/* ---- set-up ----------------------------------------------------------------------------------*/

static void framework_setup(struct svc_engine *e, const struct svc_setup *setup)
{
    const struct svc_fw_setup *s = setup->framework;
    struct svc_fw *f = calloc(1, sizeof(*f));

    if (!f)
        sv_out_of_memory();
    f->descriptor = s->descriptor;
    f->exits = s->exits;
    f->times = s->times;
    f->wall_ms = s->wall_ms;
    f->n_roles = s->descriptor->n_roles;
    f->roles = calloc(f->n_roles + 1, sizeof(*f->roles));
    if (!f->roles)
        sv_out_of_memory();
    e->fw = f;
}

static void framework_free(struct svc_engine *e)
{
    struct svc_fw *f = e->fw;

    for (size_t i = 0; i < f->n_roles; i++)
        svc_timers_free(&f->roles[i].waiting);
    svc_list_free(f);
    free(f->roles);
    free(f->diagnostics);
    free(f->trigger);
    free(f);
}

static void framework_check_end(struct svc_engine *e)
{
    svc_list_settle(e);
    if (e->fw->blocked && !svc_fw_strangers(e)) {
        e->fw->blocked = false;
        for (size_t i = 0; i < e->n_comps; i++)
            svc_dirty(e->comps[i]);
    }
    svc_completion_of_all(e);
    if (!e->ending && e->fw->descriptor->gang)
        svc_gang_settle(e);
}

static void framework_due(struct svc_engine *e, struct svc_timer *t)
{
    if (t->kind == SVC_TIMER_GANG)
        svc_gang_expired(e);
    else
        svc_task_rested(SVC_TIMER_OWNER(t, struct svc_task, place));
}

/* ---- requests --------------------------------------------------------------------------------*/

/* Each request is its instance's, and goes with it. */
static void framework_cancel(struct svc_comp *c, int64_t n)
{
    (void)c;
    (void)n;
}

static int32_t framework_priority(const struct svc_comp *c, bool located)
{
    (void)c;
    (void)located;
    return -1; /* requests have their own */
}

/* Requests for GPUs name their host (place.h): one on the blacklist would leave them unanswered. */
static bool is_alone(const struct svc_fw_descriptor *d)
{
    for (size_t i = 0; i < d->n_roles; i++)
        if (d->roles[i].resource.gpus > 0)
            return false;
    return d->anti_affine;
}

/* The ResourceManager may give the same host for every request, however often that is refused. */
static void framework_populated(struct svc_engine *e, struct svc_node *n)
{
    bool occupied = n->live > 0 && is_alone(e->fw->descriptor);

    if (n->occupied != occupied)
        svc_node_occupied(e, n, occupied);
}

static bool framework_accepts(struct svc_comp *c, const struct svc_node *n)
{
    return !c->engine->fw->descriptor->anti_affine || !n->live;
}

/* ---- what it shares with others --------------------------------------------------------------*/

/* Indexes are 0 to n - 1, always: the last ones go. */
static struct svc_inst *framework_shrink(struct svc_comp *c)
{
    for (;; c->high--) {
        struct svc_inst *i = c->slots[c->high - 1];

        if (i && svc_is_wanted(i))
            return i;
    }
}

static void framework_unused(struct svc_comp *c, struct svc_entry *n)
{
    (void)c;
    (void)n;
}

static void framework_node_usable(struct svc_comp *c)
{
    (void)c;
}

static bool framework_no(const struct svc_comp *c)
{
    (void)c;
    return false;
}

static bool framework_is_complete(const struct svc_comp *c)
{
    return c->succeeded + c->failed >= c->target;
}

static bool framework_is_ready(const struct svc_comp *c)
{
    (void)c;
    return true;
}

const struct svc_policy svc_framework_policy = {
    .name = "framework",
    .counts = {
        [SVC_OUT_KILLED] = { .failed = true },
        [SVC_OUT_PREEMPTED] = { .failed = true },
        [SVC_OUT_NODE] = { .failed = true },
        [SVC_OUT_LIMITS] = { .failed = true },
        [SVC_OUT_FAILED] = { .failed = true },
    },
    .priority = framework_priority,
    .shrink = framework_shrink,
    .relaunch = svc_task_relaunch,
    .ask = svc_fw_ask,
    .cancel = framework_cancel,
    .accepts = framework_accepts,
    .hold = svc_fw_hold,
    .ended = svc_task_ended,
    .unused = framework_unused,
    .node_usable = framework_node_usable,
    .escalate = svc_fw_escalate,
    .too_many_failures = framework_no,
    .is_long_lived = framework_no,
    .is_complete = framework_is_complete,
    .is_ready = framework_is_ready,
    .check_end = framework_check_end,
    .ends_at_once = true,
    .stops_strangers = true,
    .setup = framework_setup,
    .free = framework_free,
    .match = svc_fw_match,
    .may_launch = svc_task_may_launch,
    .moved = svc_task_moved,
    .due = framework_due,
    .populated = framework_populated,
};
