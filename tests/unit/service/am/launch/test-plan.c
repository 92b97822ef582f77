/* Tests service/am/launch/plan.c and placement.c: what a definition becomes. */
#include "service/am/launch/plan.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

static const char json[] =
    "{\"name\":\"shop\",\"version\":\"1\",\"resource\":{\"cpus\":1,\"memory\":\"64\"},"
    "\"configuration\":{\"properties\":{\"yarn.service.readiness-check-interval.seconds\":\"5\","
    "\"yarn.service.container-failure.retry.max\":\"4\"}},"
    "\"components\":[{\"name\":\"db\",\"number_of_containers\":3,\"launch_command\":\"db\","
    "\"restart_policy\":\"NEVER\","
    "\"placement_policy\":{\"constraints\":[{\"type\":\"ANTI_AFFINITY\",\"scope\":\"NODE\","
    "\"target_tags\":[\"db\"]},{\"type\":\"AFFINITY_WITH_CARDINALITY\",\"scope\":\"RACK\",\"target_"
    "tags\":"
    "[\"web\"],\"min_cardinality\":0,\"max_cardinality\":2,"
    "\"node_attributes\":{\"os\":[\"debian\",\"fedora\"]}}]}},"
    "{\"name\":\"web\",\"number_of_containers\":1,\"launch_command\":\"web\","
    "\"configuration\":{\"properties\":{\"yarn.service.container-failure-per-component.threshold\":"
    "\"2\"}},"
    "\"readiness_check\":{\"type\":\"HTTP\",\"properties\":{\"url\":\"http://${THIS_HOST}/\"}}}]}";

static void derived(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    const struct svc_component_plan *db, *web;
    struct sv_error err = { 0 };
    struct svc_plan *p;

    (void)state;
    if (svc_plan_new(json, sizeof(json) - 1, conf, &p, &err) < 0)
        fail_msg("%s", err.text);
    db = svc_plan_component(p, &p->resolved->components[0]);
    web = svc_plan_component(p, &p->resolved->components[1]);
    assert_int_equal(p->check_interval_ms, 5000);
    assert_true(p->constrained && p->http);
    assert_int_equal(db->component->resource.memory_mb, 64); /* the service's */
    assert_int_equal(db->retry.policy, CLI_RETRY_NEVER);
    assert_int_equal(web->retry.policy, CLI_RETRY_ALL);
    assert_int_equal(web->retry.max, 4);
    assert_int_equal(p->options[1].failure_threshold, 2);
    assert_int_equal(web->probe.type, SVC_READY_HTTP);
    assert_int_equal(db->probe.type, SVC_READY_DEFAULT);
    assert_null(web->constraint);
    assert_null(svc_plan_component(p, &p->stored->components[0]));
    svc_plan_free(p);
    assert_int_equal(sv_conf_set(conf, "yarn.service.default-readiness-check.enabled", "false"), 0);
    assert_int_equal(svc_plan_new(json, sizeof(json) - 1, conf, &p, &err), 0);
    assert_int_equal(p->components[0].probe.type, SVC_READY_NONE);
    assert_int_equal(p->components[1].probe.type, SVC_READY_HTTP);
    svc_plan_free(p);
}

static void placed(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    const struct cli_constraint *c;
    struct sv_error err = { 0 };
    struct svc_plan *p;

    (void)state;
    assert_int_equal(svc_plan_new(json, sizeof(json) - 1, conf, &p, &err), 0);
    c = p->components[0].constraint;
    assert_int_equal(c->type, CLI_AND);
    assert_int_equal(c->n_children, 2);
    assert_int_equal(c->children[0].type, CLI_ANTI_AFFINITY);
    assert_int_equal(c->children[0].scope, CLI_SCOPE_NODE);
    assert_string_equal(c->children[0].tags[0], "db");
    assert_int_equal(c->children[1].type, CLI_CARDINALITY);
    assert_int_equal(c->children[1].scope, CLI_SCOPE_RACK);
    assert_int_equal(c->children[1].max, 2);
    assert_int_equal(c->children[1].n_attributes, 1);
    assert_int_equal(c->children[1].attributes[0].n_values, 2);
    assert_string_equal(c->children[1].attributes[0].values[1], "fedora");
    svc_plan_free(p);
}

static void refused(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    struct svc_plan *p;

    (void)state;
    assert_int_equal(svc_plan_new("{]", 2, conf, &p, &err), -EINVAL);
    assert_true(*err.text);
    assert_int_equal(svc_plan_new("", 0, conf, &p, &err), -EINVAL);
    assert_int_equal(svc_plan_new("{}", 2, conf, &p, &err), -EINVAL); /* has no name */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(derived), cmocka_unit_test(placed),
                                        cmocka_unit_test(refused) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
