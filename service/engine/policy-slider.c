/* Slider 0.92: hosts of the past are preferred and requests for them escalate, anti-affinity by one
 * outstanding request at a time, the newest containers are removed first, all ends are followed by
 * a new container.
 *
 * Its listed defects are absent: a threshold of -1 is none, a failed start counts once, a failing
 * review queues nothing, and a host that is given for an anti-affine component twice is refused. */
#include <stdlib.h>
#include <string.h>

#include "service/engine/nodes.h"
#include "service/engine/policy.h"
#include "service/engine/requests.h"
#include "service/engine/settle.h"

#define HOSTS_MAX 1024 /* of one anti-affine request: any of them will do */
#define RECENT_MAX 64  /* entries looked at for one request */
#define NO_LOCATION (1 << 30)

static uint32_t placement_of(const struct svc_comp *c)
{
    return svc_options_of(c)->placement;
}

static int32_t slider_priority(const struct svc_comp *c, bool located)
{
    int32_t role = svc_options_of(c)->priority;

    if (role < 1 || role >= NO_LOCATION)
        role = (int32_t)c->rank + 1;
    return located ? role : role | NO_LOCATION;
}

/* Requests are cancelled first, then containers that end already are not replaced, then the newest
 * ones are released. */
static struct svc_inst *slider_shrink(struct svc_comp *c)
{
    static const enum svc_list_kind order[] = { SVC_PENDING, SVC_AWAITED, SVC_ENDED, SVC_RESTARTING,
                                                SVC_LIVE };

    for (size_t k = 0; k < SV_ARRAY_LEN(order); k++)
        if (c->lists[order[k]].head)
            return c->lists[order[k]].head->prev;
    return NULL;
}

static bool slider_relaunch(struct svc_inst *i, int32_t exit_status, enum svc_outcome *outcome)
{
    (void)i;
    (void)exit_status;
    (void)outcome;
    return true;
}

/* ---- hosts -----------------------------------------------------------------------------------*/

static bool is_available(const struct svc_entry *n)
{
    return n->here + n->requested - n->releasing <= 0;
}

/* Hosts of which no node was reported are those of containers: they had a node. */
static bool may_serve(const struct svc_node *n)
{
    return n->n_usable || !n->n_ports;
}

/* The most recently used host without a container, which may serve. */
static struct svc_entry *pick_recent(struct svc_comp *c)
{
    bool strict = placement_of(c) & SVC_PLACEMENT_STRICT;
    struct svc_entry *n;
    int looked = 0;

    DL_FOREACH (c->recent, n) {
        if (looked++ == RECENT_MAX)
            return NULL;
        if (n->here - n->releasing == 0 &&
            (strict || (may_serve(n->node) && !svc_entry_failed_too_often(c, n))))
            return n;
    }
    return NULL;
}

static void ask_placed(struct svc_comp *c, struct svc_entry *n)
{
    struct svc_engine *e = c->engine;
    struct svc_request *r = svc_request_new(c, 0);

    r->entry = n;
    n->requested++;
    svc_entry_unlist(c, n);
    DL_APPEND2(c->placed, r, c_prev, c_next);
    svc_request_set(r, 1);
    if (!(placement_of(c) & SVC_PLACEMENT_STRICT))
        svc_timer_arm(&e->timers, &r->escalate, SVC_TIMER_ESCALATE,
                      e->now + svc_options_of(c)->escalate_ms);
}

static int compare_hosts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_free_of(const struct svc_comp *c, const struct svc_node *n)
{
    const struct svc_entry *entry = svc_entry_find(c, n);

    return n->n_usable && (!entry || !entry->here);
}

/* Walks hosts, not instances, and only if there is a usable one without a container. */
static void ask_anti_affine(struct svc_comp *c)
{
    struct svc_engine *e = c->engine;
    const char *hosts[HOSTS_MAX];
    struct svc_request *r;
    size_t n = 0;

    if (!e->nodes_known || c->anti)
        return;
    for (struct svc_node *h = e->nodes; h && n < HOSTS_MAX; h = h->hh.next)
        if (is_free_of(c, h))
            hosts[n++] = h->host;
    if (!n)
        return;
    qsort(hosts, n, sizeof(*hosts), compare_hosts);
    r = c->anti = svc_request_new(c, 0);
    r->anti = true;
    r->n_hosts = n;
    r->hosts = calloc(n, sizeof(*hosts));
    if (!r->hosts)
        sv_out_of_memory();
    memcpy(r->hosts, hosts, n * sizeof(*hosts));
    svc_request_set(r, 1);
}

