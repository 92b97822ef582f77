/* Tests hdfs/striped-reader.c with DataNodes of the test (hdfs_datanode_read is wrapped), each with
 * a unit of a group: whole groups, ranges, and every set of lost DataNodes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "hdfs/striped-reader.h"
#include "tests/lib/striped.h"

#define CELL 4096u
#define GROUP_ID 0xc000000000000010u

static struct hdfs_stripes stripes;
static uint8_t *units[HDFS_UNITS_MAX], *data, *got;
static size_t length, n_got;
static int answers[HDFS_UNITS_MAX]; /* of each DataNode; 0: its bytes */
static unsigned reads;
static uint64_t read_bytes;
static struct hdfs_node_set dead;
static struct sv_error err;

static struct {
    Hadoop__Hdfs__ExtendedBlockProto block;
    Hadoop__Hdfs__LocatedBlockProto group;
    Hadoop__Hdfs__DatanodeInfoProto nodes[HDFS_UNITS_MAX], *locs[HDFS_UNITS_MAX];
    Hadoop__Hdfs__DatanodeIDProto ids[HDFS_UNITS_MAX];
    Hadoop__Common__TokenProto tokens[HDFS_UNITS_MAX], *all_tokens[HDFS_UNITS_MAX], own;
    uint8_t indices[HDFS_UNITS_MAX];
} g;

int __wrap_hdfs_datanode_read(struct hdfs_transfer *t, size_t index, struct sv_error *e);
int __wrap_hdfs_datanode_read(struct hdfs_transfer *t, size_t index, struct sv_error *e)
{
    const Hadoop__Hdfs__LocatedBlockProto *b = t->block;
    unsigned node = b->locs[index]->id->xferport - 1, unit = (unsigned)(b->b->blockid - GROUP_ID);

    assert_int_equal(index, 0);
    assert_int_equal(b->n_locs, 1);
    assert_int_equal(unit, g.indices[node]);
    assert_ptr_equal(b->blocktoken, &g.tokens[node]);
    assert_true(t->done < t->end && t->end <= b->b->numbytes);
    assert_int_equal(b->b->numbytes, hdfs_stripes_unit_length(&stripes, length, unit));
    reads++;
    if (answers[node])
        return sv_error_set(e, answers[node], "unit %u", unit);
    read_bytes += t->end - t->done;
    for (; t->done < t->end && t->sink_error == 0;) {
        size_t n = SV_MIN(t->end - t->done, (uint64_t)1000);

        t->sink_error = t->sink(t->userdata, units[unit] + t->done, n);
        t->done += n;
    }
    return t->sink_error;
}

static int sink(void *userdata, const void *p, size_t n)
{
    (void)userdata;
    assert_true(n_got + n <= length);
    memcpy(got + n_got, p, n);
    n_got += n;
    return 0;
}

static void make(enum hdfs_codec codec, unsigned n_data, unsigned n_parity, size_t len)
{
    stripes = (struct hdfs_stripes){ codec, n_data, n_parity, CELL };
    length = len;
    data = malloc(len);
    got = malloc(len);
    for (size_t i = 0; i < len; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 11);
    encode_group(&stripes, data, len, units, (len / (n_data * CELL) + 1) * CELL);
    hadoop__hdfs__extended_block_proto__init(&g.block);
    hadoop__hdfs__located_block_proto__init(&g.group);
    g.block.blockid = GROUP_ID;
    g.block.has_numbytes = true;
    g.block.numbytes = len;
    g.group.b = &g.block;
    g.group.n_locs = g.group.n_blocktokens = n_data + n_parity;
    g.group.locs = g.locs;
    g.group.blocktoken = &g.own;
    g.group.blocktokens = g.all_tokens;
    g.group.has_blockindices = true;
    g.group.blockindices = (ProtobufCBinaryData){ g.group.n_locs, g.indices };
    for (unsigned i = 0; i < n_data + n_parity; i++) {
        hadoop__hdfs__datanode_info_proto__init(&g.nodes[i]);
        hadoop__hdfs__datanode_idproto__init(&g.ids[i]);
        g.ids[i].ipaddr = (char *)(uintptr_t) "127.0.0.1";
        g.ids[i].xferport = i + 1;
        g.nodes[i].id = &g.ids[i];
        g.locs[i] = &g.nodes[i];
        g.indices[i] = (uint8_t)((i + 2) % (n_data + n_parity)); /* in another order */
        g.all_tokens[i] = &g.tokens[i];
    }
}

static int drop(void **state)
{
    (void)state;
    free_units(units);
    free(SV_TAKE(data));
    free(SV_TAKE(got));
    memset(answers, 0, sizeof(answers));
    return 0;
}

static struct hdfs_striped_read reading(uint64_t from, uint64_t until)
{
    n_got = reads = 0;
    read_bytes = 0;
    dead.n = 0;
    memset(got, 0, length);
    return (struct hdfs_striped_read){ .stripes = stripes,
                                       .group = &g.group,
                                       .sink = sink,
                                       .dead = &dead,
                                       .done = from,
                                       .end = until };
}

static int read_range(uint64_t from, uint64_t until)
{
    struct hdfs_striped_read r = reading(from, until);
    int k = hdfs_striped_read(&r, &err);

    if (k == 0) {
        assert_int_equal(n_got, until - from);
        assert_memory_equal(got, data + from, n_got);
    }
    return k;
}

static const size_t lengths[] = {
    1, CELL - 1, CELL, CELL + 1, 3 * CELL, 3 * CELL + 5, 5 * CELL + 77, 6 * CELL, 40 * CELL + 9
};

