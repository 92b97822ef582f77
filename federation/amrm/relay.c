/* A sub-cluster's open requests of a master; see relay.h. Hostile: requests and answers. */
#include "federation/amrm/relay.h"

#include <errno.h>
#include <string.h>

#include "federation/amrm/relay-request.h"
#include "wire/frame.h"

typedef Hadoop__Yarn__AllocateRequestProto request_proto;
typedef Hadoop__Yarn__ResourceRequestProto row_proto;

struct fed_relay {
    struct fed_items items;
    uint8_t *sent; /* the request that is not answered yet; NULL: none */
    size_t n_sent;
    int32_t response_id;
    bool has_progress;
    float progress;
    char *tracking_url;
};

struct fed_relay *fed_relay_new(void)
{
    return calloc(1, sizeof(struct fed_relay));
}

struct fed_relay *fed_relay_free(struct fed_relay *r)
{
    if (!r)
        return NULL;
    fed_items_clear(&r->items);
    free(r->sent);
    free(r->tracking_url);
    free(r);
    return NULL;
}

bool fed_relay_has_news(const struct fed_relay *r)
{
    return r->sent || r->items.news;
}

size_t fed_relay_bytes(const struct fed_relay *r)
{
    return r->items.bytes + r->n_sent;
}

/* ---- Folding ---- */

static struct fed_item_ask ask_of(const Hadoop__Yarn__PriorityProto *priority,
                                  const Hadoop__Yarn__ExecutionTypeRequestProto *type, int64_t id)
{
    return (struct fed_item_ask){ priority ? priority->priority : 0,
                                  type ? (int32_t)type->execution_type
                                       : HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED,
                                  id };
}

static int take_asks(struct fed_relay *r, const request_proto *m)
{
    for (size_t i = 0; i < m->n_ask; i++) {
        const row_proto *row = m->ask[i];
        struct fed_item_ask ask =
            ask_of(row->priority, row->execution_type_request, row->allocation_request_id);
        char key[FED_ITEM_KEY];
        struct fed_item *it;
        int e = fed_items_put(&r->items, FED_ITEM_ASK, fed_item_ask_key(FED_ITEM_ASK, &ask, key),
                              row->resource_name ? row->resource_name : "", &row->base, &it);

        if (e < 0)
            return e;
        it->count = row->num_containers;
        it->open = it->count > 0;
    }
    return 0;
}

static int take_scheduling(struct fed_relay *r, const request_proto *m)
{
    for (size_t i = 0; i < m->n_scheduling_requests; i++) {
        const Hadoop__Yarn__SchedulingRequestProto *q = m->scheduling_requests[i];
        struct fed_item_ask ask = ask_of(q->priority, q->executiontype, q->allocationrequestid);
        char key[FED_ITEM_KEY];
        struct fed_item *it;
        int e = fed_items_put(&r->items, FED_ITEM_SCHEDULING,
                              fed_item_ask_key(FED_ITEM_SCHEDULING, &ask, key), "", &q->base, &it);

        if (e < 0)
            return e;
        it->count = q->resourcesizing ? q->resourcesizing->numallocations : 0;
        it->open = it->count > 0;
    }
    return 0;
}

/* A container's release or update; one without a whole id is of no use to anybody. */
static int take_container(struct fed_relay *r, enum fed_item_kind kind,
                          const Hadoop__Yarn__ContainerIdProto *of, const ProtobufCMessage *m)
{
    struct yarn_container_id id;
    char key[FED_ITEM_KEY];
    struct fed_item *it;
    int e;

    if (yarn_container_id_from(of, &id) < 0)
        return 0;
    e = fed_items_put(&r->items, kind, fed_item_container_key(kind, id, key), "", m, &it);
    if (e == 0)
        it->open = true;
    return e;
}

static int take_containers(struct fed_relay *r, const request_proto *m)
{
    int e = 0;

    for (size_t i = 0; e == 0 && i < m->n_release; i++)
        e = take_container(r, FED_ITEM_RELEASE, m->release[i], &m->release[i]->base);
    for (size_t i = 0; e == 0 && i < m->n_update_requests; i++)
        e = take_container(r, FED_ITEM_UPDATE, m->update_requests[i]->container_id,
                           &m->update_requests[i]->base);
    return e;
}

static int take_names(struct fed_relay *r, char *const *names, size_t n, bool barred)
{
    for (size_t i = 0; i < n; i++) {
        struct fed_item *it;
        int e = fed_items_put(&r->items, FED_ITEM_NAME, FED_ITEM_NAME_KEY, names[i], NULL, &it);

        if (e < 0)
            return e;
        it->open = barred;
    }
    return 0;
}

