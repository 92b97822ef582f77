/* The AMRMProxy's messages, from a master and from ResourceManagers. The first byte chooses: an
 * allocate request, which is split; or two allocate answers (a length of 16 bits before the first),
 * which are merged, and merged again, when no container may be told a second time. A relay takes
 * the parts and the answers: what it sends is what it was given, and after a restart no more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "federation/amrm/merge.h"
#include "federation/amrm/relay.h"
#include "federation/amrm/split.h"
#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMBERS 3
#define PARAMS                                                                                     \
    "{\"amrmPolicyWeights\":{\"entry\":[{\"key\":{\"id\":\"SC-1\"},\"value\":1},"                  \
    "{\"key\":{\"id\":\"SC-2\"},\"value\":0.5}]},\"headroomAlpha\":0.5}"

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void *unpack(struct sv_arena *a, const ProtobufCMessageDescriptor *d, const uint8_t *p,
                    size_t n)
{
    ProtobufCMessage *m = NULL;

    return ipc_unpack_items(a, d, p, n, 4096, &m) == 0 ? m : NULL;
}

/* ---- Requests ---- */

static int owner(void *userdata, struct yarn_container_id id)
{
    (void)userdata;
    return (int)(id.id % 5) - 1;
}

static void check_parts(const Hadoop__Yarn__AllocateRequestProto *m, const struct fed_part *parts,
                        const struct fed_split_notes *notes)
{
    size_t n = notes->n_unowned;

    for (size_t i = 0; i < MEMBERS; i++) {
        n += parts[i].request->n_release + parts[i].request->n_update_requests;
        must(!parts[i].request->has_response_id);
    }
    must(n == m->n_release + m->n_update_requests);
}

/* As the wire packs it and the ResourceManager reads it. */
static Hadoop__Yarn__AllocateRequestProto *make(struct fed_relay *r, struct sv_arena *a)
{
    struct fed_budget all = FED_BUDGET_ALL;
    Hadoop__Yarn__AllocateRequestProto *m;
    uint8_t *p;
    size_t n;

    if (fed_relay_make(r, a, &all, &m) < 0)
        return NULL;
    n = protobuf_c_message_get_packed_size(&m->base);
    p = sv_arena_alloc(a, n + 1);
    if (!p)
        return NULL;
    must(protobuf_c_message_pack(&m->base, p) == n);
    return unpack(a, m->base.descriptor, p, n);
}

/* Whatever the turns, the result is the same: the budget is a row. */
static int take(struct fed_relay *r, const Hadoop__Yarn__AllocateRequestProto *part)
{
    struct fed_relay_at at = { 0 };
    int e = FED_MORE;

    while (e == FED_MORE) {
        struct fed_budget one = { 1 };

        e = fed_relay_take(r, part, &at, &one, NULL);
    }
    return e;
}

static void answered(struct fed_relay *r, const Hadoop__Yarn__AllocateResponseProto *m)
{
    struct fed_relay_at at = { 0 };
    int e = FED_MORE;

    while (e == FED_MORE) {
        struct fed_budget one = { 1 };

        e = fed_relay_answered(r, m, &at, &one);
    }
    must(e == 0);
}

/* Says the part twice, which is as once, and starts its ResourceManager anew. */
static void check_relay(struct sv_arena *a, const Hadoop__Yarn__AllocateRequestProto *part)
{
    struct fed_relay *r = fed_relay_new();
    Hadoop__Yarn__AllocateRequestProto *sent, *again;
    Hadoop__Yarn__AllocateResponseProto answer;

    must(r != NULL);
    hadoop__yarn__allocate_response_proto__init(&answer);
    if (take(r, part) == 0 && take(r, part) == 0 && (sent = make(r, a))) {
        must(sent->n_ask <= part->n_ask && sent->n_release <= part->n_release);
        must(sent->n_update_requests <= part->n_update_requests);
        answered(r, &answer);
        must(!fed_relay_has_news(r));
        fed_relay_resync(r);
        again = make(r, a);
        must(!again || (again->n_ask <= sent->n_ask && again->n_release == sent->n_release));
    }
    fed_relay_free(r);
}

