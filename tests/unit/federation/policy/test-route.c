/* federation/policy/route.c: the homes that Hadoop 3.4.2's router policies choose
 * (tests/golden/federation/route-3.4.2), with its own random numbers; refusals. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "federation/policy/route.h"
#include "proto/yarn.pb-c.h"
#include "tests/unit/federation/java-random.h"
#include "tests/unit/federation/recorded.h"

typedef Hadoop__Yarn__ResourceRequestProto row_proto;

static struct fed_manager *manager_of(struct sv_arena *a, const char *name, const char *params)
{
    struct fed_policy row = { "q", sv_arena_printf(a, FED_MANAGER_PACKAGE "%sPolicyManager", name),
                              (const uint8_t *)params, params ? strlen(params) : 0 };
    struct fed_manager *m = NULL;
    struct sv_error err = { 0 };

    if (fed_manager_new(&row, FED_SIDE_ROUTER, &m, &err) < 0)
        fail_msg("%s: %s", name, err.text);
    return m;
}

static row_proto **rows_of(const struct recorded *s)
{
    row_proto **rows = sv_newn(s->arena, row_proto *, s->n_asks + 1);

    for (size_t i = 0; i < s->n_asks; i++) {
        rows[i] = sv_new(s->arena, row_proto);
        hadoop__yarn__resource_request_proto__init(rows[i]);
        rows[i]->resource_name = s->asks[i].words[0];
    }
    return rows;
}

static void compare(const struct recorded *s)
{
    _cleanup_(fed_manager_freep) struct fed_manager *m =
        manager_of(s->arena, s->manager, s->params);
    struct java_random numbers = java_random(s->number);
    struct fed_random random = JAVA_RANDOM(&numbers);
    struct fed_candidate members[RECORDED_MAX];
    struct fed_submission q = { s->queue,   members,   s->n_members, NULL,
                                rows_of(s), s->n_asks, s->resolver,  &random };
    struct fed_home_choice home;
    struct sv_error err = { 0 };
    int r;

    for (size_t i = 0; i < s->n_members; i++)
        members[i] = (struct fed_candidate){ s->members[i].words[0], *s->members[i].words[1] == 't',
                                             *s->members[i].words[2] == 't' };
    r = fed_route(m, &q, &home, &err);
    if (s->error != (r < 0) || (r < 0 && !*err.text))
        fail_msg("scenario %u: %d %s", s->number, r, err.text);
    if (r == 0 && strcmp(members[home.member].id, s->answers[0].words[0]) != 0)
        fail_msg("scenario %u: %s, Java %s", s->number, members[home.member].id,
                 s->answers[0].words[0]);
}

static void as_java(void **state)
{
    (void)state;
    assert_int_equal(recorded_each("tests/golden/federation/route-3.4.2", compare), 100);
}

/* ---- One submission by hand ---- */

static const struct fed_candidate two[] = { { "SC-1", true, false }, { "SC-2", true, false } };

static int choose(const char *name, const char *params, const struct fed_submission *s,
                  struct fed_home_choice *ret, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_(fed_manager_freep) struct fed_manager *m = manager_of(a, name, params);

    *err = (struct sv_error){ 0 };
    return fed_route(m, s, ret, err);
}

static void refusals(void **state)
{
    struct fed_submission s = { .members = two, .n_members = 2, .random = &fed_random_kernel };
    struct fed_candidate none[] = { { "SC-1", false, false }, { "SC-2", true, true } };
    struct fed_home_choice home;
    struct sv_error err;

    (void)state;
    s.queue = "a\nb";
    assert_int_equal(choose("RejectAll", NULL, &s, &home, &err), -EPERM);
    assert_non_null(strstr(err.text, "queue a\\x0ab takes no applications"));
    s.queue = NULL;
    assert_int_equal(choose("RejectAll", NULL, &s, &home, &err), -EPERM);
    assert_non_null(strstr(err.text, "queue default"));
    assert_int_equal(choose("PriorityBroadcast",
                            "{\"routerPolicyWeights\":{\"entry\":{\"key\":{\"id\":\"SC-1\"},"
                            "\"value\":0}}}",
                            &s, &home, &err),
                     -EHOSTUNREACH);
    assert_non_null(strstr(err.text, "weight above 0"));
    s.members = none;
    assert_int_equal(choose("UniformBroadcast", NULL, &s, &home, &err), -EHOSTUNREACH);
    assert_non_null(strstr(err.text, "none is active"));
    s.n_members = 0;
    assert_int_equal(choose("HashBroadcast", NULL, &s, &home, &err), -EHOSTUNREACH);
}

static void reservations(void **state)
{
    struct fed_submission s = {
        .members = two, .n_members = 2, .random = &fed_random_kernel, .reserved = "SC-2"
    };
    struct fed_home_choice home;
    struct sv_error err;

    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(choose("UniformBroadcast", NULL, &s, &home, &err), 0);
        assert_int_equal(home.member, 1);
    }
    s.reserved = "SC-3";
    assert_int_equal(choose("UniformBroadcast", NULL, &s, &home, &err), -EHOSTUNREACH);
    assert_non_null(strstr(err.text, "reservation's sub-cluster SC-3"));
}

/* The Router replaces the rows where their places were of no use, as Java does. */
static void places(void **state)
{
    static const char params[] = "{\"routerPolicyWeights\":{\"entry\":[{\"key\":{\"id\":\"SC-1\"},"
                                 "\"value\":1},{\"key\":{\"id\":\"SC-2\"},\"value\":0.5}]}}";
    static const char list[] = "h1,SC-2,/r1\nh2,SC-3,/r1\n";
    _cleanup_(fed_resolver_freep) struct fed_resolver *resolver = NULL;
    row_proto rows[4], *at[4];
    struct fed_submission s = {
        .members = two, .n_members = 2, .random = &fed_random_kernel, .rows = at, .n_rows = 3
    };
    struct fed_resolver_notes notes;
    struct fed_home_choice home;
    struct sv_error err;

    (void)state;
    assert_int_equal(fed_resolver_parse(list, strlen(list), &resolver, &notes, NULL), 0);
    s.resolver = resolver;
    for (size_t i = 0; i < 4; i++) {
        hadoop__yarn__resource_request_proto__init(&rows[i]);
        at[i] = &rows[i];
    }
    rows[0].resource_name = (char[]){ "h1" };
    rows[1].resource_name = (char[]){ "/R1" };
    rows[2].resource_name = (char[]){ "*" };
    assert_int_equal(choose("WeightedLocality", params, &s, &home, &err), 0);
    assert_int_equal(home.member, 1);
    assert_false(home.drop_places);
    rows[0].resource_name = (char[]){ "h2" }; /* of no member */
    assert_int_equal(choose("WeightedLocality", params, &s, &home, &err), 0);
    assert_true(home.drop_places);
    rows[0].resource_name = NULL;
    assert_int_equal(choose("WeightedLocality", params, &s, &home, &err), 0);
    assert_true(home.drop_places);
    s.n_rows = 2;
    assert_int_equal(choose("WeightedLocality", params, &s, &home, &err), -EINVAL);
    assert_non_null(strstr(err.text, "2 resource requests"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_java),
        cmocka_unit_test(refusals),
        cmocka_unit_test(reservations),
        cmocka_unit_test(places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
