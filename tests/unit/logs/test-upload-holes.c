/* Tests logs/upload-holes.c with sparse files in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "logs/upload-holes.h"

#define PAGE 4096u

static void put(int fd, uint64_t at)
{
    assert_int_equal(pwrite(fd, "x", 1, (off_t)at), 1);
}

static int file_of(uint64_t length)
{
    int fd = memfd_create("sparse", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)length), 0);
    return fd;
}

static void test_few_zeros(void **state)
{
    uint64_t zeros = LOGS_ZEROS_MAX;
    struct logs_holes h;
    int fd = file_of(LOGS_ZEROS_MAX);

    (void)state;
    logs_holes_find(fd, 0, &zeros, &h);
    assert_true(h.n == 0 && zeros == LOGS_ZEROS_MAX);
    logs_holes_find(fd, 60 << 20, &zeros, &h);
    assert_true(h.n == 0 && zeros == 4 << 20);
    assert_int_equal(logs_holes_length(&h, 60 << 20), 60 << 20);
    logs_holes_find(fd, 60 << 20, &zeros, &h); /* the next file of the upload */
    assert_true(h.n == 1 && h.v[0].at == 0 && h.v[0].n == 60 << 20 && zeros == 4 << 20);
    logs_holes_find(fd, PAGE, &zeros, &h); /* short ones still fit */
    assert_true(h.n == 0 && zeros == (4 << 20) - PAGE);
    (void)close(fd);
}

static void test_long_holes(void **state)
{
    uint64_t zeros = LOGS_ZEROS_MAX, length = (100ull << 30) + 1;
    char line[LOGS_HOLE_LINE_MAX];
    struct logs_holes h;
    int fd = file_of(length);

    (void)state;
    put(fd, 0);
    put(fd, 50ull << 30);
    logs_holes_find(fd, length, &zeros, &h);
    assert_int_equal(h.n, 2);
    assert_true(h.v[0].at == PAGE && h.v[0].n == (50ull << 30) - PAGE && !h.v[0].rest);
    assert_true(h.v[1].at == (50ull << 30) + PAGE && h.v[1].at + h.v[1].n == length);
    assert_int_equal(zeros, LOGS_ZEROS_MAX);
    assert_true(logs_hole_line(&h.v[0], line) == strlen(line) &&
                strstr(line, "a hole of the file"));
    assert_true(logs_holes_length(&h, length) < 2 * PAGE + 2 * LOGS_HOLE_LINE_MAX);
    (void)close(fd);
}

/* More long holes than are remembered, each a page shorter than it could be: the file ends where
 * the zeros of the others are used up. */
static void test_many_holes(void **state)
{
    uint64_t zeros = LOGS_ZEROS_MAX, step = LOGS_HOLE_MIN + PAGE, length = 1000 * step;
    struct logs_holes h;
    int fd = file_of(length);

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        put(fd, i * step);
    logs_holes_find(fd, length, &zeros, &h);
    assert_int_equal(h.n, LOGS_HOLES_MAX + 1);
    assert_true(h.v[LOGS_HOLES_MAX].rest && h.v[LOGS_HOLES_MAX].at < 130 * step);
    assert_true(h.v[LOGS_HOLES_MAX].at + h.v[LOGS_HOLES_MAX].n == length);
    assert_int_equal(zeros, 0);
    assert_true(logs_holes_length(&h, length) <= LOGS_ZEROS_MAX + 1000 * PAGE);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_few_zeros),
                                        cmocka_unit_test(test_long_holes),
                                        cmocka_unit_test(test_many_holes) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