static void slider_ask(struct svc_comp *c, int64_t n)
{
    struct svc_engine *e = c->engine;
    struct svc_entry *entry;

    if (placement_of(c) & SVC_PLACEMENT_ANTI_AFFINITY) {
        ask_anti_affine(c);
        return;
    }
    while (n > 0 && e->budget && !(placement_of(c) & SVC_PLACEMENT_ANYWHERE) &&
           (entry = pick_recent(c))) {
        ask_placed(c, entry);
        e->budget--;
        n--;
    }
    if (n > 0 && e->budget)
        svc_ask_open(c, n);
}

static void slider_unused(struct svc_comp *c, struct svc_entry *n)
{
    if (is_available(n))
        svc_entry_used(c, n, n->last_used);
}

static void cancel(struct svc_request *r)
{
    struct svc_comp *c = r->comp;
    struct svc_entry *n = r->entry;

    svc_request_set(r, 0);
    svc_request_free(r);
    if (n)
        slider_unused(c, n);
}

static void slider_cancel(struct svc_comp *c, int64_t n)
{
    int64_t open = c->request ? SV_MIN(c->request->count, n) : 0;

    svc_cancel_open(c, open);
    n -= open;
    if (n > 0 && c->anti) {
        cancel(c->anti);
        n--;
    }
    for (; n > 0 && c->placed; n--)
        cancel(c->placed->c_prev);
}

static bool slider_accepts(struct svc_comp *c, const struct svc_node *n)
{
    const struct svc_entry *entry = svc_entry_find(c, n);

    return !(placement_of(c) & SVC_PLACEMENT_ANTI_AFFINITY) || !entry || !entry->here;
}

/* A host on which containers do not start is not asked for again. */
static void slider_ended(struct svc_inst *i, struct svc_entry *n, bool short_lived)
{
    if (!short_lived && is_available(n))
        svc_entry_used(i->comp, n, i->comp->engine->now);
}

static void slider_node_usable(struct svc_comp *c)
{
    if (c->anti)
        cancel(c->anti);
}

/* Asks for the host still, but others will do; with a label any host of it. */
static void slider_escalate(struct svc_request *r)
{
    struct svc_comp *c = r->comp;
    struct svc_entry *n = r->entry;
    struct svc_request *again;

    svc_request_set(r, 0);
    svc_request_free(r);
    again = svc_request_new(c, 0);
    again->entry = n;
    again->escalated = true;
    n->requested++;
    DL_APPEND2(c->placed, again, c_prev, c_next);
    svc_request_set(again, 1);
    c->requested_total--; /* it is the request of before */
}

/* ---- ends ------------------------------------------------------------------------------------*/

static bool slider_too_many_failures(const struct svc_comp *c)
{
    int64_t limit = svc_options_of(c)->failure_threshold;

    return limit > 0 && c->failed_recently > limit;
}

static bool slider_is_long_lived(const struct svc_comp *c)
{
    (void)c;
    return true;
}

static bool slider_is_complete(const struct svc_comp *c)
{
    (void)c;
    return false;
}

const struct svc_policy svc_slider_policy = {
    .name = "slider",
    .counts = {
        [SVC_OUT_NODE] = { .failed = true, .on_node = true },
        [SVC_OUT_LIMITS] = { .failed = true, .recently = true },
        [SVC_OUT_FAILED] = { .failed = true, .recently = true, .on_node = true },
    },
    .anonymous = true,
    .priority = slider_priority,
    .shrink = slider_shrink,
    .relaunch = slider_relaunch,
    .ask = slider_ask,
    .cancel = slider_cancel,
    .accepts = slider_accepts,
    .hold = svc_hold_back,
    .ended = slider_ended,
    .unused = slider_unused,
    .node_usable = slider_node_usable,
    .escalate = slider_escalate,
    .too_many_failures = slider_too_many_failures,
    .is_long_lived = slider_is_long_lived,
    .is_complete = slider_is_complete,
    .is_ready = svc_always_ready,
    .check_end = svc_check_end,
};
