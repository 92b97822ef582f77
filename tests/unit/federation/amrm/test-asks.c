/* federation/amrm/{asks,locality,ledger,weighing}.c: the splits of Hadoop 3.4.2's
 * LocalityMulticastAMRMProxyPolicy (tests/golden/federation/split-3.4.2), with its own random
 * numbers; the other policies, refusals, bounds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "federation/amrm/asks.h"
#include "tests/unit/federation/java-random.h"
#include "tests/unit/federation/recorded.h"

typedef Hadoop__Yarn__ResourceRequestProto row_proto;

static struct fed_manager *manager_of(const char *name, const char *params)
{
    struct fed_policy row = { "q", NULL, (const uint8_t *)params, params ? strlen(params) : 0 };
    struct fed_manager *m = NULL;
    char type[256];

    snprintf(type, sizeof(type), FED_MANAGER_PACKAGE "%sPolicyManager", name);
    row.type = type;
    return fed_manager_new(&row, FED_SIDE_PROXY, &m, NULL) < 0 ? NULL : m;
}

static row_proto *row_of(struct sv_arena *a, int64_t id, const char *name, int32_t n)
{
    row_proto *row = sv_new(a, row_proto);

    hadoop__yarn__resource_request_proto__init(row);
    row->has_allocation_request_id = row->has_num_containers = true;
    row->allocation_request_id = id;
    row->resource_name = (char *)(uintptr_t)name;
    row->num_containers = n;
    return row;
}

/* ---- Java's ---- */

static struct fed_target target_of(const struct recorded_line *l)
{
    char *const *w = l->words;

    return (struct fed_target){ .id = w[0],
                                .active = *w[1] == 't',
                                .timed_out = *w[2] == 't',
                                .answered = *w[3] != '-',
                                .has_memory = *w[3] != '-',
                                .memory_mb = strtol(w[3], NULL, 10),
                                .has_load = *w[4] != '-',
                                .pending = (int32_t)strtol(w[4], NULL, 10),
                                .active_cores = (int32_t)strtol(w[5], NULL, 10) };
}

static void check_rows(const struct recorded *s, const char *id, const struct fed_asks *asks,
                       size_t *seen)
{
    for (size_t i = 0; i < asks->n; i++, ++*seen) {
        const row_proto *row = asks->rows[i];
        char *const *w = NULL;
        size_t before = 0;

        /* The i-th answer of that member. */
        for (size_t k = 0; k < s->n_answers && !w; k++)
            if (strcmp(s->answers[k].words[0], id) == 0 && before++ == i)
                w = s->answers[k].words;
        if (!w || strtoll(w[1], NULL, 10) != row->allocation_request_id ||
            strcmp(w[2], row->resource_name) != 0 || strtol(w[3], NULL, 10) != row->num_containers)
            fail_msg("scenario %u: %s gets %lld %s %d, in Java %s %s %s", s->number, id,
                     (long long)row->allocation_request_id, row->resource_name, row->num_containers,
                     w ? w[1] : "nothing", w ? w[2] : "", w ? w[3] : "");
    }
}

static void compare(const struct recorded *s)
{
    _cleanup_(fed_manager_freep) struct fed_manager *m = manager_of("WeightedLocality", s->params);
    struct java_random numbers = java_random(s->number);
    struct fed_random random = JAVA_RANDOM(&numbers);
    struct fed_target targets[RECORDED_MAX];
    struct fed_split_conf conf = { .by_load = *s->load != '-',
                                   .max_pending = 100,
                                   .use_active_cores = *s->load == 'c',
                                   .multiplier = 10,
                                   .fail_on_error = *s->fail == 't',
                                   .excluded = &s->excluded,
                                   .n_excluded = *s->excluded != '-' };
    struct fed_asking in = { m, &conf, s->resolver, targets, s->n_members, 0, &random };
    struct fed_asks asks[RECORDED_MAX];
    row_proto *rows[RECORDED_MAX];
    struct sv_error err = { 0 };
    size_t seen = 0;
    int r;

    assert_int_equal(s->refused, m == NULL);
    if (!m)
        return;
    for (size_t i = 0; i < s->n_members; i++)
        targets[i] = target_of(&s->members[i]);
    for (size_t i = 0; i < s->n_asks; i++)
        rows[i] = row_of(s->arena, strtoll(s->asks[i].words[0], NULL, 10), s->asks[i].words[1],
                         (int32_t)strtol(s->asks[i].words[2], NULL, 10));
    r = fed_asks_split(&in, rows, s->n_asks, s->arena, asks, &err);
    if (s->error != (r < 0))
        fail_msg("scenario %u: %d %s", s->number, r, err.text);
    for (size_t i = 0; r == 0 && i < s->n_members; i++)
        check_rows(s, targets[i].id, &asks[i], &seen);
    assert_int_equal(seen, s->n_answers);
}

