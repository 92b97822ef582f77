/* See web-scheduler.h. */
#include "rm-lite/web/rest/web-scheduler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/rest/web-queue.h"
#include "rm-lite/web/rest/web-usage.h"

static void set(json_t *o, const char *key, json_t *value)
{
    (void)json_object_set_new(o, key, value); /* no memory: the member is missing, ignoring */
}

/* ---- The queues ---- */

struct parent {
    char *path;
    json_t *queues;
    size_t leaves; /* they come before the other queues in it, as in Hadoop (YARN-4785) */
};

struct tree {
    struct rm_json_queues queues;
    struct parent *list; /* the queue and those above it */
    size_t n;
    json_t *root;
};

/* The queues that are not above `q`, whose parents came before it, get no further children. */
static void close_others(struct tree *t, const struct rm_queue_info *q)
{
    while (t->n > 0 && !sv_streq(t->list[t->n - 1].path, q->parent))
        free(t->list[--t->n].path);
}

static int open_parent(struct tree *t, const struct rm_queue_info *q, json_t *children)
{
    struct parent *more = realloc(t->list, (t->n + 1) * sizeof(*t->list));

    if (!more)
        return -ENOMEM;
    t->list = more;
    more[t->n] = (struct parent){ .path = strdup(q->path), .queues = children };
    if (!more[t->n].path)
        return -ENOMEM;
    t->n++;
    return 0;
}

static int add_queue(const struct rm_queue_info *q, void *userdata)
{
    struct tree *t = userdata;
    json_t *children = q->leaf ? NULL : json_array(), *o;
    struct parent *above;

    close_others(t, q);
    above = t->n > 0 ? &t->list[t->n - 1] : NULL;
    o = above ? rm_json_queue(&t->queues, q, children)
              : rm_json_root_queue(&t->queues, q, children ?: json_array());
    if (!above)
        t->root = o;
    else if (q->leaf)
        (void)json_array_insert_new(above->queues, above->leaves++, o); /* as set */
    else
        (void)json_array_append_new(above->queues, o); /* as set */
    return q->leaf ? 0 : open_parent(t, q, children);
}

/* ---- Its last operations ---- */

static json_t *operation(const char *name, const struct rm_last_operation *last)
{
    char node[300] = "N/A", container[YARN_ID_TEXT_MAX] = "N/A";

    if (last->node.host[0])
        yarn_node_id_text(&last->node, node);
    if (last->container.id)
        yarn_container_id_text(last->container, container);
    return json_pack("{s:s, s:s, s:s, s:s}", "operation", name, "nodeId", node, "containerId",
                     container, "queue", last->queue[0] ? last->queue : "N/A");
}

static json_t *run_sum(const char *name, const struct rm_run_sum *sum)
{
    return json_pack("{s:s, s:I, s:o}", "operation", name, "count", (json_int_t)sum->count,
                     "resources", rm_json_resource(sum->resources));
}

static json_t *health(const struct rm_sched_health *h)
{
    return json_pack("{s:I, s:[o, o, o, o], s:[o, o, o]}", "lastrun", (json_int_t)h->run_ms,
                     "operationsInfo", operation("last-allocation", &h->last[RM_LAST_ALLOCATION]),
                     operation("last-release", &h->last[RM_LAST_RELEASE]),
                     operation("last-preemption", &h->last[RM_LAST_PREEMPTION]),
                     operation("last-reservation", &h->last[RM_LAST_RESERVATION]), "lastRunDetails",
                     run_sum("releases", &h->released), run_sum("allocations", &h->allocated),
                     run_sum("reservations", &h->reserved));
}

json_t *rm_json_scheduler(struct rm *rm, bool xml)
{
    struct tree t = { .queues = { .rm = rm, .type = xml ? "@xsi:type" : "type" } };
    int r;

    rm_queue_counters_gather(rm);
    r = rm_sched_each_queue(rm->sched, add_queue, &t);
    for (size_t i = 0; i < t.n; i++)
        free(t.list[i].path);
    free(t.list);
    if (r < 0 || !t.root) {
        json_decref(t.root);
        return NULL;
    }
    if (xml)
        set(t.root, "@xmlns:xsi", json_string("http://www.w3.org/2001/XMLSchema-instance"));
    set(t.root, "health", health(&rm->health));
    return json_pack("{s:o}", "schedulerInfo", t.root);
}