static void check_request(struct sv_arena *a, const uint8_t *p, size_t n)
{
    static const char list[] = "h1,SC-1,/r1\nh2,SC-2,/r2\n";
    static const struct fed_target targets[MEMBERS] = {
        { .id = "SC-1", .active = true, .answered = true, .has_memory = true, .memory_mb = 1 },
        { .id = "SC-2", .active = true, .answered = true },
        { .id = "SC-3", .timed_out = true },
    };
    static const struct fed_split_conf conf = { .fail_on_error = true };
    const struct fed_policy row = { "q", FED_MANAGER_PACKAGE "WeightedLocalityPolicyManager",
                                    (const uint8_t *)PARAMS, strlen(PARAMS) };
    const Hadoop__Yarn__AllocateRequestProto *m =
        unpack(a, &hadoop__yarn__allocate_request_proto__descriptor, p, n);
    struct fed_asking in = { NULL, &conf, NULL, targets, MEMBERS, 0, &fed_random_kernel };
    struct fed_manager *manager = NULL;
    struct fed_resolver *resolver = NULL;
    struct fed_resolver_notes malformed;
    struct fed_part parts[MEMBERS];
    struct fed_split_notes notes;
    struct sv_error err = { 0 };
    int r;

    if (!m)
        return;
    must(fed_manager_new(&row, FED_SIDE_PROXY, &manager, NULL) == 0);
    must(fed_resolver_parse(list, strlen(list), &resolver, &malformed, NULL) == 0);
    in.manager = manager;
    in.resolver = resolver;
    r = fed_split(&in, m, owner, NULL, a, parts, &notes, &err);
    must(r == 0 || ((r == -EINVAL || r == -ENOMEM) && *err.text));
    if (r == 0)
        check_parts(m, parts, &notes);
    for (size_t i = 0; r == 0 && i < MEMBERS; i++)
        check_relay(a, parts[i].request);
    fed_manager_free(manager);
    fed_resolver_free(resolver);
}

/* ---- Answers ---- */

/* A relay that has asked for some of what the answer brings. */
static void check_answer(struct sv_arena *a, const Hadoop__Yarn__AllocateResponseProto *m)
{
    struct fed_relay *r = fed_relay_new();
    Hadoop__Yarn__AllocateRequestProto q, *sent;
    Hadoop__Yarn__ResourceRequestProto row, *rows[] = { &row };

    must(r != NULL);
    hadoop__yarn__allocate_request_proto__init(&q);
    hadoop__yarn__resource_request_proto__init(&row);
    if (m->n_allocated_containers) {
        row.priority = m->allocated_containers[0]->priority;
        row.allocation_request_id = m->allocated_containers[0]->allocation_request_id;
        row.has_allocation_request_id = true;
    }
    row.resource_name = (char[]){ "*" };
    row.num_containers = 2;
    q.ask = rows;
    q.n_ask = 1;
    must(take(r, &q) == 0);
    if (make(r, a))
        answered(r, m);
    for (size_t i = 0; i < m->n_allocated_containers; i++)
        if (m->allocated_containers[i]->id)
            (void)!fed_relay_exchange(r, m->allocated_containers[i]);
    fed_relay_expect(r, m->response_id);
    fed_relay_resync(r);
    sent = make(r, a);
    must(!sent || sent->response_id == 0);
    fed_relay_free(r);
}

static void check_answers(struct sv_arena *a, const uint8_t *p, size_t n)
{
    const ProtobufCMessageDescriptor *d = &hadoop__yarn__allocate_response_proto__descriptor;
    size_t first = n < 2 ? 0 : (size_t)(p[0] | p[1] << 8);
    struct fed_reply replies[2] = { { .member = 0 }, { .member = 1 } };
    struct fed_replies all = { .v = replies, .n = 2 };
    struct fed_merge *m;
    struct fed_merged got, again;

    if (n < 2 || first > n - 2)
        return;
    replies[0].answer = unpack(a, d, p + 2, first);
    replies[1].answer = unpack(a, d, p + 2 + first, n - 2 - first);
    for (size_t i = 0; i < 2; i++)
        if (replies[i].answer)
            check_answer(a, replies[i].answer);
    m = fed_merge_new((struct yarn_app_id){ 1, 1 });
    must(m != NULL);
    if (replies[0].answer && replies[1].answer && fed_merge(m, &all, a, &got) == 0) {
        must(!got.answer->am_rm_token && !got.answer->has_response_id);
        must(got.answer->n_allocated_containers <=
             replies[0].answer->n_allocated_containers + replies[1].answer->n_allocated_containers);
        if (fed_merge(m, &all, a, &again) == 0) {
            must(again.answer->n_allocated_containers == 0);
            must(again.answer->n_containers_from_previous_attempts == 0);
            must(again.answer->n_completed_container_statuses == 0);
            must(again.answer->num_cluster_nodes == got.answer->num_cluster_nodes);
        }
    }
    fed_merge_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv_arena *a = sv_arena_new(16u << 20);

    must(a != NULL);
    if (size && data[0] % 2)
        check_request(a, data + 1, size - 1);
    else if (size)
        check_answers(a, data + 1, size - 1);
    sv_arena_free(a);
    return 0;
}
