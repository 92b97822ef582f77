/* federation/amrm/merge.c, figures.c and preempt.c: what is joined, summed and left out, and random
 * histories of 100,000 heartbeats of four members against a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "federation/amrm/merge.h"

typedef Hadoop__Yarn__AllocateResponseProto answer_proto;
typedef Hadoop__Yarn__ContainerProto container_proto;

#define APP ((struct yarn_app_id){ 1000, 7 })
#define MOST 64 /* entries of a list in a test */

/* ---- Messages ---- */

static struct sv_arena *arena;

static int reset(void **state)
{
    (void)state;
    sv_arena_free(arena);
    arena = sv_arena_new(0);
    return arena ? 0 : -1;
}

static Hadoop__Yarn__ContainerIdProto *id_of(int64_t n)
{
    return yarn_container_id_to(arena, (struct yarn_container_id){ { APP, 1 }, n });
}

static int64_t number_of(const Hadoop__Yarn__ContainerIdProto *m)
{
    struct yarn_container_id id;

    assert_int_equal(yarn_container_id_from(m, &id), 0);
    return id.id;
}

static answer_proto *new_answer(void)
{
    answer_proto *m = sv_new(arena, answer_proto);

    hadoop__yarn__allocate_response_proto__init(m);
    m->allocated_containers = sv_newn(arena, container_proto *, MOST);
    m->completed_container_statuses = sv_newn(arena, Hadoop__Yarn__ContainerStatusProto *, MOST);
    m->updated_containers = sv_newn(arena, Hadoop__Yarn__UpdatedContainerProto *, MOST);
    m->update_errors = sv_newn(arena, Hadoop__Yarn__UpdateContainerErrorProto *, MOST);
    return m;
}

static container_proto *container_of(int64_t n)
{
    container_proto *c = sv_new(arena, container_proto);

    hadoop__yarn__container_proto__init(c);
    c->id = id_of(n);
    return c;
}

static void add_container(answer_proto *m, int64_t n)
{
    m->allocated_containers[m->n_allocated_containers++] = container_of(n);
}

static void add_end(answer_proto *m, int64_t n)
{
    Hadoop__Yarn__ContainerStatusProto *s = sv_new(arena, Hadoop__Yarn__ContainerStatusProto);

    hadoop__yarn__container_status_proto__init(s);
    s->container_id = id_of(n);
    m->completed_container_statuses[m->n_completed_container_statuses++] = s;
}

static void set_figures(answer_proto *m, int64_t memory_mb, int32_t nodes)
{
    m->limit =
        yarn_resource_to(arena, (struct yarn_resource){ .memory_mb = memory_mb, .vcores = 1 });
    m->has_num_cluster_nodes = true;
    m->num_cluster_nodes = nodes;
}

static struct fed_merged merge(struct fed_merge *m, const struct fed_reply *replies, size_t n)
{
    struct fed_replies all = { .v = replies, .n = n };
    struct fed_merged merged;

    assert_int_equal(fed_merge(m, &all, arena, &merged), 0);
    return merged;
}

/* ---- By hand ---- */

static void nothing_yet(void **state)
{
    struct fed_merge *m = fed_merge_new(APP);
    struct fed_merged got = merge(m, NULL, 0);

    (void)state;
    assert_int_equal(got.answer->n_allocated_containers, 0);
    assert_int_equal(got.answer->num_cluster_nodes, 0);
    assert_true(got.answer->has_num_cluster_nodes);
    assert_int_equal(got.answer->limit->memory, 0);
    assert_false(got.answer->has_response_id);
    fed_merge_free(m);
}

