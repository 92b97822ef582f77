/* Requests of a silent sub-cluster, made in another one; see relay.h. Hostile: the requests. */
#include <errno.h>
#include <string.h>

#include "federation/amrm/relay-parts.h"

typedef Hadoop__Yarn__ResourceRequestProto row_proto;

/* Adds to what the sub-cluster is asked for already. */
static int ask_more(struct fed_relay *r, const row_proto *row, const char *head)
{
    struct fed_item *it = fed_items_find(&r->items, head, row->resource_name);

    if (!it)
        return fed_relay_take_ask(r, row);
    it->count += SV_MIN(row->num_containers, INT32_MAX - it->count);
    fed_items_set_news(&r->items, it, true);
    return 0;
}

static void close_group(struct fed_relay *r, struct fed_item *any, bool registered)
{
    if (!registered) {
        (void)fed_items_drop_group(&r->items, any); /* counted by the caller, ignoring */
        return;
    }
    for (struct fed_item *it = any->group->rows; it; it = it->next_row) {
        it->count = 0;
        fed_items_set_news(&r->items, it, false);
    }
}

/* Containers that were moved; < 0: none. */
static int move_row(struct fed_relay *from, struct fed_relay *to, struct fed_item *it,
                    row_proto *row, bool registered)
{
    const struct fed_item_ask ask =
        fed_ask_of(row->priority, row->execution_type_request, row->allocation_request_id);
    int32_t count = it->count;
    char key[FED_ITEM_KEY];
    int e;

    if (!row->resource_name || (row->has_relax_locality && !row->relax_locality)) {
        fed_items_set_staying(it);
        return 0;
    }
    row->has_num_containers = true;
    row->num_containers = count;
    e = ask_more(to, row, fed_item_ask_key(FED_ITEM_ASK, &ask, key));
    if (e < 0)
        return e;
    close_group(from, it, registered);
    return count;
}

/* Where nothing is known, nothing is told: what only ends an earlier word is dropped. */
static int drop_closed(struct fed_relay *r, struct fed_budget *b)
{
    struct fed_item *it;

    while ((it = fed_items_first(&r->items, FED_ITEMS_CLOSED))) {
        if (fed_spent(b))
            return FED_MORE;
        fed_items_drop(&r->items, it);
        fed_spend(b, 1);
    }
    return 0;
}

int fed_relay_move(struct fed_relay *from, struct fed_relay *to, bool registered,
                   struct fed_budget *b, int32_t *n)
{
    struct fed_item *it;

    while ((it = fed_items_first_movable(&from->items))) {
        row_proto *row;
        int e;

        if (fed_spent(b))
            return FED_MORE;
        fed_spend(b, 1 + it->group->n / 4);
        row = hadoop__yarn__resource_request_proto__unpack(NULL, it->n_packed, it->packed);
        if (!row)
            return -ENOMEM;
        e = move_row(from, to, it, row, registered);
        hadoop__yarn__resource_request_proto__free_unpacked(row, NULL);
        if (e < 0)
            return e;
        *n += SV_MIN(e, INT32_MAX - *n);
    }
    return registered ? 0 : drop_closed(from, b);
}
