/* federation/amrm/relay.c: what a ResourceManager is told, once and after restarts; random
 * histories with lost requests, lost answers and restarts against a model of both ends. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "federation/amrm/relay-items.h"
#include "federation/amrm/relay.h"
#include "wire/frame.h"

typedef Hadoop__Yarn__AllocateRequestProto request_proto;
typedef Hadoop__Yarn__AllocateResponseProto answer_proto;
typedef Hadoop__Yarn__ResourceRequestProto row_proto;

#define APP ((struct yarn_app_id){ 1000, 7 })
#define MOST 32

static struct sv_arena *arena;
static struct fed_relay *relay;
static request_proto *part;
static Hadoop__Yarn__ResourceBlacklistRequestProto *blacklist;

static void new_part(void)
{
    part = sv_new(arena, request_proto);
    hadoop__yarn__allocate_request_proto__init(part);
    part->ask = sv_newn(arena, row_proto *, MOST);
    part->release = sv_newn(arena, Hadoop__Yarn__ContainerIdProto *, MOST);
    blacklist = sv_new(arena, Hadoop__Yarn__ResourceBlacklistRequestProto);
    hadoop__yarn__resource_blacklist_request_proto__init(blacklist);
    blacklist->blacklist_additions = sv_newn(arena, char *, MOST);
    blacklist->blacklist_removals = sv_newn(arena, char *, MOST);
}

static int set_up(void **state)
{
    (void)state;
    sv_arena_free(arena);
    fed_relay_free(relay);
    arena = sv_arena_new(0);
    relay = fed_relay_new();
    new_part();
    return relay ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    arena = sv_arena_free(arena);
    for (int r = FED_MORE; r == FED_MORE;) {
        struct fed_budget b = { 7 };

        r = fed_relay_leave(relay, &b);
        assert_true(b.rows >= 0);
    }
    relay = NULL;
    return 0;
}

/* ---- A master's words ---- */

static Hadoop__Yarn__PriorityProto *priority_of(int32_t n)
{
    Hadoop__Yarn__PriorityProto *p = sv_new(arena, Hadoop__Yarn__PriorityProto);

    hadoop__yarn__priority_proto__init(p);
    p->has_priority = true;
    p->priority = n;
    return p;
}

static void ask(int32_t priority, int64_t id, const char *name, int32_t n)
{
    row_proto *row = sv_new(arena, row_proto);

    hadoop__yarn__resource_request_proto__init(row);
    row->priority = priority_of(priority);
    row->has_allocation_request_id = row->has_num_containers = true;
    row->allocation_request_id = id;
    row->resource_name = (char *)(uintptr_t)name;
    row->num_containers = n;
    part->ask[part->n_ask++] = row;
}

static Hadoop__Yarn__ContainerIdProto *id_of(int64_t n)
{
    return yarn_container_id_to(arena, (struct yarn_container_id){ { APP, 1 }, n });
}

static void bar(const char *name, bool on)
{
    part->blacklist_request = blacklist;
    if (on)
        blacklist->blacklist_additions[blacklist->n_blacklist_additions++] =
            (char *)(uintptr_t)name;
    else
        blacklist->blacklist_removals[blacklist->n_blacklist_removals++] = (char *)(uintptr_t)name;
}

static int take_of(struct fed_relay *r, struct sv_error *err)
{
    struct fed_relay_at at = { 0 };
    struct fed_budget all = FED_BUDGET_ALL;

    return fed_relay_take(r, part, &at, &all, err);
}

/* In turns of a row or a few. */
static void take(void)
{
    struct fed_relay_at at = { 0 };
    int r = FED_MORE;

    while (r == FED_MORE) {
        struct fed_budget b = { 1 + rand() % 4 };

        r = fed_relay_take(relay, part, &at, &b, NULL);
    }
    assert_int_equal(r, 0);
    new_part();
}

/* As the wire packs it and the ResourceManager reads it. */
static request_proto *make_of(struct fed_relay *r)
{
    struct fed_budget all = FED_BUDGET_ALL;
    request_proto *m = NULL;
    ProtobufCMessage *read = NULL;
    uint8_t *p;
    size_t n;

    assert_int_equal(fed_relay_make(r, arena, &all, &m), 0);
    n = protobuf_c_message_get_packed_size(&m->base);
    p = malloc(n + 1);
    assert_int_equal(protobuf_c_message_pack(&m->base, p), n);
    assert_int_equal(
        ipc_unpack_items(arena, m->base.descriptor, p, n, IPC_REQUEST_ITEMS_MAX, &read), 0);
    free(p);
    return (request_proto *)read;
}

