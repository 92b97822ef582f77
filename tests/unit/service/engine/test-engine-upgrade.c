/* Upgrades: by instance, by component, express, finalized by themselves, cancelled, failed. */
#include "tests/unit/service/engine-fixture.h"

#include <errno.h>

static struct world w;
static struct def v1, v2;

static void start_with(const struct svc_limits *limits)
{
    world_init(&w, &svc_yarn_policy, &v1, limits);
    world_start(&w);
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
}

/* a and b, two instances each; a depends on b; both have another command in version 2. */
static void begin(void)
{
    for (int i = 0; i < 2; i++) {
        struct def *f = i ? &v2 : &v1;

        def_init(f, i ? "2" : "1", 2);
        f->c[0].count = f->c[1].count = 2;
        def_depend(f, 0, 1);
    }
}

static int upgrade(bool auto_finalize, bool express)
{
    struct sv_error err = { 0 };
    int r = svc_engine_upgrade(w.e, w.now, &v2.d, v2.o, auto_finalize, express, &err);

    carry_out(&w);
    return r;
}

static int upgrade_one(const char *name)
{
    int r = svc_engine_upgrade_instance(w.e, w.now, name, NULL);

    carry_out(&w);
    return r;
}

static int finalize(void)
{
    int r = svc_engine_finalize(w.e, w.now, NULL);

    carry_out(&w);
    return r;
}

static int cancel(void)
{
    int r = svc_engine_cancel_upgrade(w.e, w.now, NULL);

    carry_out(&w);
    return r;
}

static const char *command_of(const char *name)
{
    struct svc_instance_view v;

    assert_int_equal(svc_engine_find(w.e, name, &v), 0);
    return v.component->launch_command;
}

static const char *text_of(const char *name)
{
    struct svc_instance_view v;

    assert_int_equal(svc_engine_find(w.e, name, &v), 0);
    return svc_instance_state_text(&v);
}

static void test_by_instance(void **state)
{
    struct svc_component_view v;

    (void)state;
    begin();
    start_with(NULL);
    assert_int_equal(upgrade_one("a-0"), -EBUSY);
    assert_int_equal(upgrade(false, false), 0);
    assert_int_equal(svc_engine_state(w.e), SVC_UPGRADING);
    assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], 0);
    assert_string_equal(text_of("a-0"), "NEEDS_UPGRADE");
    v = component(&w, 0);
    assert_string_equal(svc_component_state_text(&v), "NEEDS_UPGRADE");
    assert_int_equal(flex(&w, "a", 3), -EBUSY);
    assert_int_equal(upgrade(false, false), -EBUSY);
    assert_int_equal(upgrade_one("a-0"), 0);
    assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], 1);
    assert_string_equal(command_of("a-0"), "2");
    assert_string_equal(command_of("a-1"), "1");
    assert_string_equal(text_of("a-0"), "UPGRADING");
    assert_int_equal(upgrade_one("a-0"), -EALREADY);
    assert_int_equal(upgrade_one("a-5"), -ENOENT);
    bring_up(&w);
    assert_string_equal(text_of("a-0"), "READY");
    assert_int_equal(finalize(), -EBUSY);
    completed(&w, box_named(&w, "a-1"), 1); /* its replacement has the new version */
    assert_int_equal(upgrade_one("a-1"), -EAGAIN);
    bring_up(&w);
    assert_string_equal(command_of("a-1"), "2");
    assert_int_equal(component(&w, 0).state, SVC_COMPONENT_STABLE);
    assert_int_equal(svc_engine_upgrade_component(w.e, w.now, "a", NULL), -EALREADY);
    assert_int_equal(svc_engine_upgrade_component(w.e, w.now, "b", NULL), 0);
    carry_out(&w);
    assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], 2);
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_UPGRADING);
    assert_int_equal(finalize(), 0);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    assert_ptr_equal(w.finalized, &v2.d);
    assert_ptr_equal(w.dropped, &v1.d);
    assert_null(svc_engine_target(w.e));
    assert_int_equal(finalize(), -EBUSY);
    assert_int_equal(flex(&w, "a", 3), 0);
    world_free(&w);
}

static void test_auto_finalize(void **state)
{
    (void)state;
    begin();
    v2.c[1].launch_command = "1"; /* b does not change */
    start_with(NULL);
    assert_int_equal(upgrade(true, false), 0);
    assert_int_equal(svc_engine_state(w.e), SVC_UPGRADING_AUTO_FINALIZE);
    assert_int_equal(component(&w, 1).needs_upgrade, 0);
    assert_int_equal(upgrade_one("a-1"), 0);
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_UPGRADING_AUTO_FINALIZE);
    assert_int_equal(upgrade_one("a-0"), 0);
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    assert_ptr_equal(w.dropped, &v1.d);
    world_free(&w);
}

