/* Looks at rows of tokens, which strangers name: one address has a share, in looks that are open
 * and in rows that are kept, and who waits hears of his own token alone. The store is in memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "router/token-lookups.h"

static const struct in6_addr here = IN6ADDR_LOOPBACK_INIT, there = { .s6_addr = { 1 } };

static struct {
    sd_event *event;
    struct fed_store *store;
    struct rtr_token_lookups *lookups;
    int known;
    int32_t last;
} g;

static void on_known(int32_t sequence, void *userdata)
{
    (void)userdata;
    g.known++;
    g.last = sequence;
}

static int up(void **state)
{
    (void)state;
    memset(&g, 0, sizeof(g));
    sv_clock_set_test(1000000, 1700000000000); /* no row becomes stale */
    assert_true(sd_event_new(&g.event) >= 0);
    assert_int_equal(fed_store_open_memory(g.event, &g.store), 0);
    g.lookups = rtr_token_lookups_new(g.event, g.store, on_known, NULL);
    assert_non_null(g.lookups);
    return 0;
}

static int down(void **state)
{
    (void)state;
    fed_store_free(g.store);
    rtr_token_lookups_free(g.lookups);
    sd_event_unref(g.event);
    sv_clock_set_test(0, 0);
    return 0;
}

static int look(const struct in6_addr *from, int32_t number)
{
    const struct rtr_token_row *row = NULL;
    int r = rtr_token_lookups_get(g.lookups, number, from, &row);

    if (r == 0)
        assert_int_equal(row->error, -ENOENT);
    return r;
}

static void wait_for(int known)
{
    while (g.known < known)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
}

static void test_known(void **state)
{
    (void)state;
    assert_int_equal(look(&here, 7), -EAGAIN);
    assert_int_equal(look(&there, 7), -EAGAIN); /* the same look */
    wait_for(1);
    assert_int_equal(g.last, 7);
    assert_int_equal(look(&here, 7), 0);
    assert_int_equal(look(&here, 8), -EAGAIN);
    wait_for(2);
    assert_int_equal(g.last, 8);
}

static void test_open(void **state)
{
    (void)state;
    for (int i = 0; i < RTR_LOOKUPS_OF_ONE; i++)
        assert_int_equal(look(&here, 100 + i), -EAGAIN);
    assert_int_equal(look(&here, 200), -EBUSY);
    assert_int_equal(look(&here, 100), -EAGAIN); /* it is being read */
    assert_int_equal(look(&there, 200), -EAGAIN);
    assert_int_equal(look(&here, 200), -EAGAIN);
    wait_for(RTR_LOOKUPS_OF_ONE + 1);
    assert_int_equal(look(&here, 300), -EAGAIN);
    wait_for(RTR_LOOKUPS_OF_ONE + 2);
}

/* A look whose row is not wanted any more is open until the store has answered. */
static void test_dropped(void **state)
{
    (void)state;
    for (int i = 0; i < RTR_LOOKUPS_OF_ONE; i++) {
        assert_int_equal(look(&here, 100), -EAGAIN);
        rtr_token_lookups_drop(g.lookups, 100);
    }
    assert_int_equal(look(&here, 100), -EBUSY);
    wait_for(RTR_LOOKUPS_OF_ONE);
    assert_int_equal(look(&here, 100), -EAGAIN);
    wait_for(RTR_LOOKUPS_OF_ONE + 1);
}

/* More rows within the moment for which they are kept than there is room for. */
static void test_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * RTR_LOOKUPS_MAX; i++) {
        assert_int_equal(look(&here, 100 + i), -EAGAIN);
        wait_for(i + 1);
        assert_int_equal(look(&here, 100 + i), 0);
    }
    assert_int_equal(look(&there, 1), -EAGAIN);
    assert_int_equal(look(&here, 100 + 2 * RTR_LOOKUPS_MAX - 1), 0);
    assert_int_equal(look(&here, 100), -EAGAIN); /* the oldest ones went */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, up, down)
    const struct CMUnitTest tests[] = { T(known), T(open), T(dropped), T(kept) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
