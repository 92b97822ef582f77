/* See requests.h. */
#include "service/engine/requests.h"

#include "service/engine/policy.h"

#define OWN_IDS ((int64_t)1 << 32) /* ids below are those of components */

struct svc_request *svc_request_new(struct svc_comp *c, int64_t id)
{
    struct svc_engine *e = c->engine;
    struct svc_request *r = calloc(1, sizeof(*r));

    if (!r)
        sv_out_of_memory();
    r->id = id ? id : OWN_IDS + ++e->last_request;
    r->comp = c;
    HASH_ADD(hh, e->requests, id, sizeof(r->id), r);
    DL_APPEND(e->request_list, r);
    return r;
}

struct svc_request *svc_request_find(const struct svc_engine *e, int64_t id)
{
    struct svc_request *r;

    HASH_FIND(hh, e->requests, &id, sizeof(id), r);
    return r;
}

static void add_hosts(struct svc_engine *e, const struct svc_request *r, struct svc_op *op)
{
    const char **hosts;

    op->n_hosts = r->entry ? 1 : r->n_hosts;
    hosts = svc_op_hosts(&e->ops, op->n_hosts);
    for (size_t i = 0; i < op->n_hosts; i++)
        hosts[i] = r->entry ? r->entry->node->host : r->hosts[i];
    op->hosts = hosts;
}

/* A request for hosts has no label: YARN refuses both together. */
static void tell(struct svc_request *r)
{
    struct svc_comp *c = r->comp;
    struct svc_engine *e = c->engine;
    struct svc_op *op = svc_op_add(&e->ops, r->count ? SVC_OP_ASK : SVC_OP_CANCEL);
    const char *label = svc_options_of(c)->label;
    bool labelled = label && *label, located = r->entry || r->anti;

    r->told = e->resyncs;
    op->request = r->id;
    op->count = r->count;
    op->component = c->spec[c->version].component;
    op->instance = r->inst ? r->inst->name : NULL;
    op->priority = r->inst ? r->priority : e->policy->priority(c, located && !r->escalated);
    op->relax = !located || r->escalated;
    if (located && !(r->escalated && labelled))
        add_hosts(e, r, op);
    else if (labelled)
        op->label = label;
}

void svc_request_set(struct svc_request *r, int64_t count)
{
    r->comp->requested += count - r->count;
    if (count > r->count)
        r->comp->requested_total += count - r->count;
    r->count = count;
    tell(r);
}

void svc_request_subtract(struct svc_request *r, int64_t count)
{
    r->comp->requested -= count;
    r->count -= count;
}

void svc_request_free(struct svc_request *r)
{
    struct svc_comp *c = r->comp;
    struct svc_engine *e = c->engine;

    svc_timer_disarm(&e->timers, &r->escalate);
    HASH_DEL(e->requests, r);
    DL_DELETE(e->request_list, r);
    if (r->entry) {
        r->entry->requested--;
        DL_DELETE2(c->placed, r, c_prev, c_next);
    }
    if (r->inst)
        r->inst->request = NULL;
    if (c->request == r)
        c->request = NULL;
    if (c->anti == r)
        c->anti = NULL;
    free(r->hosts);
    free(r);
}

bool svc_requests_tell(struct svc_engine *e)
{
    struct svc_request *r;

    while ((r = e->request_list) && r->told != e->resyncs) {
        if (!e->budget)
            return false;
        e->budget--;
        DL_DELETE(e->request_list, r);
        DL_APPEND(e->request_list, r);
        tell(r);
    }
    return true;
}

void svc_requests_free(struct svc_engine *e)
{
    struct svc_request *r, *next;

    HASH_ITER (hh, e->requests, r, next) {
        HASH_DEL(e->requests, r);
        free(r->hosts);
        free(r);
    }
}
