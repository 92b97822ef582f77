/* See overcommit.h. As at Apache's, running containers are preempted, the newest first, masters
 * last, until the rest fits. */
#include "rm-lite/nodes/overcommit.h"

#include <stdlib.h>

#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/scheduler.h"
#include "wire/exit-status.h"

static int order(const void *left, const void *right)
{
    const struct rm_container *a = *(struct rm_container *const *)left;
    const struct rm_container *b = *(struct rm_container *const *)right;

    if (a->is_master != b->is_master)
        return a->is_master ? 1 : -1;
    if (a->created_ms != b->created_ms)
        return a->created_ms > b->created_ms ? -1 : 1;
    return yarn_container_id_cmp(b->id, a->id);
}

/* The running containers that count, in the order of preemption; owned. */
static struct rm_container **victims(const struct rm_node *n, size_t *ret_n)
{
    struct rm_container **list, *c;
    size_t count = 0;

    DL_COUNT2(n->containers, c, count, n_next);
    list = calloc(SV_MAX(count, (size_t)1), sizeof(struct rm_container *));
    *ret_n = 0;
    if (!list) /* the next heartbeat retries, ignoring */
        return NULL;
    DL_FOREACH2(n->containers, c, n_next)
    if (c->state == RM_CON_ST_RUNNING && !c->opportunistic)
        list[(*ret_n)++] = c;
    qsort(list, *ret_n, sizeof(*list), order);
    return list;
}

static bool fits(const struct rm_node *n, struct rm_res left)
{
    return rm_res_fits(rm_sched_calculator(n->rm->sched), (struct rm_res){ 0 }, left);
}

static void preempt(struct rm_container *c, bool kill)
{
    if (!kill) {
        rm_container_announce_preemption(c);
        return;
    }
    sv_log(SV_LOG_NOTICE, c->id_str, "%s: preempted, its node was made smaller", c->id_str);
    rm_container_post_exit(c, RM_CON_EV_KILL, YARN_EXIT_PREEMPTED,
                           "Container preempted by scheduler");
}

static void check(struct rm_node *n, bool kill)
{
    _cleanup_free_ struct rm_container **list = NULL;
    struct rm_node_usage use;
    struct rm_res left;
    size_t count;

    if (rm_sched_node_usage(n->rm->sched, &n->id, &use) < 0)
        return;
    left = rm_res_sub(n->total, use.used);
    if (fits(n, left))
        return;
    list = victims(n, &count);
    for (size_t i = 0; i < count && !fits(n, left); i++) {
        left = rm_res_add(left, list[i]->resource);
        preempt(list[i], kill);
    }
    sv_dispatcher_run(n->rm->dispatcher); /* they end now, so that none is selected twice */
}

void rm_overcommit_resize(struct rm_node *n, struct rm_res total, int64_t timeout_ms)
{
    bool same = rm_res_is_zero(rm_res_sub(total, n->total));

    rm_node_resize(n, total);
    if (same)
        return;
    if (timeout_ms >= 0)
        n->overcommit_ms = sv_now_ms() + timeout_ms;
    if (n->overcommit_ms == 0)
        return;
    sv_dispatcher_run(n->rm->dispatcher); /* the scheduler must know the new size */
    check(n, timeout_ms == 0);
}

void rm_overcommit_beat(struct rm_node *n)
{
    if (n->overcommit_ms != 0 && sv_now_ms() >= n->overcommit_ms)
        check(n, true);
}
