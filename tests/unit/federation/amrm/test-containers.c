/* federation/amrm/containers.c: each state of a container, staging and undoing, bounds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "federation/amrm/containers.h"

#define APP ((struct yarn_app_id){ 1000, 7 })

static struct yarn_container_id id_of(int64_t n)
{
    return (struct yarn_container_id){ { APP, 1 }, n };
}

static void keep(struct fed_containers *c)
{
    int r = FED_MORE;

    while (r == FED_MORE) {
        struct fed_budget b = { 16 };

        r = fed_containers_keep(c, &b);
    }
    assert_int_equal(r, 0);
}

static enum fed_seen live(struct fed_containers *c, int64_t n, size_t member)
{
    enum fed_seen seen;

    assert_int_equal(fed_containers_live(c, id_of(n), member, &seen), 0);
    return seen;
}

static enum fed_seen end(struct fed_containers *c, int64_t n, size_t member)
{
    enum fed_seen seen;

    assert_int_equal(fed_containers_end(c, id_of(n), member, &seen), 0);
    return seen;
}

static void one_life(void **state)
{
    struct fed_containers *c = fed_containers_new(APP);

    (void)state;
    assert_int_equal(fed_containers_owner(c, id_of(1)), -ENOENT);
    assert_int_equal(live(c, 1, 2), FED_FRESH);
    assert_int_equal(live(c, 1, 2), FED_REPEATED);
    assert_int_equal(live(c, 1, 3), FED_FOREIGN);
    keep(c);
    assert_int_equal(live(c, 1, 2), FED_REPEATED);
    assert_int_equal(fed_containers_owner(c, id_of(1)), 2);
    assert_int_equal(fed_containers_count(c), 1);
    assert_int_equal(end(c, 1, 3), FED_FOREIGN);
    assert_int_equal(end(c, 1, 2), FED_FRESH);
    assert_int_equal(end(c, 1, 2), FED_REPEATED);
    keep(c);
    assert_int_equal(end(c, 1, 2), FED_REPEATED);
    assert_int_equal(live(c, 1, 2), FED_REPEATED);
    assert_int_equal(live(c, 1, 3), FED_FOREIGN);
    assert_int_equal(fed_containers_owner(c, id_of(1)), -ENOENT);
    assert_int_equal(fed_containers_count(c), 0);
    assert_true(fed_containers_may(c, id_of(1), 2));
    assert_false(fed_containers_may(c, id_of(1), 3));
    fed_containers_free(c);
}

static void undone(void **state)
{
    struct fed_containers *c = fed_containers_new(APP);

    (void)state;
    assert_int_equal(live(c, 1, 0), FED_FRESH);
    assert_int_equal(end(c, 1, 0), FED_FRESH);
    assert_int_equal(end(c, 2, 0), FED_FRESH);
    fed_containers_undo(c);
    assert_int_equal(fed_containers_count(c), 0);
    assert_int_equal(live(c, 1, 1), FED_FRESH); /* nobody's again */
    keep(c);
    assert_int_equal(end(c, 1, 1), FED_FRESH);
    fed_containers_undo(c);
    assert_int_equal(fed_containers_owner(c, id_of(1)), 1);
    assert_int_equal(end(c, 1, 1), FED_FRESH);
    keep(c);
    assert_int_equal(fed_containers_count(c), 0);
    fed_containers_free(c);
}

/* Listed by its member: it is there, and is told once the member allocates it. */
static void listed(void **state)
{
    struct fed_containers *c = fed_containers_new(APP);
    enum fed_seen seen;

    (void)state;
    assert_int_equal(fed_containers_has(c, id_of(1), 4, &seen), 0);
    assert_int_equal(seen, FED_FRESH);
    keep(c);
    assert_int_equal(fed_containers_has(c, id_of(1), 4, &seen), 0);
    assert_int_equal(seen, FED_REPEATED);
    assert_int_equal(fed_containers_has(c, id_of(1), 5, &seen), 0);
    assert_int_equal(seen, FED_FOREIGN);
    assert_int_equal(live(c, 1, 4), FED_FRESH);
    keep(c);
    assert_int_equal(live(c, 1, 4), FED_REPEATED);
    assert_int_equal(fed_containers_end(c, id_of(1), 4, &seen), 0);
    assert_false(fed_containers_has_ended(c, id_of(1)));
    keep(c);
    assert_true(fed_containers_has_ended(c, id_of(1)));
    fed_containers_free(c);
}