static request_proto *make(void)
{
    return make_of(relay);
}

static void answered(const answer_proto *m)
{
    struct fed_relay_at at = { 0 };
    struct fed_budget all = FED_BUDGET_ALL;

    assert_int_equal(fed_relay_answered(relay, m, &at, &all), 0);
}

static int32_t move(struct fed_relay *to, bool registered)
{
    struct fed_budget all = FED_BUDGET_ALL;
    int32_t n = 0;

    assert_int_equal(fed_relay_move(relay, to, registered, &all, &n), 0);
    return n;
}

static answer_proto *new_answer(int32_t response_id)
{
    answer_proto *m = sv_new(arena, answer_proto);

    hadoop__yarn__allocate_response_proto__init(m);
    m->has_response_id = true;
    m->response_id = response_id;
    m->allocated_containers = sv_newn(arena, Hadoop__Yarn__ContainerProto *, MOST);
    m->completed_container_statuses = sv_newn(arena, Hadoop__Yarn__ContainerStatusProto *, MOST);
    return m;
}

static Hadoop__Yarn__ContainerProto *allocate(answer_proto *m, int32_t priority, int64_t id)
{
    Hadoop__Yarn__ContainerProto *c = sv_new(arena, Hadoop__Yarn__ContainerProto);

    hadoop__yarn__container_proto__init(c);
    c->id = id_of(100 + id);
    c->priority = priority_of(priority);
    c->has_allocation_request_id = true;
    c->allocation_request_id = id;
    m->allocated_containers[m->n_allocated_containers++] = c;
    return c;
}

static void complete(answer_proto *m, int64_t n)
{
    Hadoop__Yarn__ContainerStatusProto *s = sv_new(arena, Hadoop__Yarn__ContainerStatusProto);

    hadoop__yarn__container_status_proto__init(s);
    s->container_id = id_of(n);
    m->completed_container_statuses[m->n_completed_container_statuses++] = s;
}

/* ---- By hand ---- */

static void folded(void **state)
{
    request_proto *m;

    (void)state;
    assert_false(fed_relay_has_news(relay));
    ask(1, 0, "*", 5);
    ask(1, 0, "h1", 5);
    bar("h2", true);
    part->has_progress = true;
    part->progress = 0.25f;
    part->tracking_url = (char[]){ "http://am" };
    take();
    ask(1, 0, "*", 3);
    bar("h2", false);
    take();
    assert_true(fed_relay_has_news(relay));
    m = make();
    assert_int_equal(m->n_ask, 2);
    assert_string_equal(m->ask[0]->resource_name, "*");
    assert_int_equal(m->ask[0]->num_containers, 3);
    assert_int_equal(m->blacklist_request->n_blacklist_additions, 0);
    assert_int_equal(m->blacklist_request->n_blacklist_removals, 1);
    assert_true(m->progress == 0.25f);
    assert_string_equal(m->tracking_url, "http://am");
    assert_int_equal(m->response_id, 0);
    answered(new_answer(1));
    assert_false(fed_relay_has_news(relay));
    m = make();
    assert_int_equal(m->response_id, 1);
    assert_int_equal(m->n_ask, 0);
    assert_null(m->blacklist_request);
}

/* Lost: the request is sent again as it was, though there is more to say. */
static void sent_again(void **state)
{
    request_proto *m;

    (void)state;
    ask(1, 0, "*", 5);
    take();
    assert_int_equal(make()->n_ask, 1);
    ask(1, 0, "*", 9);
    ask(2, 0, "*", 1);
    take();
    m = make();
    assert_int_equal(m->n_ask, 1);
    assert_int_equal(m->ask[0]->num_containers, 5);
    fed_relay_expect(relay, 41);
    m = make();
    assert_int_equal(m->response_id, 41);
    assert_int_equal(m->ask[0]->num_containers, 5);
    answered(new_answer(42));
    m = make();
    assert_int_equal(m->response_id, 42);
    assert_int_equal(m->n_ask, 2);
    assert_int_equal(m->ask[0]->num_containers, 9);
    answered(new_answer(43));
    fed_relay_expect(relay, 50);
    assert_int_equal(make()->response_id, 50);
}