static void sums(void **state)
{
    struct fed_merge *m = fed_merge_new(APP);
    answer_proto *home = new_answer(), *other = new_answer(), *bare = new_answer();
    Hadoop__Yarn__EnhancedHeadroomProto load;
    const struct fed_reply both[] = { { .member = 0, .answer = home },
                                      { .member = 3, .answer = other } };
    const struct fed_reply again[] = { { .member = 3, .answer = other },
                                       { .member = 3, .answer = bare } };
    bool silent[4] = { [0] = true };
    struct fed_replies quiet = { .silent = silent, .n_silent = 4 };
    struct fed_merged got;

    (void)state;
    hadoop__yarn__enhanced_headroom_proto__init(&load);
    load.total_pending_count = 7;
    load.total_active_cores = -3;
    other->enhanced_headroom = &load;
    set_figures(home, 1000, 5);
    set_figures(other, 300, 2);
    got = merge(m, both, 2);
    assert_int_equal(got.answer->limit->memory, 1300);
    assert_int_equal(got.answer->limit->virtual_cores, 2);
    assert_int_equal(got.answer->num_cluster_nodes, 7);
    assert_int_equal(got.answer->enhanced_headroom->total_pending_count, 7);
    assert_int_equal(got.answer->enhanced_headroom->total_active_cores, 0);
    got = merge(m, again, 1); /* once each, however often it is said */
    assert_int_equal(got.answer->num_cluster_nodes, 7);
    got = merge(m, again, 2); /* without a limit: the last one's */
    assert_int_equal(got.answer->limit->memory, 1300);
    assert_int_equal(got.answer->num_cluster_nodes, 5);
    assert_int_equal(fed_merge(m, &quiet, arena, &got), 0);
    assert_int_equal(got.answer->limit->memory, 300);
    assert_non_null(fed_merge_figure(m, 0));
    assert_null(fed_merge_figure(m, 1));
    assert_null(fed_merge_figure(m, 100));
    fed_merge_forget(m, 0);
    assert_null(fed_merge_figure(m, 0));
    set_figures(home, INT64_MAX, INT32_MAX);
    set_figures(other, INT64_MAX, INT32_MAX);
    got = merge(m, both, 2);
    assert_int_equal(got.answer->limit->memory, INT64_MAX);
    assert_int_equal(got.answer->num_cluster_nodes, INT32_MAX);
    fed_merge_free(m);
}

static void home_alone(void **state)
{
    struct fed_merge *m = fed_merge_new(APP);
    answer_proto *home = new_answer(), *other = new_answer();
    Hadoop__Yarn__PriorityProto five, nine;
    Hadoop__Yarn__CollectorInfoProto collector;
    const struct fed_reply both[] = { { .member = 0, .answer = home },
                                      { .member = 1, .answer = other } };
    struct fed_merged got;

    (void)state;
    hadoop__yarn__priority_proto__init(&five);
    hadoop__yarn__priority_proto__init(&nine);
    hadoop__yarn__collector_info_proto__init(&collector);
    home->application_priority = &five;
    other->application_priority = &nine;
    other->has_a_m_command = true;
    other->a_m_command = HADOOP__YARN__AMCOMMAND_PROTO__AM_SHUTDOWN;
    other->collector_info = &collector;
    got = merge(m, both, 2);
    assert_ptr_equal(got.answer->application_priority, &five);
    assert_false(got.answer->has_a_m_command);
    assert_null(got.answer->collector_info);
    home->has_a_m_command = true;
    home->a_m_command = HADOOP__YARN__AMCOMMAND_PROTO__AM_RESYNC;
    got = merge(m, both, 2);
    assert_int_equal(got.answer->a_m_command, HADOOP__YARN__AMCOMMAND_PROTO__AM_RESYNC);
    assert_null(got.answer->am_rm_token);
    fed_merge_free(m);
}

/* A member that answers with another's containers. */
static void strangers(void **state)
{
    struct fed_merge *m = fed_merge_new(APP);
    answer_proto *home = new_answer(), *other = new_answer();
    const struct fed_reply both[] = { { .member = 0, .answer = home },
                                      { .member = 1, .answer = other } };
    Hadoop__Yarn__UpdatedContainerProto updated[2];
    Hadoop__Yarn__UpdateContainerErrorProto error;
    struct fed_merged got;

    (void)state;
    add_container(home, 1);
    add_container(other, 1);
    add_container(other, 2);
    add_end(other, 1);
    for (size_t i = 0; i < 2; i++) {
        hadoop__yarn__updated_container_proto__init(&updated[i]);
        updated[i].container = container_of((int64_t)i + 1);
        other->updated_containers[other->n_updated_containers++] = &updated[i];
    }
    hadoop__yarn__update_container_error_proto__init(&error);
    other->update_errors[other->n_update_errors++] = &error; /* of no container */
    other->allocated_containers[other->n_allocated_containers] = container_of(3);
    other->allocated_containers[other->n_allocated_containers++]->id->app_attempt_id = NULL;
    got = merge(m, both, 2);
    assert_int_equal(got.answer->n_allocated_containers, 2);
    assert_ptr_equal(got.answer->allocated_containers[0], home->allocated_containers[0]);
    assert_ptr_equal(got.answer->allocated_containers[1], other->allocated_containers[1]);
    assert_int_equal(got.answer->n_completed_container_statuses, 0);
    assert_int_equal(got.answer->n_updated_containers, 1);
    assert_ptr_equal(got.answer->updated_containers[0], &updated[1]);
    assert_int_equal(got.answer->n_update_errors, 0);
    assert_int_equal(got.n_clashes, 1); /* two members of one epoch: it must not stay allocated */
    assert_int_equal(got.clashes[0].member, 1);
    assert_ptr_equal(got.clashes[0].container, other->allocated_containers[0]);
    assert_int_equal(got.n_foreign, 3);
    assert_int_equal(got.n_broken, 2);
    assert_int_equal(
        fed_containers_owner(fed_merge_containers(m), (struct yarn_container_id){ { APP, 1 }, 1 }),
        0);
    fed_merge_free(m);
}

