/* YARN services (Hadoop 3.4.2): restart policies, highest numbers are removed first, one request a
 * component, placement by its constraints alone. */
#include "service/engine/policy.h"
#include "service/engine/settle.h"

static enum svc_restart restart_of(const struct svc_comp *c)
{
    return c->spec[c->version].component->restart;
}

static int32_t yarn_priority(const struct svc_comp *c, bool located)
{
    (void)located;
    return (int32_t)c->rank;
}

static struct svc_inst *yarn_shrink(struct svc_comp *c)
{
    for (;; c->high--) {
        struct svc_inst *i = c->slots[c->high - 1];

        if (i && svc_is_wanted(i))
            return i;
    }
}

static bool yarn_relaunch(struct svc_inst *i, int32_t exit_status, enum svc_outcome *outcome)
{
    (void)exit_status;
    switch (restart_of(i->comp)) {
    case SVC_RESTART_NEVER:
        return false;
    case SVC_RESTART_ON_FAILURE:
        return *outcome != SVC_OUT_SUCCESS;
    default:
        return true;
    }
}

static void yarn_ended(struct svc_inst *i, struct svc_entry *n, bool short_lived)
{
    (void)i;
    (void)n;
    (void)short_lived;
}

static void yarn_unused(struct svc_comp *c, struct svc_entry *n)
{
    (void)c;
    (void)n;
}

static void yarn_node_usable(struct svc_comp *c)
{
    (void)c;
}

static void yarn_escalate(struct svc_request *r)
{
    (void)r;
}

static bool yarn_too_many_failures(const struct svc_comp *c)
{
    int64_t limit = svc_options_of(c)->failure_threshold;

    return limit >= 0 && c->failed_recently > limit;
}

static bool yarn_is_long_lived(const struct svc_comp *c)
{
    return restart_of(c) == SVC_RESTART_ALWAYS;
}

static bool yarn_is_complete(const struct svc_comp *c)
{
    return !yarn_is_long_lived(c) && c->succeeded + c->failed >= c->target;
}

/* A component of jobs is ready for those that depend on it when its jobs ended. */
static bool yarn_is_ready(const struct svc_comp *c)
{
    return yarn_is_long_lived(c) ? svc_always_ready(c) : yarn_is_complete(c);
}

const struct svc_policy svc_yarn_policy = {
    .name = "yarn",
    .counts = {
        [SVC_OUT_KILLED] = { .failed = true },
        [SVC_OUT_PREEMPTED] = { .failed = true },
        [SVC_OUT_NODE] = { .failed = true },
        [SVC_OUT_LIMITS] = { .failed = true },
        [SVC_OUT_FAILED] = { .failed = true, .recently = true, .on_node = true },
    },
    .priority = yarn_priority,
    .shrink = yarn_shrink,
    .relaunch = yarn_relaunch,
    .ask = svc_ask_open,
    .cancel = svc_cancel_open,
    .accepts = svc_accept_all,
    .hold = svc_hold_back,
    .ended = yarn_ended,
    .unused = yarn_unused,
    .node_usable = yarn_node_usable,
    .escalate = yarn_escalate,
    .too_many_failures = yarn_too_many_failures,
    .is_long_lived = yarn_is_long_lived,
    .is_complete = yarn_is_complete,
    .is_ready = yarn_is_ready,
    .check_end = svc_check_end,
};