static void restarted(void **state)
{
    request_proto *m;

    (void)state;
    ask(1, 0, "*", 5);
    ask(2, 0, "*", 0);
    ask(3, 0, "h1", 4);
    bar("h2", true);
    bar("h3", false);
    part->release[part->n_release++] = id_of(1);
    part->release[part->n_release++] = id_of(2);
    take();
    assert_int_equal(make()->n_ask, 3);
    answered(new_answer(7));
    ask(3, 0, "h1", 0);
    take();
    assert_int_equal(make()->n_ask, 1);
    {
        answer_proto *a = new_answer(8);

        complete(a, 1);
        answered(a);
    }
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->response_id, 0);
    assert_int_equal(m->n_ask, 1);
    assert_int_equal(m->ask[0]->num_containers, 5);
    assert_int_equal(m->n_release, 1);
    assert_int_equal(m->blacklist_request->n_blacklist_additions, 1);
    assert_int_equal(m->blacklist_request->n_blacklist_removals, 0);
    fed_relay_resync(relay); /* once more, before it was answered */
    assert_int_equal(make()->n_ask, 1);
}

/* Allocated containers are not asked for again after a restart. */
static void allocations(void **state)
{
    answer_proto *a;
    request_proto *m;

    (void)state;
    ask(1, 4, "*", 2);
    ask(1, 4, "h1", 2);
    ask(1, 5, "*", 2);
    take();
    (void)make();
    a = new_answer(1);
    allocate(a, 1, 4);
    allocate(a, 1, 4);
    allocate(a, 1, 5);
    allocate(a, 9, 9); /* nobody asked */
    answered(a);
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->n_ask, 1); /* of the first group nothing is wanted, the host neither */
    assert_int_equal(m->ask[0]->allocation_request_id, 5);
    assert_int_equal(m->ask[0]->num_containers, 1);
    /* The master has changed it meanwhile: its word counts. */
    ask(1, 5, "*", 7);
    take();
    a = new_answer(1);
    allocate(a, 1, 5);
    answered(a);
    assert_int_equal(make()->ask[0]->num_containers, 7);
}

/* A container that clashes with another member's is given back, and another one asked for. */
static void exchanges(void **state)
{
    answer_proto *a;
    Hadoop__Yarn__ContainerProto *c;
    request_proto *m;

    (void)state;
    ask(1, 4, "*", 2);
    take();
    (void)make();
    a = new_answer(1);
    c = allocate(a, 1, 4);
    answered(a);
    assert_int_equal(fed_relay_exchange(relay, c), 0);
    m = make();
    assert_int_equal(m->n_release, 1);
    assert_int_equal(m->ask[0]->num_containers, 2);
    a = new_answer(2);
    allocate(a, 1, 4);
    c = allocate(a, 1, 4);
    answered(a); /* all there: the ask is forgotten */
    c->resource = yarn_resource_to(arena, (struct yarn_resource){ .memory_mb = 64, .vcores = 1 });
    assert_int_equal(fed_relay_exchange(relay, c), 0);
    m = make();
    assert_int_equal(m->n_ask, 1);
    assert_string_equal(m->ask[0]->resource_name, "*");
    assert_int_equal(m->ask[0]->num_containers, 1);
    assert_int_equal(m->ask[0]->capability->memory, 64);
    assert_int_equal(m->ask[0]->allocation_request_id, 4);
    assert_int_equal(m->ask[0]->priority->priority, 1);
}

/* A refused request is not said again, what the master has changed since is. */
static void refused(void **state)
{
    request_proto *m;

    (void)state;
    ask(1, 0, "*", 5);
    ask(2, 0, "*", 7);
    part->release[part->n_release++] = id_of(1);
    take();
    (void)make();
    ask(2, 0, "*", 1);
    take();
    fed_relay_refused(relay);
    m = make();
    assert_int_equal(m->n_ask, 1);
    assert_int_equal(m->ask[0]->num_containers, 1);
    assert_int_equal(m->response_id, 0);
    fed_relay_refused(relay);
    assert_false(fed_relay_has_news(relay));
    fed_relay_refused(relay); /* of nothing */
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->n_ask, 0);
    assert_int_equal(m->n_release, 1);
}

