/* Tests hdfs/transfer-message.c: messages of a SASL handshake with a DataNode, sent and received.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/delimited.h"
#include "hdfs/transfer-message.h"
#include "proto/hdfs_datanode.pb-c.h"

#define STATUS(name)                                                                               \
    HADOOP__HDFS__DATA_TRANSFER_ENCRYPTOR_MESSAGE_PROTO__DATA_TRANSFER_ENCRYPTOR_STATUS__##name

/* The bytes that Hadoop's client sends. */
static void test_put(void **state)
{
    static const uint8_t first[] = { 4, 0x08, 0, 0x12, 0 };
    static const uint8_t offer[] = { 9, 0x08, 0, 0x12, 1, 'x', 0x22, 2, 0x08, 2 };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);

    (void)state;
    assert_int_equal(hdfs_transfer_message_put(&b, "", 0, false), 0);
    assert_int_equal(b.len, sizeof(first));
    assert_memory_equal(b.data, first, sizeof(first));
    b.len = 0;
    assert_int_equal(hdfs_transfer_message_put(&b, "x", 1, true), 0);
    assert_int_equal(b.len, sizeof(offer));
    assert_memory_equal(b.data, offer, sizeof(offer));
}

/* ---- A DataNode's message, changed by each case ---- */

static Hadoop__Hdfs__DataTransferEncryptorMessageProto m;
static Hadoop__Hdfs__CipherOptionProto option, *options[2] = { &option, &option };
static uint8_t bytes[HDFS_PAYLOAD_MAX + 1] = "bytes";
static struct hdfs_transfer_message got;
static struct sv_error err;
static struct sv_arena *arena;

static int fill(void **state)
{
    (void)state;
    hadoop__hdfs__data_transfer_encryptor_message_proto__init(&m);
    hadoop__hdfs__cipher_option_proto__init(&option);
    m.has_payload = true;
    m.payload = (ProtobufCBinaryData){ 5, bytes };
    option.suite = HADOOP__HDFS__CIPHER_SUITE_PROTO__AES_CTR_NOPADDING;
    option.has_inkey = option.has_iniv = option.has_outkey = option.has_outiv = true;
    option.inkey = option.outkey = (ProtobufCBinaryData){ 40, bytes };
    option.iniv = option.outiv = (ProtobufCBinaryData){ HDFS_IV, bytes };
    m.cipheroption = options;
    err = (struct sv_error){ 0 };
    return 0;
}

static int empty(void **state)
{
    (void)state;
    arena = sv_arena_free(arena);
    return 0;
}

static int take(bool aes)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    size_t skip = 0, len = 0;

    arena = sv_arena_free(arena);
    arena = sv_arena_new(0);
    assert_int_equal(hdfs_put_delimited(&b, &m.base), 0);
    assert_int_equal(hdfs_delimited(b.data, b.len, &skip, &len), 1);
    return hdfs_transfer_message_take(b.data + skip, len, aes, arena, &got, &err);
}

static void test_take(void **state)
{
    (void)state;
    assert_int_equal(take(false), 0);
    assert_true(got.n == 5 && !got.aes);
    assert_memory_equal(got.payload, "bytes", 5);
    m.has_payload = false;
    assert_int_equal(take(true), 0);
    assert_true(got.n == 0 && got.payload && !got.aes);
    m.n_cipheroption = 1;
    assert_int_equal(take(true), 0);
    assert_true(got.aes && got.to_datanode.n == 40 && got.from_datanode.n == 40);
    assert_memory_equal(got.to_datanode.iv, "bytes", 5);
}

static void test_refused(void **state)
{
    (void)state;
    m.message = (char *)(uintptr_t) "key 7\n";
    m.status = STATUS(ERROR_UNKNOWN_KEY);
    assert_int_equal(take(true), -EKEYREVOKED);
    assert_non_null(strstr(err.text, "the encryption key: key 7"));
    assert_null(strchr(err.text, '\n'));
    m.status = STATUS(ERROR);
    assert_int_equal(take(true), -EACCES);
    m.has_accesstokenerror = true;
    m.accesstokenerror = true;
    assert_int_equal(take(true), -EKEYEXPIRED);
    m.message = NULL;
    assert_int_equal(take(true), -EKEYEXPIRED);
    assert_non_null(strstr(err.text, "no reason given"));
}

#define BAD(words, change)                                                                         \
    do {                                                                                           \
        (void)fill(state);                                                                         \
        m.n_cipheroption = 1;                                                                      \
        change;                                                                                    \
        assert_int_equal(take(true), -EBADMSG);                                                    \
        assert_non_null(strstr(err.text, words));                                                  \
    } while (0)

static void test_bad(void **state)
{
    BAD("too long", m.payload.len = HDFS_PAYLOAD_MAX + 1);
    BAD("more than one", m.n_cipheroption = 2);
    BAD("another cipher", option.suite = HADOOP__HDFS__CIPHER_SUITE_PROTO__SM4_CTR_NOPADDING);
    BAD("another cipher", option.suite = HADOOP__HDFS__CIPHER_SUITE_PROTO__UNKNOWN);
    BAD("wrong length", option.has_inkey = false);
    BAD("wrong length", option.has_outiv = false);
    BAD("wrong length", option.inkey.len = 0);
    BAD("wrong length", option.outkey.len = HDFS_WRAPPED_KEY_MAX + 1);
    BAD("wrong length", option.iniv.len = HDFS_IV - 1);
    BAD("wrong length", option.outiv.len = HDFS_IV + 1);
    (void)fill(state);
    m.n_cipheroption = 1;
    assert_int_equal(take(false), -EBADMSG);
    assert_non_null(strstr(err.text, "was not offered"));
    assert_int_equal(
        hdfs_transfer_message_take((const uint8_t *)"\x12", 1, true, arena, &got, &err), -EBADMSG);
    assert_int_equal(hdfs_transfer_message_take((const uint8_t *)"", 0, true, arena, &got, &err),
                     -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put),
        cmocka_unit_test_setup_teardown(test_take, fill, empty),
        cmocka_unit_test_setup_teardown(test_refused, fill, empty),
        cmocka_unit_test_setup_teardown(test_bad, fill, empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