static int take_blacklist(struct fed_relay *r, const Hadoop__Yarn__ResourceBlacklistRequestProto *b)
{
    int e = b ? take_names(r, b->blacklist_additions, b->n_blacklist_additions, true) : 0;

    return e == 0 && b ? take_names(r, b->blacklist_removals, b->n_blacklist_removals, false) : e;
}

static int take_state(struct fed_relay *r, const request_proto *m)
{
    char *url = m->tracking_url ? strdup(m->tracking_url) : NULL;

    if (m->tracking_url && !url)
        return -ENOMEM;
    if (url) {
        free(r->tracking_url);
        r->tracking_url = url;
    }
    if (m->has_progress) {
        r->has_progress = true;
        r->progress = m->progress;
    }
    return 0;
}

int fed_relay_take(struct fed_relay *r, const request_proto *part, struct sv_error *err)
{
    int e = take_state(r, part);

    if (e == 0)
        e = take_asks(r, part);
    if (e == 0)
        e = take_containers(r, part);
    if (e == 0)
        e = take_blacklist(r, part->blacklist_request);
    if (e == 0)
        e = take_scheduling(r, part);
    if (e == -E2BIG)
        return sv_error_set(err, e,
                            "the master has more than %d open requests, releases, updates and "
                            "blacklisted nodes in one sub-cluster, or more than %d MiB of them",
                            FED_RELAY_ITEMS_MAX, FED_RELAY_BYTES_MAX >> 20);
    return e < 0 ? sv_error_set(err, e, "allocate request: out of memory") : 0;
}

/* ---- The next request ---- */

static bool is_any(const struct fed_item *it)
{
    return it->kind == FED_ITEM_ASK && strcmp(it->name, "*") == 0;
}

/* An ask for none and a name that is off the list need not be kept once they are in a request, nor
 * the places of an ask for none. */
static void set_all_told(struct fed_relay *r)
{
    struct fed_item *it;

    while ((it = r->items.news)) {
        fed_items_set_told(&r->items, it);
        if (it->open)
            continue;
        if (is_any(it))
            fed_items_drop_group(&r->items, it);
        else
            fed_items_drop(&r->items, it);
    }
}

/* Replaces the request that is not answered. */
static int keep_sent(struct fed_relay *r, const request_proto *m)
{
    size_t n = hadoop__yarn__allocate_request_proto__get_packed_size(m);
    uint8_t *p = malloc(n + 1);

    if (!p)
        return -ENOMEM;
    free(r->sent);
    r->n_sent = hadoop__yarn__allocate_request_proto__pack(m, p);
    r->sent = p;
    return 0;
}

static int make_sent(struct fed_relay *r, struct sv_arena *a)
{
    request_proto m;
    int e;

    hadoop__yarn__allocate_request_proto__init(&m);
    m.has_progress = r->has_progress;
    m.progress = r->progress;
    m.tracking_url = r->tracking_url;
    m.has_response_id = true;
    m.response_id = r->response_id;
    e = fed_relay_put_news(&r->items, a, &m);
    if (e == 0)
        e = keep_sent(r, &m);
    if (e == 0)
        set_all_told(r);
    return e;
}

int fed_relay_make(struct fed_relay *r, struct sv_arena *a, request_proto **ret)
{
    ProtobufCMessage *m = NULL;
    int e = r->sent ? 0 : make_sent(r, a);

    if (e < 0)
        return e;
    if (ipc_unpack(a, &hadoop__yarn__allocate_request_proto__descriptor, r->sent, r->n_sent, &m) <
        0)
        return -ENOMEM;
    *ret = (request_proto *)m;
    return 0;
}

/* ---- Answers ---- */

static void drop_container(struct fed_relay *r, enum fed_item_kind kind,
                           const Hadoop__Yarn__ContainerIdProto *of)
{
    struct yarn_container_id id;
    char key[FED_ITEM_KEY];
    struct fed_item *it;

    if (yarn_container_id_from(of, &id) < 0)
        return;
    it = fed_items_find(&r->items, fed_item_container_key(kind, id, key), "");
    if (it)
        fed_items_drop(&r->items, it);
}

static struct fed_item_ask ask_of_container(const Hadoop__Yarn__ContainerProto *c)
{
    return (struct fed_item_ask){ c->priority ? c->priority->priority : 0,
                                  (int32_t)c->execution_type, c->allocation_request_id };
}

static struct fed_item *any_row_of(struct fed_relay *r, const Hadoop__Yarn__ContainerProto *c)
{
    struct fed_item_ask ask = ask_of_container(c);
    char key[FED_ITEM_KEY];

    return fed_items_find(&r->items, fed_item_ask_key(FED_ITEM_ASK, &ask, key), "*");
}

