/* A sub-cluster's open requests of a master; see relay.h. Hostile: requests and answers. */
#include "federation/amrm/relay.h"

#include <errno.h>
#include <string.h>

#include "federation/amrm/relay-parts.h"
#include "federation/amrm/relay-request.h"

typedef Hadoop__Yarn__AllocateRequestProto request_proto;
typedef Hadoop__Yarn__AllocateResponseProto response_proto;
typedef Hadoop__Yarn__ResourceRequestProto row_proto;

struct fed_relay *fed_relay_new(void)
{
    struct fed_relay *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    fed_items_init(&r->items);
    r->sent = SV_BUF_INIT(FED_RELAY_BYTES_MAX);
    return r;
}

struct fed_relay *fed_relay_free(struct fed_relay *r)
{
    if (!r)
        return NULL;
    fed_items_clear(&r->items);
    sv_buf_free(&r->sent);
    free(r->tracking_url);
    free(r);
    return NULL;
}

int fed_relay_leave(void *relay, struct fed_budget *b)
{
    struct fed_relay *r = relay;

    for (int list = 0; list < FED_ITEM_LISTS; list++) {
        struct fed_item *it;

        while ((it = fed_items_first(&r->items, (enum fed_item_list)list))) {
            if (fed_spent(b))
                return FED_MORE;
            fed_items_drop(&r->items, it);
            fed_spend(b, 1);
        }
    }
    fed_relay_free(r);
    return 0;
}

bool fed_relay_has_news(const struct fed_relay *r)
{
    return r->made || fed_items_first(&r->items, FED_ITEMS_NEW) ||
           fed_items_first(&r->items, FED_ITEMS_CLOSED);
}

size_t fed_relay_bytes(const struct fed_relay *r)
{
    return r->items.bytes + r->sent.len;
}

/* ---- Folding ---- */

int fed_relay_take_ask(struct fed_relay *r, const row_proto *row)
{
    const struct fed_item_ask ask =
        fed_ask_of(row->priority, row->execution_type_request, row->allocation_request_id);
    char key[FED_ITEM_KEY];
    const struct fed_item_words w = { .kind = FED_ITEM_ASK,
                                      .head = fed_item_ask_key(FED_ITEM_ASK, &ask, key),
                                      .name = row->resource_name ? row->resource_name : "",
                                      .m = &row->base,
                                      .count = row->num_containers,
                                      .open = row->num_containers > 0 };

    return fed_items_put(&r->items, &w);
}

static int take_scheduling(struct fed_relay *r, const Hadoop__Yarn__SchedulingRequestProto *q)
{
    const struct fed_item_ask ask =
        fed_ask_of(q->priority, q->executiontype, q->allocationrequestid);
    int32_t count = q->resourcesizing ? q->resourcesizing->numallocations : 0;
    char key[FED_ITEM_KEY];
    const struct fed_item_words w = { .kind = FED_ITEM_SCHEDULING,
                                      .head = fed_item_ask_key(FED_ITEM_SCHEDULING, &ask, key),
                                      .name = "",
                                      .m = &q->base,
                                      .count = count,
                                      .open = count > 0 };

    return fed_items_put(&r->items, &w);
}

/* A container's release or update; one without a whole id is of no use to anybody. */
static int take_container(struct fed_relay *r, enum fed_item_kind kind,
                          const Hadoop__Yarn__ContainerIdProto *of, const ProtobufCMessage *m)
{
    struct yarn_container_id id;
    char key[FED_ITEM_KEY];
    struct fed_item_words w = { .kind = kind, .name = "", .m = m, .open = true };

    if (yarn_container_id_from(of, &id) < 0)
        return 0;
    w.head = fed_item_container_key(kind, id, key);
    return fed_items_put(&r->items, &w);
}

