/* A restarted master: containers that are handed back, awaited, or gone. */
#include "tests/unit/service/engine-fixture.h"

static struct world w;
static struct def f;

static void begin(size_t n)
{
    def_init(&f, "1", n);
}

static size_t keep(const char *name, const char *host)
{
    size_t i = w.n_boxes++;
    struct svc_allocated a;

    w.box[i] = (struct box){ .state = RUNNING, .request = 1, .priority = 0 };
    (void)snprintf(w.box[i].host, sizeof(w.box[i].host), "%s", host);
    (void)snprintf(w.box[i].name, sizeof(w.box[i].name), "%s", name);
    w.alive[w.n_alive++] = i;
    a = allocated_of(&w, i);
    svc_engine_recovered(w.e, w.now, &a, name);
    carry_out(&w);
    return i;
}

static void test_recovery(void **state)
{
    size_t surplus, late;

    (void)state;
    begin(1);
    f.c[0].count = 4;
    f.c[0].decommissioned = (const char *[]){ "a-1" };
    f.c[0].n_decommissioned = 1;
    world_init(&w, &svc_yarn_policy, &f, NULL);
    keep("a-3", "h1");
    keep("a-0", "h2");
    surplus = keep("", "h3"); /* its record is lost */
    assert_int_equal(w.box[surplus].state, RELEASED);
    surplus = keep("a-1", "h3");
    assert_int_equal(w.box[surplus].state, RELEASED);
    surplus = keep("a-3", "h3"); /* the name is taken */
    assert_int_equal(w.box[surplus].state, RELEASED);
    surplus = keep("b-0", "h3");
    assert_int_equal(w.box[surplus].state, RELEASED);
    svc_engine_expected(w.e, w.now, box_id(900), "a-2");
    svc_engine_expected(w.e, w.now, box_id(901), "a-4");
    world_start(&w);
    assert_int_equal(w.n_asks, 0);
    assert_int_equal(state_of(&w, "a-3"), SVC_INSTANCE_STARTED);
    late = keep("a-2", "h4");
    assert_int_equal(w.box[late].state, RUNNING);
    assert_int_equal(w.n_asks, 0);
    timer(&w, 120000);
    assert_int_equal(w.ask[0].count, 1);
    late = keep("a-4", "h4"); /* later still: the request is taken back */
    assert_int_equal(w.box[late].state, RUNNING);
    assert_int_equal(w.n_asks, 0);
    assert_int_equal(component(&w, 0).live, 4);
    world_free(&w);
}

/* It was named before its start was sent, and had no time to start. */
static void test_unexpected(void **state)
{
    (void)state;
    begin(1);
    f.c[0].count = 2;
    world_init(&w, &svc_yarn_policy, &f, NULL);
    svc_engine_expected(w.e, w.now, box_id(900), "a-0");
    svc_engine_expected(w.e, w.now, box_id(901), "a-1");
    world_start(&w);
    assert_int_equal(w.n_asks, 0);
    svc_engine_unexpected(w.e, w.now, "a-1");
    carry_out(&w);
    assert_int_equal(w.ask[0].count, 1);
    svc_engine_unexpected(w.e, w.now, "a-1");
    svc_engine_unexpected(w.e, w.now, "b-1");
    carry_out(&w);
    assert_int_equal(w.ask[0].count, 1);
    svc_engine_unexpected(w.e, w.now, "a-0");
    carry_out(&w);
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    svc_engine_unexpected(w.e, w.now, "a-0"); /* it lives */
    carry_out(&w);
    assert_int_equal(component(&w, 0).live, 2);
    world_free(&w);
}

static void test_recovered_more_than_desired(void **state)
{
    (void)state;
    begin(1);
    f.c[0].count = 2;
    world_init(&w, &svc_yarn_policy, &f, NULL);
    keep("a-0", "h0");
    keep("a-1", "h0");
    keep("a-2", "h0");
    world_start(&w);
    assert_int_equal(state_of(&w, "a-2"), SVC_INSTANCE_STOPPING);
    assert_int_equal(component(&w, 0).live, 2);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_unexpected),
        cmocka_unit_test(test_recovered_more_than_desired),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
