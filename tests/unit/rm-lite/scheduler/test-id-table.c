/* rm-lite/scheduler/id-table.c: added ids are found, whatever else is added and removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/id-table.h"

#define N 20000

static bool is(const void *object, const void *id)
{
    return *(const int64_t *)object == *(const int64_t *)id;
}

static bool same_object(const void *object, const void *id)
{
    return object == id;
}

static void test_find(void **state)
{
    static struct rm_id_table t;
    static int64_t *ids[N];
    static bool in[N];
    struct rm_pool pool = RM_POOL_INIT(int64_t);
    uint32_t seed = 7;

    (void)state;
    t.pool = &pool;
    for (int64_t i = 0; i < N; i++) {
        ids[i] = rm_pool_take(&pool);
        assert_non_null(ids[i]);
        *ids[i] = i;
    }
    for (int step = 0; step < 10 * N; step++) {
        size_t k;
        uint64_t hash;

        seed = seed * 1664525u + 1013904223u;
        k = (seed >> 8) % N;
        hash = rm_id_hash(ids[k], 1);
        assert_ptr_equal(rm_id_find(&t, hash, is, ids[k]), in[k] ? ids[k] : NULL);
        if (in[k])
            rm_id_remove(&t, hash, ids[k]);
        else
            rm_id_add(&t, hash, ids[k]);
        in[k] = !in[k];
    }
    for (size_t k = 0; k < N; k++)
        assert_ptr_equal(rm_id_find(&t, rm_id_hash(ids[k], 1), is, ids[k]), in[k] ? ids[k] : NULL);
    rm_id_clear(&t);
    assert_null(rm_id_find(&t, rm_id_hash(ids[0], 1), is, ids[0]));
    rm_pool_free(&pool);
}

/* Runs of entries that begin at each place of a part, also over its end. */
static void test_collisions(void **state)
{
    struct rm_pool pool = RM_POOL_INIT(char);
    struct rm_id_table t = { .pool = &pool };
    char *objects[24];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(objects); i++) {
        objects[i] = rm_pool_take(&pool);
        assert_non_null(objects[i]);
    }
    for (uint64_t first = 0; first < 64; first++) {
        for (size_t i = 0; i < SV_ARRAY_LEN(objects); i++)
            rm_id_add(&t, first + i / 3, objects[i]);
        for (size_t gone = 0; gone < SV_ARRAY_LEN(objects); gone++) {
            rm_id_remove(&t, first + gone / 3, objects[gone]);
            for (size_t i = 0; i < SV_ARRAY_LEN(objects); i++)
                assert_ptr_equal(rm_id_find(&t, first + i / 3, same_object, objects[i]),
                                 i > gone ? objects[i] : NULL);
        }
    }
    rm_id_clear(&t);
    rm_pool_free(&pool);
}

static void test_hash(void **state)
{
    int64_t a[3] = { 1, 2, 3 }, b[3] = { 1, 3, 2 };

    (void)state;
    assert_int_equal(rm_id_hash(a, 3), rm_id_hash(a, 3));
    assert_int_not_equal(rm_id_hash(a, 3), rm_id_hash(b, 3));
    assert_int_not_equal(rm_id_hash(a, 2), rm_id_hash(a, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_hash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
