/* Tests hdfs/packet.c: a DataNode's stream as Hadoop sends it, and each way in which one may lie.
 */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/delimited.h"
#include "hdfs/packet.h"
#include "proto/hdfs_datanode.pb-c.h"

struct answer {
    int status;
    bool no_checksum;
    int type;
    uint32_t chunk;
    uint64_t offset;
};

static int begin(struct hdfs_stream *s, uint64_t from, uint64_t end, struct answer a)
{
    Hadoop__Hdfs__BlockOpResponseProto m = HADOOP__HDFS__BLOCK_OP_RESPONSE_PROTO__INIT;
    Hadoop__Hdfs__ReadOpChecksumInfoProto info = HADOOP__HDFS__READ_OP_CHECKSUM_INFO_PROTO__INIT;
    Hadoop__Hdfs__ChecksumProto sum = HADOOP__HDFS__CHECKSUM_PROTO__INIT;
    struct sv_error err = { 0 };
    uint8_t buf[256];
    size_t n;
    int r;

    sum.type = (Hadoop__Hdfs__ChecksumTypeProto)a.type;
    sum.bytesperchecksum = a.chunk;
    info.checksum = &sum;
    info.chunkoffset = a.offset;
    m.status = (Hadoop__Hdfs__Status)a.status;
    m.readopchecksuminfo = a.no_checksum ? NULL : &info;
    n = hadoop__hdfs__block_op_response_proto__pack(&m, buf);
    r = hdfs_stream_begin(s, from, end, buf, n, &err);
    assert_true((r < 0) == (err.text[0] != 0));
    return r;
}

static int packet(struct hdfs_stream *s, int64_t offset, int64_t seqno, bool last, int32_t data,
                  uint32_t payload, struct hdfs_packet *ret)
{
    Hadoop__Hdfs__PacketHeaderProto h = HADOOP__HDFS__PACKET_HEADER_PROTO__INIT;
    struct sv_error err = { 0 };
    uint8_t buf[64];
    size_t n;
    int r;

    h.offsetinblock = offset;
    h.seqno = seqno;
    h.lastpacketinblock = last;
    h.datalen = data;
    n = hadoop__hdfs__packet_header_proto__pack(&h, buf);
    r = hdfs_packet_header(s, buf, n, payload, ret, &err);
    assert_true((r < 0) == (err.text[0] != 0));
    return r;
}

static const struct answer crc32c = { .type = HDFS_CHECKSUM_CRC32C, .chunk = 512 };

static void test_whole_block(void **state)
{
    struct hdfs_stream s;
    struct hdfs_packet k;

    (void)state;
    assert_int_equal(begin(&s, 0, 1500, crc32c), 0);
    assert_int_equal(packet(&s, 0, 0, false, 1024, 1024 + 8, &k), 0);
    assert_int_equal(k.skip, 0);
    assert_int_equal(k.wanted, 1024);
    assert_int_equal(k.sums, 8);
    assert_int_equal(packet(&s, 1024, 1, false, 476, 476 + 4, &k), 0);
    assert_int_equal(k.wanted, 476);
    assert_false(hdfs_stream_complete(&s));
    assert_int_equal(packet(&s, 1500, 2, true, 0, 0, &k), 0);
    assert_true(k.last);
    assert_true(hdfs_stream_complete(&s));
    assert_int_equal(packet(&s, 1500, 3, true, 0, 0, &k), -EBADMSG);
}

/* A read that continues inside a chunk, of a replica that is longer than the block was. */
static void test_part(void **state)
{
    struct answer a = crc32c;
    struct hdfs_stream s;
    struct hdfs_packet k;

    (void)state;
    a.offset = 512;
    assert_int_equal(begin(&s, 600, 1500, a), 0);
    assert_int_equal(packet(&s, 512, 0, false, 1024, 1024 + 8, &k), 0);
    assert_int_equal(k.skip, 88);
    assert_int_equal(k.wanted, 1500 - 600);
    assert_int_equal(packet(&s, 1536, 1, true, 0, 0, &k), 0);
    assert_true(hdfs_stream_complete(&s));
}

static void test_without_checksums(void **state)
{
    struct answer a = { .type = HDFS_CHECKSUM_NULL, .chunk = 0, .offset = 0 };
    struct hdfs_stream s;
    struct hdfs_packet k;

    (void)state;
    assert_int_equal(begin(&s, 10, 30, a), 0);
    assert_int_equal(packet(&s, 0, 0, false, 7, 7, &k), 0);
    assert_int_equal(k.wanted, 0);
    assert_int_equal(packet(&s, 7, 1, false, 23, 23, &k), 0);
    assert_int_equal(k.skip, 3);
    assert_int_equal(k.wanted, 20);
    assert_int_equal(packet(&s, 30, 2, false, 1, 1, &k), -EBADMSG);
}