static int take_name(struct fed_relay *r, const char *name, bool barred)
{
    const struct fed_item_words w = {
        .kind = FED_ITEM_NAME, .head = FED_ITEM_NAME_KEY, .name = name, .open = barred
    };

    return fed_items_put(&r->items, &w);
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

enum part_list { STATE, ASKS, RELEASES, UPDATES, BARRED, UNBARRED, SCHEDULING, PART_LISTS };

static size_t count_part(const request_proto *m, int list)
{
    const Hadoop__Yarn__ResourceBlacklistRequestProto *b = m->blacklist_request;

    switch (list) {
    case STATE:
        return 1;
    case ASKS:
        return m->n_ask;
    case RELEASES:
        return m->n_release;
    case UPDATES:
        return m->n_update_requests;
    case BARRED:
        return b ? b->n_blacklist_additions : 0;
    case UNBARRED:
        return b ? b->n_blacklist_removals : 0;
    default:
        return m->n_scheduling_requests;
    }
}

static int take_one(struct fed_relay *r, const request_proto *m, int list, size_t i)
{
    switch (list) {
    case STATE:
        return take_state(r, m);
    case ASKS:
        return fed_relay_take_ask(r, m->ask[i]);
    case RELEASES:
        return take_container(r, FED_ITEM_RELEASE, m->release[i], &m->release[i]->base);
    case UPDATES:
        return take_container(r, FED_ITEM_UPDATE, m->update_requests[i]->container_id,
                              &m->update_requests[i]->base);
    case BARRED:
        return take_name(r, m->blacklist_request->blacklist_additions[i], true);
    case UNBARRED:
        return take_name(r, m->blacklist_request->blacklist_removals[i], false);
    default:
        return take_scheduling(r, m->scheduling_requests[i]);
    }
}

static int refuse_part(int e, struct sv_error *err)
{
    if (e == -E2BIG)
        return sv_error_set(err, e,
                            "the master has more than %d open requests, releases, updates and "
                            "blacklisted nodes in one sub-cluster, more than %d MiB of them, more "
                            "than %d places in one request, or one of more than %d MiB",
                            FED_RELAY_ITEMS_MAX, FED_RELAY_BYTES_MAX >> 20, FED_ITEM_GROUP_MAX,
                            FED_ITEM_MESSAGE_MAX >> 20);
    if (e == -ENAMETOOLONG)
        return sv_error_set(err, e,
                            "allocate request: a node's or rack's name has more than %d "
                            "bytes",
                            FED_ITEM_NAME_MAX);
    return sv_error_set(err, e, "allocate request: out of memory");
}

int fed_relay_take(struct fed_relay *r, const request_proto *part, struct fed_relay_at *at,
                   struct fed_budget *b, struct sv_error *err)
{
    for (; at->list < PART_LISTS; at->list++, at->row = 0)
        for (size_t n = count_part(part, at->list); at->row < n; at->row++) {
            size_t before = r->items.bytes;
            int e;

            if (fed_spent(b))
                return FED_MORE;
            e = take_one(r, part, at->list, at->row);
            if (e < 0)
                return refuse_part(e, err);
            fed_spend(b, 1 + (r->items.bytes - SV_MIN(before, r->items.bytes)) / FED_ROW_BYTES);
        }
    return 0;
}

/* ---- The next request ---- */

/* An item that only ends an earlier word need not be kept once it is in a request. */
static int put_item(struct fed_items *items, struct fed_relay_request *q, struct fed_item *it)
{
    int e = fed_relay_request_put(q, it);

    if (e < 0)
        return e;
    if (it->open)
        fed_items_set_sent(items, it);
    else
        fed_items_drop(items, it);
    return 0;
}

/* An ask for none behind the news of its places, none of which is kept then. */
static int put_group(struct fed_items *items, struct fed_relay_request *q, struct fed_item *any,
                     size_t *n)
{
    struct fed_item *it, *next;
    int e = 0;

    for (it = any->group->rows; it && e == 0 && *n < FED_REQUEST_ITEMS_MAX; it = next) {
        next = it->next_row;
        if (it == any || !fed_items_is_news(items, it))
            continue;
        e = put_item(items, q, it);
        ++*n;
    }
    if (it || e < 0)
        return e;
    e = fed_relay_request_put(q, any);
    if (e == 0)
        *n += fed_items_drop_group(items, any);
    return e;
}

static int put_next(struct fed_items *items, struct fed_relay_request *q, size_t *n)
{
    struct fed_item *it = fed_items_first(items, FED_ITEMS_CLOSED);

    if (it && fed_item_is_any(it))
        return put_group(items, q, it, n);
    ++*n;
    return put_item(items, q, it ?: fed_items_first(items, FED_ITEMS_NEW));
}

static int make_sent(struct fed_relay *r, struct fed_budget *b)
{
    struct fed_relay_request q;
    size_t n = 0;
    int e = 0;

    fed_relay_request_begin(&q, &r->sent);
    while (
        e == 0 && n < FED_REQUEST_ITEMS_MAX && r->sent.len + q.barred.len < FED_REQUEST_BYTES_MAX &&
        (fed_items_first(&r->items, FED_ITEMS_CLOSED) || fed_items_first(&r->items, FED_ITEMS_NEW)))
        e = put_next(&r->items, &q, &n);
    if (e == 0 || n > 1) /* the rest another time */
        e = fed_relay_request_end(&q);
    fed_relay_request_clear(&q);
    fed_spend(b, n / 16 + r->sent.len / ((size_t)8 * FED_ROW_BYTES)); /* bytes that are copied */
    return e;
}

/* The request's lists begin with the tag of a field, which is below 16. */
static void set_unknown(request_proto *m, ProtobufCMessageUnknownField *f, const struct sv_buf *b)
{
    if (!b->len)
        return;
    *f = (ProtobufCMessageUnknownField){
        .tag = b->data[0] >> 3, .wire_type = b->data[0] & 7, .len = b->len - 1, .data = b->data + 1
    };
    m->base.unknown_fields = f;
    m->base.n_unknown_fields = 1;
}

int fed_relay_make(struct fed_relay *r, struct sv_arena *a, struct fed_budget *b,
                   request_proto **ret)
{
    request_proto *m = sv_new(a, request_proto);
    ProtobufCMessageUnknownField *f = sv_new(a, ProtobufCMessageUnknownField);
    int e = m && f ? 0 : -ENOMEM;

    if (e == 0 && !r->made)
        e = make_sent(r, b);
    if (e < 0)
        return e;
    r->made = true;
    hadoop__yarn__allocate_request_proto__init(m);
    m->has_progress = r->has_progress;
    m->progress = r->progress;
    m->tracking_url = r->tracking_url;
    m->has_response_id = true;
    m->response_id = r->response_id;
    set_unknown(m, f, &r->sent);
    *ret = m;
    return 0;
}

static void drop_sent(struct fed_relay *r)
{
    sv_buf_free(&r->sent);
    r->made = false;
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

static bool has_news(const struct fed_relay *r, const struct fed_item *row)
{
    for (row = row->group->rows; row; row = row->next_row)
        if (fed_items_is_news(&r->items, row))
            return true;
    return false;
}

/* One less to ask for again after a restart; an ask that has changed since is the master's word. */
static void count_allocated(struct fed_relay *r, const Hadoop__Yarn__ContainerProto *c,
                            struct fed_budget *b)
{
    struct fed_item *it = any_row_of(r, c);

    if (!it || fed_items_is_news(&r->items, it) || it->count == 0)
        return;
    it->count--;
    if (it->count)
        return;
    fed_spend(b, it->group->n / 4);
    if (!has_news(r, it))
        (void)fed_items_drop_group(&r->items, it); /* counted above, ignoring */
}

/* A scheduling request has n less to be allocated, or to be rejected. */
static void count_scheduled(struct fed_relay *r, const struct fed_item_ask *ask, int32_t n)
{
    char key[FED_ITEM_KEY];
    struct fed_item *it =
        fed_items_find(&r->items, fed_item_ask_key(FED_ITEM_SCHEDULING, ask, key), "");

    if (!it || fed_items_is_news(&r->items, it))
        return;
    it->count -= SV_MIN(n, it->count);
    if (it->count == 0)
        fed_items_drop(&r->items, it);
}

static void take_allocated(struct fed_relay *r, const Hadoop__Yarn__ContainerProto *c,
                           struct fed_budget *b)
{
    struct fed_item_ask ask = ask_of_container(c);

    count_allocated(r, c, b);
    count_scheduled(r, &ask, 1);
}

static void take_rejected(struct fed_relay *r, const Hadoop__Yarn__SchedulingRequestProto *q)
{
    struct fed_item_ask ask = fed_ask_of(q->priority, q->executiontype, q->allocationrequestid);

    count_scheduled(r, &ask, INT32_MAX);
}

enum answer_list { HEAD, ALLOCATED, REJECTED, COMPLETED, UPDATED, UPDATE_ERRORS, ANSWER_LISTS };

static size_t count_answer(const response_proto *m, int list)
{
    switch (list) {
    case HEAD:
        return 1;
    case ALLOCATED:
        return m->n_allocated_containers;
    case REJECTED:
        return m->n_rejected_scheduling_requests;
    case COMPLETED:
        return m->n_completed_container_statuses;
    case UPDATED:
        return m->n_updated_containers;
    default:
        return m->n_update_errors;
    }
}

static void answered_one(struct fed_relay *r, const response_proto *m, int list, size_t i,
                         struct fed_budget *b)
{
    switch (list) {
    case HEAD:
        drop_sent(r);
        fed_items_settle(&r->items);
        r->response_id = m->response_id;
        break;
    case ALLOCATED:
        take_allocated(r, m->allocated_containers[i], b);
        break;
    case REJECTED:
        take_rejected(r, m->rejected_scheduling_requests[i]->request);
        break;
    case COMPLETED:
        drop_container(r, FED_ITEM_RELEASE, m->completed_container_statuses[i]->container_id);
        drop_container(r, FED_ITEM_UPDATE, m->completed_container_statuses[i]->container_id);
        break;
    case UPDATED:
        drop_container(r, FED_ITEM_UPDATE, m->updated_containers[i]->container->id);
        break;
    default:
        if (m->update_errors[i]->update_request)
            drop_container(r, FED_ITEM_UPDATE, m->update_errors[i]->update_request->container_id);
        break;
    }
}

int fed_relay_answered(struct fed_relay *r, const response_proto *m, struct fed_relay_at *at,
                       struct fed_budget *b)
{
    for (; at->list < ANSWER_LISTS; at->list++, at->row = 0)
        for (size_t n = count_answer(m, at->list); at->row < n; at->row++) {
            if (fed_spent(b))
                return FED_MORE;
            answered_one(r, m, at->list, at->row, b);
            fed_spend(b, 1);
        }
    return 0;
}

void fed_relay_resync(struct fed_relay *r)
{
    drop_sent(r);
    r->response_id = 0;
    fed_items_renew(&r->items);
}

void fed_relay_expect(struct fed_relay *r, int32_t response_id)
{
    r->response_id = response_id;
}

/* Releases stay: they are never what was wrong, and a restart tells them again. So do names. */
void fed_relay_refused(struct fed_relay *r)
{
    struct fed_item *it;

    drop_sent(r);
    while ((it = fed_items_first(&r->items, FED_ITEMS_SENT))) {
        if (it->kind == FED_ITEM_RELEASE || it->kind == FED_ITEM_NAME)
            fed_items_set_told(&r->items, it);
        else
            fed_items_drop(&r->items, it);
    }
}

/* An ask like the one that the container is of, where that is no longer kept: for any place. */
static int ask_anew(struct fed_relay *r, const Hadoop__Yarn__ContainerProto *c)
{
    Hadoop__Yarn__ExecutionTypeRequestProto type;
    row_proto row;

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
    return fed_relay_take_ask(r, &row);
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
    fed_items_set_news(&r->items, any, true);
    return 0;
}