static bool has_news(const struct fed_item *row)
{
    for (row = row->group->rows; row; row = row->next_row)
        if (row->news)
            return true;
    return false;
}

/* One less to ask for again after a restart; an ask that has changed since is the master's word. */
static void count_allocated(struct fed_relay *r, const Hadoop__Yarn__ContainerProto *c)
{
    struct fed_item *it = any_row_of(r, c);

    if (!it || it->news || it->count == 0)
        return;
    it->count--;
    if (it->count == 0 && !has_news(it))
        fed_items_drop_group(&r->items, it);
}

/* A scheduling request has n less to be allocated, or to be rejected. */
static void count_scheduled(struct fed_relay *r, const struct fed_item_ask *ask, int32_t n)
{
    char key[FED_ITEM_KEY];
    struct fed_item *it =
        fed_items_find(&r->items, fed_item_ask_key(FED_ITEM_SCHEDULING, ask, key), "");

    if (!it || it->news)
        return;
    it->count -= SV_MIN(n, it->count);
    if (it->count == 0)
        fed_items_drop(&r->items, it);
}

static void take_allocated(struct fed_relay *r, const Hadoop__Yarn__AllocateResponseProto *m)
{
    for (size_t i = 0; i < m->n_allocated_containers; i++) {
        const Hadoop__Yarn__ContainerProto *c = m->allocated_containers[i];
        struct fed_item_ask ask = ask_of_container(c);

        count_allocated(r, c);
        count_scheduled(r, &ask, 1);
    }
    for (size_t i = 0; i < m->n_rejected_scheduling_requests; i++) {
        const Hadoop__Yarn__SchedulingRequestProto *q = m->rejected_scheduling_requests[i]->request;
        struct fed_item_ask ask = ask_of(q->priority, q->executiontype, q->allocationrequestid);

        count_scheduled(r, &ask, INT32_MAX);
    }
}

static void take_ends(struct fed_relay *r, const Hadoop__Yarn__AllocateResponseProto *m)
{
    for (size_t i = 0; i < m->n_completed_container_statuses; i++) {
        const Hadoop__Yarn__ContainerIdProto *id = m->completed_container_statuses[i]->container_id;

        drop_container(r, FED_ITEM_RELEASE, id);
        drop_container(r, FED_ITEM_UPDATE, id);
    }
    for (size_t i = 0; i < m->n_updated_containers; i++)
        drop_container(r, FED_ITEM_UPDATE, m->updated_containers[i]->container->id);
    for (size_t i = 0; i < m->n_update_errors; i++)
        if (m->update_errors[i]->update_request)
            drop_container(r, FED_ITEM_UPDATE, m->update_errors[i]->update_request->container_id);
}

static void drop_sent(struct fed_relay *r)
{
    free(SV_TAKE(r->sent));
    r->n_sent = 0;
}

void fed_relay_answered(struct fed_relay *r, const Hadoop__Yarn__AllocateResponseProto *m)
{
    drop_sent(r);
    r->response_id = m->response_id;
    take_allocated(r, m);
    take_ends(r, m);
}

void fed_relay_resync(struct fed_relay *r)
{
    struct fed_item *it, *next;

    drop_sent(r);
    r->response_id = 0;
    HASH_ITER (hh, r->items.by_key, it, next)
        if (it->open)
            fed_items_set_news(&r->items, it);
}

int fed_relay_expect(struct fed_relay *r, int32_t response_id)
{
    request_proto *m =
        r->sent ? hadoop__yarn__allocate_request_proto__unpack(NULL, r->n_sent, r->sent) : NULL;
    int e = 0;

    if (r->sent && !m)
        return -ENOMEM;
    if (m) {
        m->response_id = response_id;
        e = keep_sent(r, m);
        hadoop__yarn__allocate_request_proto__free_unpacked(m, NULL);
    }
    if (e == 0)
        r->response_id = response_id;
    return e;
}

static void drop_told(struct fed_relay *r, struct fed_item *it)
{
    if (it && !it->news)
        fed_items_drop(&r->items, it);
}

static void drop_refused(struct fed_relay *r, const request_proto *m)
{
    char key[FED_ITEM_KEY];

    for (size_t i = 0; i < m->n_ask; i++) {
        const row_proto *row = m->ask[i];
        struct fed_item_ask ask =
            ask_of(row->priority, row->execution_type_request, row->allocation_request_id);

        drop_told(r, fed_items_find(&r->items, fed_item_ask_key(FED_ITEM_ASK, &ask, key),
                                    row->resource_name ? row->resource_name : ""));
    }
    for (size_t i = 0; i < m->n_scheduling_requests; i++) {
        const Hadoop__Yarn__SchedulingRequestProto *q = m->scheduling_requests[i];
        struct fed_item_ask ask = ask_of(q->priority, q->executiontype, q->allocationrequestid);

        drop_told(r,
                  fed_items_find(&r->items, fed_item_ask_key(FED_ITEM_SCHEDULING, &ask, key), ""));
    }
    for (size_t i = 0; i < m->n_update_requests; i++)
        drop_container(r, FED_ITEM_UPDATE, m->update_requests[i]->container_id);
}

