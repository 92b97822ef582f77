/* See sched-health.h. */
#include "rm-lite/core/sched-health.h"

#include <stdio.h>

#include "rm-lite/core/context.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/scheduler.h"

static void remember(struct rm *rm, enum rm_operation what, struct yarn_container_id container,
                     const struct yarn_node_id *node)
{
    struct rm_last_operation *last = &rm->health.last[what];
    struct rm_app_usage use = { .queue_path = "N/A" };

    (void)rm_sched_app_amounts(rm->sched, container.attempt.app,
                               &use); /* it may have gone, ignoring */
    last->container = container;
    last->node = node ? *node : (struct yarn_node_id){ .port = 0 };
    (void)snprintf(last->queue, sizeof(last->queue), "%s", use.queue_path);
}

static void add(struct rm_run_sum *sum, struct rm_res r)
{
    sum->count++;
    sum->resources = rm_res_add(sum->resources, r);
}

static void note_release(struct rm *rm, struct yarn_container_id id)
{
    const struct rm_container *c = rm_container_find(rm, id);

    if (!c)
        return;
    add(&rm->health.releasing, c->resource);
    remember(rm, RM_LAST_RELEASE, id, c->node ? &c->node->id : NULL);
}

void rm_sched_health_note(struct rm *rm, const struct rm_sched_event *ev,
                          const struct rm_decision *d, size_t n)
{
    const struct rm_decision *last[RM_OPERATIONS] = { NULL };
    struct rm_sched_health *h = &rm->health;

    if (ev->type == RM_SCHED_CONTAINER_DONE && !ev->container_done.put_ask_back)
        note_release(rm, ev->container_done.container);
    if (ev->type == RM_SCHED_NODE_HEARTBEAT || ev->type == RM_SCHED_PASS) {
        h->run_ms = sv_wall_ms();
        h->allocated = h->reserved = (struct rm_run_sum){ 0 };
        h->released = h->releasing;
        h->releasing = (struct rm_run_sum){ 0 };
    }
    for (size_t i = 0; i < n; i++)
        if (d[i].type == RM_DECIDE_ALLOCATED) {
            add(&h->allocated, d[i].resource);
            last[RM_LAST_ALLOCATION] = &d[i];
        } else if (d[i].type == RM_DECIDE_RESERVED) {
            add(&h->reserved, d[i].resource);
            last[RM_LAST_RESERVATION] = &d[i];
        } else if (d[i].type == RM_DECIDE_PREEMPTED)
            last[RM_LAST_PREEMPTION] = &d[i];
    for (int i = 0; i < RM_OPERATIONS; i++)
        if (last[i])
            remember(rm, i, last[i]->container, &last[i]->node);
}
