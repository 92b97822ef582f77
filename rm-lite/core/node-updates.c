/* See node-updates.h. */
#include "rm-lite/core/node-updates.h"

#include <utlist.h>

void rm_node_updates_forget(struct rm_node *n)
{
    if (n->update_number)
        DL_DELETE2(n->rm->updated_nodes, n, u_prev, u_next);
    n->update_number = 0;
}

void rm_node_updated(struct rm_node *n)
{
    rm_node_updates_forget(n);
    n->update_number = ++n->rm->node_updates;
    DL_APPEND2(n->rm->updated_nodes, n, u_prev, u_next);
}

void rm_node_updates_start(struct rm_attempt *att)
{
    att->updates_told = att->rm->node_updates;
}

size_t rm_node_updates(const struct rm_attempt *att, struct rm_node **ret, size_t max)
{
    struct rm_node *list = att->rm->updated_nodes, *first = NULL;
    size_t n = 0;

    for (struct rm_node *it = list ? list->u_prev : NULL;
         it && it->update_number > att->updates_told; it = it == list ? NULL : it->u_prev)
        first = it;
    for (; first && n < max; first = first->u_next)
        ret[n++] = first;
    return n;
}

void rm_node_updates_told(struct rm_attempt *att, const struct rm_node *last)
{
    att->updates_told = last->update_number;
}