static void test_whole(void **state)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(lengths); i++) {
        make(HDFS_CODEC_RS, 3, 2, lengths[i]);
        assert_int_equal(read_range(0, length), 0);
        assert_true(reads <= 3);
        assert_int_equal(read_bytes, length);
        (void)drop(state);
    }
}

/* Every set of lost DataNodes: with as many as there are parity units all is restored, with one
 * more nothing is delivered that is wrong. */
static void test_lost(void **state)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(lengths); i++)
        for (unsigned lost = 1; lost < 32; lost++) {
            int k;

            make(HDFS_CODEC_RS, 3, 2, lengths[i]);
            for (unsigned node = 0; node < 5; node++)
                answers[node] = lost >> node & 1 ? -ECONNREFUSED : 0;
            k = read_range(0, length);
            if (k != 0 && (__builtin_popcount(lost) <= 2 || k != -EIO))
                fail_msg("%zu bytes, lost %x: %s", length, lost, err.text);
            (void)drop(state);
        }
    make(HDFS_CODEC_RS, 3, 2, 6 * CELL);
    answers[0] = answers[1] = answers[2] = -ECONNREFUSED;
    assert_int_equal(read_range(0, length), -EIO);
    assert_non_null(strstr(err.text, "2 of the 3 units"));
    assert_non_null(strstr(err.text, "DataNode 127.0.0.1"));
}

static void test_xor(void **state)
{
    for (unsigned node = 0; node < 3; node++) {
        make(HDFS_CODEC_XOR, 2, 1, 9 * CELL + 3);
        answers[node] = -ETIMEDOUT;
        assert_int_equal(read_range(0, length), 0);
        (void)drop(state);
    }
}

static void test_ranges(void **state)
{
    static const uint64_t cuts[] = { 0, 1, CELL - 1, CELL, 2 * CELL + 3, 3 * CELL, 7 * CELL + 11 };

    (void)state;
    make(HDFS_CODEC_RS, 3, 2, 7 * CELL + 12);
    for (int lost = -1; lost < 5; lost++) {
        if (lost >= 0)
            answers[lost] = -ECONNREFUSED;
        for (size_t a = 0; a < SV_ARRAY_LEN(cuts); a++)
            for (size_t b = a + 1; b < SV_ARRAY_LEN(cuts); b++) {
                assert_int_equal(read_range(cuts[a], cuts[b]), 0);
                if (lost < 0)
                    assert_int_equal(read_bytes, cuts[b] - cuts[a]);
            }
        if (lost >= 0)
            answers[lost] = 0;
    }
}

/* More than a band: the lost DataNode is asked once. */
static void test_bands(void **state)
{
    (void)state;
    make(HDFS_CODEC_RS, 3, 2, (20u << 20) + 5);
    answers[4] = -ECONNREFUSED; /* unit 1 */
    assert_int_equal(read_range(0, length), 0);
    assert_int_equal(dead.n, 1);
}

static void test_corrupt(void **state)
{
    struct hdfs_striped_read r;

    (void)state;
    make(HDFS_CODEC_RS, 3, 2, 9 * CELL);
    answers[1] = -EILSEQ; /* unit 3: a parity, which nobody reads */
    answers[3] = -EILSEQ; /* unit 0 */
    r = reading(0, length);
    assert_int_equal(hdfs_striped_read(&r, &err), 0);
    assert_memory_equal(got, data, length);
    assert_int_equal(r.corrupt, 1u << 3 | 1u << 1);
    assert_int_equal(dead.n, 0);
}

static void test_expired(void **state)
{
    struct hdfs_striped_read r;

    (void)state;
    make(HDFS_CODEC_RS, 3, 2, 9 * CELL);
    answers[0] = -EKEYEXPIRED;
    r = reading(0, length);
    assert_int_equal(hdfs_striped_read(&r, &err), -ESTALE);
    assert_int_equal(r.done, 0);
    r.renewed = true; /* with a new token the DataNode is to blame */
    assert_int_equal(hdfs_striped_read(&r, &err), 0);
    assert_int_equal(dead.n, 1);
}

static int full_sink(void *userdata, const void *p, size_t n)
{
    (void)userdata;
    (void)p;
    (void)n;
    return -ENOSPC;
}

static void test_sink_fails(void **state)
{
    struct hdfs_striped_read r;

    (void)state;
    make(HDFS_CODEC_RS, 3, 2, 9 * CELL);
    r = reading(0, length);
    r.sink = full_sink;
    assert_int_equal(hdfs_striped_read(&r, &err), -ENOSPC);
    assert_int_equal(r.sink_error, -ENOSPC);
}

/* A unit has two places, the first of which fails. */
static void test_second_place(void **state)
{
    (void)state;
    make(HDFS_CODEC_RS, 3, 2, 9 * CELL);
    g.indices[0] = 1; /* as the last DataNode; unit 2 has none */
    answers[0] = -ECONNREFUSED;
    assert_int_equal(read_range(0, length), 0);
    assert_int_equal(dead.n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_whole, drop),
        cmocka_unit_test_teardown(test_lost, drop),
        cmocka_unit_test_teardown(test_xor, drop),
        cmocka_unit_test_teardown(test_ranges, drop),
        cmocka_unit_test_teardown(test_bands, drop),
        cmocka_unit_test_teardown(test_corrupt, drop),
        cmocka_unit_test_teardown(test_expired, drop),
        cmocka_unit_test_teardown(test_sink_fails, drop),
        cmocka_unit_test_teardown(test_second_place, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