static void moved(void **state)
{
    struct fed_relay *to = fed_relay_new();
    request_proto *m;

    (void)state;
    ask(1, 0, "*", 5);
    ask(1, 0, "h1", 5);
    ask(2, 0, "*", 7);
    ask(3, 0, "*", 9);
    part->ask[3]->has_relax_locality = true;
    part->ask[3]->relax_locality = false;
    take();
    (void)make();
    answered(new_answer(1));
    ask(1, 0, "*", 2);
    assert_int_equal(take_of(to, NULL), 0);
    new_part();
    assert_int_equal(move(to, true), 12);
    assert_int_equal(move(to, true), 0);
    m = make_of(to);
    assert_int_equal(m->n_ask, 2);
    assert_int_equal(m->ask[0]->num_containers, 7);
    assert_int_equal(m->ask[1]->num_containers, 7);
    m = make();
    assert_int_equal(m->n_ask, 3); /* of any place, of h1, of the second priority: none */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(m->ask[i]->num_containers, 0);
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->n_ask, 1);
    assert_int_equal(m->ask[0]->num_containers, 9);
    answered(new_answer(1));
    ask(4, 0, "*", 5);
    ask(4, 0, "h1", 5);
    take();
    assert_int_equal(move(to, false), 5);
    assert_false(fed_relay_has_news(relay)); /* nothing is told where nothing is known */
    fed_relay_free(to);
}

static void updates(void **state)
{
    Hadoop__Yarn__UpdateContainerRequestProto up[3], *at[] = { &up[0], &up[1], &up[2] };
    Hadoop__Yarn__UpdatedContainerProto done, *dones[] = { &done };
    Hadoop__Yarn__UpdateContainerErrorProto failed, *errors[] = { &failed };
    Hadoop__Yarn__ContainerProto container;
    answer_proto *a = new_answer(1);

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        hadoop__yarn__update_container_request_proto__init(&up[i]);
        up[i].container_id = id_of((int64_t)i);
    }
    part->update_requests = at;
    part->n_update_requests = 3;
    take();
    assert_int_equal(make()->n_update_requests, 3);
    hadoop__yarn__updated_container_proto__init(&done);
    hadoop__yarn__update_container_error_proto__init(&failed);
    hadoop__yarn__container_proto__init(&container);
    container.id = id_of(0);
    done.container = &container;
    failed.update_request = &up[1];
    a->updated_containers = dones;
    a->update_errors = errors;
    a->n_updated_containers = a->n_update_errors = 1;
    answered(a);
    fed_relay_resync(relay);
    assert_int_equal(make()->n_update_requests, 1);
    complete(a, 2);
    answered(a);
    fed_relay_resync(relay);
    assert_int_equal(make()->n_update_requests, 0);
}

static void scheduling(void **state)
{
    Hadoop__Yarn__SchedulingRequestProto q[2], *at[] = { &q[0], &q[1] };
    Hadoop__Yarn__RejectedSchedulingRequestProto no, *nos[] = { &no };
    Hadoop__Yarn__ResourceSizingProto sizing;
    answer_proto *a = new_answer(1);
    request_proto *m;

    (void)state;
    hadoop__yarn__resource_sizing_proto__init(&sizing);
    sizing.has_numallocations = true;
    sizing.numallocations = 2;
    for (size_t i = 0; i < 2; i++) {
        hadoop__yarn__scheduling_request_proto__init(&q[i]);
        q[i].has_allocationrequestid = true;
        q[i].allocationrequestid = (int64_t)i;
        q[i].priority = priority_of(1);
        q[i].resourcesizing = &sizing;
    }
    part->scheduling_requests = at;
    part->n_scheduling_requests = 2;
    take();
    assert_int_equal(make()->n_scheduling_requests, 2);
    hadoop__yarn__rejected_scheduling_request_proto__init(&no);
    no.request = &q[1];
    a->rejected_scheduling_requests = nos;
    a->n_rejected_scheduling_requests = 1;
    allocate(a, 1, 0);
    answered(a);
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->n_scheduling_requests, 1);
    assert_int_equal(m->scheduling_requests[0]->resourcesizing->numallocations, 1);
    a->n_rejected_scheduling_requests = 0;
    answered(a);
    fed_relay_resync(relay);
    assert_int_equal(make()->n_scheduling_requests, 0);
}