static void as_java(void **state)
{
    (void)state;
    assert_int_equal(recorded_each("tests/golden/federation/split-3.4.2", compare), 160);
}

/* ---- By hand ---- */

#define WEIGHTS                                                                                    \
    "{\"amrmPolicyWeights\":{\"entry\":[{\"key\":{\"id\":\"SC-1\"},\"value\":0.7},"                \
    "{\"key\":{\"id\":\"SC-2\"},\"value\":0.3}]},\"headroomAlpha\":0}"

static const struct fed_split_conf strict = { .fail_on_error = true };

struct hand {
    struct sv_arena *arena;
    struct fed_manager *manager;
    struct fed_resolver *resolver;
    struct fed_target targets[3];
    row_proto *rows[8];
    size_t n;
    struct fed_asks asks[3];
    struct fed_asking in;
    struct sv_error err;
};

static void set_up(struct hand *h, const char *manager, const char *params)
{
    static const char list[] = "h1,SC-1,/r1\nh2,SC-2,/r2\nh3,SC-3,/r1\n";
    struct fed_resolver_notes notes;

    *h = (struct hand){ .arena = sv_arena_new(0), .manager = manager_of(manager, params) };
    assert_non_null(h->manager);
    assert_int_equal(fed_resolver_parse(list, strlen(list), &h->resolver, &notes, NULL), 0);
    h->targets[0] = (struct fed_target){ .id = "SC-1", .active = true };
    h->targets[1] = (struct fed_target){ .id = "SC-2", .active = true };
    h->targets[2] = (struct fed_target){ .id = "SC-3", .active = true };
    h->in = (struct fed_asking){ h->manager, &strict, h->resolver,       h->targets,
                                 3,          0,       &fed_random_kernel };
}

static void tear_down(struct hand *h)
{
    fed_manager_free(h->manager);
    fed_resolver_free(h->resolver);
    sv_arena_free(h->arena);
}

static void ask(struct hand *h, int64_t id, const char *name, int32_t n)
{
    h->rows[h->n++] = row_of(h->arena, id, name, n);
}

static int split(struct hand *h)
{
    h->err = (struct sv_error){ 0 };
    return fed_asks_split(&h->in, h->rows, h->n, h->arena, h->asks, &h->err);
}

static void whole_lists(void **state)
{
    struct hand h;

    (void)state;
    set_up(&h, "UniformBroadcast", NULL);
    ask(&h, 0, "*", 10);
    h.targets[1].active = false;
    assert_int_equal(split(&h), 0);
    assert_ptr_equal(h.asks[0].rows, h.rows);
    assert_int_equal(h.asks[1].n, 0);
    assert_ptr_equal(h.asks[2].rows, h.rows);
    h.targets[0].active = h.targets[2].active = false;
    assert_int_equal(split(&h), -EHOSTUNREACH);
    assert_non_null(strstr(h.err.text, "no sub-cluster is active"));
    tear_down(&h);

    set_up(&h, "Home", "{}");
    ask(&h, 0, "*", 10);
    h.in.home = 1;
    assert_int_equal(split(&h), 0);
    assert_int_equal(h.asks[0].n + h.asks[2].n, 0);
    assert_int_equal(h.asks[1].n, 1);
    h.targets[1].active = false;
    assert_int_equal(split(&h), -EHOSTUNREACH);
    assert_non_null(strstr(h.err.text, "SC-2 is not active"));
    tear_down(&h);

    set_up(&h, "RejectAll", NULL);
    ask(&h, 0, "*", 10);
    assert_int_equal(split(&h), -EPERM);
    tear_down(&h);
}

