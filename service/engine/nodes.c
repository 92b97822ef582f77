/* See nodes.h. */
#include "service/engine/nodes.h"

#include <stdio.h>

struct svc_node *svc_node_get(struct svc_engine *e, const char *host)
{
    struct svc_node *n;

    HASH_FIND_STR(e->nodes, host, n);
    if (n)
        return n;
    n = calloc(1, sizeof(*n));
    if (!n)
        sv_out_of_memory();
    (void)snprintf(n->host, sizeof(n->host), "%s", host);
    HASH_ADD_STR(e->nodes, host, n);
    return n;
}

static struct svc_node_port *port_of(struct svc_node *n, int32_t port)
{
    for (size_t i = 0; i < n->n_ports; i++)
        if (n->ports[i].port == port)
            return &n->ports[i];
    if (n->n_ports == SV_ARRAY_LEN(n->ports))
        return &n->ports[n->n_ports - 1];
    n->ports[n->n_ports] = (struct svc_node_port){ .port = port };
    return &n->ports[n->n_ports++];
}

bool svc_node_set_usable(struct svc_engine *e, const struct yarn_node_id *id, bool usable)
{
    struct svc_node *n = svc_node_get(e, id->host);
    struct svc_node_port *p = port_of(n, id->port);
    size_t were = n->n_usable;

    n->n_usable += (usable ? 1 : 0) - (p->usable ? 1 : 0);
    p->usable = usable;
    e->n_usable += (n->n_usable ? 1 : 0) - (were ? 1 : 0);
    return !were && n->n_usable;
}

struct svc_entry *svc_entry_find(const struct svc_comp *c, const struct svc_node *n)
{
    struct svc_entry *entry;

    HASH_FIND_PTR(c->entries, &n, entry);
    return entry;
}

struct svc_entry *svc_entry_get(struct svc_comp *c, struct svc_node *n)
{
    struct svc_entry *entry = svc_entry_find(c, n);

    if (entry)
        return entry;
    entry = calloc(1, sizeof(*entry));
    if (!entry)
        sv_out_of_memory();
    entry->node = n;
    HASH_ADD_PTR(c->entries, node, entry);
    return entry;
}

/* ---- failures --------------------------------------------------------------------------------*/

bool svc_entry_failed_too_often(const struct svc_comp *c, const struct svc_entry *n)
{
    int64_t limit = svc_options_of(c)->node_threshold;

    return limit >= 0 && n->window == c->engine->window && n->failed_recently > limit;
}

static void tell(struct svc_engine *e, const struct svc_node *n)
{
    struct svc_op *op = svc_op_add(&e->ops, SVC_OP_BLACKLIST);

    op->host = n->host;
    op->on = n->blacklisted;
}

static void blacklist(struct svc_engine *e, struct svc_node *n, bool on)
{
    n->blacklisted = on;
    if (on)
        DL_APPEND(e->blacklist, n);
    else
        DL_DELETE(e->blacklist, n);
    tell(e, n);
}

bool svc_engine_blacklists(const struct svc_engine *e, const char *host)
{
    const struct svc_node *n;

    HASH_FIND_STR(e->nodes, host, n);
    return n && n->blacklisted;
}

void svc_entry_failed(struct svc_comp *c, struct svc_entry *n)
{
    struct svc_engine *e = c->engine;

    if (n->window != e->window) {
        n->window = e->window;
        n->failed_recently = 0;
    }
    n->failed++;
    n->failed_recently++;
    if (n->node->blacklisted || !svc_entry_failed_too_often(c, n))
        return;
    blacklist(e, n->node, true);
}

void svc_node_occupied(struct svc_engine *e, struct svc_node *n, bool occupied)
{
    n->occupied = occupied;
    if (n->blacklisted != occupied)
        blacklist(e, n, occupied);
}

void svc_nodes_forgive(struct svc_engine *e)
{
    struct svc_node *n, *next;

    e->window++;
    DL_FOREACH_SAFE (e->blacklist, n, next)
        if (!n->occupied)
            blacklist(e, n, false);
}

void svc_nodes_tell(struct svc_engine *e)
{
    struct svc_node *n;

    DL_FOREACH (e->blacklist, n)
        tell(e, n);
}

/* ---- recently used ---------------------------------------------------------------------------*/

void svc_entry_unlist(struct svc_comp *c, struct svc_entry *n)
{
    if (!n->recent)
        return;
    n->recent = false;
    DL_DELETE(c->recent, n);
}

void svc_entry_used(struct svc_comp *c, struct svc_entry *n, int64_t now)
{
    svc_entry_unlist(c, n);
    n->recent = true;
    n->last_used = now;
    DL_PREPEND(c->recent, n);
}

void svc_entries_free(struct svc_comp *c)
{
    struct svc_entry *n, *next;

    HASH_ITER (hh, c->entries, n, next) {
        HASH_DEL(c->entries, n);
        free(n);
    }
}

void svc_nodes_free(struct svc_engine *e)
{
    struct svc_node *n, *next;

    HASH_ITER (hh, e->nodes, n, next) {
        HASH_DEL(e->nodes, n);
        free(n);
    }
}
