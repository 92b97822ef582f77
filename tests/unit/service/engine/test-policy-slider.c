/* Slider's policy: the vectors of its role history, placement and accounting, and its listed
 * defects, which are absent. */
#include "tests/unit/service/engine-fixture.h"

#include <errno.h>

static struct world w;
static struct def f;

static void begin(uint32_t placement, int64_t count)
{
    def_init(&f, "1", 1);
    f.c[0].count = count;
    f.o[0].placement = placement;
    f.o[0].failure_threshold = 5;
}

static void start_on(size_t hosts)
{
    static const char *const names[] = { "h2", "h0", "h1", "h3" };

    world_init(&w, &svc_slider_policy, &f, NULL);
    world_start(&w);
    for (size_t i = 0; i < hosts; i++)
        node(&w, names[i], true);
}

static size_t up_on(const char *host)
{
    size_t i = offer(&w, &w.ask[0], host);

    deliver(&w, i);
    started(&w, i);
    w.now += 100000; /* it lives long */
    return i;
}

static void test_history(void **state)
{
    size_t i;

    (void)state;
    begin(0, 1);
    start_on(3);
    assert_true(w.asked_relax); /* no history: any host */
    assert_int_equal(w.n_asked_hosts, 0);
    assert_int_equal(w.ask[0].priority, 1 | 1 << 30);
    i = up_on("h1");
    completed(&w, i, 1);
    assert_false(w.asked_relax);
    assert_int_equal(w.n_asked_hosts, 1);
    assert_string_equal(w.asked_hosts[0], "h1");
    assert_int_equal(w.ask[0].priority, 1);
    i = up_on("h1");
    assert_int_equal(w.n_asks, 0);
    world_free(&w);
}

/* The host is offline, has failed too often, or its containers do not live: another one. */
static void test_history_passes_over(void **state)
{
    (void)state;
    begin(0, 1);
    start_on(3);
    w.now += 1;
    node(&w, "h1", false);
    completed(&w, up_on("h1"), 0);
    assert_true(w.asked_relax);
    world_free(&w);

    begin(0, 1);
    start_on(3);
    deliver(&w, offer(&w, &w.ask[0], "h1"));
    started(&w, 0);
    completed(&w, 0, 1); /* at once */
    assert_true(w.asked_relax);
    assert_int_equal(component(&w, 0).start_failed_total, 1);
    world_free(&w);

    begin(0, 1);
    f.o[0].node_threshold = 1;
    start_on(3);
    completed(&w, up_on("h1"), 1);
    assert_false(w.asked_relax);
    assert_int_equal(w.n_blacklisted, 0); /* at the threshold */
    completed(&w, up_on("h1"), 1);
    assert_true(w.asked_relax);
    assert_int_equal(w.n_blacklisted, 1); /* above */
    world_free(&w);
}

static void test_escalation(void **state)
{
    int64_t asked;

    (void)state;
    begin(0, 1);
    start_on(3);
    completed(&w, up_on("h1"), 0);
    asked = w.now;
    timer(&w, asked + 29999);
    assert_false(w.asked_relax);
    timer(&w, asked + 30000);
    assert_int_equal(w.ops_of[SVC_OP_CANCEL], 1);
    assert_true(w.asked_relax);
    assert_string_equal(w.asked_hosts[0], "h1");
    assert_int_equal(w.ask[0].priority, 1 | 1 << 30);
    assert_int_equal(w.n_asks, 1);
    timer(&w, asked + 90000); /* once */
    assert_int_equal(w.ops_of[SVC_OP_ASK], 0);
    deliver(&w, offer(&w, &w.ask[0], "h2"));
    assert_int_equal(component(&w, 0).requested, 0);
    world_free(&w);

    begin(0, 1);
    f.o[0].label = "gpu";
    start_on(3);
    assert_string_equal(w.asked_label, "gpu");
    completed(&w, up_on("h1"), 0);
    assert_string_equal(w.asked_label, ""); /* hosts and a label are refused together */
    timer(&w, w.now + 30000);
    assert_string_equal(w.asked_label, "gpu");
    assert_int_equal(w.n_asked_hosts, 0);
    world_free(&w);
}

