/* Tests common/arena.c: limits, alignment, overflow, the protobuf-c view. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/arena.h"

static void test_zeroed_and_aligned(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    (void)state;
    assert_non_null(a);
    for (size_t n = 0; n < 9000; n += 37) {
        uint8_t *p = sv_arena_alloc(a, n);

        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, n);
    }
}

static void test_maximum(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(1000);

    (void)state;
    assert_null(sv_arena_alloc(a, 1001));
    assert_null(sv_arena_alloc(a, SIZE_MAX));
    assert_null(sv_arena_alloc(a, SIZE_MAX - 8));
    assert_non_null(sv_arena_alloc(a, 900));
    assert_int_equal(sv_arena_used(a), 912);
    assert_null(sv_arena_alloc(a, 100));
    assert_non_null(sv_arena_alloc(a, 64));
    for (int i = 0; i < 100; i++) /* empty objects count as well */
        (void)sv_arena_alloc(a, 0);
    assert_true(sv_arena_used(a) <= 1000);
    assert_null(sv_arena_alloc(a, 0));
}

static void test_calloc_overflow(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    (void)state;
    assert_null(sv_arena_calloc(a, SIZE_MAX / 2, 3));
    assert_null(sv_arena_calloc(a, SIZE_MAX, SIZE_MAX));
    assert_non_null(sv_arena_calloc(a, 3, 5));
}

static void test_strings(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    char big[20000];

    (void)state;
    memset(big, 'b', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    assert_string_equal(sv_arena_strdup(a, "abc"), "abc");
    assert_null(sv_arena_strdup(a, NULL));
    assert_string_equal(sv_arena_printf(a, "%d-%s", 5, big) + 2, big);
    assert_memory_equal(sv_arena_memdup(a, "x\0y", 3), "x\0y", 3);
}

static void test_large_objects_keep_small_chunk(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    char *one = sv_arena_alloc(a, 16), *two;

    (void)state;
    assert_non_null(sv_arena_alloc(a, 1 << 20));
    two = sv_arena_alloc(a, 16);
    assert_ptr_equal(two, one + 16);
}

static void test_protobuf_view(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(4096);
    ProtobufCAllocator *p = sv_arena_protobuf(a);

    (void)state;
    assert_non_null(p->alloc(p->allocator_data, 0));
    p->free(p->allocator_data, p->alloc(p->allocator_data, 10));
    assert_null(p->alloc(p->allocator_data, 5000));
    assert_null(sv_arena_free(NULL));
}

/* A small arena is reusable, zeroed and with its new maximum; a large one is not. */
static void test_reset(void **state)
{
    (void)state;
    struct sv_arena *a = sv_arena_new(0);
    assert_false(sv_arena_reset(a, 0)); /* nothing to keep */
    memset(sv_arena_alloc(a, 3000), 'x', 3000);
    if (sv_arena_reset(a, 2000)) { /* false with sanitizers */
        assert_int_equal(sv_arena_used(a), 0);
        assert_null(sv_arena_alloc(a, 2001));
        const char *p = sv_arena_alloc(a, 2000);
        assert_non_null(p);
        for (int i = 0; i < 2000; i++)
            assert_int_equal(p[i], 0);
        assert_true(sv_arena_reset(a, 0));
    }
    for (int i = 0; i < 3; i++)
        assert_non_null(sv_arena_alloc(a, 3000));
    assert_false(sv_arena_reset(a, 0));
    sv_arena_free(a);
}

/* Every chunk, also the one of a large object. */
static void test_wipe(void **state)
{
    struct sv_arena *a = sv_arena_new(0);

    (void)state;
    for (int i = 0; i < 3; i++)
        memset(sv_arena_alloc(a, 3000), 's', 3000);
    memset(sv_arena_alloc(a, 100000), 's', 100000);
    assert_null(sv_arena_wipe(a));
    assert_null(sv_arena_wipe(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed_and_aligned),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_wipe),
        cmocka_unit_test(test_maximum),
        cmocka_unit_test(test_calloc_overflow),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_large_objects_keep_small_chunk),
        cmocka_unit_test(test_protobuf_view),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
