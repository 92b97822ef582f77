/* See pipeline.h. */
#include "hdfs/pipeline.h"

#include <errno.h>
#include <string.h>

#include "common/arena.h"
#include "common/str.h"
#include "hdfs/ack.h"
#include "hdfs/datanode.h"
#include "hdfs/delimited.h"
#include "proto/hdfs_datanode.pb-c.h"
#include "wire/frame.h"

#define OP_WRITE_BLOCK 80
#define WINDOW 80 /* packets without acknowledgement: dfs.client.write.max-packets-in-flight */

static int put_request(struct sv_buf *b, const Hadoop__Hdfs__LocatedBlockProto *l,
                       const char *client, uint64_t size)
{
    Hadoop__Hdfs__OpWriteBlockProto op = HADOOP__HDFS__OP_WRITE_BLOCK_PROTO__INIT;
    Hadoop__Hdfs__ClientOperationHeaderProto head =
        HADOOP__HDFS__CLIENT_OPERATION_HEADER_PROTO__INIT;
    Hadoop__Hdfs__BaseHeaderProto base = HADOOP__HDFS__BASE_HEADER_PROTO__INIT;
    Hadoop__Hdfs__ChecksumProto sum = HADOOP__HDFS__CHECKSUM_PROTO__INIT;
    Hadoop__Hdfs__ExtendedBlockProto block = *l->b;
    int r = sv_buf_put_u16(b, HDFS_TRANSFER_VERSION);

    block.has_numbytes = true; /* its maximum size */
    block.numbytes = size;
    base.block = &block;
    base.token = l->blocktoken;
    head.baseheader = &base;
    head.clientname = (char *)(uintptr_t)client;
    sum.type = HADOOP__HDFS__CHECKSUM_TYPE_PROTO__CHECKSUM_CRC32C;
    sum.bytesperchecksum = HDFS_WRITE_CHUNK;
    op.header = &head;
    op.n_targets = l->n_locs - 1;
    op.targets = l->locs + 1;
    op.stage = HADOOP__HDFS__OP_WRITE_BLOCK_PROTO__BLOCK_CONSTRUCTION_STAGE__PIPELINE_SETUP_CREATE;
    op.pipelinesize = (uint32_t)l->n_locs;
    op.requestedchecksum = &sum;
    if (l->n_storagetypes == l->n_locs) {
        op.has_storagetype = true;
        op.storagetype = l->storagetypes[0];
        op.n_targetstoragetypes = l->n_locs - 1;
        op.targetstoragetypes = l->storagetypes + 1;
    }
    if (l->n_storageids == l->n_locs) {
        op.storageid = l->storageids[0];
        op.n_targetstorageids = l->n_locs - 1;
        op.targetstorageids = l->storageids + 1;
    }
    if (r == 0)
        r = sv_buf_put_u8(b, OP_WRITE_BLOCK);
    return r < 0 ? r : hdfs_put_delimited(b, &op.base);
}

/* Finds the DataNode with this "address:port". */
static size_t index_of(const Hadoop__Hdfs__LocatedBlockProto *b, const char *text)
{
    char is[HDFS_NODE_TEXT_MAX];

    for (size_t i = 0; i < b->n_locs; i++)
        if (strcmp(hdfs_datanode_text(b->locs[i], is), text) == 0)
            return i;
    return 0;
}

static int check_answer(struct hdfs_pipeline *p, const Hadoop__Hdfs__LocatedBlockProto *b,
                        const uint8_t *answer, size_t n, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ipc_arena_max(n));
    const Hadoop__Hdfs__BlockOpResponseProto *m;
    ProtobufCMessage *unpacked = NULL;
    char text[300] = "";
    bool expired;
    int r =
        a ? ipc_unpack(a, &hadoop__hdfs__block_op_response_proto__descriptor, answer, n, &unpacked)
          : -ENOMEM;

    if (r < 0)
        return sv_error_set(err, r == -ENOMEM ? r : -EBADMSG, "its answer is malformed");
    m = (const Hadoop__Hdfs__BlockOpResponseProto *)unpacked;
    if (m->status == HADOOP__HDFS__STATUS__SUCCESS)
        return 0;
    if (m->firstbadlink && *m->firstbadlink)
        p->bad = index_of(b, m->firstbadlink);
    expired = m->status == HADOOP__HDFS__STATUS__ERROR_ACCESS_TOKEN && p->bad == 0;
    if (m->message)
        sv_escape(text, sizeof(text), m->message);
    return sv_error_set(err, expired ? -EKEYEXPIRED : -EIO, "it answered status %d%s%s",
                        (int)m->status, *text ? ": " : "", text);
}

int hdfs_pipeline_open(struct hdfs_pipeline *p, const Hadoop__Hdfs__LocatedBlockProto *b,
                       const char *client, uint64_t size, const struct hdfs_access *access,
                       struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf q = SV_BUF_INIT(2 * HDFS_ANSWER_MAX);
    _cleanup_free_ uint8_t *answer = NULL;
    size_t n = 0;
    int r = put_request(&q, b, client, size);

    if (r < 0)
        return sv_error_errno(err, r, "WRITE_BLOCK");
    p->nodes = b->n_locs;
    p->offset = 0;
    p->seqno = p->acked = 0;
    p->bad = 0;
    r = hdfs_access_connect(access, b->locs[0]->id, b->blocktoken, &p->connection, err);
    if (r == 0)
        r = hdfs_send(p->connection, q.data, q.len, err);
    if (r == 0)
        r = hdfs_receive_delimited(p->connection, &answer, &n, err);
    return r < 0 ? r : check_answer(p, b, answer, n, err);
}

static int receive_ack(struct hdfs_pipeline *p, struct sv_error *err)
{
    _cleanup_free_ uint8_t *answer = NULL;
    size_t n = 0;
    int r = hdfs_receive_delimited(p->connection, &answer, &n, err);

    if (r == 0)
        r = hdfs_ack_check(answer, n, p->nodes, p->acked, &p->bad, err);
    if (r > 0)
        p->acked++;
    return SV_MIN(r, 0);
}

/* Receives acknowledgements, until at most `window` packets are in flight. */
static int receive_acks(struct hdfs_pipeline *p, int64_t window, struct sv_error *err)
{
    for (;;) {
        int r;

        if (p->acked == p->seqno)
            return 0;
        if (p->seqno - p->acked <= window && !hdfs_readable(p->connection))
            return 0;
        r = receive_ack(p, err);
        if (r < 0)
            return r;
    }
}

static int put_packet(struct hdfs_pipeline *p, const void *data, size_t n, bool last,
                      struct sv_error *err)
{
    int r;

    p->out.len = 0;
    r = hdfs_packet_put(&p->out, p->offset, p->seqno, last, data, n);
    if (r < 0)
        return sv_error_errno(err, r, "packet");
    r = hdfs_send(p->connection, p->out.data, p->out.len, err);
    if (r < 0)
        return r;
    p->offset += n;
    p->seqno++;
    return receive_acks(p, last ? 0 : WINDOW, err);
}

int hdfs_pipeline_put(struct hdfs_pipeline *p, const void *data, size_t n, struct sv_error *err)
{
    return put_packet(p, data, n, false, err);
}

int hdfs_pipeline_finish(struct hdfs_pipeline *p, struct sv_error *err)
{
    return put_packet(p, NULL, 0, true, err);
}

void hdfs_pipeline_close(struct hdfs_pipeline *p)
{
    p->connection = hdfs_connection_free(p->connection);
    sv_buf_free(&p->out);
}