static void test_strict_and_anywhere(void **state)
{
    (void)state;
    begin(SVC_PLACEMENT_STRICT, 1);
    start_on(3);
    completed(&w, up_on("h1"), 0);
    node(&w, "h1", false);
    timer(&w, w.now + 100000);
    assert_false(w.asked_relax); /* for ever */
    assert_string_equal(w.asked_hosts[0], "h1");
    world_free(&w);

    begin(SVC_PLACEMENT_ANYWHERE, 1);
    start_on(3);
    completed(&w, up_on("h1"), 0);
    assert_true(w.asked_relax);
    assert_int_equal(w.n_asked_hosts, 0);
    world_free(&w);
}

static void test_anti_affinity(void **state)
{
    (void)state;
    begin(SVC_PLACEMENT_ANTI_AFFINITY, 2);
    world_init(&w, &svc_slider_policy, &f, NULL);
    world_start(&w);
    assert_int_equal(w.n_asks, 0); /* no nodes are known */
    assert_int_equal(component(&w, 0).anti_affine_pending, 2);
    world_free(&w);

    start_on(3);
    assert_int_equal(w.n_asks, 1);
    assert_int_equal(w.n_asked_hosts, 3);
    assert_string_equal(w.asked_hosts[0], "h0"); /* sorted */
    assert_string_equal(w.asked_hosts[2], "h2");
    assert_false(w.asked_relax);
    assert_int_equal(w.ask[0].count, 1);
    assert_true(component(&w, 0).anti_affine_outstanding);
    deliver(&w, offer(&w, &w.ask[0], "h1"));
    assert_int_equal(w.n_asked_hosts, 2);
    assert_string_equal(w.asked_hosts[0], "h0");
    assert_string_equal(w.asked_hosts[1], "h2");
    deliver(&w, offer(&w, &w.ask[0], "h0"));
    assert_int_equal(w.n_asks, 0);
    world_free(&w);
}

static void test_anti_affinity_wants_more_than_nodes(void **state)
{
    (void)state;
    begin(SVC_PLACEMENT_ANTI_AFFINITY, 4);
    start_on(3);
    while (w.n_asks)
        deliver(&w, offer(&w, &w.ask[0], NULL));
    assert_int_equal(component(&w, 0).live, 3);
    assert_false(component(&w, 0).anti_affine_outstanding);
    node(&w, "h3", true);
    assert_int_equal(w.n_asks, 1);
    assert_int_equal(w.n_asked_hosts, 1);
    assert_string_equal(w.asked_hosts[0], "h3");
    /* A host that has one already is refused, and the request repeated after a while. */
    deliver(&w, offer(&w, &w.ask[0], "h0"));
    assert_int_equal(w.box[3].state, RELEASED);
    assert_int_equal(w.n_asks, 0);
    timer(&w, w.due);
    assert_string_equal(w.asked_hosts[0], "h3");
    assert_int_equal(flex(&w, "a", 3), 0);
    assert_int_equal(w.ops_of[SVC_OP_CANCEL], 1);
    world_free(&w);
}

static void test_flex(void **state)
{
    (void)state;
    begin(0, 6);
    start_on(1);
    assert_int_equal(flex(&w, "a", 3), 0); /* before allocation: three are cancelled */
    assert_int_equal(component(&w, 0).requested, 3);
    assert_int_equal(w.ask[0].count, 3);
    assert_int_equal(flex(&w, "a", 6), 0);
    for (size_t i = 0; i < 6; i++)
        (void)up_on("h0");
    assert_int_equal(flex(&w, "a", 4), 0);
    assert_int_equal(w.ops_of[SVC_OP_STOP], 2);
    assert_int_equal(w.box[5].state, RELEASED); /* the newest ones */
    assert_int_equal(w.box[4].state, RELEASED);
    assert_int_equal(flex(&w, "a", 1), 0);
    assert_int_equal(w.ops_of[SVC_OP_STOP], 3);
    assert_int_equal(w.box[0].state, RUNNING);
    completed(&w, 5, -105);
    assert_int_equal(component(&w, 0).failed_total, 0);
    assert_int_equal(component(&w, 0).releasing, 4);
    world_free(&w);
}

