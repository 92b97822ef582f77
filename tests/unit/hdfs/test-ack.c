/* Tests hdfs/ack.c: packets as a DataNode checks them, and each way in which an acknowledgement may
 * lie. */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/ack.h"
#include "hdfs/checksum.h"
#include "proto/hdfs_datanode.pb-c.h"

static void a_packet(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    uint8_t data[HDFS_WRITE_CHUNK + 100];
    const Hadoop__Hdfs__PacketHeaderProto *h;
    Hadoop__Hdfs__PacketHeaderProto *unpacked;
    uint32_t length = 0;
    uint16_t head = 0;
    size_t bad;

    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)i;
    assert_int_equal(hdfs_packet_put(&b, 64512, 7, false, data, sizeof(data)), 0);
    assert_int_equal(sv_buf_get_u32(&b, &length), 0);
    assert_int_equal(sv_buf_get_u16(&b, &head), 0);
    assert_int_equal(length, 4 + 2 * HDFS_CHECKSUM_BYTES + sizeof(data));
    h = unpacked = hadoop__hdfs__packet_header_proto__unpack(NULL, head, b.data + b.pos);
    assert_non_null(h);
    assert_int_equal(h->offsetinblock, 64512);
    assert_int_equal(h->seqno, 7);
    assert_false(h->lastpacketinblock);
    assert_int_equal(h->datalen, sizeof(data));
    hadoop__hdfs__packet_header_proto__free_unpacked(unpacked, NULL);
    b.pos += head;
    assert_int_equal(sv_buf_left(&b), length - 4);
    assert_int_equal(hdfs_checksum_verify(HDFS_CHECKSUM_CRC32C, HDFS_WRITE_CHUNK, b.data + b.pos,
                                          b.data + b.pos + 2 * HDFS_CHECKSUM_BYTES, sizeof(data),
                                          &bad),
                     0);
}

static void the_last_packet(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    uint32_t length = 0;
    uint16_t head = 0;

    (void)state;
    assert_int_equal(hdfs_packet_put(&b, 100, 1, true, NULL, 0), 0);
    assert_int_equal(sv_buf_get_u32(&b, &length), 0);
    assert_int_equal(sv_buf_get_u16(&b, &head), 0);
    assert_int_equal(length, 4);
    assert_int_equal(sv_buf_left(&b), head);
}

struct ack {
    int64_t seqno;
    Hadoop__Hdfs__Status reply[4];
    size_t n;
};

static int check(struct ack a, size_t *ret_bad)
{
    Hadoop__Hdfs__PipelineAckProto m = HADOOP__HDFS__PIPELINE_ACK_PROTO__INIT;
    struct sv_error err = { 0 };
    uint8_t buf[128];
    int r;

    m.seqno = a.seqno;
    m.reply = a.reply;
    m.n_reply = a.n;
    r = hdfs_ack_check(buf, hadoop__hdfs__pipeline_ack_proto__pack(&m, buf), 3, 5, ret_bad, &err);
    assert_true((r < 0) == (err.text[0] != 0));
    return r;
}

#define OK HADOOP__HDFS__STATUS__SUCCESS
#define ERROR HADOOP__HDFS__STATUS__ERROR

static void acknowledgements(void **state)
{
    size_t bad;

    (void)state;
    assert_int_equal(check((struct ack){ 5, { OK, OK, OK }, 3 }, &bad), 1);
    assert_int_equal(check((struct ack){ -1, { OK, OK, OK }, 3 }, &bad), 0);
    assert_int_equal(check((struct ack){ 5, { OK, ERROR }, 2 }, &bad), -EIO);
    assert_int_equal(bad, 1);
    assert_int_equal(check((struct ack){ -2, { OK, OK, ERROR }, 3 }, &bad), -EIO);
    assert_int_equal(bad, 2);
    assert_int_equal(
        check((struct ack){ 5, { HADOOP__HDFS__STATUS__OOB_RESTART, OK, OK }, 3 }, &bad), -EIO);
    assert_int_equal(bad, 0);
    assert_int_equal(check((struct ack){ 5, { OK, OK }, 2 }, &bad), -EBADMSG);
    assert_int_equal(check((struct ack){ 5, { OK, OK, OK, OK }, 4 }, &bad), -EBADMSG);
    assert_int_equal(check((struct ack){ 5, { OK }, 0 }, &bad), -EBADMSG);
    assert_int_equal(check((struct ack){ 4, { OK, OK, OK }, 3 }, &bad), -EBADMSG);
    assert_int_equal(check((struct ack){ 6, { OK, OK, OK }, 3 }, &bad), -EBADMSG);
    assert_int_equal(check((struct ack){ INT64_MIN, { OK, OK, OK }, 3 }, &bad), -EBADMSG);
}

static void malformed(void **state)
{
    struct sv_error err = { 0 };
    size_t bad = 9;

    (void)state;
    assert_int_equal(hdfs_ack_check((const uint8_t *)"\xff\xff", 2, 3, 5, &bad, &err), -EBADMSG);
    assert_int_equal(bad, 0);
    assert_int_equal(hdfs_ack_check((const uint8_t *)"", 0, 3, 5, &bad, &err), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet),
        cmocka_unit_test(the_last_packet),
        cmocka_unit_test(acknowledgements),
        cmocka_unit_test(malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
