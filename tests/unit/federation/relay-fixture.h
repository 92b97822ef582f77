/* A relay between a master whose words tests say and a ResourceManager whose answers they make. */
#ifndef SELVEDGE_TESTS_UNIT_FEDERATION_RELAY_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_FEDERATION_RELAY_FIXTURE_H

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

static inline void new_part(void)
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

static inline int set_up(void **state)
{
    (void)state;
    sv_arena_free(arena);
    fed_relay_free(relay);
    arena = sv_arena_new(0);
    relay = fed_relay_new();
    new_part();
    return relay ? 0 : -1;
}

static inline int tear_down(void **state)
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

static inline Hadoop__Yarn__PriorityProto *priority_of(int32_t n)
{
    Hadoop__Yarn__PriorityProto *p = sv_new(arena, Hadoop__Yarn__PriorityProto);

    hadoop__yarn__priority_proto__init(p);
    p->has_priority = true;
    p->priority = n;
    return p;
}

static inline void ask(int32_t priority, int64_t id, const char *name, int32_t n)
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

static inline Hadoop__Yarn__ContainerIdProto *id_of(int64_t n)
{
    return yarn_container_id_to(arena, (struct yarn_container_id){ { APP, 1 }, n });
}

static inline void bar(const char *name, bool on)
{
    part->blacklist_request = blacklist;
    if (on)
        blacklist->blacklist_additions[blacklist->n_blacklist_additions++] =
            (char *)(uintptr_t)name;
    else
        blacklist->blacklist_removals[blacklist->n_blacklist_removals++] = (char *)(uintptr_t)name;
}

static inline int take_of(struct fed_relay *r, struct sv_error *err)
{
    struct fed_relay_at at = { 0 };
    struct fed_budget all = FED_BUDGET_ALL;

    return fed_relay_take(r, part, &at, &all, err);
}

/* In turns of a row or a few. */
static inline void take(void)
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
static inline request_proto *make_of(struct fed_relay *r)
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

static inline request_proto *make(void)
{
    return make_of(relay);
}

static inline void answered(const answer_proto *m)
{
    struct fed_relay_at at = { 0 };
    struct fed_budget all = FED_BUDGET_ALL;

    assert_int_equal(fed_relay_answered(relay, m, &at, &all), 0);
}

static inline int32_t move(struct fed_relay *to, bool registered)
{
    struct fed_budget all = FED_BUDGET_ALL;
    int32_t n = 0;

    assert_int_equal(fed_relay_move(relay, to, registered, &all, &n), 0);
    return n;
}

static inline answer_proto *new_answer(int32_t response_id)
{
    answer_proto *m = sv_new(arena, answer_proto);

    hadoop__yarn__allocate_response_proto__init(m);
    m->has_response_id = true;
    m->response_id = response_id;
    m->allocated_containers = sv_newn(arena, Hadoop__Yarn__ContainerProto *, MOST);
    m->completed_container_statuses = sv_newn(arena, Hadoop__Yarn__ContainerStatusProto *, MOST);
    return m;
}

static inline Hadoop__Yarn__ContainerProto *allocate(answer_proto *m, int32_t priority, int64_t id)
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

static inline void complete(answer_proto *m, int64_t n)
{
    Hadoop__Yarn__ContainerStatusProto *s = sv_new(arena, Hadoop__Yarn__ContainerStatusProto);

    hadoop__yarn__container_status_proto__init(s);
    s->container_id = id_of(n);
    m->completed_container_statuses[m->n_completed_container_statuses++] = s;
}

#endif