/* Releases stay: they are never what was wrong, and a restart tells them again. */
void fed_relay_refused(struct fed_relay *r)
{
    request_proto *m =
        r->sent ? hadoop__yarn__allocate_request_proto__unpack(NULL, r->n_sent, r->sent) : NULL;

    if (m) {
        drop_refused(r, m);
        hadoop__yarn__allocate_request_proto__free_unpacked(m, NULL);
    }
    drop_sent(r);
}

/* An ask like the one that the container is of, where that is no longer kept: for any place. */
static int ask_anew(struct fed_relay *r, const Hadoop__Yarn__ContainerProto *c)
{
    Hadoop__Yarn__ExecutionTypeRequestProto type;
    row_proto row, *rows[] = { &row };
    request_proto m;

    hadoop__yarn__execution_type_request_proto__init(&type);
    type.has_execution_type = true;
    type.execution_type = c->execution_type;
    hadoop__yarn__resource_request_proto__init(&row);
    row.priority = c->priority;
    row.resource_name = (char[]){ "*" };
    row.capability = c->resource;
    row.has_num_containers = row.has_allocation_request_id = true;
    row.num_containers = 1;
    row.execution_type_request = &type;
    row.allocation_request_id = c->allocation_request_id;
    hadoop__yarn__allocate_request_proto__init(&m);
    m.ask = rows;
    m.n_ask = 1;
    return take_asks(r, &m);
}

int fed_relay_exchange(struct fed_relay *r, const Hadoop__Yarn__ContainerProto *container)
{
    struct fed_item *any = any_row_of(r, container);
    int e = take_container(r, FED_ITEM_RELEASE, container->id, &container->id->base);

    if (e < 0)
        return e;
    if (!any)
        return ask_anew(r, container);
    any->count += any->count < INT32_MAX;
    any->open = true;
    fed_items_set_news(&r->items, any);
    return 0;
}

/* ---- Elsewhere ---- */

/* Adds to what the sub-cluster is asked for already. */
static int ask_more(struct fed_relay *r, row_proto *row, const char *head)
{
    struct fed_item *it = fed_items_find(&r->items, head, row->resource_name);
    int32_t count;
    int e;

    if (it) {
        it->count += SV_MIN(row->num_containers, INT32_MAX - it->count);
        it->open = true;
        fed_items_set_news(&r->items, it);
        return 0;
    }
    count = row->num_containers;
    e = fed_items_put(&r->items, FED_ITEM_ASK, head, row->resource_name, &row->base, &it);
    if (e == 0) {
        it->count = count;
        it->open = true;
    }
    return e;
}

/* Containers that were moved; < 0: none. */
static int move_row(struct fed_relay *from, struct fed_relay *to, struct fed_item *it,
                    row_proto *row)
{
    const struct fed_item_ask ask =
        ask_of(row->priority, row->execution_type_request, row->allocation_request_id);
    char key[FED_ITEM_KEY];
    int e;

    if (!row->resource_name || (row->has_relax_locality && !row->relax_locality))
        return 0;
    row->has_num_containers = true;
    row->num_containers = it->count;
    e = ask_more(to, row, fed_item_ask_key(FED_ITEM_ASK, &ask, key));
    if (e < 0)
        return e;
    e = it->count;
    for (it = it->group->rows; it; it = it->next_row) {
        it->count = 0;
        it->open = false;
        fed_items_set_news(&from->items, it);
    }
    return e;
}

static void drop_closed(struct fed_relay *r)
{
    struct fed_item *it, *next;

    HASH_ITER (hh, r->items.by_key, it, next)
        if (!it->open)
            fed_items_drop(&r->items, it);
}

int fed_relay_move(struct fed_relay *from, struct fed_relay *to, bool registered)
{
    struct fed_item *it, *next;
    int n = 0;

    HASH_ITER (hh, from->items.by_key, it, next) {
        row_proto *row;
        int e;

        if (!is_any(it) || !it->open)
            continue;
        row = hadoop__yarn__resource_request_proto__unpack(NULL, it->n_packed, it->packed);
        if (!row)
            return -ENOMEM;
        e = move_row(from, to, it, row);
        hadoop__yarn__resource_request_proto__free_unpacked(row, NULL);
        if (e < 0)
            return e;
        n += SV_MIN(e, INT32_MAX - n);
    }
    if (!registered)
        drop_closed(from);
    return n;
}
