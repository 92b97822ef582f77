/* Tests localizer/gunzip.h: members, headers with everything, what may come behind, and every
 * damage. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/fd.h"
#include "localizer/gunzip.h"

#define ROOM (16u << 20)
#define LONG (3u << 20) /* longer than the buffers of input and output together */

static uint8_t noise(size_t i)
{
    return (uint8_t)(i * 2654435761u >> 24);
}

/* Appends a member of `n` bytes of noise(), from the first on. */
static void add_member(struct sv_buf *b, size_t n, int level)
{
    z_stream z = { 0 };
    size_t cap = n + n / 1000 + 100;
    uint8_t *in = malloc(n + 1), *out = malloc(cap);

    assert_true(in && out);
    for (size_t i = 0; i < n; i++)
        in[i] = noise(i);
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = in;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(sv_buf_put(b, out, cap - z.avail_out), 0);
    (void)deflateEnd(&z); /* only frees, ignoring */
    free(in);
    free(out);
}

/* Reads all; the number of bytes, which are members of `n` bytes of noise(), or the error. */
static ssize_t read_all(struct loc_gunzip *g, size_t n)
{
    const uint8_t *p = NULL;
    const char *why = NULL;
    size_t total = 0;
    ssize_t k;

    while ((k = loc_gunzip_read(g, &p, &why)) > 0)
        for (ssize_t i = 0; i < k; i++, total++)
            if (p[i] != noise(total % SV_MAX(n, (size_t)1)))
                fail_msg("byte %zu is wrong", total);
    assert_true(k == 0 || why);
    (void)loc_gunzip_free(g);
    return k < 0 ? k : (ssize_t)total;
}

/* Unpacks from memory and from a file, alike. */
static ssize_t unpack(const void *data, size_t len, size_t n)
{
    _cleanup_close_ int fd = memfd_create("test", MFD_CLOEXEC);
    struct loc_gunzip *g = NULL;
    int r = loc_gunzip_new(-1, data, len, &g);
    ssize_t total;

    assert_int_equal(write(fd, data, len), len);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    total = r > 0 ? read_all(g, n) : -ENOMSG;
    assert_int_equal(loc_gunzip_new(fd, NULL, 0, &g), r);
    assert_int_equal(r > 0 ? read_all(g, n) : -ENOMSG, total);
    return total;
}

static void members(void **state)
{
    static const size_t lengths[] = { 0, 1, 100, 70000, LONG };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(lengths); i++)
        for (int level = 0; level <= 9; level += 3) {
            _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(ROOM);

            for (int m = 1; m <= 3; m++) {
                add_member(&b, lengths[i], level);
                assert_int_equal(unpack(b.data, b.len, lengths[i]), m * lengths[i]);
            }
        }
}

/* Extra field, name, comment and a checksum of the header, which nobody compares. */
static void long_header(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(ROOM), plain = SV_BUF_INIT(ROOM);
    static uint8_t extra[65535];
    static char name[200000];

    (void)state;
    add_member(&plain, 5000, 6);
    memset(name, 'n', sizeof(name) - 1);
    assert_int_equal(sv_buf_put(&b, "\x1f\x8b\x08\x1f\0\0\0\0\0\x03\xff\xff", 12), 0);
    assert_int_equal(sv_buf_put(&b, extra, sizeof(extra)), 0);
    assert_int_equal(sv_buf_put(&b, name, sizeof(name)), 0);
    assert_int_equal(sv_buf_put(&b, "comment\0\x12\x34", 10), 0);
    assert_int_equal(sv_buf_put(&b, plain.data + 10, plain.len - 10), 0);
    assert_int_equal(unpack(b.data, b.len, 5000), 5000);
    b.data[3] |= 0x20;
    assert_int_equal(unpack(b.data, b.len, 5000), -ENOMSG);
}

static void behind_the_last(void **state)
{
    static const char *const rests[] = { "garbage", "\x1f\x8b", "\x1f\x8b\x08\xe0 reserved bits",
                                         "\x1f\x8b\x09 another method" };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rests); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(ROOM);

        add_member(&b, 5000, 6);
        assert_int_equal(sv_buf_put_str(&b, rests[i]), 0);
        assert_int_equal(unpack(b.data, b.len, 5000), 5000);
    }
}

static void damaged(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(ROOM);

    (void)state;
    add_member(&b, 300, 0);
    for (size_t n = 0; n < b.len; n++)
        assert_int_equal(unpack(b.data, n, 300), n < 10 ? -ENOMSG : -EBADMSG);
    for (size_t i = b.len - 8; i < b.len; i++)
        for (int bit = 0; bit < 8; bit++) { /* checksum and length */
            b.data[i] ^= (uint8_t)(1 << bit);
            assert_int_equal(unpack(b.data, b.len, 300), -EBADMSG);
            b.data[i] ^= (uint8_t)(1 << bit);
        }
    b.data[100] ^= 1;
    assert_int_equal(unpack(b.data, b.len, 300), -EBADMSG);
}

static void counts_what_it_took(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(ROOM);
    struct loc_gunzip *g = NULL;
    const uint8_t *p;
    const char *why;
    ssize_t n;

    (void)state;
    add_member(&b, LONG, 0); /* stored: no byte unpacked comes from less than one */
    assert_int_equal(loc_gunzip_new(-1, b.data, b.len, &g), 1);
    for (uint64_t total = 0; (n = loc_gunzip_read(g, &p, &why)) != 0; total += (uint64_t)n) {
        assert_true(n > 0);
        assert_true(loc_gunzip_packed(g) >= total + (uint64_t)n);
    }
    assert_int_equal(loc_gunzip_packed(g), b.len);
    (void)loc_gunzip_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members),
        cmocka_unit_test(long_header),
        cmocka_unit_test(behind_the_last),
        cmocka_unit_test(damaged),
        cmocka_unit_test(counts_what_it_took),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