static Hadoop__Yarn__PreemptionContainerProto *preempted(int64_t n)
{
    Hadoop__Yarn__PreemptionContainerProto *p =
        sv_new(arena, Hadoop__Yarn__PreemptionContainerProto);

    hadoop__yarn__preemption_container_proto__init(p);
    p->id = id_of(n);
    return p;
}

static void preemption(void **state)
{
    struct fed_merge *m = fed_merge_new(APP);
    answer_proto *home = new_answer(), *other = new_answer();
    const struct fed_reply both[] = { { .member = 0, .answer = home },
                                      { .member = 1, .answer = other } };
    Hadoop__Yarn__PreemptionContainerProto *of_home[] = { preempted(1) };
    Hadoop__Yarn__PreemptionContainerProto *of_other[] = { preempted(1), preempted(2) };
    Hadoop__Yarn__StrictPreemptionContractProto strict[2];
    Hadoop__Yarn__PreemptionContractProto contract;
    Hadoop__Yarn__PreemptionResourceRequestProto resource, *resources[] = { &resource };
    Hadoop__Yarn__PreemptionMessageProto words[2];
    struct fed_merged got;

    (void)state;
    hadoop__yarn__preemption_contract_proto__init(&contract);
    hadoop__yarn__preemption_resource_request_proto__init(&resource);
    for (size_t i = 0; i < 2; i++) {
        hadoop__yarn__strict_preemption_contract_proto__init(&strict[i]);
        hadoop__yarn__preemption_message_proto__init(&words[i]);
        strict[i].container = i ? of_other : of_home;
        strict[i].n_container = i + 1;
        words[i].strictcontract = &strict[i];
        both[i].member ? (other->preempt = &words[i]) : (home->preempt = &words[i]);
    }
    contract.resource = resources;
    contract.n_resource = 1;
    words[1].contract = &contract;
    add_container(home, 1);
    add_container(other, 2);
    got = merge(m, both, 2);
    assert_int_equal(got.answer->preempt->strictcontract->n_container, 2);
    assert_ptr_equal(got.answer->preempt->strictcontract->container[0], of_home[0]);
    assert_ptr_equal(got.answer->preempt->strictcontract->container[1], of_other[1]);
    assert_int_equal(got.answer->preempt->contract->n_resource, 1);
    assert_int_equal(got.answer->preempt->contract->n_container, 0);
    assert_int_equal(got.n_foreign, 1);
    got = merge(m, NULL, 0);
    assert_null(got.answer->preempt);
    fed_merge_free(m);
}

/* A master that registers in a secondary again gets what it has there, but not twice. */
static void registrations(void **state)
{
    struct fed_merge *m = fed_merge_new(APP);
    Hadoop__Yarn__RegisterApplicationMasterResponseProto registered;
    container_proto *had[] = { container_of(1), container_of(2) };
    Hadoop__Yarn__NMTokenProto token, *tokens[] = { &token };
    answer_proto *answer = new_answer();
    const struct fed_reply replies[] = { { .member = 1, .answer = answer },
                                         { .member = 1, .registration = &registered } };
    struct fed_merged got;

    (void)state;
    hadoop__yarn__register_application_master_response_proto__init(&registered);
    hadoop__yarn__nmtoken_proto__init(&token);
    registered.containers_from_previous_attempts = had;
    registered.n_containers_from_previous_attempts = 2;
    registered.nm_tokens_from_previous_attempts = tokens;
    registered.n_nm_tokens_from_previous_attempts = 1;
    add_container(answer, 1);
    got = merge(m, replies, 2);
    assert_int_equal(got.answer->n_allocated_containers, 2);
    assert_ptr_equal(got.answer->allocated_containers[1], had[1]);
    assert_int_equal(got.answer->n_nm_tokens, 1);
    assert_int_equal(got.n_repeated, 1);
    fed_merge_free(m);
}