static void test_answers(void **state)
{
    static const struct answer bad[] = {
        { .status = 0, .no_checksum = true },
        { .type = HDFS_CHECKSUM_CRC32C, .chunk = 0 },
        { .type = HDFS_CHECKSUM_CRC32C, .chunk = HDFS_CHUNK_MAX + 1 },
        { .type = HDFS_CHECKSUM_CRC32C, .chunk = UINT32_MAX },
        { .type = 3, .chunk = 512 },
        { .type = -1, .chunk = 512 },
        { .type = HDFS_CHECKSUM_CRC32, .chunk = 512, .offset = 1024 }, /* behind `from` */
        { .type = HDFS_CHECKSUM_CRC32, .chunk = 512, .offset = 0 },   /* more than a chunk before */
        { .type = HDFS_CHECKSUM_CRC32, .chunk = 512, .offset = 513 }, /* inside a chunk */
        { .type = HDFS_CHECKSUM_NULL, .chunk = 512, .offset = UINT64_MAX },
    };
    struct hdfs_stream s;
    struct sv_error err = { 0 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(begin(&s, 600, 1500, bad[i]), -EBADMSG);
    assert_int_equal(begin(&s, 0, 1, (struct answer){ .status = 5 }), -EKEYEXPIRED);
    assert_int_equal(begin(&s, 0, 1, (struct answer){ .status = 1 }), -EIO);
    assert_int_equal(begin(&s, 0, 1, (struct answer){ .status = 77 }), -EBADMSG);
    assert_int_equal(hdfs_stream_begin(&s, 0, 1, (const uint8_t *)"\xff\xff", 2, &err), -EBADMSG);
}

static void test_headers(void **state)
{
    static const struct {
        int64_t offset, seqno;
        int32_t data;
        uint32_t payload;
        bool last;
    } bad[] = {
        { 0, 1, 512, 516, false },        /* sequence */
        { 512, 0, 512, 516, false },      /* offset */
        { -1, 0, 512, 516, false },       /* negative offset */
        { 0, 0, -1, 516, false },         /* negative length */
        { 0, 0, INT32_MIN, 516, false },  /* negative length */
        { 0, 0, INT32_MAX, 516, false },  /* longer than the packet */
        { 0, 0, 512, 512, false },        /* no checksums */
        { 0, 0, 512, 520, false },        /* too many of them */
        { 0, 0, 0, 0, false },            /* empty */
        { 0, 0, 100, 104, false },        /* ends inside a chunk */
        { 0, 0, 2048, 2048 + 16, false }, /* beyond the requested range */
        { 0, 0, 512, 516, true },         /* last, with data */
        { 0, 0, 0, 4, true },             /* last, with checksums */
    };
    struct hdfs_stream s;
    struct hdfs_packet k;
    struct sv_error err = { 0 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_int_equal(begin(&s, 0, 1500, crc32c), 0);
        assert_int_equal(
            packet(&s, bad[i].offset, bad[i].seqno, bad[i].last, bad[i].data, bad[i].payload, &k),
            -EBADMSG);
    }
    assert_int_equal(begin(&s, 0, 1500, crc32c), 0);
    assert_int_equal(hdfs_packet_header(&s, (const uint8_t *)"", 0, 0, &k, &err), -EBADMSG);
    assert_int_equal(packet(&s, 0, 0, true, 0, 0, &k), 0); /* too early: seen by the caller */
    assert_false(hdfs_stream_complete(&s));
}

static void prefix_is(uint32_t length, uint16_t header, int want)
{
    uint32_t payload = 7, n = 7;
    struct sv_error err = { 0 };
    uint8_t p[HDFS_PACKET_PREFIX];

    length = htobe32(length);
    header = htobe16(header);
    memcpy(p, &length, 4);
    memcpy(p + 4, &header, 2);
    assert_int_equal(hdfs_packet_prefix(p, &payload, &n, &err), want);
    assert_true(want == 0 || (payload == 7 && n == 7 && err.text[0]));
}

static void test_lengths(void **state)
{
    size_t skip = 0, len = 0;

    (void)state;
    prefix_is(4, 25, 0);
    prefix_is(4 + HDFS_PACKET_MAX, HDFS_HEADER_MAX, 0);
    prefix_is(3, 25, -EBADMSG);
    prefix_is(0, 25, -EBADMSG);
    prefix_is(5 + HDFS_PACKET_MAX, 25, -EBADMSG);
    prefix_is(0x7fffffff, 25, -EBADMSG);
    prefix_is(0xffffffff, 25, -EBADMSG);
    prefix_is(516, 0, -EBADMSG);
    prefix_is(516, HDFS_HEADER_MAX + 1, -EBADMSG);
    prefix_is(516, 0xffff, -EBADMSG);

    assert_int_equal(hdfs_delimited((const uint8_t *)"\x7f", 1, &skip, &len), 1);
    assert_true(skip == 1 && len == 127);
    assert_int_equal(hdfs_delimited((const uint8_t *)"\x80\x01", 2, &skip, &len), 1);
    assert_true(skip == 2 && len == 128);
    assert_int_equal(hdfs_delimited((const uint8_t *)"\x80", 1, &skip, &len), 0);
    assert_int_equal(hdfs_delimited((const uint8_t *)"\xff\xff\xff\xff\xff", 5, &skip, &len),
                     -EBADMSG);
    assert_int_equal(hdfs_delimited((const uint8_t *)"\xff\xff\x7f", 3, &skip, &len), -EMSGSIZE);
}

static void test_verify(void **state)
{
    uint8_t payload[4 + 9] = {
        0xe3, 0x06, 0x92, 0x83, '1', '2', '3', '4', '5', '6', '7', '8', '9'
    };
    struct sv_error err = { 0 };
    struct hdfs_stream s;
    struct hdfs_packet k;

    (void)state;
    assert_int_equal(begin(&s, 0, 9, crc32c), 0);
    assert_int_equal(packet(&s, 0, 0, false, 9, 13, &k), 0);
    assert_int_equal(hdfs_packet_verify(&s, &k, payload, &err), 0);
    payload[12] = '0';
    assert_int_equal(hdfs_packet_verify(&s, &k, payload, &err), -EILSEQ);
    assert_string_equal(err.text, "checksum error at offset 0 of the block");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_block),
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_without_checksums),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_verify),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
