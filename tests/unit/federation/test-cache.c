/* federation/cache.c over a store that answers when the test says so: how long answers are kept,
 * equal questions, a store that is away, limits, cancelling. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "federation/cache.h"

#define TTL_MS 300000

/* ---- The store ---- */

static struct {
    enum fed_op op;
    char key[64];
    fed_done done;
    void *userdata;
} calls[64];
static size_t n_calls, n_open;
static bool refuse_calls;

int __wrap_fed_store_call(struct fed_store *s, const struct fed_request *q, fed_done done,
                          void *userdata, uint64_t *ret_call);
bool __wrap_fed_store_cancel(struct fed_store *s, uint64_t call);

int __wrap_fed_store_call(struct fed_store *s, const struct fed_request *q, fed_done done,
                          void *userdata, uint64_t *ret_call)
{
    assert_null(s);
    if (refuse_calls)
        return -ENOMEM;
    assert_true(n_calls < SV_ARRAY_LEN(calls));
    calls[n_calls].op = q->op;
    calls[n_calls].done = done;
    calls[n_calls].userdata = userdata;
    if (q->op == FED_POLICY_GET)
        snprintf(calls[n_calls].key, sizeof(calls[0].key), "%s", q->policy.queue);
    n_open++;
    *ret_call = ++n_calls;
    return 0;
}

/* The store answers the call of that number, from 1. */
static void answer(size_t call, struct fed_answer a)
{
    fed_done done = calls[call - 1].done;

    assert_non_null(done);
    calls[call - 1].done = NULL;
    n_open--;
    if (!a.reason)
        a.reason = "";
    done(&a, calls[call - 1].userdata);
}

bool __wrap_fed_store_cancel(struct fed_store *s, uint64_t call)
{
    (void)s;
    answer(call, (struct fed_answer){ .error = -ECANCELED });
    return true;
}

static void answer_members(size_t call, size_t n)
{
    static const char *const ids[] = { "SC-1", "SC-2", "SC-3" };
    struct fed_member v[3];

    for (size_t i = 0; i < n; i++)
        v[i] = (struct fed_member){ ids[i], "a:1", "c:1", "d:1", "w:1", FED_RUNNING, 1, 2, "{}" };
    answer(call, (struct fed_answer){ .n = n, .members = v });
    memset(v, 0xff, sizeof(v)); /* the cache must have copied it */
}

static void answer_away(size_t call)
{
    answer(call, (struct fed_answer){ .error = -EHOSTDOWN, .reason = "store: away" });
}

/* ---- Questions ---- */

static struct heard {
    size_t n;
    int error;
    size_t records;
    char id[64];
} heard;

static void hear(struct heard *h, const struct fed_answer *a, const char *id)
{
    h->n++;
    h->error = a->error;
    h->records = a->n;
    snprintf(h->id, sizeof(h->id), "%s", id);
}

static void on_members(const struct fed_answer *a, void *userdata)
{
    hear(userdata, a, a->n ? a->members[a->n - 1].id : "");
}

static void on_policy(const struct fed_answer *a, void *userdata)
{
    hear(userdata, a, a->n ? a->policies->type : "");
}

static void on_home(const struct fed_answer *a, void *userdata)
{
    hear(userdata, a, a->n ? a->homes->home : "");
}

static const struct fed_request all = { .op = FED_MEMBER_LIST };

static struct fed_request one(const char *id)
{
    return (struct fed_request){ .op = FED_MEMBER_GET, .member = { .id = id } };
}

static struct fed_request queue(const char *name)
{
    return (struct fed_request){ .op = FED_POLICY_GET, .policy = { .queue = name } };
}

static struct fed_request app(int32_t id)
{
    return (struct fed_request){ .op = FED_HOME_GET, .home = { .app = { 1, id } } };
}

static int get(struct fed_cache *c, struct fed_request q)
{
    fed_done done = q.op == FED_POLICY_GET ? on_policy
                    : q.op == FED_HOME_GET ? on_home
                                           : on_members;

    return fed_cache_get(c, &q, done, &heard, NULL);
}

static int64_t now;
static void pass(int64_t ms)
{
    now += ms;
    sv_clock_set_test(now, now);
}

static int setup(void **state)
{
    n_calls = n_open = 0;
    refuse_calls = false;
    heard = (struct heard){ 0 };
    pass(1000);
    *state = fed_cache_new(NULL, TTL_MS, 3);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    fed_cache_free(*state);
    assert_int_equal(n_open, 0);
    sv_clock_reset();
    return 0;
}

