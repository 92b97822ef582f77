/* federation/amrm/split.c: what each member's request has; random requests, of which nothing is
 * lost and nothing asked for twice. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "federation/amrm/split.h"

typedef Hadoop__Yarn__AllocateRequestProto request_proto;
typedef Hadoop__Yarn__ResourceRequestProto row_proto;

#define APP ((struct yarn_app_id){ 1000, 7 })
#define MEMBERS 3
#define MOST 16

#define PARAMS                                                                                     \
    "{\"amrmPolicyWeights\":{\"entry\":[{\"key\":{\"id\":\"SC-1\"},\"value\":0.5},"                \
    "{\"key\":{\"id\":\"SC-2\"},\"value\":0.3},{\"key\":{\"id\":\"SC-3\"},\"value\":0.2}]},"       \
    "\"headroomAlpha\":0.5}"

static const struct fed_split_conf conf = { .fail_on_error = true };
static struct fed_manager *manager;
static struct fed_resolver *resolver;
static struct sv_arena *arena;
static struct fed_target targets[MEMBERS];
static struct fed_asking in;
static request_proto *request;
static struct fed_part parts[MEMBERS];
static struct fed_split_notes notes;
static struct sv_error err;

static void set_manager(const char *name)
{
    char type[256];
    struct fed_policy row = { "q", type, (const uint8_t *)PARAMS, strlen(PARAMS) };

    snprintf(type, sizeof(type), FED_MANAGER_PACKAGE "%sPolicyManager", name);
    fed_manager_free(manager);
    manager = NULL;
    assert_int_equal(fed_manager_new(&row, FED_SIDE_PROXY, &manager, NULL), 0);
    in.manager = manager;
}

static int set_up(void **state)
{
    static const char list[] = "h1,SC-1,/r1\nh2,SC-2,/r2\nh3,SC-3,/r1\nh4,SC-4,/r4\n";
    static const char *const ids[] = { "SC-1", "SC-2", "SC-3" };
    struct fed_resolver_notes malformed;

    (void)state;
    if (!resolver && fed_resolver_parse(list, strlen(list), &resolver, &malformed, NULL) < 0)
        return -1;
    sv_arena_free(arena);
    arena = sv_arena_new(0);
    for (size_t i = 0; i < MEMBERS; i++)
        targets[i] = (struct fed_target){ .id = ids[i], .active = true, .answered = true };
    in = (struct fed_asking){ NULL, &conf, resolver, targets, MEMBERS, 0, &fed_random_kernel };
    set_manager("WeightedLocality");
    request = sv_new(arena, request_proto);
    hadoop__yarn__allocate_request_proto__init(request);
    request->ask = sv_newn(arena, row_proto *, MOST);
    request->release = sv_newn(arena, Hadoop__Yarn__ContainerIdProto *, MOST);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    manager = fed_manager_free(manager);
    resolver = fed_resolver_free(resolver);
    arena = sv_arena_free(arena);
    return 0;
}

/* A container's number says whose it is: 10, 11, 12; 9 is nobody's, 99 of a member that left. */
static int owner(void *userdata, struct yarn_container_id id)
{
    (void)userdata;
    assert_int_equal(id.attempt.app.id, 7);
    return id.id == 9 ? -ENOENT : (int)id.id - 10;
}

/* In turns of a row or a few. */
static int split(void)
{
    const struct fed_splitting_of of = { &in, request, owner, NULL, arena };
    struct fed_split *s = NULL;
    int r;

    err = (struct sv_error){ 0 };
    r = fed_split_begin(&of, &s, &err);
    if (r == 0)
        r = FED_MORE;
    while (r == FED_MORE) {
        struct fed_budget b = { 1 + rand() % 4 };

        r = fed_split_run(s, &b, parts, &notes, &err);
        assert_true(b.rows >= -2 * MEMBERS);
    }
    fed_split_end(s);
    return r;
}

static Hadoop__Yarn__ContainerIdProto *id_of(int64_t n)
{
    return yarn_container_id_to(arena, (struct yarn_container_id){ { APP, 1 }, n });
}

static void ask(int64_t id, const char *name, int32_t n)
{
    row_proto *row = sv_new(arena, row_proto);

    hadoop__yarn__resource_request_proto__init(row);
    row->allocation_request_id = id;
    row->resource_name = (char *)(uintptr_t)name;
    row->num_containers = n;
    request->ask[request->n_ask++] = row;
}

/* ---- By hand ---- */

