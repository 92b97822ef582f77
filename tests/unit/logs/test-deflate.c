/* Tests logs/deflate.h: what zlib reads back is what was put, block by block, whatever the pieces;
 * memory of a long block is bounded by its streams. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "common/buf.h"
#include "logs/deflate.h"

#define ROOM (16u << 20)

static int keep(void *userdata, const void *p, size_t n)
{
    return sv_buf_put(userdata, p, n);
}

static uint8_t text(size_t i)
{
    return (uint8_t) "The quick brown fox. "[i * i % 21 ^ i / 7000 % 4];
}

static void put(struct logs_deflate *d, size_t from, size_t n, size_t piece)
{
    uint8_t *p = malloc(piece);

    assert_non_null(p);
    for (size_t done = 0; done < n;) {
        size_t some = SV_MIN(piece, n - done);

        for (size_t i = 0; i < some; i++)
            p[i] = text(from + done + i);
        assert_int_equal(logs_deflate_put(d, p, some), 0);
        done += some;
    }
    free(p);
}

/* One block is n bytes of text(). Returns its number of streams. */
static size_t expect(struct sv_buf *b, size_t n)
{
    size_t streams = 0, at = 0, out = 0;
    uint8_t *p = malloc(n + 1);

    assert_non_null(p);
    while (at < b->len) {
        uLongf room = n + 1 - out;
        uLong used = b->len - at;

        assert_int_equal(uncompress2(p + out, &room, b->data + at, &used), Z_OK);
        out += room;
        at += used;
        streams++;
    }
    assert_int_equal(out, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(p[i], text(i));
    free(p);
    b->len = 0;
    return streams;
}

static void any_length(void **state)
{
    static const size_t lengths[] = {
        0, 1, 1000, LOGS_MEMBER - 1, LOGS_MEMBER, LOGS_MEMBER + 1, 5 * LOGS_MEMBER + 77
    };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(ROOM);
    const struct logs_sink sink = { keep, &b };
    struct logs_deflate *d = NULL;

    (void)state;
    assert_int_equal(logs_deflate_new(&sink, &d), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(lengths); i++) {
        size_t most = SV_MAX((lengths[i] + LOGS_MEMBER - 1) / LOGS_MEMBER, (size_t)1), streams;

        put(d, 0, lengths[i], 65536 - 3);
        assert_int_equal(logs_deflate_end(d), 0);
        streams = expect(&b, lengths[i]);
        assert_true(streams >= 1 && streams <= most);
    }
    logs_deflate_free(d);
}

/* A pause brings about as much as was wanted, but for the first one, which guesses. */
static void pauses(void **state)
{
    enum { WANTED = 20000 };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(ROOM);
    const struct logs_sink sink = { keep, &b };
    struct logs_deflate *d = NULL;
    size_t n = 0, before, pauses = 0;

    (void)state;
    assert_int_equal(logs_deflate_new(&sink, &d), 0);
    for (int i = 0; i < 300; i++) {
        put(d, n, 10007, 10007);
        n += 10007;
        before = b.len;
        assert_int_equal(logs_deflate_pause(d, WANTED), 0);
        if (b.len == before)
            continue;
        pauses++;
        if (pauses > 1)
            assert_in_range(b.len - before, WANTED / 2, 2 * WANTED);
    }
    before = b.len;
    assert_int_equal(logs_deflate_pause(d, UINT64_MAX / 2), 0);
    assert_int_equal(b.len, before);
    assert_int_equal(logs_deflate_end(d), 0);
    (void)expect(&b, n);
    logs_deflate_free(d);
}

static int full(void *userdata, const void *p, size_t n)
{
    (void)userdata;
    (void)p;
    return n > 0 ? -ENOSPC : 0;
}

static void sink_fails(void **state)
{
    const struct logs_sink sink = { full, NULL };
    struct logs_deflate *d = NULL;
    uint8_t zeros[4096] = { 0 };
    int r = 0;

    (void)state;
    assert_int_equal(logs_deflate_new(&sink, &d), 0);
    for (int i = 0; r == 0 && i < 1 << 20; i++)
        r = logs_deflate_put(d, zeros, sizeof(zeros));
    assert_int_equal(r, -ENOSPC);
    logs_deflate_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_length),
        cmocka_unit_test(pauses),
        cmocka_unit_test(sink_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
