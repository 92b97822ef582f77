/* rm-lite/scheduler/pool.c: objects are zero, apart from each other, and at the start of a cache
 * line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/pool.h"

#define N 40000 /* of 144 bytes: more than two of the largest chunks */

struct object {
    size_t number;
    char rest[136];
};

static void test_pool(void **state)
{
    static const char zero[sizeof(struct object)];
    static struct object *all[N];
    struct rm_pool p = RM_POOL_INIT(struct object);

    (void)state;
    for (size_t i = 0; i < N; i++) {
        all[i] = rm_pool_take(&p);
        assert_non_null(all[i]);
        assert_int_equal((uintptr_t)all[i] % 64, 0);
        assert_memory_equal(all[i], zero, sizeof(zero));
        memset(all[i], 0xff, sizeof(*all[i]));
        all[i]->number = i;
    }
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(all[i]->number, i);
        assert_int_not_equal(rm_pool_handle(all[i]), 0);
        assert_ptr_equal(rm_pool_at(&p, rm_pool_handle(all[i])), all[i]);
    }
    for (size_t i = 0; i < N; i += 3)
        rm_pool_give(&p, all[i]);
    for (size_t i = 0; i < N; i += 3) {
        all[i] = rm_pool_take(&p);
        assert_memory_equal(all[i], zero, sizeof(zero));
        memset(all[i], 0xff, sizeof(*all[i]));
        all[i]->number = i;
    }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(all[i]->number, i);
    rm_pool_free(&p);
    assert_non_null(rm_pool_take(&p)); /* it begins anew */
    rm_pool_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pool) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
