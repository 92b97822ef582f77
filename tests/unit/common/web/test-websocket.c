/* common/web/websocket.c: the example of RFC 6455, frames both ways, and frames that break its
 * rules. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/web/websocket.h"

static const uint8_t mask[] = { 0x37, 0xfa, 0x21, 0x3d };

static void test_accept(void **state)
{
    char proof[SV_WS_ACCEPT_MAX];
    (void)state;
    assert_int_equal(sv_ws_accept("dGhlIHNhbXBsZSBub25jZQ==", proof), 0);
    assert_string_equal(proof, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    static const char *const wrong[] = { "",
                                         "dGhlIHNhbXBsZSBub25j",
                                         "dGhlIHNhbXBsZSBub25jZQ=",
                                         "dGhlIHNhbXBsZSBub25jZTE2",
                                         "dGhlIHNhbXBsZSBub25j\nQ==",
                                         "dGhlIHNhbXBsZSBub25jZQ==dGhlIHNhbXBsZSBub25jZQ==" };
    for (size_t i = 0; i < SV_ARRAY_LEN(wrong); i++)
        assert_int_equal(sv_ws_accept(wrong[i], proof), -EINVAL);
}

/* Examples of RFC 6455, 5.7. */
static void test_examples(void **state)
{
    static const uint8_t hello[] = { 0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d,
                                     0x7f, 0x9f, 0x4d, 0x51, 0x58 };
    static const uint8_t parts[] = { 0x01, 0x03, 'H', 'e', 'l', 0x80, 0x02, 'l', 'o' };
    struct sv_ws_reader client = { .masked = true }, server = { .masked = false };
    _cleanup_buf_ struct sv_buf in = SV_BUF_INIT(1 << 20), out = SV_BUF_INIT(1 << 20);
    struct sv_ws_frame f;
    (void)state;
    assert_int_equal(sv_ws_put(&out, SV_WS_TEXT, mask, "Hello", 5), 0);
    assert_int_equal(out.len, sizeof(hello));
    assert_memory_equal(out.data, hello, sizeof(hello));
    for (size_t i = 0; i < sizeof(hello); i++) { /* byte by byte */
        assert_int_equal(sv_ws_read(&client, &in, &f), 0);
        assert_int_equal(sv_buf_put_u8(&in, hello[i]), 0);
    }
    assert_int_equal(sv_ws_read(&client, &in, &f), 1);
    assert_true(f.opcode == SV_WS_TEXT && f.first && f.last && f.len == 5);
    assert_memory_equal(f.data, "Hello", 5);
    assert_int_equal(sv_ws_read(&client, &in, &f), 0);
    assert_int_equal(sv_buf_put(&in, parts, sizeof(parts)), 0);
    assert_int_equal(sv_ws_read(&server, &in, &f), 1);
    assert_true(f.opcode == SV_WS_TEXT && f.first && !f.last && f.len == 3);
    assert_int_equal(sv_ws_read(&server, &in, &f), 1);
    assert_true(f.opcode == SV_WS_TEXT && !f.first && f.last && f.len == 2);
    assert_memory_equal(f.data, "lo", 2);
}

static void test_sizes(void **state)
{
    static const size_t sizes[] = { 0, 1, 125, 126, 127, 65535, 65536 };
    static uint8_t data[SV_WS_FRAME_MAX + 1];
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(sizes); i++)
        for (int masked = 0; masked < 2; masked++) {
            _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(SV_WS_FRAME_MAX + SV_WS_HEAD_MAX);
            struct sv_ws_reader r = { .masked = masked };
            struct sv_ws_frame f;
            memset(data, 'x', sizeof(data));
            assert_int_equal(sv_ws_put(&b, SV_WS_BINARY, masked ? mask : NULL, data, sizes[i]), 0);
            if (sizes[i] > 100) /* else it fits, too */
                assert_int_equal(sv_ws_put(&b, SV_WS_BINARY, NULL, data, SV_WS_FRAME_MAX),
                                 -EMSGSIZE);
            assert_int_equal(sv_ws_read(&r, &b, &f), 1);
            assert_int_equal(f.len, sizes[i]);
            assert_memory_equal(f.data, data, f.len);
            assert_int_equal(sv_buf_left(&b), 0);
        }
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    assert_int_equal(sv_ws_put(&b, SV_WS_BINARY, NULL, data, sizeof(data)), -EMSGSIZE);
}

