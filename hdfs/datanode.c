/* See datanode.h. */
#include "hdfs/datanode.h"

#include <errno.h>
#include <stdio.h>

#include "common/buf.h"
#include "hdfs/delimited.h"
#include "hdfs/packet.h"
#include "proto/hdfs_datanode.pb-c.h"

#define OP_READ_BLOCK 81
#define CLIENT_NAME "selvedge-container-localizer"

const char *hdfs_datanode_text(const Hadoop__Hdfs__DatanodeInfoProto *d,
                               char buf[HDFS_NODE_TEXT_MAX])
{
    (void)snprintf(buf, HDFS_NODE_TEXT_MAX, "%.100s:%u", d->id->ipaddr, d->id->xferport);
    return buf;
}

static int send_request(struct hdfs_connection *c, const struct hdfs_transfer *t,
                        struct sv_error *err)
{
    Hadoop__Hdfs__OpReadBlockProto op = HADOOP__HDFS__OP_READ_BLOCK_PROTO__INIT;
    Hadoop__Hdfs__ClientOperationHeaderProto client =
        HADOOP__HDFS__CLIENT_OPERATION_HEADER_PROTO__INIT;
    Hadoop__Hdfs__BaseHeaderProto base = HADOOP__HDFS__BASE_HEADER_PROTO__INIT;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(2 * HDFS_ANSWER_MAX);
    int r;

    base.block = t->block->b;
    base.token = t->block->blocktoken;
    client.baseheader = &base;
    client.clientname = (char *)(uintptr_t)CLIENT_NAME;
    op.header = &client;
    op.offset = t->done;
    op.len = t->end - t->done;
    r = sv_buf_put_u16(&b, HDFS_TRANSFER_VERSION);
    if (r == 0)
        r = sv_buf_put_u8(&b, OP_READ_BLOCK);
    if (r == 0)
        r = hdfs_put_delimited(&b, &op.base);
    if (r < 0)
        return sv_error_errno(err, r, "READ_BLOCK");
    return hdfs_send(c, b.data, b.len, err);
}

/* Reports the result for the DataNode's statistics, and so that it scans a bad replica. */
static void send_status(struct hdfs_connection *c, Hadoop__Hdfs__Status status)
{
    Hadoop__Hdfs__ClientReadStatusProto m = HADOOP__HDFS__CLIENT_READ_STATUS_PROTO__INIT;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(64);

    m.status = status;
    if (hdfs_put_delimited(&b, &m.base) == 0)
        (void)hdfs_send(c, b.data, b.len, NULL); /* the block was read or failed, ignoring */
}

/* ---- The stream ---- */

static int receive_answer(struct hdfs_connection *c, struct hdfs_stream *s,
                          const struct hdfs_transfer *t, struct sv_error *err)
{
    _cleanup_free_ uint8_t *answer = NULL;
    size_t len = 0;
    int r = hdfs_receive_delimited(c, &answer, &len, err);

    return r < 0 ? r : hdfs_stream_begin(s, t->done, t->end, answer, len, err);
}

static int receive_packet(struct hdfs_connection *c, struct hdfs_stream *s, struct hdfs_transfer *t,
                          struct sv_buf *b, struct sv_error *err)
{
    uint8_t prefix[HDFS_PACKET_PREFIX], header[HDFS_HEADER_MAX];
    uint32_t payload = 0, n = 0;
    struct hdfs_packet k;
    int r = hdfs_receive(c, prefix, sizeof(prefix), err);

    if (r == 0)
        r = hdfs_packet_prefix(prefix, &payload, &n, err);
    if (r == 0)
        r = hdfs_receive(c, header, n, err);
    if (r == 0)
        r = hdfs_packet_header(s, header, n, payload, &k, err);
    if (r < 0 || k.last)
        return r;
    b->len = 0;
    r = sv_buf_reserve(b, payload);
    if (r < 0)
        return sv_error_errno(err, r, "packet");
    r = hdfs_receive(c, b->data, payload, err);
    if (r == 0)
        r = hdfs_packet_verify(s, &k, b->data, err);
    if (r < 0 || k.wanted == 0)
        return r;
    t->sink_error = t->sink(t->userdata, b->data + k.sums + k.skip, k.wanted);
    if (t->sink_error < 0)
        return t->sink_error;
    t->done += k.wanted;
    return 0;
}

int hdfs_datanode_read(struct hdfs_transfer *t, size_t index, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(HDFS_PACKET_MAX);
    _cleanup_(hdfs_connection_freep) struct hdfs_connection *c = NULL;
    struct hdfs_stream s = { 0 };
    int r =
        hdfs_access_connect(t->access, t->block->locs[index]->id, t->block->blocktoken, &c, err);

    if (r < 0)
        return r;
    r = send_request(c, t, err);
    if (r == 0)
        r = receive_answer(c, &s, t, err);
    while (r == 0 && !s.last)
        r = receive_packet(c, &s, t, &b, err);
    if (r == -EILSEQ)
        send_status(c, HADOOP__HDFS__STATUS__ERROR_CHECKSUM);
    if (r < 0)
        return r;
    if (!hdfs_stream_complete(&s))
        return sv_error_set(err, -EBADMSG, "its replica ends after %llu bytes of %llu",
                            (unsigned long long)t->done, (unsigned long long)t->end);
    send_status(c, s.type == HDFS_CHECKSUM_NULL ? HADOOP__HDFS__STATUS__SUCCESS
                                                : HADOOP__HDFS__STATUS__CHECKSUM_OK);
    return 0;
}