static void test_nothing_to_upgrade(void **state)
{
    (void)state;
    begin();
    v2.c[0].launch_command = v2.c[1].launch_command = "1";
    start_with(NULL);
    assert_int_equal(upgrade(true, false), 0);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    assert_ptr_equal(w.finalized, &v2.d);
    world_free(&w);
}

static void test_express(void **state)
{
    (void)state;
    begin();
    start_with(NULL);
    assert_int_equal(upgrade(false, true), 0);
    assert_int_equal(svc_engine_state(w.e), SVC_EXPRESS_UPGRADING);
    assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], 2); /* b, of which a depends, first */
    assert_string_equal(command_of("b-1"), "2");
    assert_string_equal(command_of("a-0"), "1");
    for (size_t k = 0; k < 2; k++)
        reinitialized(&w, box_named(&w, k ? "b-1" : "b-0"), true);
    ready(&w, box_named(&w, "b-0"), true);
    assert_string_equal(command_of("a-0"), "1");
    ready(&w, box_named(&w, "b-1"), true);
    assert_string_equal(command_of("a-0"), "2");
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    assert_ptr_equal(w.finalized, &v2.d);
    world_free(&w);
}

static void test_cancel(void **state)
{
    (void)state;
    begin();
    start_with(NULL);
    assert_int_equal(cancel(), -EBUSY);
    assert_int_equal(upgrade(false, false), 0);
    assert_int_equal(upgrade_one("a-0"), 0);
    assert_int_equal(upgrade_one("b-0"), 0);
    reinitialized(&w, box_named(&w, "b-0"), true);
    ready(&w, box_named(&w, "b-0"), true);
    /* a-0 is at its node still, b-0 has the new version, the others the old one */
    assert_int_equal(cancel(), 0);
    assert_int_equal(svc_engine_state(w.e), SVC_CANCEL_UPGRADING);
    assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], 1);
    assert_string_equal(command_of("b-0"), "1");
    assert_int_equal(upgrade_one("b-1"), -EBUSY);
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    assert_int_equal(w.box[box_named(&w, "a-0")].version_changes, 2);
    assert_int_equal(w.box[box_named(&w, "b-0")].version_changes, 2);
    assert_int_equal(w.box[box_named(&w, "b-1")].version_changes, 0);
    assert_string_equal(command_of("a-0"), "1");
    assert_true(w.cancelled);
    assert_ptr_equal(w.dropped, &v2.d);
    world_free(&w);
}

/* The master's next attempt: `upgraded` run the new version, as its journal says. */
static void restart(const char *const *upgraded, bool express)
{
    struct svc_setup setup = { .policy = &svc_yarn_policy,
                               .definition = &v1.d,
                               .options = v1.o,
                               .limits = SVC_LIMITS_DEFAULT,
                               .seed = 1 };

    w.e = svc_engine_free(w.e);
    w.n_asks = 0;
    assert_int_equal(svc_engine_new(&setup, &w.e, NULL), 0);
    for (size_t k = 0; k < w.n_alive; k++) {
        struct svc_allocated a = allocated_of(&w, w.alive[k]);

        for (size_t u = 0; upgraded[u]; u++)
            a.target |= strcmp(upgraded[u], w.box[w.alive[k]].name) == 0;
        w.box[w.alive[k]].state = RUNNING;
        svc_engine_recovered(w.e, w.now, &a, w.box[w.alive[k]].name);
    }
    world_start(&w);
    assert_int_equal(upgrade(express, express), 0);
}

/* None that was upgraded is upgraded again, and the others are by nobody but their user. */
static void test_resumed(void **state)
{
    (void)state;
    begin();
    start_with(NULL);
    assert_int_equal(upgrade(false, false), 0);
    assert_int_equal(upgrade_one("a-0"), 0);
    bring_up(&w);
    restart((const char *[]){ "a-0", NULL }, false);
    assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], 0);
    svc_engine_upgraded(w.e, w.now, "a-0");
    carry_out(&w);
    assert_int_equal(w.ops_of[SVC_OP_CHECK], 1); /* of the new version */
    assert_string_equal(command_of("a-0"), "2");
    assert_string_equal(text_of("a-0"), "RUNNING_BUT_UNREADY");
    svc_engine_upgraded(w.e, w.now, "a-0");
    svc_engine_upgraded(w.e, w.now, "nothing-1");
    carry_out(&w);
    assert_int_equal(w.ops_of[SVC_OP_CHECK], 0);
    assert_string_equal(command_of("a-1"), "1");
    assert_string_equal(text_of("a-1"), "NEEDS_UPGRADE");
    for (size_t k = 0; k < w.n_alive; k++)
        ready(&w, w.alive[k], true);
    assert_int_equal(upgrade_one("a-0"), -EALREADY);
    assert_int_equal(upgrade_one("a-1"), 0);
    assert_int_equal(svc_engine_upgrade_component(w.e, w.now, "b", NULL), 0);
    carry_out(&w);
    bring_up(&w);
    assert_int_equal(finalize(), 0);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    world_free(&w);
}