/* A recovered container of which the master may not know yet is told once. */
static void known_elsewhere(void **state)
{
    struct fed_containers *c = fed_containers_new(APP);
    struct yarn_container_id other = { { { 1000, 8 }, 1 }, 1 };
    enum fed_seen seen;

    (void)state;
    assert_int_equal(fed_containers_know(c, id_of(1), 4, false), 0);
    assert_int_equal(fed_containers_know(c, id_of(1), 4, false), -EEXIST);
    assert_int_equal(fed_containers_know(c, id_of(2), 4, true), 0);
    assert_int_equal(live(c, 1, 4), FED_FRESH);
    fed_containers_undo(c);
    assert_int_equal(fed_containers_owner(c, id_of(1)), 4);
    assert_int_equal(live(c, 1, 4), FED_FRESH);
    assert_int_equal(live(c, 2, 4), FED_REPEATED);
    keep(c);
    assert_int_equal(live(c, 1, 4), FED_REPEATED);
    assert_int_equal(fed_containers_know(c, other, 4, true), -EXDEV);
    assert_int_equal(fed_containers_live(c, other, 4, &seen), 0);
    assert_int_equal(seen, FED_FOREIGN);
    assert_int_equal(fed_containers_end(c, other, 4, &seen), 0);
    assert_int_equal(seen, FED_FOREIGN);
    assert_false(fed_containers_may(c, other, 4));
    assert_int_equal(fed_containers_owner(c, other), -ENOENT);
    fed_containers_free(c);
}

static void master_has(void **state)
{
    struct fed_containers *c = fed_containers_new(APP);

    (void)state;
    assert_int_equal(fed_containers_know(c, id_of(1), 4, false), 0);
    assert_int_equal(fed_containers_master_has(c, id_of(1), 4, false), 0);
    assert_int_equal(fed_containers_master_has(c, id_of(1), 5, false), -EEXIST);
    assert_int_equal(live(c, 1, 4), FED_REPEATED);
    assert_int_equal(fed_containers_master_has(c, id_of(1), 4, true), 0);
    assert_int_equal(fed_containers_master_has(c, id_of(1), 4, true), 0);
    assert_int_equal(end(c, 1, 4), FED_REPEATED);
    assert_int_equal(fed_containers_master_has(c, id_of(2), 4, true), 0);
    assert_true(fed_containers_has_ended(c, id_of(2)));
    assert_int_equal(live(c, 3, 4), FED_FRESH); /* staged */
    assert_int_equal(fed_containers_master_has(c, id_of(3), 4, true), 0);
    assert_int_equal(end(c, 3, 4), FED_REPEATED);
    keep(c);
    assert_true(fed_containers_has_ended(c, id_of(3)));
    assert_int_equal(fed_containers_count(c), 0);
    fed_containers_free(c);
}

static void of_a_member(void **state)
{
    struct fed_containers *c = fed_containers_new(APP);
    struct yarn_container_id id;
    const void *at = NULL;
    size_t n = 0;

    (void)state;
    for (int64_t i = 10; i < 14; i++)
        assert_int_equal(live(c, i, i % 2 ? 5 : 6), FED_FRESH);
    keep(c);
    assert_int_equal(live(c, 14, 6), FED_FRESH);
    assert_int_equal(end(c, 14, 6), FED_FRESH);
    keep(c);
    while (fed_containers_next(c, 6, &at, &id)) {
        assert_true(id.id == 10 || id.id == 12);
        assert_int_equal(id.attempt.attempt, 1);
        n++;
    }
    assert_int_equal(n, 2);
    at = NULL;
    assert_false(fed_containers_next(c, 7, &at, &id));
    fed_containers_free(c);
}

static void bounds(void **state)
{
    struct fed_containers *c = fed_containers_new(APP);

    (void)state;
    for (int64_t i = 0; i < FED_CONTAINERS_MAX; i++)
        assert_int_equal(live(c, i, 0), FED_FRESH);
    assert_int_equal(live(c, FED_CONTAINERS_MAX, 0), FED_FULL);
    assert_int_equal(fed_containers_know(c, id_of(FED_CONTAINERS_MAX), 0, true), -ENOSPC);
    keep(c);
    assert_int_equal(fed_containers_count(c), FED_CONTAINERS_MAX);
    for (int64_t i = 0; i < FED_ENDED_MAX + 10; i++)
        assert_int_equal(end(c, i, 0), FED_FRESH);
    keep(c);
    assert_int_equal(fed_containers_count(c), FED_CONTAINERS_MAX - FED_ENDED_MAX - 10);
    assert_int_equal(live(c, FED_CONTAINERS_MAX, 0), FED_FRESH);
    fed_containers_free(c);
    assert_null(fed_containers_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_life),   cmocka_unit_test(undone),
        cmocka_unit_test(listed),     cmocka_unit_test(known_elsewhere),
        cmocka_unit_test(master_has), cmocka_unit_test(of_a_member),
        cmocka_unit_test(bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