static void heartbeat(void **state)
{
    (void)state;
    request->has_progress = true;
    request->progress = 0.5f;
    request->tracking_url = (char[]){ "http://am" };
    request->has_response_id = true;
    request->response_id = 7;
    set_manager("RejectAll"); /* is not asked */
    assert_int_equal(split(), 0);
    for (size_t i = 0; i < MEMBERS; i++) {
        assert_true(parts[i].request->has_progress && parts[i].request->progress == 0.5f);
        assert_string_equal(parts[i].request->tracking_url, "http://am");
        assert_false(parts[i].request->has_response_id);
        assert_false(parts[i].has_asks);
        assert_null(parts[i].request->blacklist_request);
    }
    ask(0, "*", 1);
    assert_int_equal(split(), -EPERM);
    assert_non_null(strstr(err.text, "RejectAllPolicyManager"));
}

static void containers(void **state)
{
    Hadoop__Yarn__UpdateContainerRequestProto updates[2], *at[] = { &updates[0], &updates[1] };
    Hadoop__Yarn__ContainerIdProto broken;

    (void)state;
    hadoop__yarn__container_id_proto__init(&broken);
    for (int64_t n = 9; n <= 12; n++)
        request->release[request->n_release++] = id_of(n);
    request->release[request->n_release++] = id_of(99);
    request->release[request->n_release++] = &broken;
    for (size_t i = 0; i < 2; i++) {
        hadoop__yarn__update_container_request_proto__init(&updates[i]);
        updates[i].container_id = id_of(i ? 9 : 11);
    }
    request->update_requests = at;
    request->n_update_requests = 2;
    assert_int_equal(split(), 0);
    for (size_t i = 0; i < MEMBERS; i++) {
        assert_int_equal(parts[i].request->n_release, 1);
        assert_ptr_equal(parts[i].request->release[0], request->release[i + 1]);
        assert_int_equal(parts[i].request->n_update_requests, i == 1);
        assert_false(parts[i].has_asks);
    }
    assert_int_equal(notes.n_unowned, 4);
}

static void blacklist(void **state)
{
    Hadoop__Yarn__ResourceBlacklistRequestProto b;
    char *barred[] = { (char[]){ "H2" }, (char[]){ "nowhere" } };
    char *unbarred[] = { (char[]){ "h3" }, (char[]){ "h4" } }; /* h4 is of no member */

    (void)state;
    hadoop__yarn__resource_blacklist_request_proto__init(&b);
    b.blacklist_additions = barred;
    b.n_blacklist_additions = 2;
    b.blacklist_removals = unbarred;
    b.n_blacklist_removals = 2;
    request->blacklist_request = &b;
    assert_int_equal(split(), 0);
    assert_int_equal(parts[0].request->blacklist_request->n_blacklist_additions, 1);
    assert_int_equal(parts[1].request->blacklist_request->n_blacklist_additions, 2);
    assert_string_equal(parts[1].request->blacklist_request->blacklist_additions[0], "H2");
    assert_int_equal(parts[2].request->blacklist_request->n_blacklist_removals, 2);
    assert_int_equal(parts[1].request->blacklist_request->n_blacklist_removals, 1);
}

static void scheduling_requests(void **state)
{
    Hadoop__Yarn__SchedulingRequestProto q, *at[] = { &q };

    (void)state;
    hadoop__yarn__scheduling_request_proto__init(&q);
    request->scheduling_requests = at;
    request->n_scheduling_requests = 1;
    in.home = 2;
    assert_int_equal(split(), 0);
    assert_int_equal(parts[2].request->n_scheduling_requests, 1);
    assert_true(parts[2].has_asks);
    assert_int_equal(parts[0].request->n_scheduling_requests, 0);
}

static void bounds(void **state)
{
    static struct fed_target many[1000];
    static struct fed_part all[1000];
    Hadoop__Yarn__ResourceBlacklistRequestProto b;
    char **names = calloc(2000, sizeof(*names));

    (void)state;
    assert_non_null(names);
    for (size_t i = 0; i < 2000; i++)
        names[i] = (char[]){ "nowhere" };
    for (size_t i = 0; i < 1000; i++)
        many[i] = (struct fed_target){ .id = "SC-1", .active = true };
    hadoop__yarn__resource_blacklist_request_proto__init(&b);
    b.blacklist_additions = names;
    b.n_blacklist_additions = 2000;
    request->blacklist_request = &b;
    in.targets = many;
    in.n_targets = 1000;
    assert_int_equal(fed_split(&in, request, owner, NULL, arena, all, &notes, &err), -E2BIG);
    assert_non_null(strstr(err.text, "too many nodes"));
    b.n_blacklist_additions = 1000;
    assert_int_equal(fed_split(&in, request, owner, NULL, arena, all, &notes, &err), 0);
    free(names);
}