static int read_bytes(bool masked, enum sv_ws_opcode under, const char *bytes, size_t n)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1024);
    struct sv_ws_reader r = { .masked = masked, .under = under };
    struct sv_ws_frame f;
    assert_int_equal(sv_buf_put(&b, bytes, n), 0);
    int k = sv_ws_read(&r, &b, &f);
    assert_true(k > 0 || b.pos == 0);
    return k;
}

#define BYTES(s) s, sizeof(s) - 1

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(read_bytes(true, 0, BYTES("\x81\x01x")), -EBADMSG); /* not masked */
    assert_int_equal(read_bytes(false, 0,
                                BYTES("\x81\x81"
                                      "abcdx")),
                     -EBADMSG);                                           /* masked */
    assert_int_equal(read_bytes(false, 0, BYTES("\xc1\x01x")), -EBADMSG); /* reserved bits */
    assert_int_equal(read_bytes(false, 0, BYTES("\x91\x01x")), -EBADMSG);
    assert_int_equal(read_bytes(false, 0, BYTES("\x83\x01x")), -EBADMSG); /* opcodes 3 and 11 */
    assert_int_equal(read_bytes(false, 0, BYTES("\x8b\x01x")), -EBADMSG);
    assert_int_equal(read_bytes(false, 0, BYTES("\x80\x01x")), -EBADMSG); /* continues nothing */
    assert_int_equal(read_bytes(false, SV_WS_TEXT, BYTES("\x81\x01x")), -EBADMSG); /* interrupts */
    assert_int_equal(read_bytes(false, SV_WS_TEXT, BYTES("\x80\x01x")), 1);
    assert_int_equal(read_bytes(false, SV_WS_TEXT, BYTES("\x89\x01x")), 1);      /* as a ping may */
    assert_int_equal(read_bytes(false, 0, BYTES("\x09\x01x")), -EBADMSG);        /* in parts */
    assert_int_equal(read_bytes(false, 0, BYTES("\x89\x7e\x00\x7e")), -EBADMSG); /* large control */
    assert_int_equal(read_bytes(false, 0, BYTES("\x81\x7e\x00\x05hello")), -EBADMSG); /* forms */
    assert_int_equal(read_bytes(false, 0, BYTES("\x81\x7f\0\0\0\0\0\0\xff\xff")), -EBADMSG);
    assert_int_equal(read_bytes(false, 0, BYTES("\x81\x7f\x80\0\0\0\0\1\0\0")), -EBADMSG);
    assert_int_equal(read_bytes(false, 0, BYTES("\x81\x7f\0\0\0\0\0\1\0\1")), -EMSGSIZE);
    assert_int_equal(read_bytes(false, 0, BYTES("\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff")),
                     -EMSGSIZE);
}

static void test_close(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1024);
    struct sv_ws_reader r = { .masked = false };
    struct sv_ws_frame f;
    char words[200];
    (void)state;
    memset(words, 'w', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    assert_int_equal(sv_ws_put_close(&b, NULL, SV_WS_POLICY, words), 0);
    assert_int_equal(sv_ws_read(&r, &b, &f), 1);
    assert_true(f.opcode == SV_WS_CLOSE && f.len == 125);
    assert_memory_equal(f.data, "\x03\xf0www", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accept), cmocka_unit_test(test_examples),
        cmocka_unit_test(test_sizes),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
