/* Messages of a relay's news; see relay-request.h. */
#include "federation/amrm/relay-request.h"

#include "federation/amrm/list.h"
#include "wire/frame.h"

typedef Hadoop__Yarn__AllocateRequestProto request_proto;
typedef Hadoop__Yarn__ResourceRequestProto row_proto;

struct making {
    struct sv_arena *arena;
    struct fed_list asks, scheduling, releases, updates, barred, unbarred;
};

static void *unpack(struct making *w, const ProtobufCMessageDescriptor *d,
                    const struct fed_item *it)
{
    ProtobufCMessage *m = NULL;

    return ipc_unpack(w->arena, d, it->packed, it->n_packed, &m) == 0 ? m : NULL;
}

static int make_ask(struct making *w, const struct fed_item *it)
{
    row_proto *row = unpack(w, &hadoop__yarn__resource_request_proto__descriptor, it);

    if (!row)
        return -ENOMEM;
    row->has_num_containers = true;
    row->num_containers = it->count;
    return fed_list_add(w->arena, &w->asks, row);
}

static int make_scheduling(struct making *w, const struct fed_item *it)
{
    Hadoop__Yarn__SchedulingRequestProto *q =
        unpack(w, &hadoop__yarn__scheduling_request_proto__descriptor, it);

    if (!q)
        return -ENOMEM;
    if (q->resourcesizing)
        q->resourcesizing->numallocations = it->count;
    return fed_list_add(w->arena, &w->scheduling, q);
}

static int make_message(struct making *w, struct fed_list *to, const ProtobufCMessageDescriptor *d,
                        const struct fed_item *it)
{
    void *m = unpack(w, d, it);

    return m ? fed_list_add(w->arena, to, m) : -ENOMEM;
}

static int make_item(struct making *w, const struct fed_item *it)
{
    switch (it->kind) {
    case FED_ITEM_ASK:
        return make_ask(w, it);
    case FED_ITEM_SCHEDULING:
        return make_scheduling(w, it);
    case FED_ITEM_RELEASE:
        return make_message(w, &w->releases, &hadoop__yarn__container_id_proto__descriptor, it);
    case FED_ITEM_UPDATE:
        return make_message(w, &w->updates,
                            &hadoop__yarn__update_container_request_proto__descriptor, it);
    case FED_ITEM_NAME:
        break;
    }
    return fed_list_add(w->arena, it->open ? &w->barred : &w->unbarred, it->name);
}

#define SET(message, field, type, list)                                                            \
    ((message)->field = (type **)(list).v, (message)->n_##field = (list).n)

static int set_lists(const struct making *w, request_proto *m)
{
    Hadoop__Yarn__ResourceBlacklistRequestProto *b;

    SET(m, ask, row_proto, w->asks);
    SET(m, scheduling_requests, Hadoop__Yarn__SchedulingRequestProto, w->scheduling);
    SET(m, release, Hadoop__Yarn__ContainerIdProto, w->releases);
    SET(m, update_requests, Hadoop__Yarn__UpdateContainerRequestProto, w->updates);
    if (w->barred.n == 0 && w->unbarred.n == 0)
        return 0;
    b = sv_new(w->arena, Hadoop__Yarn__ResourceBlacklistRequestProto);
    if (!b)
        return -ENOMEM;
    hadoop__yarn__resource_blacklist_request_proto__init(b);
    SET(b, blacklist_additions, char, w->barred);
    SET(b, blacklist_removals, char, w->unbarred);
    m->blacklist_request = b;
    return 0;
}

int fed_relay_put_news(const struct fed_items *items, struct sv_arena *a, request_proto *m)
{
    struct making w = { .arena = a };

    for (const struct fed_item *it = items->news; it; it = it->next) {
        int e = make_item(&w, it);

        if (e < 0)
            return e;
    }
    return set_lists(&w, m);
}