/* Rows a turn: a long list takes many, each of which looks at some and places few more. */
static void turns(void **state)
{
    const struct fed_splitting_of of = { &in, request, owner, NULL, arena };
    const size_t rows = 4096, budget = 100;
    struct fed_split *s = NULL;
    size_t n = 0;
    int r;

    (void)state;
    request->ask = sv_newn(arena, row_proto *, rows);
    for (size_t i = 0; i < rows; i++)
        ask((int64_t)i, i % 2 ? "*" : "h1", 7);
    assert_int_equal(fed_split_begin(&of, &s, &err), 0);
    do {
        struct fed_budget b = { (int64_t)budget };

        r = fed_split_run(s, &b, parts, &notes, &err);
        assert_true(b.rows >= -2 * MEMBERS);
        n++;
    } while (r == FED_MORE);
    fed_split_end(s);
    assert_int_equal(r, 0);
    assert_true(n >= rows / budget);
    /* A policy that goes by no place looks at them, and shares its list. */
    set_manager("UniformBroadcast");
    s = NULL;
    assert_int_equal(fed_split_begin(&of, &s, &err), 0);
    for (n = 0, r = FED_MORE; r == FED_MORE; n++) {
        struct fed_budget b = { (int64_t)budget };

        r = fed_split_run(s, &b, parts, &notes, &err);
    }
    fed_split_end(s);
    assert_int_equal(r, 0);
    assert_true(n >= rows / budget / 8);
    assert_ptr_equal(parts[0].request->ask, request->ask);
}

/* ---- Random requests ---- */

static const char *const names[] = { "h1", "H2", "h3", "h4", "/r1", "/R2", "nowhere", "*" };

static void random_request(void)
{
    size_t n = 1 + (size_t)rand() % (MOST - 1);

    for (size_t i = 0; i < n; i++)
        ask(rand() % 3, names[(size_t)rand() % SV_ARRAY_LEN(names)],
            rand() % 4 ? rand() % 100 : rand());
    for (size_t i = 0; i < MEMBERS; i++) {
        targets[i].timed_out = rand() % 4 == 0;
        targets[i].active = i == 0 || rand() % 4;
        targets[i].has_memory = rand() % 2;
        targets[i].memory_mb = rand() % 3 ? rand() : -rand();
    }
}

static int64_t sum_of(int64_t id, const char *name, size_t *ret_rows)
{
    int64_t sum = 0;

    for (size_t i = 0; i < MEMBERS; i++)
        for (size_t k = 0; k < parts[i].request->n_ask; k++) {
            const row_proto *row = parts[i].request->ask[k];

            if (row->allocation_request_id != id || strcmp(row->resource_name, name) != 0)
                continue;
            sum += row->num_containers;
            ++*ret_rows;
        }
    return sum;
}

static int64_t asked(int64_t id, const char *name, size_t *ret_rows)
{
    int64_t sum = 0;

    for (size_t i = 0; i < request->n_ask; i++)
        if (request->ask[i]->allocation_request_id == id &&
            strcmp(request->ask[i]->resource_name, name) == 0) {
            sum += request->ask[i]->num_containers;
            ++*ret_rows;
        }
    return sum;
}

/* Rows for any place are shared out whole, those for nodes are given once; a rack's go to each of
 * its members or, where nothing else of the id does, to none. */
static void random_requests(void **state)
{
    for (int round = 0; round < 20000; round++) {
        assert_int_equal(set_up(state), 0);
        random_request();
        assert_int_equal(split(), 0);
        for (int64_t id = 0; id < 3; id++)
            for (size_t k = 0; k < SV_ARRAY_LEN(names); k++) {
                size_t given = 0, wanted = 0;
                int64_t sum = sum_of(id, names[k], &given), all = asked(id, names[k], &wanted);

                if (names[k][0] == '*')
                    assert_int_equal(sum, all);
                if (names[k][0] == 'h' || names[k][0] == 'H' || names[k][0] == 'n') {
                    assert_int_equal(sum, all);
                    assert_int_equal(given, wanted);
                }
            }
        for (size_t i = 0; i < MEMBERS; i++) /* who may not be asked is not, but to cancel */
            for (size_t k = 0; k < parts[i].request->n_ask; k++)
                assert_true(targets[i].active || parts[i].request->ask[k]->num_containers == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(heartbeat, set_up),
        cmocka_unit_test_setup(containers, set_up),
        cmocka_unit_test_setup(blacklist, set_up),
        cmocka_unit_test_setup(scheduling_requests, set_up),
        cmocka_unit_test_setup(bounds, set_up),
        cmocka_unit_test_setup(turns, set_up),
        cmocka_unit_test_setup(random_requests, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, tear_down);
}