/* A ResourceManager has lost the containers of its master, in many turns. */
static void lost(void **state)
{
    struct fed_merge *m = fed_merge_new(APP);
    answer_proto *home = new_answer(), *other = new_answer();
    const struct fed_reply both[] = { { .member = 0, .answer = home },
                                      { .member = 1, .answer = other } };
    const struct fed_reply gone[] = { { .member = 1, .lost = "gone" },
                                      { .member = 1, .lost = "again" } };
    const struct fed_replies all = { .v = gone, .n = 2 };
    struct fed_budget budget = FED_BUDGET_ALL;
    struct fed_merging *j;
    struct fed_merged got;
    int turns = 1;

    (void)state;
    for (int64_t i = 0; i < 20; i++)
        add_container(i % 2 ? other : home, i);
    (void)merge(m, both, 2);
    assert_int_equal(fed_merge_begin(m, &all, arena, &j), 0);
    for (int r = FED_MORE; r == FED_MORE; turns++) {
        struct fed_budget b = { 2 };

        r = fed_merge_run(j, &b, &got);
    }
    assert_true(turns >= 20 / 2);
    assert_int_equal(fed_merge_keep(m, &budget), 0);
    assert_int_equal(got.answer->n_completed_container_statuses, 10);
    assert_string_equal(got.answer->completed_container_statuses[0]->diagnostics, "gone");
    assert_int_equal(got.answer->completed_container_statuses[0]->exit_status, -100);
    assert_int_equal(number_of(got.answer->completed_container_statuses[0]->container_id), 1);
    assert_int_equal(fed_containers_count(fed_merge_containers(m)), 10);
    fed_merge_free(m);
}

/* ---- Random histories ---- */

#define STEPS 100000
#define MEMBERS 4
#define IDS (1 << 20)
#define WINDOW 300 /* newest ids, of which members speak: repetitions are detected among these */

static struct model {
    uint8_t owner; /* member + 1; 0: no container */
    bool ended;
} model[IDS];
static int64_t newest;

struct expected {
    int64_t told[4 * MOST], ended[4 * MOST], clashes[4 * MOST];
    size_t n_told, n_ended, n_clashes, n_repeated, n_foreign;
};

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % n;
}

static int64_t known_id(void)
{
    int64_t id = newest - 1 - (int64_t)draw(WINDOW);

    return id < 0 ? 0 : id;
}

/* Mostly a new container, sometimes one that this or another member has or had. */
static int64_t some_id(void)
{
    return newest == 0 || draw(3) ? newest++ : known_id();
}

static void expect_container(struct expected *e, int64_t id, uint8_t member)
{
    struct model *m = &model[id];

    if (m->owner == 0) {
        m->owner = (uint8_t)(member + 1);
        e->told[e->n_told++] = id;
    } else if (m->owner == member + 1) {
        e->n_repeated++;
    } else {
        e->clashes[e->n_clashes++] = id;
        e->n_foreign++;
    }
}

static void expect_end(struct expected *e, int64_t id, uint8_t member)
{
    struct model *m = &model[id];

    if (m->owner && m->owner != member + 1) {
        e->n_foreign++;
    } else if (m->ended) {
        e->n_repeated++;
    } else {
        m->owner = (uint8_t)(member + 1);
        m->ended = true;
        e->ended[e->n_ended++] = id;
    }
}

static answer_proto *random_answer(struct expected *e, uint8_t member)
{
    answer_proto *m = new_answer();
    size_t n_new = draw(4), n_ends = draw(4);

    for (size_t i = 0; i < n_new; i++) {
        int64_t id = some_id();

        add_container(m, id);
        expect_container(e, id, member);
    }
    for (size_t i = 0; i < n_ends; i++) {
        int64_t id = known_id();

        add_end(m, id);
        expect_end(e, id, member);
    }
    set_figures(m, draw(1000), (int32_t)draw(10));
    return m;
}

static void compare(const struct fed_merged *got, const struct expected *e)
{
    const answer_proto *m = got->answer;

    assert_int_equal(m->n_allocated_containers, e->n_told);
    for (size_t i = 0; i < e->n_told; i++)
        assert_int_equal(number_of(m->allocated_containers[i]->id), e->told[i]);
    assert_int_equal(m->n_completed_container_statuses, e->n_ended);
    for (size_t i = 0; i < e->n_ended; i++)
        assert_int_equal(number_of(m->completed_container_statuses[i]->container_id), e->ended[i]);
    assert_int_equal(got->n_clashes, e->n_clashes);
    for (size_t i = 0; i < e->n_clashes; i++)
        assert_int_equal(number_of(got->clashes[i].container->id), e->clashes[i]);
    assert_int_equal(got->n_repeated, e->n_repeated);
    assert_int_equal(got->n_foreign, e->n_foreign);
}

