/* federation/amrm/register.c: what a master that registers is told of its sub-clusters. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "federation/amrm/merge.h"

typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto response_proto;

#define APP ((struct yarn_app_id){ 1000, 7 })

static struct sv_arena *arena;

static Hadoop__Yarn__ContainerProto *container_of(int64_t n)
{
    Hadoop__Yarn__ContainerProto *c = sv_new(arena, Hadoop__Yarn__ContainerProto);

    hadoop__yarn__container_proto__init(c);
    c->id = yarn_container_id_to(arena, (struct yarn_container_id){ { APP, 1 }, n });
    return c;
}

static response_proto *response_of(const char *queue, size_t n, const int64_t *containers)
{
    response_proto *m = sv_new(arena, response_proto);
    Hadoop__Yarn__NMTokenProto *token = sv_new(arena, Hadoop__Yarn__NMTokenProto);

    hadoop__yarn__register_application_master_response_proto__init(m);
    hadoop__yarn__nmtoken_proto__init(token);
    m->queue = (char *)(uintptr_t)queue;
    m->containers_from_previous_attempts = sv_newn(arena, Hadoop__Yarn__ContainerProto *, n);
    m->n_containers_from_previous_attempts = n;
    for (size_t i = 0; i < n; i++)
        m->containers_from_previous_attempts[i] = container_of(containers[i]);
    m->nm_tokens_from_previous_attempts = sv_newn(arena, Hadoop__Yarn__NMTokenProto *, 1);
    m->nm_tokens_from_previous_attempts[0] = token;
    m->n_nm_tokens_from_previous_attempts = 1;
    return m;
}

static int set_up(void **state)
{
    *state = fed_merge_new(APP);
    arena = sv_arena_new(0);
    return *state && arena ? 0 : -1;
}

static int tear_down(void **state)
{
    fed_merge_free(*state);
    arena = sv_arena_free(arena);
    return 0;
}

/* A row a turn; the result is that of one go. */
static void join_in_turns(struct fed_merge *m, const struct fed_replies *all,
                          struct fed_registered *ret)
{
    struct fed_budget whole = FED_BUDGET_ALL;
    struct fed_joining *j;
    int r = FED_MORE, turns = 0;

    assert_int_equal(fed_join_begin(m, all, arena, &j), 0);
    for (; r == FED_MORE; turns++) {
        struct fed_budget b = { 1 };

        r = fed_join_run(j, &b, ret);
        assert_true(b.rows >= 0);
    }
    assert_int_equal(r, 0);
    assert_true(turns > 4);
    assert_int_equal(fed_merge_keep(m, &whole), 0);
}

static const int64_t at_home[] = { 1, 2 }, elsewhere[] = { 3, 2 };

static void joined(void **state)
{
    struct fed_merge *m = *state;
    const struct fed_reply replies[] = {
        { .member = 0, .registration = response_of("home", 2, at_home) },
        { .member = 2, .registration = response_of("other", 2, elsewhere) },
    };
    const struct fed_replies all = { .v = replies, .n = 2, .home = 0 };
    const struct fed_replies nothing = { .home = 0 };
    struct fed_registered got;
    struct fed_merged later;
    Hadoop__Yarn__AllocateResponseProto answer;
    struct fed_reply reply = { .member = 2, .answer = &answer };

    for (int twice = 0; twice < 2; twice++) { /* it registers again after a restart of the proxy */
        if (twice)
            join_in_turns(m, &all, &got);
        else
            assert_int_equal(fed_merge_registered(m, &all, arena, &got), 0);
        assert_string_equal(got.response->queue, "home");
        assert_int_equal(got.response->n_containers_from_previous_attempts, 3);
        assert_int_equal(got.response->n_nm_tokens_from_previous_attempts, 2);
        assert_int_equal(got.n_clashes, 1);
        assert_int_equal(got.clashes[0].member, 2);
    }
    /* Told: an answer does not tell them again. */
    hadoop__yarn__allocate_response_proto__init(&answer);
    answer.allocated_containers = replies[1].registration->containers_from_previous_attempts;
    answer.n_allocated_containers = 1;
    assert_int_equal(fed_merge(m, &(struct fed_replies){ .v = &reply, .n = 1 }, arena, &later), 0);
    assert_int_equal(later.answer->n_allocated_containers, 0);
    assert_int_equal(fed_merge_registered(m, &nothing, arena, &got), -EINVAL);
}

/* It registers again: nothing is told with the registration, and all with an answer, once. */
static void again(void **state)
{
    struct fed_merge *m = *state;
    const int64_t ids[] = { 1, 2 };
    const struct fed_reply replies[] = {
        { .member = 0, .registration = response_of("home", 0, NULL) },
        { .member = 2, .registration = response_of("other", 2, ids) },
    };
    Hadoop__Yarn__AllocateResponseProto answer;
    const struct fed_reply more[] = { { .member = 2, .registration = replies[1].registration },
                                      { .member = 2, .answer = &answer } };
    struct fed_registered got;
    struct fed_merged later;

    assert_int_equal(
        fed_merge_registered(m, &(struct fed_replies){ replies, 2, .again = true }, arena, &got),
        0);
    assert_int_equal(got.response->n_containers_from_previous_attempts, 0);
    assert_int_equal(got.response->n_nm_tokens_from_previous_attempts, 2);
    hadoop__yarn__allocate_response_proto__init(&answer);
    answer.allocated_containers = replies[1].registration->containers_from_previous_attempts;
    answer.n_allocated_containers = 1;
    assert_int_equal(fed_merge(m, &(struct fed_replies){ more, 2 }, arena, &later), 0);
    assert_int_equal(later.answer->n_allocated_containers, 1);
    assert_int_equal(fed_merge(m, &(struct fed_replies){ more, 2 }, arena, &later), 0);
    assert_int_equal(later.answer->n_allocated_containers, 0);
}

static void undone(void **state)
{
    struct fed_merge *m = *state;
    const struct fed_reply reply = { .registration = response_of("q", 2, at_home) };
    const struct fed_replies all = { .v = &reply, .n = 1 };
    struct fed_registered got;
    int r = -ENOMEM;

    for (size_t n = 16; r == -ENOMEM; n += 16) {
        struct sv_arena *small = sv_arena_new(n);

        assert_int_equal(fed_containers_count(fed_merge_containers(m)), 0);
        r = fed_merge_registered(m, &all, small, &got);
        sv_arena_free(small);
    }
    assert_int_equal(r, 0);
    assert_int_equal(fed_containers_count(fed_merge_containers(m)), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(joined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(undone, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