/* Going back from it turns those alone that were upgraded, and an express one the others alone. */
static void test_resumed_both_ways(void **state)
{
    (void)state;
    for (int express = 0; express < 2; express++) {
        begin();
        v1.d.n_components = v2.d.n_components = 1;
        v1.c[0].n_dependencies = v2.c[0].n_dependencies = 0;
        v1.c[0].count = v2.c[0].count = 3;
        start_with(NULL);
        assert_int_equal(upgrade(false, false), 0);
        assert_int_equal(upgrade_one("a-1"), 0);
        bring_up(&w);
        restart((const char *[]){ "a-1", NULL }, express);
        if (!express) {
            svc_engine_upgraded(w.e, w.now, "a-1");
            carry_out(&w);
            assert_int_equal(cancel(), 0);
        }
        assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], express ? 2 : 1);
        bring_up(&w);
        for (size_t k = 0; k < w.n_alive; k++)
            ready(&w, w.alive[k], true);
        assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
        assert_string_equal(command_of("a-1"), express ? "2" : "1");
        assert_string_equal(command_of("a-2"), express ? "2" : "1");
        world_free(&w);
    }
}

/* A container that is handed back after the upgrade went on. */
static void test_resumed_late(void **state)
{
    struct svc_allocated a;
    size_t late[2];

    (void)state;
    begin();
    start_with(NULL);
    late[0] = box_named(&w, "b-0");
    late[1] = box_named(&w, "b-1");
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < w.n_alive; k++)
            if (w.alive[k] == late[i])
                w.alive[k] = w.alive[--w.n_alive];
    }
    {
        struct svc_setup setup = { .policy = &svc_yarn_policy,
                                   .definition = &v1.d,
                                   .options = v1.o,
                                   .limits = SVC_LIMITS_DEFAULT,
                                   .seed = 1 };

        w.e = svc_engine_free(w.e);
        assert_int_equal(svc_engine_new(&setup, &w.e, NULL), 0);
        for (int i = 0; i < 2; i++)
            svc_engine_expected(w.e, w.now, box_id(late[i]), i ? "b-1" : "b-0");
        for (size_t k = 0; k < w.n_alive; k++) {
            a = allocated_of(&w, w.alive[k]);
            svc_engine_recovered(w.e, w.now, &a, w.box[w.alive[k]].name);
        }
    }
    world_start(&w);
    assert_int_equal(upgrade(false, false), 0);
    for (int i = 0; i < 2; i++) {
        a = allocated_of(&w, late[i]);
        a.target = i == 1;
        w.alive[w.n_alive++] = late[i];
        svc_engine_recovered(w.e, w.now, &a, w.box[late[i]].name);
        carry_out(&w);
    }
    assert_string_equal(command_of("b-0"), "1");
    assert_string_equal(text_of("b-0"), "NEEDS_UPGRADE");
    assert_string_equal(command_of("b-1"), "2");
    assert_int_equal(upgrade_one("b-1"), -EALREADY);
    world_free(&w);
}

static void test_failed(void **state)
{
    (void)state;
    begin();
    start_with(NULL);
    assert_int_equal(upgrade(false, false), 0);
    assert_int_equal(upgrade_one("a-0"), 0);
    completed(&w, box_named(&w, "a-0"), 1); /* the new version does not run */
    assert_string_equal(text_of("a-0"), "FAILED_UPGRADE");
    assert_int_equal(w.n_asks, 0);
    assert_int_equal(upgrade_one("a-1"), 0);
    reinitialized(&w, box_named(&w, "a-1"), false); /* its node refuses */
    assert_string_equal(text_of("a-1"), "FAILED_UPGRADE");
    assert_int_equal(component(&w, 0).needs_upgrade, 2);
    assert_int_equal(upgrade_one("a-0"), 0); /* again, in a new container */
    assert_int_equal(w.n_asks, 1);
    bring_up(&w);
    assert_string_equal(command_of("a-0"), "2");
    /* Apache's master shows a-1 as READY after this, container or not */
    assert_int_equal(cancel(), 0);
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    assert_string_equal(command_of("a-0"), "1");
    assert_string_equal(command_of("a-1"), "1");
    assert_int_equal(component(&w, 0).ready, 2);
    world_free(&w);
}

