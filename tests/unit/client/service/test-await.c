/* Tests client/service/await.h: which status ends --wait, and how. */
#include "client/service/await.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
/* after the three above */
#include <cmocka.h>

#define COMPONENT(name, wanted, containers)                                                        \
    "{\"name\":\"" name "\",\"number_of_containers\":" wanted ",\"containers\":[" containers "]}"
#define INSTANCE(name, state) "{\"component_instance_name\":\"" name "\",\"state\":\"" state "\"}"

#define MANY                                                                                       \
    "{\"components\":[{\"number_of_containers\":9223372036854775807},"                             \
    "{\"number_of_containers\":2}]}"

static json_t *status_of(const char *state, const char *components)
{
    json_error_t e;
    json_t *list = json_loads(components, 0, &e);

    assert_non_null(list);
    return json_pack("{s:s, s:o}", "state", state, "components", list);
}

static int reached(enum cli_goal goal, const char *state, const char *components, const char *only)
{
    json_t *status = status_of(state, components);
    json_t *names = only ? json_pack("{s:b}", only, 1) : NULL;
    struct cli_readiness r;
    int result;

    cli_readiness(status, names, &r);
    result = cli_goal_reached(goal, status, &r);
    json_decref(status);
    json_decref(names);
    return result;
}

static void counts(void **state)
{
    json_t *status = status_of(
        "STARTED", "[" COMPONENT("db", "1", INSTANCE("db-0", "READY")) "," COMPONENT(
                       "web", "3",
                       INSTANCE("web-0", "READY") "," INSTANCE(
                           "web-1", "RUNNING_BUT_UNREADY") "," INSTANCE("web-2", "FAILED")) "]");
    struct cli_readiness r;

    (void)state;
    cli_readiness(status, NULL, &r);
    assert_int_equal(r.wanted, 4);
    assert_int_equal(r.ready, 2);
    json_decref(status);
}

/* A master may say anything. */
static void senseless(void **state)
{
    static const char *const statuses[] = {
        "[]",
        "{\"components\":1}",
        "{\"components\":[1,[],{\"containers\":{}},{\"containers\":[1,{}]}]}",
        "{\"state\":7,\"components\":[{\"number_of_containers\":-5}]}",
        MANY,
    };
    struct cli_readiness r;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(statuses); i++) {
        json_t *status = json_loads(statuses[i], 0, NULL);

        assert_non_null(status);
        cli_readiness(status, NULL, &r);
        assert_true(r.wanted >= 0);
        assert_int_equal(cli_goal_reached(CLI_GOAL_STABLE, status, &r), 0);
        json_decref(status);
    }
}

static void stable(void **state)
{
    (void)state;
    assert_int_equal(reached(CLI_GOAL_STABLE, "ACCEPTED", "[]", NULL), 0);
    assert_int_equal(reached(CLI_GOAL_STABLE, "STARTED", "[]", NULL), 0);
    assert_int_equal(reached(CLI_GOAL_STABLE, "EXPRESS_UPGRADING", "[]", NULL), 0);
    assert_int_equal(reached(CLI_GOAL_STABLE, "STABLE", "[]", NULL), 1);
    assert_int_equal(reached(CLI_GOAL_STABLE, "SUCCEEDED", "[]", NULL), 1);
    assert_int_equal(reached(CLI_GOAL_STABLE, "FAILED", "[]", NULL), -1);
    assert_int_equal(reached(CLI_GOAL_STABLE, "STOPPED", "[]", NULL), -1);
    assert_int_equal(reached(CLI_GOAL_STOPPED, "STARTED", "[]", NULL), 0);
    assert_int_equal(reached(CLI_GOAL_STOPPED, "STOPPED", "[]", NULL), 1);
    assert_int_equal(reached(CLI_GOAL_STOPPED, "FAILED", "[]", NULL), 1);
    assert_int_equal(reached(CLI_GOAL_STOPPED, "STOPPED", "[" COMPONENT("a", "1", "") "]", NULL),
                     0);
}

static void upgraded(void **state)
{
    static const char half[] = "[" COMPONENT(
        "web", "2", INSTANCE("web-0", "UPGRADING") "," INSTANCE("web-1", "READY")) "]";
    static const char starts[] = "[" COMPONENT(
        "web", "2", INSTANCE("web-0", "RUNNING_BUT_UNREADY") "," INSTANCE("web-1", "READY")) "]";
    static const char begun[] = "[" COMPONENT(
        "web", "2", INSTANCE("web-0", "READY") "," INSTANCE("web-1", "NEEDS_UPGRADE")) "]";
    static const char failed[] = "[" COMPONENT("web", "1", INSTANCE("web-0", "FAILED_UPGRADE")) "]";

    (void)state;
    assert_int_equal(reached(CLI_GOAL_UPGRADED, "UPGRADING", begun, NULL), 1);
    assert_int_equal(reached(CLI_GOAL_UPGRADED, "UPGRADING", begun, "web-0"), 1);
    assert_int_equal(reached(CLI_GOAL_UPGRADED, "UPGRADING", begun, "web-1"), 0);
    assert_int_equal(reached(CLI_GOAL_UPGRADED, "UPGRADING", begun, "web"), 0);
    assert_int_equal(reached(CLI_GOAL_UPGRADED, "UPGRADING", half, "web-0"), 0);
    assert_int_equal(reached(CLI_GOAL_UPGRADED, "UPGRADING", starts, "web-0"), 0);
    assert_int_equal(reached(CLI_GOAL_UPGRADED, "UPGRADING", starts, "web-1"), 1);
    assert_int_equal(reached(CLI_GOAL_UPGRADED, "UPGRADING", failed, "web-0"), -1);
    assert_int_equal(reached(CLI_GOAL_UPGRADED, "FAILED", "[]", NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(senseless),
        cmocka_unit_test(stable),
        cmocka_unit_test(upgraded),
    };

    return cmocka_run_group_tests_name("client/service/await", tests, NULL, NULL);
}