/* ---- Tests ---- */

static void kept_for_a_while(void **state)
{
    struct fed_cache *c = *state;

    assert_null(fed_cache_members(c));
    assert_int_equal(get(c, all), 0);
    assert_int_equal(get(c, one("SC-2")), 0); /* one call for both */
    assert_int_equal(n_calls, 1);
    assert_int_equal(calls[0].op, FED_MEMBER_LIST);
    assert_int_equal(heard.n, 0);
    answer_members(1, 3);
    assert_int_equal(heard.n, 2);
    assert_string_equal(heard.id, "SC-2");
    assert_int_equal(get(c, all), 1);
    assert_int_equal(heard.records, 3);
    assert_string_equal(heard.id, "SC-3");
    assert_int_equal(get(c, one("SC-4")), 1);
    assert_int_equal(heard.error, -ENOENT);
    pass(TTL_MS - 1);
    assert_int_equal(get(c, all), 1);
    pass(1);
    assert_int_equal(get(c, all), 0);
    answer_members(2, 1);
    assert_int_equal(heard.records, 1);
    assert_int_equal(fed_cache_members(c)->n, 1);
    fed_cache_flush(c, &(struct fed_request){ .op = FED_MEMBER_GET, .member = { .id = "x" } });
    assert_int_equal(get(c, all), 0);
    answer_members(3, 2);
    assert_int_equal(heard.records, 2);
}

static void policies(void **state)
{
    struct fed_cache *c = *state;
    struct fed_policy row = { "a", "Type", (const uint8_t *)"{}", 2 };

    assert_int_equal(get(c, queue("a")), 0);
    assert_int_equal(get(c, queue("b")), 0);
    assert_string_equal(calls[1].key, "b");
    answer(1, (struct fed_answer){ .n = 1, .policies = &row });
    answer(2, (struct fed_answer){ .error = -ENOENT });
    assert_int_equal(get(c, queue("a")), 1);
    assert_string_equal(heard.id, "Type");
    assert_int_equal(get(c, queue("b")), 1); /* that it has none is known */
    assert_int_equal(heard.error, -ENOENT);
    fed_cache_flush(c, &(struct fed_request){ .op = FED_POLICY_GET, .policy = { .queue = "a" } });
    assert_int_equal(get(c, queue("b")), 1);
    assert_int_equal(get(c, queue("a")), 0);
    answer(3, (struct fed_answer){ .error = -EBADMSG, .reason = "broken" });
    assert_int_equal(heard.error, -EBADMSG);
    assert_int_equal(get(c, queue("a")), 0); /* an error is not kept */
    answer(4, (struct fed_answer){ .n = 1, .policies = &row });
}

static void homes(void **state)
{
    struct fed_cache *c = *state;
    struct fed_home home = { { 1, 1 }, "SC-1", 5, (const uint8_t *)"ctx", 3 };

    assert_int_equal(get(c, app(1)), 0);
    answer(1, (struct fed_answer){ .error = -ENOENT });
    assert_int_equal(heard.error, -ENOENT);
    assert_int_equal(get(c, app(1)), 0); /* it may be submitted any moment */
    answer(2, (struct fed_answer){ .n = 1, .homes = &home });
    assert_int_equal(get(c, app(1)), 1);
    pass(TTL_MS);
    assert_int_equal(get(c, app(1)), 0);
    answer_away(3);
    assert_int_equal(heard.error, -EHOSTDOWN);
    assert_string_equal(fed_cache_away(c), "store: away");
    /* Three others: the first is forgotten. */
    for (int32_t i = 2; i <= 4; i++) {
        assert_int_equal(get(c, app(i)), 0);
        answer(n_calls, (struct fed_answer){ .n = 1, .homes = &home });
    }
    assert_string_equal(fed_cache_away(c), "");
    assert_int_equal(get(c, app(2)), 1);
    assert_int_equal(get(c, app(1)), 0);
    answer(n_calls, (struct fed_answer){ .n = 1, .homes = &home });
    assert_int_equal(get(c, app(2)), 1); /* used since */
    assert_int_equal(get(c, app(3)), 0);
    answer(n_calls, (struct fed_answer){ .n = 1, .homes = &home });
}

