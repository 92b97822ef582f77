/* Tests service/am/check/addresses.c: queries of many containers, answered late, without an
 * address, and not at all. */
#include "service/am/check/addresses.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "common/clock.h"

#define CONTAINERS 1000

static struct {
    sd_event *event;
    struct svc_addresses *addresses;
    unsigned asked[CONTAINERS]; /* times */
    bool known[CONTAINERS];
    int64_t last[CONTAINERS * 2]; /* in the order of the queries */
    size_t n;
    int result;
    int64_t now;
} w;

static struct yarn_container_id id(int64_t n)
{
    return (struct yarn_container_id){ { { 1, 1 }, 1 }, n };
}

static int on_ask(struct yarn_container_id c, void *userdata)
{
    (void)userdata;
    assert_true(w.n < SV_ARRAY_LEN(w.last));
    w.asked[c.id]++;
    w.last[w.n++] = c.id;
    return w.result;
}

static bool on_wanted(struct yarn_container_id c, void *userdata)
{
    (void)userdata;
    return !w.known[c.id];
}

static void run(void)
{
    while (sd_event_run(w.event, 0) > 0)
        ;
}

/* Any change makes it look at the clock. */
static void pass(int64_t ms)
{
    w.now += ms;
    sv_clock_set_test(w.now, w.now);
    assert_int_equal(svc_addresses_add(w.addresses, id(CONTAINERS - 1)), 0);
    svc_addresses_remove(w.addresses, id(CONTAINERS - 1));
    run();
}

static int set_up(void **state)
{
    const struct svc_addresses_config cfg = { on_ask, on_wanted, NULL };

    (void)state;
    memset(&w, 0, sizeof(w));
    w.now = 1000000;
    sv_clock_set_test(w.now, w.now);
    assert_int_equal(sd_event_new(&w.event), 0);
    assert_int_equal(svc_addresses_new(w.event, &cfg, &w.addresses), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    svc_addresses_free(w.addresses);
    sd_event_unref(w.event);
    sv_clock_reset();
    return 0;
}

static void add(int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(svc_addresses_add(w.addresses, id(i)), 0);
    pass(SVC_ADDRESS_SOON_MS);
}

static void few_at_a_time(void **state)
{
    (void)state;
    add(CONTAINERS - 1);
    assert_int_equal(w.n, SVC_ADDRESSES_OPEN);
    for (size_t i = 0; i < w.n; i++) {
        w.known[w.last[i]] = true;
        svc_addresses_answered(w.addresses, id(w.last[i]));
        run();
        assert_true(w.n <= i + 1 + SVC_ADDRESSES_OPEN);
    }
    assert_int_equal(w.n, CONTAINERS - 1);
    for (size_t i = 0; i < CONTAINERS - 1; i++)
        assert_int_equal(w.asked[i], 1);
}

static void asked_again(void **state)
{
    (void)state;
    add(1);
    add(1); /* it is known */
    assert_int_equal(w.asked[0], 1);
    for (unsigned i = 1; i < 100; i++) {
        int64_t wait = SV_MIN(SVC_ADDRESS_SOON_MS << SV_MIN(i, 10u), SVC_ADDRESS_MS);

        svc_addresses_answered(w.addresses, id(0));
        svc_addresses_answered(w.addresses, id(0)); /* none is open */
        pass(wait - 1);
        assert_int_equal(w.asked[0], i);
        pass(1);
        assert_int_equal(w.asked[0], i + 1);
    }
    w.known[0] = true;
    svc_addresses_answered(w.addresses, id(0));
    pass(SVC_ADDRESS_MS);
    assert_int_equal(w.asked[0], 100);
}

/* A node that is not reachable now: the query is repeated. */
static void not_sent(void **state)
{
    (void)state;
    w.result = -ENOKEY;
    add(2);
    assert_int_equal(w.n, 2);
    w.result = 0;
    pass(SVC_ADDRESS_MS);
    assert_int_equal(w.asked[0], 2);
    assert_int_equal(w.asked[1], 2);
}

static void ended(void **state)
{
    (void)state;
    add(SVC_ADDRESSES_OPEN + 2);
    assert_int_equal(w.n, SVC_ADDRESSES_OPEN);
    svc_addresses_remove(w.addresses, id(SVC_ADDRESSES_OPEN)); /* not asked yet */
    svc_addresses_remove(w.addresses, id(0));
    run();
    assert_int_equal(w.n, SVC_ADDRESSES_OPEN + 1);
    assert_int_equal(w.last[SVC_ADDRESSES_OPEN], SVC_ADDRESSES_OPEN + 1);
    svc_addresses_answered(w.addresses, id(0)); /* late */
    run();
    assert_int_equal(w.n, SVC_ADDRESSES_OPEN + 1);
}

/* A query to a node that hangs delays no other query, and is not repeated. */
static void hung(void **state)
{
    (void)state;
    add(SVC_ADDRESSES_OPEN + 1);
    pass(SVC_ADDRESS_OVERDUE_MS - 1);
    assert_int_equal(w.n, SVC_ADDRESSES_OPEN);
    pass(1);
    assert_int_equal(w.n, SVC_ADDRESSES_OPEN + 1);
    pass(SVC_ADDRESS_OVERDUE_MS);
    assert_int_equal(w.n, SVC_ADDRESSES_OPEN + 1);
    svc_addresses_answered(w.addresses, id(0));
    pass(SVC_ADDRESS_MS);
    assert_int_equal(w.asked[0], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(few_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(asked_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_sent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hung, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