static void bounds(void **state)
{
    struct sv_error err = { 0 };
    struct sv_arena *small = sv_arena_new(64);
    struct fed_budget all = FED_BUDGET_ALL;
    request_proto *m;
    char *long_name = calloc(1, FED_ITEM_NAME_MAX + 2);

    (void)state;
    for (int64_t i = 0; i < FED_RELAY_ITEMS_MAX; i++) {
        part->n_ask = 0;
        ask(1, i, "*", 1);
        assert_int_equal(take_of(relay, NULL), 0);
        if (i % 4096 == 0) {
            sv_arena_free(arena);
            arena = sv_arena_new(0);
            new_part();
        }
    }
    part->n_ask = 0;
    ask(1, -1, "*", 1);
    assert_int_equal(take_of(relay, &err), -E2BIG);
    assert_non_null(strstr(err.text, "more than 131072 open requests"));
    part->n_ask = 0;
    ask(1, 5, "*", 2); /* a known one may change */
    assert_int_equal(take_of(relay, &err), 0);
    assert_int_equal(fed_relay_make(relay, small, &all, &m), -ENOMEM);
    for (int32_t i = 0; i < FED_RELAY_ITEMS_MAX / FED_REQUEST_ITEMS_MAX; i++) {
        assert_true(fed_relay_has_news(relay));
        assert_int_equal(make()->n_ask, FED_REQUEST_ITEMS_MAX);
        answered(new_answer(i + 1));
    }
    assert_false(fed_relay_has_news(relay));
    fed_relay_free(relay);
    relay = fed_relay_new();
    memset(long_name, 'a', FED_ITEM_NAME_MAX + 1);
    part->n_ask = 0;
    ask(1, 0, long_name, 1);
    assert_int_equal(take_of(relay, &err), -ENAMETOOLONG);
    assert_non_null(strstr(err.text, "name has more than 4096 bytes"));
    assert_false(fed_relay_has_news(relay));
    free(long_name);
    sv_arena_free(small);
}

/* One ask for many places, and many updates of one: both ends of a group's bound. */
static void many_places(void **state)
{
    struct sv_error err = { 0 };
    char name[16];
    int r = 0;

    (void)state;
    for (int i = 0; r == 0 && i < FED_ITEM_GROUP_MAX + 1; i++) {
        (void)snprintf(name, sizeof(name), "h%d", i);
        part->n_ask = 0;
        ask(1, 0, name, 1);
        r = take_of(relay, &err);
        if (i % 4096 == 0) {
            sv_arena_free(arena);
            arena = sv_arena_new(0);
            new_part();
        }
    }
    assert_int_equal(r, -E2BIG);
    assert_non_null(strstr(err.text, "32768 places in one request"));
}

/* Rows a turn, whatever the message has; the result is that of one turn. */
static void turns(void **state)
{
    const int rows = 1000, budget = 64;
    struct fed_relay_at at = { 0 };
    answer_proto *a = new_answer(1);
    int n = 0, r;

    (void)state;
    part->ask = sv_newn(arena, row_proto *, (size_t)rows);
    for (int i = 0; i < rows; i++)
        ask(1, i, "*", 1);
    do {
        struct fed_budget b = { budget };

        r = fed_relay_take(relay, part, &at, &b, NULL);
        assert_true(b.rows >= -1);
        n++;
    } while (r == FED_MORE);
    assert_int_equal(r, 0);
    assert_true(n >= rows / budget && n <= rows / budget + 2);
    assert_int_equal(make()->n_ask, rows);
    a->allocated_containers = sv_newn(arena, Hadoop__Yarn__ContainerProto *, (size_t)rows);
    for (int i = 0; i < rows; i++)
        allocate(a, 1, i);
    at = (struct fed_relay_at){ 0 };
    for (n = 0, r = FED_MORE; r == FED_MORE; n++) {
        struct fed_budget b = { budget };

        r = fed_relay_answered(relay, a, &at, &b);
        assert_true(b.rows >= -1);
    }
    assert_int_equal(r, 0);
    assert_true(n >= rows / budget);
    fed_relay_resync(relay);
    assert_int_equal(make()->n_ask, 0); /* all are allocated */
}

/* ---- Random histories ---- */

#define STEPS 100000
#define PLACES 3
#define IDS 4
#define NODES 4
#define CONTAINERS 8

static const char *const places[PLACES] = { "*", "h1", "/r1" };
static const char *const nodes[NODES] = { "n1", "n2", "n3", "n4" };