/* The last members are given on, and the store asked once a second. */
static void away(void **state)
{
    struct fed_cache *c = *state;

    assert_int_equal(get(c, all), 0);
    answer_away(1);
    assert_int_equal(heard.error, -EHOSTDOWN); /* there was nothing */
    assert_int_equal(get(c, all), 0);
    answer_members(2, 2);
    pass(TTL_MS);
    assert_int_equal(get(c, all), 0);
    answer_away(3);
    assert_int_equal(heard.error, 0);
    assert_int_equal(heard.records, 2);
    assert_string_equal(fed_cache_away(c), "store: away");
    assert_int_equal(get(c, all), 1);
    pass(FED_CACHE_RETRY_MS);
    assert_int_equal(get(c, all), 0);
    answer_members(4, 3);
    assert_int_equal(heard.records, 3);
    assert_string_equal(fed_cache_away(c), "");
}

static void off(void **state)
{
    struct fed_cache *c = fed_cache_new(NULL, 0, 3);

    (void)state;
    for (size_t i = 1; i <= 3; i++) {
        assert_int_equal(get(c, all), 0);
        answer_members(i, 1);
        assert_int_equal(heard.n, i);
    }
    fed_cache_free(c);
}

static void cancelled(void **state)
{
    struct fed_cache *c = *state;
    struct fed_request q = queue("a");
    uint64_t first, second;

    assert_int_equal(fed_cache_get(c, &q, on_policy, &heard, &first), 0);
    assert_int_equal(fed_cache_get(c, &q, on_policy, &heard, &second), 0);
    assert_true(fed_cache_cancel(c, first));
    assert_false(fed_cache_cancel(c, first));
    answer(1, (struct fed_answer){ .error = -ENOENT });
    assert_int_equal(heard.n, 1);
    assert_false(fed_cache_cancel(c, second));
    assert_int_equal(get(c, queue("b")), 0); /* open at the end: told -ECANCELED */
    assert_int_equal(get(c, app(1)), 0);
    assert_int_equal(heard.n, 1);
}

static void ended(void **state)
{
    struct fed_cache *c = fed_cache_new(NULL, TTL_MS, 3);

    (void)state;
    assert_int_equal(get(c, all), 0);
    assert_int_equal(get(c, queue("b")), 0);
    fed_cache_free(c);
    assert_int_equal(heard.n, 2);
    assert_int_equal(heard.error, -ECANCELED);
    assert_null(fed_cache_free(NULL));
}

static struct fed_cache *asking;

/* Asks and cancels from inside of an answer. */
static void on_first(const struct fed_answer *a, void *userdata)
{
    assert_int_equal(a->n, 2);
    assert_int_equal(get(asking, one("SC-1")), 1);
    assert_string_equal(heard.id, "SC-1");
    assert_true(fed_cache_cancel(asking, *(uint64_t *)userdata));
    for (int32_t i = 1; i < 6; i++) /* more than are kept, while this one is in use */
        assert_int_equal(get(asking, app(i)), 0);
    assert_string_equal(a->members[0].id, "SC-1");
}

static void from_inside(void **state)
{
    struct fed_home home = { { 1, 1 }, "SC-1", 5, NULL, 0 };
    uint64_t second;

    asking = *state;
    assert_int_equal(fed_cache_get(asking, &all, on_first, &second, NULL), 0);
    assert_int_equal(fed_cache_get(asking, &all, on_members, &heard, &second), 0);
    answer_members(1, 2);
    assert_int_equal(heard.n, 1);
    for (size_t i = 2; i <= 6; i++)
        answer(i, (struct fed_answer){ .n = 1, .homes = &home });
    assert_int_equal(heard.n, 6);
}

static void refused(void **state)
{
    struct fed_cache *c = *state;

    assert_int_equal(get(c, (struct fed_request){ .op = FED_KEY_GET }), -EINVAL);
    refuse_calls = true;
    assert_int_equal(get(c, all), -ENOMEM);
    assert_int_equal(heard.n, 0);
    refuse_calls = false;
    assert_int_equal(get(c, all), 0);
    answer_members(1, 0);
    assert_int_equal(heard.records, 0);
    assert_int_equal(get(c, all), 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(kept_for_a_while), CASE(policies), CASE(homes),       CASE(away),    CASE(off),
        CASE(cancelled),        CASE(ended),    CASE(from_inside), CASE(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