static void by_weight(void **state)
{
    struct hand h;

    (void)state;
    set_up(&h, "WeightedLocality", WEIGHTS);
    ask(&h, 0, "*", 10);
    assert_int_equal(split(&h), 0);
    assert_int_equal(h.asks[0].rows[0]->num_containers, 7);
    assert_int_equal(h.asks[1].rows[0]->num_containers, 3);
    assert_int_equal(h.asks[2].n, 0); /* no weight */
    assert_int_equal(h.rows[0]->num_containers, 10);
    h.targets[0].timed_out = true;
    assert_int_equal(split(&h), 0);
    assert_int_equal(h.asks[0].n, 0);
    assert_int_equal(h.asks[1].rows[0]->num_containers, 10);
    h.targets[1].timed_out = true; /* all: as if none were */
    assert_int_equal(split(&h), 0);
    assert_int_equal(h.asks[0].rows[0]->num_containers, 7);
    h.targets[0].active = h.targets[1].active = false;
    assert_int_equal(split(&h), -EHOSTUNREACH);
    assert_non_null(strstr(h.err.text, "amrmPolicyWeights"));
    tear_down(&h);
}

/* A cancelled request is cancelled wherever an earlier one may be, timed out or without weight. */
static void cancelled(void **state)
{
    struct hand h;

    (void)state;
    set_up(&h, "WeightedLocality", WEIGHTS);
    ask(&h, 0, "*", 0);
    h.targets[2].answered = h.targets[0].answered = true;
    h.targets[0].timed_out = true;
    assert_int_equal(split(&h), 0);
    assert_int_equal(h.asks[0].n, 1);
    assert_int_equal(h.asks[1].n, 0);
    assert_int_equal(h.asks[2].n, 1);
    tear_down(&h);
}

static void hostile_rows(void **state)
{
    static const int64_t ids[] = { INT64_MIN, -1, 0, INT64_MAX }; /* at their ends, as counts */
    struct sv_arena *small = sv_arena_new(512);
    struct hand h;

    (void)state;
    set_up(&h, "UniformBroadcast", NULL);
    ask(&h, 0, "a\nb", -1);
    assert_int_equal(split(&h), -EINVAL);
    assert_non_null(strstr(h.err.text, "for a\\x0ab asks for -1"));
    h.rows[0]->resource_name = NULL;
    assert_int_equal(split(&h), -EINVAL);
    tear_down(&h);

    set_up(&h, "WeightedLocality", WEIGHTS);
    for (size_t i = 0; i < SV_ARRAY_LEN(ids); i++)
        ask(&h, ids[i], i % 2 ? "h1" : "*", INT32_MAX);
    assert_int_equal(split(&h), 0);
    assert_int_equal(fed_asks_split(&h.in, h.rows, h.n, small, h.asks, &h.err), -ENOMEM);
    sv_arena_free(small);
    tear_down(&h);
}

/* Rows times members is what costs memory. */
static void too_many_places(void **state)
{
    enum { MEMBERS = 1000, ROWS = 1100 };
    struct fed_target *targets = calloc(MEMBERS, sizeof(*targets));
    struct fed_asks *asks = calloc(MEMBERS, sizeof(*asks));
    row_proto **rows = calloc(ROWS, sizeof(*rows));
    struct sv_error err = { 0 };
    struct hand h;

    (void)state;
    set_up(&h, "WeightedLocality", WEIGHTS);
    assert_true(targets && asks && rows);
    for (size_t i = 0; i < MEMBERS; i++)
        targets[i] =
            (struct fed_target){ .id = i ? "SC-2" : "SC-1", .active = true, .answered = true };
    h.in.targets = targets;
    h.in.n_targets = MEMBERS;
    sv_arena_free(h.arena);
    h.arena = sv_arena_new(1u << 30);
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = row_of(h.arena, (int64_t)i, "*", 0);
    assert_int_equal(fed_asks_split(&h.in, rows, ROWS, h.arena, asks, &err), -E2BIG);
    assert_non_null(strstr(err.text, "1100 resource requests"));
    assert_int_equal(fed_asks_split(&h.in, rows, 10, h.arena, asks, &err), 0);
    free(targets);
    free(asks);
    free(rows);
    tear_down(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_java),      cmocka_unit_test(whole_lists),
        cmocka_unit_test(by_weight),    cmocka_unit_test(cancelled),
        cmocka_unit_test(hostile_rows), cmocka_unit_test(too_many_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
