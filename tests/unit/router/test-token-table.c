/* The tokens that a Router finds when it starts count for their users, wherever their numbers are.
 * The store is in memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "router/token-table.h"
#include "wire/token/delegation-rules.h"

#define T0 1700000000000
#define DAY (24 * 3600000LL)

static struct {
    sd_event *event;
    struct fed_store *store;
    struct rtr_conf_tokens conf;
    struct rtr_token_table *table;
    struct sv_arena *a;
    int added;
    size_t broken; /* rows of each answer to a list; 0: the store answers */
    int lists;
} g;

int __real_fed_store_call(struct fed_store *s, const struct fed_request *q, fed_done done,
                          void *userdata, uint64_t *ret_call);
int __wrap_fed_store_call(struct fed_store *s, const struct fed_request *q, fed_done done,
                          void *userdata, uint64_t *ret_call);
int __wrap_fed_store_call(struct fed_store *s, const struct fed_request *q, fed_done done,
                          void *userdata, uint64_t *ret_call)
{
    const struct fed_answer broken = { .n_broken = g.broken };

    if (q->op != FED_TOKEN_LIST || !g.broken)
        return __real_fed_store_call(s, q, done, userdata, ret_call);
    if (++g.lists > 2)
        fail_msg("the list is asked for again and again");
    done(&broken, userdata);
    return 0;
}

static int up(void **state)
{
    (void)state;
    memset(&g, 0, sizeof(g));
    sv_clock_set_test(1000000, T0);
    g.conf.scan_ms = 20;
    assert_true(sd_event_new(&g.event) >= 0);
    assert_int_equal(fed_store_open_memory(g.event, &g.store), 0);
    assert_non_null(g.a = sv_arena_new(0));
    return 0;
}

static int down(void **state)
{
    (void)state;
    fed_store_free(g.store);
    rtr_token_table_free(g.table);
    sv_arena_free(g.a);
    sd_event_unref(g.event);
    sv_clock_set_test(0, 0);
    return 0;
}

static void on_added(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    assert_int_equal(a->error, 0);
    g.added++;
}

/* NULL: whose token it is cannot be read. */
static void add(int32_t sequence, const char *owner, int64_t renew_ms)
{
    struct yarn_delegation_token d = { .sequence = sequence, .max_ms = T0 + DAY };
    const uint8_t *id = (const uint8_t *)"?";
    size_t id_len = 1;
    const int before = g.added;

    if (owner) {
        (void)snprintf(d.owner, sizeof(d.owner), "%s", owner);
        assert_int_equal(yarn_delegation_token_encode(g.a, &d, &id, &id_len), 0);
    }
    assert_int_equal(fed_store_call(g.store,
                                    &(struct fed_request){ .op = FED_TOKEN_ADD,
                                                           .token = { .sequence = sequence,
                                                                      .identifier = id,
                                                                      .identifier_len = id_len,
                                                                      .info = "",
                                                                      .renew_ms = renew_ms } },
                                    on_added, NULL, NULL),
                     0);
    while (g.added == before)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
}

static void start(size_t n)
{
    g.table = rtr_token_table_new(g.event, g.store, &g.conf);
    assert_non_null(g.table);
    while (rtr_token_table_count(g.table) != n)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
}

/* Behind many numbers that are free again, and behind many tokens of others. */
static void test_far_back(void **state)
{
    (void)state;
    g.conf.scan_ms = DAY; /* it does not wait for its first scan */
    add(1, "alice", T0 + DAY);
    add(2, "alice", T0 + DAY);
    add(3, NULL, T0 + DAY);
    for (int i = 0; i < 600; i++)
        add(1000 + i, "bob", T0 + DAY);
    add(30000, "alice", T0 + DAY);
    start(603);
    assert_int_equal(rtr_token_table_of(g.table, "alice"), 3);
    assert_int_equal(rtr_token_table_of(g.table, "bob"), 600);
}

/* A token that has ended is counted first, and goes. */
static void test_ended(void **state)
{
    (void)state;
    add(1, "alice", T0 - 1);
    add(2, "bob", T0 + DAY);
    start(2);
    while (rtr_token_table_of(g.table, "alice"))
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
    assert_int_equal(rtr_token_table_of(g.table, "bob"), 1);
}

/* Rows that are broken have no numbers behind which the list could go on. */
static void test_broken(void **state)
{
    static const size_t broken[] = { 1, 255, 256 };

    (void)state;
    g.conf.scan_ms = DAY;
    for (size_t i = 0; i < 3; i++) {
        g.lists = 0;
        g.broken = broken[i];
        g.table = rtr_token_table_new(g.event, g.store, &g.conf);
        while (!g.lists)
            assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
        assert_int_equal(g.lists, 1);
        g.table = rtr_token_table_free(g.table);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, up, down)
    const struct CMUnitTest tests[] = { T(far_back), T(ended), T(broken) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