static struct end { /* what the master wants, what the ResourceManager knows */
    int32_t counts[IDS][PLACES];
    bool barred[NODES], released[CONTAINERS];
    int32_t response_id;
} master, manager;

static void speak(void)
{
    for (int n = rand() % 4; n > 0; n--) {
        int id = rand() % IDS, place = rand() % PLACES;

        /* Nothing for any place: nothing at all, as masters say it. */
        master.counts[id][place] = rand() % 3;
        ask(1, id, places[place], master.counts[id][place]);
        for (int p = 1; master.counts[id][0] == 0 && p < PLACES; p++) {
            master.counts[id][p] = 0;
            ask(1, id, places[p], 0);
        }
    }
    if (rand() % 3 == 0) {
        int node = rand() % NODES;

        master.barred[node] = rand() % 2;
        bar(nodes[node], master.barred[node]);
    }
    if (rand() % 3 == 0) {
        int c = rand() % CONTAINERS;

        master.released[c] = true;
        part->release[part->n_release++] = id_of(c);
    }
    take();
}

static int index_of(const char *const *list, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0)
            return i;
    fail_msg("%s is unknown", name);
    return -1;
}

static void read_request(const request_proto *m)
{
    struct yarn_container_id id;

    for (size_t i = 0; i < m->n_ask; i++)
        manager.counts[m->ask[i]->allocation_request_id]
                      [index_of(places, PLACES, m->ask[i]->resource_name)] =
            m->ask[i]->num_containers;
    for (size_t i = 0; i < m->n_release; i++) {
        assert_int_equal(yarn_container_id_from(m->release[i], &id), 0);
        manager.released[id.id] = true;
    }
    if (!m->blacklist_request)
        return;
    for (size_t i = 0; i < m->blacklist_request->n_blacklist_additions; i++)
        manager.barred[index_of(nodes, NODES, m->blacklist_request->blacklist_additions[i])] = true;
    for (size_t i = 0; i < m->blacklist_request->n_blacklist_removals; i++)
        manager.barred[index_of(nodes, NODES, m->blacklist_request->blacklist_removals[i])] = false;
}

/* A ResourceManager: a repeated request is not read again. */
static void heartbeat(bool lose_answer)
{
    const request_proto *m = make();
    answer_proto *a;

    if (m->response_id == manager.response_id) {
        read_request(m);
        manager.response_id++;
    } else {
        assert_int_equal(m->response_id, manager.response_id - 1);
    }
    if (lose_answer)
        return;
    a = new_answer(manager.response_id);
    if (rand() % 10 == 0) {
        int c = rand() % CONTAINERS;

        master.released[c] = manager.released[c] = false;
        complete(a, c);
    }
    answered(a);
}

static void check_ends(void)
{
    while (fed_relay_has_news(relay))
        heartbeat(false);
    assert_memory_equal(master.counts, manager.counts, sizeof(master.counts));
    assert_memory_equal(master.barred, manager.barred, sizeof(master.barred));
    for (int i = 0; i < CONTAINERS; i++)
        assert_true(manager.released[i] || !master.released[i]);
}

static void histories(void **state)
{
    (void)state;
    for (int i = 0; i < STEPS; i++) {
        if (i % 100 == 0) {
            check_ends();
            sv_arena_free(arena);
            arena = sv_arena_new(0);
            new_part();
        }
        if (rand() % 2)
            speak();
        switch (rand() % 8) {
        case 0: /* the request is lost */
            (void)make();
            break;
        case 1:
            heartbeat(true);
            break;
        case 2:
            if (rand() % 4 == 0) {
                manager = (struct end){ 0 };
                fed_relay_resync(relay);
            }
            break;
        default:
            heartbeat(false);
            break;
        }
    }
    check_ends();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(folded, set_up),      cmocka_unit_test_setup(sent_again, set_up),
        cmocka_unit_test_setup(restarted, set_up),   cmocka_unit_test_setup(allocations, set_up),
        cmocka_unit_test_setup(exchanges, set_up),   cmocka_unit_test_setup(updates, set_up),
        cmocka_unit_test_setup(scheduling, set_up),  cmocka_unit_test_setup(bounds, set_up),
        cmocka_unit_test_setup(refused, set_up),     cmocka_unit_test_setup(moved, set_up),
        cmocka_unit_test_setup(many_places, set_up), cmocka_unit_test_setup(turns, set_up),
        cmocka_unit_test_setup(histories, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, tear_down);
}
