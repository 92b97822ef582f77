/* federation/amrm/relay.c: bounds, rows a turn, and random histories with lost requests, lost
 * answers and restarts against a model of both ends. */
#include "tests/unit/federation/relay-fixture.h"

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
        cmocka_unit_test_setup(bounds, set_up),
        cmocka_unit_test_setup(many_places, set_up),
        cmocka_unit_test_setup(turns, set_up),
        cmocka_unit_test_setup(histories, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, tear_down);
}