static void test_rollback(void **state)
{
    struct svc_limits limits = SVC_LIMITS_DEFAULT;

    (void)state;
    begin();
    limits.rollback_on_failure = true;
    start_with(&limits);
    assert_int_equal(upgrade(false, true), 0);
    completed(&w, box_named(&w, "b-0"), 1);
    assert_int_equal(svc_engine_state(w.e), SVC_CANCEL_UPGRADING);
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    assert_string_equal(command_of("b-0"), "1");
    assert_string_equal(command_of("b-1"), "1");
    assert_ptr_equal(w.dropped, &v2.d);
    world_free(&w);
}

/* LAUNCH named the old version: the container is re-initialized once it runs. */
static void test_while_launching(void **state)
{
    size_t i;

    (void)state;
    begin();
    start_with(NULL);
    completed(&w, box_named(&w, "a-0"), 1);
    i = offer(&w, &w.ask[0], NULL);
    deliver(&w, i);
    assert_int_equal(upgrade(false, false), 0);
    assert_int_equal(upgrade_one("a-0"), 0);
    assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], 0);
    started(&w, i);
    assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], 1);
    assert_int_equal(state_of(&w, "a-0"), SVC_INSTANCE_UPGRADING);
    world_free(&w);
}

static void refused(const char *why)
{
    struct sv_error err = { 0 };

    assert_int_equal(svc_engine_upgrade(w.e, w.now, &v2.d, v2.o, false, false, &err), -EINVAL);
    assert_string_equal(err.text, why);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    begin();
}

static void test_refused(void **state)
{
    (void)state;
    begin();
    start_with(NULL);
    v2.d.version = "1";
    refused("version: \"1\" runs already; an upgrade needs another");
    v2.d.queue = "other";
    refused("queue: upgrades do not change it; stop the service first");
    v2.d.lifetime_s = 7;
    refused("lifetime: upgrades do not change it; stop the service first");
    v2.c[0].resource.vcores = 2;
    refused("components.a.resource: upgrades do not change it; stop the service first");
    v2.c[1].restart = SVC_RESTART_NEVER;
    refused("components.b.restart_policy: upgrades do not change it; stop the service first");
    v2.c[0].n_dependencies = 0;
    refused("components.a.dependencies: upgrades do not change it; stop the service first");
    v2.c[0].readiness.type = SVC_READY_HTTP;
    refused("components.a.readiness_check: upgrades do not change it; stop the service first");
    v2.d.n_components = 1;
    v2.c[0].n_dependencies = 0;
    refused("components: upgrades do not change it; stop the service first");
    world_free(&w);
}

/* Differences that make a component need the upgrade. */
static void test_differences(void **state)
{
    static struct svc_pair pair = { "yarn.x", "1" }, other = { "yarn.x", "2" };
    static struct svc_file file = { .dest = "f", .src = "" }, changed = { .dest = "g", .src = "" };

    (void)state;
    for (int i = 0; i < 4; i++) {
        begin();
        v2.c[0].launch_command = v2.c[1].launch_command = "1";
        v1.c[0].configuration.properties = (struct svc_map){ &pair, 1 };
        v2.c[0].configuration.properties = (struct svc_map){ i == 1 ? &other : &pair, 1 };
        v1.c[0].configuration.files = &file;
        v2.c[0].configuration.files = i == 2 ? &changed : &file;
        v1.c[0].configuration.n_files = v2.c[0].configuration.n_files = 1;
        if (i == 3)
            v2.c[0].artifact = (struct svc_artifact){ SVC_ARTIFACT_TARBALL, "hdfs:///b" };
        start_with(NULL);
        assert_int_equal(upgrade(false, false), 0);
        assert_int_equal(component(&w, 0).needs_upgrade, i ? 2 : 0);
        world_free(&w);
    }
}

/* Instances of a component that is upgraded follow in turns. */
static void test_turns(void **state)
{
    struct svc_limits limits = SVC_LIMITS_DEFAULT;

    (void)state;
    begin();
    limits.turn = 16;
    v1.c[0].count = 0;
    v1.c[1].count = 100;
    world_init(&w, &svc_yarn_policy, &v1, &limits);
    world_start(&w);
    while (w.due == w.now)
        timer(&w, w.now);
    bring_up(&w);
    assert_int_equal(component(&w, 1).ready, 100);
    assert_int_equal(upgrade(false, true), 0);
    assert_int_equal(w.ops_of[SVC_OP_REINITIALIZE], 16);
    for (int i = 0; i < 7; i++)
        timer(&w, w.now);
    assert_int_equal(component(&w, 1).needs_upgrade, 0);
    bring_up(&w);
    assert_int_equal(svc_engine_state(w.e), SVC_STABLE);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_instance),
        cmocka_unit_test(test_auto_finalize),
        cmocka_unit_test(test_nothing_to_upgrade),
        cmocka_unit_test(test_express),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_resumed_both_ways),
        cmocka_unit_test(test_resumed_late),
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_rollback),
        cmocka_unit_test(test_while_launching),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