/* The newest container is not that of the highest number; a request goes before a container. */
static void test_newest(void **state)
{
    (void)state;
    begin(SVC_PLACEMENT_ANYWHERE, 3);
    start_on(1);
    for (size_t i = 0; i < 3; i++)
        (void)up_on("h0");
    completed(&w, box_named(&w, "a-0"), 1);
    (void)up_on("h0"); /* a-0 again */
    assert_int_equal(flex(&w, "a", 2), 0);
    assert_int_equal(state_of(&w, "a-0"), SVC_INSTANCE_STOPPING);
    assert_int_equal(flex(&w, "a", 3), 0); /* the same name again */
    end_released(&w);
    assert_int_equal(component(&w, 0).requested, 1);
    assert_int_equal(flex(&w, "a", 2), 0);
    assert_int_equal(w.ops_of[SVC_OP_STOP], 0);
    assert_int_equal(component(&w, 0).requested, 0);
    world_free(&w);
}

static void test_outcomes(void **state)
{
    static const struct {
        int32_t status;
        int failed, recently, node_failed, preempted, limits;
    } rows[] = {
        { 0, 0, 0, 0, 0, 0 },    { -100, 0, 0, 0, 0, 0 }, { -105, 0, 0, 0, 0, 0 },
        { -106, 0, 0, 0, 0, 0 }, { -107, 0, 0, 0, 0, 0 }, { -101, 1, 0, 1, 0, 0 },
        { -102, 0, 0, 0, 1, 0 }, { -103, 1, 1, 0, 0, 1 }, { -104, 1, 1, 0, 0, 1 },
        { 1, 1, 1, 0, 0, 0 },    { 137, 1, 1, 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct svc_component_view v;

        begin(0, 1);
        start_on(1);
        completed(&w, up_on("h0"), rows[i].status);
        v = component(&w, 0);
        assert_int_equal(v.failed_total, rows[i].failed);
        assert_int_equal(v.failed_recently, rows[i].recently);
        assert_int_equal(v.node_failed, rows[i].node_failed);
        assert_int_equal(v.preempted, rows[i].preempted);
        assert_int_equal(v.limits_exceeded, rows[i].limits);
        assert_int_equal(v.completed_total, 1); /* Slider never fills it, nor this: */
        assert_int_equal(v.started_total, 1);
        assert_int_equal(v.requested_total, 2);
        assert_int_equal(v.requested, 1); /* replaced, whatever the outcome */
        world_free(&w);
    }
}

static void fail_quickly(int times)
{
    for (int i = 0; i < times; i++) {
        deliver(&w, offer(&w, &w.ask[0], "h0"));
        started(&w, w.n_boxes - 1);
        completed(&w, w.n_boxes - 1, 1);
    }
}

static void test_thresholds(void **state)
{
    (void)state;
    begin(0, 1);
    start_on(1);
    fail_quickly(5);
    assert_false(w.unregistered);
    fail_quickly(1);
    assert_int_equal(svc_engine_state(w.e), SVC_FAILED);
    assert_true(w.unregistered && !w.success);
    world_free(&w);

    /* 0 and less are no threshold; -1 of a node blacklists none, let alone all. */
    begin(0, 1);
    f.o[0].failure_threshold = 0;
    f.o[0].node_threshold = -1;
    start_on(1);
    fail_quickly(50);
    assert_false(w.unregistered);
    assert_int_equal(w.n_blacklisted, 0);
    world_free(&w);
}

/* The window is 6 hours, where Slider's arithmetic makes it 144 minutes. */
static void test_window(void **state)
{
    (void)state;
    begin(0, 1);
    start_on(1);
    fail_quickly(5);
    timer(&w, 8640000);
    assert_int_equal(component(&w, 0).failed_recently, 5);
    timer(&w, 21600000);
    assert_int_equal(component(&w, 0).failed_recently, 0);
    assert_int_equal(w.n_blacklisted, 0);
    world_free(&w);
}

/* Each of several components has its own monitor, where Slider runs the last one's alone. */
static void test_health_of_each(void **state)
{
    (void)state;
    def_init(&f, "1", 2);
    for (size_t i = 0; i < 2; i++) {
        f.o[i].health_percent = 100;
        f.o[i].placement = SVC_PLACEMENT_ANYWHERE;
    }
    start_on(1);
    deliver(&w, offer(&w, &w.ask[1], "h0")); /* b is healthy, a is not */
    started(&w, 0);
    ready(&w, 0, true);
    timer(&w, 600000);
    timer(&w, 1200000);
    assert_int_equal(svc_engine_state(w.e), SVC_FAILED);
    assert_string_equal(
        svc_engine_diagnostics(w.e),
        "component a: less than 100 % of its instances were ready for more than 600 s");
    world_free(&w);
}

/* PUT of the desired resources: validated first, idempotent, with new and missing components. */
static void test_spec(void **state)
{
    struct sv_error err = { 0 };
    static struct def next;

    (void)state;
    begin(SVC_PLACEMENT_ANYWHERE, 2);
    start_on(1);
    (void)up_on("h0");
    (void)up_on("h0");
    def_init(&next, "1", 2);
    next.c[0].count = SVC_INSTANCES_MAX;
    next.c[1].count = 1;
    assert_int_equal(svc_engine_spec(w.e, w.now, &next.d, next.o, &err), -EINVAL);
    assert_int_equal(component(&w, 0).desired, 2);
    assert_int_equal(svc_engine_components(w.e), 1);
    next.c[0].count = 1;
    assert_int_equal(svc_engine_spec(w.e, w.now, &next.d, next.o, &err), 0);
    carry_out(&w);
    assert_int_equal(w.ops_of[SVC_OP_STOP], 1);
    assert_int_equal(w.ops_of[SVC_OP_ASK], 1);
    assert_int_equal(w.ops_of[SVC_OP_PERSIST], 2);
    assert_ptr_equal(w.dropped, &f.d);
    assert_int_equal(svc_engine_components(w.e), 2);
    assert_int_equal(svc_engine_spec(w.e, w.now, &next.d, next.o, &err), 0);
    assert_int_equal(carry_out(&w), 0);
    begin(SVC_PLACEMENT_ANYWHERE, 1); /* without b */
    w.dropped = NULL;
    assert_int_equal(svc_engine_spec(w.e, w.now, &f.d, f.o, &err), 0);
    carry_out(&w);
    assert_int_equal(component(&w, 1).desired, 0);
    assert_null(w.dropped); /* b refers to it */
    assert_int_equal(w.n_asks, 0);
    world_free(&w);
}

/* Containers without names are kept, and given names. */
static void test_recovery(void **state)
{
    (void)state;
    begin(0, 2);
    world_init(&w, &svc_slider_policy, &f, NULL);
    for (size_t i = 0; i < 3; i++) {
        struct svc_allocated a;

        w.n_boxes++;
        w.box[i] = (struct box){ .state = RUNNING, .request = -1, .priority = 1, .host = "h0" };
        w.alive[w.n_alive++] = i;
        a = allocated_of(&w, i);
        svc_engine_recovered(w.e, w.now, &a, "");
        carry_out(&w);
    }
    assert_int_equal(w.box[2].state, RUNNING);
    world_start(&w);
    assert_int_equal(component(&w, 0).live, 2);
    assert_int_equal(w.box[2].state, RELEASED); /* more than desired: the newest */
    assert_int_equal(state_of(&w, "a-0"), SVC_INSTANCE_STARTED);
    assert_int_equal(w.n_asks, 0);
    world_free(&w);
}

/* A review while the service ends does nothing. */
static void test_stop_then_node(void **state)
{
    (void)state;
    begin(SVC_PLACEMENT_ANTI_AFFINITY, 2);
    start_on(2);
    (void)up_on("h0");
    svc_engine_stop(w.e, w.now, "stop");
    carry_out(&w);
    assert_int_equal(w.n_asks, 0);
    node(&w, "h3", true);
    assert_int_equal(w.n_asks, 0);
    completed(&w, 0, -105);
    assert_true(w.unregistered && w.success);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_history_passes_over),
        cmocka_unit_test(test_escalation),
        cmocka_unit_test(test_strict_and_anywhere),
        cmocka_unit_test(test_anti_affinity),
        cmocka_unit_test(test_anti_affinity_wants_more_than_nodes),
        cmocka_unit_test(test_flex),
        cmocka_unit_test(test_newest),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_health_of_each),
        cmocka_unit_test(test_spec),
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_stop_then_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