/* Memory ends somewhere in the merge, or its answer is not wanted: it is as if it had not been
 * tried. */
static void try_in_vain(struct fed_merge *m, const struct fed_replies *all)
{
    struct sv_arena *small = sv_arena_new(16 + draw(4096));
    struct fed_budget budget = FED_BUDGET_ALL;
    struct fed_merging *j;
    struct fed_merged merged;

    assert_non_null(small);
    if (fed_merge_begin(m, all, small, &j) == 0 && fed_merge_run(j, &budget, &merged) == 0)
        fed_merge_undo(m);
    sv_arena_free(small);
}

/* In turns of a row or a few; containers are asked for meanwhile. */
static void merge_in_turns(struct fed_merge *m, const struct fed_replies *all,
                           struct fed_merged *ret)
{
    struct fed_merging *j;
    int r = FED_MORE;

    assert_int_equal(fed_merge_begin(m, all, arena, &j), 0);
    while (r == FED_MORE) {
        struct fed_budget b = { 1 + draw(6) };

        r = fed_merge_run(j, &b, ret);
        assert_true(b.rows >= -1);
    }
    assert_int_equal(r, 0);
    for (r = FED_MORE; r == FED_MORE;) {
        struct fed_budget b = { 1 };

        r = fed_merge_keep(m, &b);
    }
    assert_int_equal(r, 0);
}

static void one_step(struct fed_merge *m, int64_t memory[MEMBERS], int64_t nodes[MEMBERS])
{
    struct expected e = { 0 };
    struct fed_reply replies[3];
    bool silent[MEMBERS] = { draw(10) == 0 };
    struct fed_replies all = { replies, draw(4), 0, silent, MEMBERS };
    int64_t sum = 0, n_nodes = 0;
    struct fed_merged got;

    for (size_t i = 0; i < all.n; i++) {
        uint8_t member = (uint8_t)draw(MEMBERS);
        answer_proto *answer = random_answer(&e, member);

        replies[i] = (struct fed_reply){ .member = member, .answer = answer };
        memory[member] = answer->limit->memory;
        nodes[member] = answer->num_cluster_nodes;
    }
    if (draw(5) == 0)
        try_in_vain(m, &all);
    merge_in_turns(m, &all, &got);
    compare(&got, &e);
    for (size_t i = 0; i < MEMBERS; i++) {
        sum += silent[i] ? 0 : memory[i];
        n_nodes += silent[i] ? 0 : nodes[i];
    }
    assert_int_equal(got.answer->limit->memory, sum);
    assert_int_equal(got.answer->num_cluster_nodes, n_nodes);
}

static void histories(void **state)
{
    struct fed_merge *m = fed_merge_new(APP);
    int64_t memory[MEMBERS] = { 0 }, nodes[MEMBERS] = { 0 };
    size_t n_live = 0;

    for (int i = 0; i < STEPS; i++) {
        assert_int_equal(reset(state), 0);
        one_step(m, memory, nodes);
        assert_true(newest + 3 * 4 < IDS);
    }
    for (int64_t i = 0; i < newest; i++) {
        struct yarn_container_id id = { { APP, 1 }, i };
        int owner = fed_containers_owner(fed_merge_containers(m), id);
        bool is_live = model[i].owner && !model[i].ended;

        assert_int_equal(owner >= 0 ? owner + 1 : 0, is_live ? model[i].owner : 0);
        n_live += is_live;
    }
    assert_int_equal(fed_containers_count(fed_merge_containers(m)), n_live);
    for (int r = FED_MORE; r == FED_MORE;) {
        struct fed_budget b = { 100 };

        r = fed_merge_leave(m, &b);
        assert_true(b.rows >= 0);
    }
}

static int end(void **state)
{
    (void)state;
    arena = sv_arena_free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_yet, reset), cmocka_unit_test_setup(sums, reset),
        cmocka_unit_test_setup(home_alone, reset),  cmocka_unit_test_setup(strangers, reset),
        cmocka_unit_test_setup(preemption, reset),  cmocka_unit_test_setup(registrations, reset),
        cmocka_unit_test_setup(lost, reset),        cmocka_unit_test_setup(histories, reset),
    };

    return cmocka_run_group_tests(tests, NULL, end);
}
