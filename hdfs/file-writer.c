/* See file-writer.h. */
#include "hdfs/file-writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "hdfs/ack.h"
#include "hdfs/datanode.h"
#include "hdfs/pipeline.h"
#include "hdfs/zone.h"
#include "wire/frame.h"

#define OPENS_MAX 4         /* attempts per block: dfs.client.block.write.retries and one */
#define LEASE_MS 20000      /* renewal interval, as in Hadoop; it expires after a minute */
#define REPLICA_WAITS_MAX 8 /* dfs.client.block.write.locateFollowingBlock.retries is 5 */
#define REPLICA_WAIT_MS 400 /* doubled each time, up to */
#define REPLICA_WAIT_MAX_MS 5000

struct hdfs_writer {
    struct hdfs_namenode *namenode;
    struct hdfs_access access;
    struct hdfs_avoided *avoided;
    struct hdfs_defaults defaults;
    struct hdfs_lease lease;
    int64_t renewed_ms;

    struct sv_arena *arena; /* memory of the current block */
    const Hadoop__Hdfs__LocatedBlockProto *located;
    struct hdfs_pipeline pipeline; /* open while a block is being written */
    uint64_t length;               /* of the current block, or of the last one */
    struct hdfs_crypto *crypto;    /* of a file in an encryption zone; NULL: it is in none */
    uint8_t packet[HDFS_WRITE_PACKET];
    size_t packet_len;
};

/* ---- DataNodes to avoid ---- */

void hdfs_avoided_clear(struct hdfs_avoided *v)
{
    v->a = sv_arena_free(v->a);
    v->n = 0;
}

static void avoid(struct hdfs_avoided *v, const Hadoop__Hdfs__DatanodeInfoProto *d)
{
    size_t n = protobuf_c_message_get_packed_size(&d->base);
    _cleanup_free_ uint8_t *packed = malloc(n + 1);
    ProtobufCMessage *copy = NULL;

    if (!v->a)
        v->a = sv_arena_new(0);
    if (v->n == HDFS_EXCLUDED_MAX || !v->a || !packed)
        return;
    (void)protobuf_c_message_pack(&d->base, packed); /* the size is known, ignoring */
    if (ipc_unpack(v->a, d->base.descriptor, packed, n, &copy) == 0)
        v->nodes[v->n++] = (Hadoop__Hdfs__DatanodeInfoProto *)copy;
}

/* ---- Blocks ---- */

/* Waits before another attempt while the NameNode answers "too few replicas yet". */
static int wait_for_replicas(int attempt)
{
    int ms = REPLICA_WAIT_MS;

    if (attempt == REPLICA_WAITS_MAX)
        return -ETIMEDOUT;
    while (attempt-- > 0 && ms < REPLICA_WAIT_MAX_MS)
        ms *= 2;
    (void)poll(NULL, 0, SV_MIN(ms, REPLICA_WAIT_MAX_MS)); /* only a delay, ignoring */
    return 0;
}

static int locate(struct hdfs_writer *w, const Hadoop__Hdfs__ExtendedBlockProto *previous,
                  struct sv_arena *a, const Hadoop__Hdfs__LocatedBlockProto **ret,
                  struct sv_error *err)
{
    for (int attempt = 0;; attempt++) {
        int r = hdfs_add_block(w->namenode, &w->lease, previous, w->avoided->nodes, w->avoided->n,
                               a, ret, err);

        if (r != -EAGAIN || wait_for_replicas(attempt) < 0)
            return r;
    }
}

/* Opens one pipeline; on failure the block is returned to the NameNode. */
static int open_once(struct hdfs_writer *w, const Hadoop__Hdfs__ExtendedBlockProto *previous,
                     struct sv_arena **ret_arena, const Hadoop__Hdfs__LocatedBlockProto **ret,
                     bool *ret_again, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Hdfs__LocatedBlockProto *b;
    char text[HDFS_NODE_TEXT_MAX];
    struct sv_error abandoned = { 0 };
    int r = a ? locate(w, previous, a, &b, err) : -ENOMEM;

    *ret_again = false;
    if (r < 0)
        return r;
    r = hdfs_pipeline_open(&w->pipeline, b, w->lease.client, w->defaults.block_size, &w->access,
                           err);
    if (r == 0) {
        *ret_arena = SV_TAKE(a);
        *ret = b;
        return 0;
    }
    hdfs_pipeline_close(&w->pipeline);
    (void)sv_error_wrap(err, "DataNode %s", hdfs_datanode_text(b->locs[0], text));
    sv_log_debug("%s: %s", w->lease.path, err ? err->text : "a pipeline failed");
    if (r != -EKEYEXPIRED) /* the next block has another token */
        avoid(w->avoided, b->locs[w->pipeline.bad]);
    *ret_again = hdfs_abandon_block(w->namenode, &w->lease, b->b, &abandoned) == 0;
    return r;
}

/* Adds why the DataNodes before failed: a NameNode that has no other one says only that. */
static int with_reason(int r, const struct sv_error *before, struct sv_error *err)
{
    struct sv_error last;

    if (!err || !before->text[0])
        return r;
    last = *err;
    return sv_error_set(err, r, "%.480s; before that: %.480s", last.text, before->text);
}

static int open_block(struct hdfs_writer *w, struct sv_error *err)
{
    Hadoop__Hdfs__ExtendedBlockProto previous = HADOOP__HDFS__EXTENDED_BLOCK_PROTO__INIT;
    const Hadoop__Hdfs__LocatedBlockProto *b = NULL;
    struct sv_error before = { 0 };
    struct sv_arena *a = NULL;
    bool again = true;
    int r = -EIO;

    if (w->located) {
        previous = *w->located->b;
        previous.has_numbytes = true;
        previous.numbytes = w->length;
    }
    for (int i = 0; r < 0 && again && i < OPENS_MAX; i++) {
        if (i > 0 && err)
            before = *err;
        r = open_once(w, w->located ? &previous : NULL, &a, &b, &again, err);
    }
    if (r < 0)
        return with_reason(r, &before, err);
    sv_arena_free(w->arena);
    w->arena = a;
    w->located = b;
    w->length = 0;
    return 0;
}

static int failed(struct hdfs_writer *w, int r, struct sv_error *err)
{
    char text[HDFS_NODE_TEXT_MAX];

    avoid(w->avoided, w->located->locs[w->pipeline.bad]);
    (void)sv_error_wrap(err, "DataNode %s", hdfs_datanode_text(w->located->locs[0], text));
    hdfs_pipeline_close(&w->pipeline);
    return r;
}

static int end_block(struct hdfs_writer *w, struct sv_error *err)
{
    int r = hdfs_pipeline_finish(&w->pipeline, err);

    if (r < 0)
        return failed(w, r, err);
    hdfs_pipeline_close(&w->pipeline);
    return 0;
}

static int renew(struct hdfs_writer *w, struct sv_error *err)
{
    int64_t now = sv_now_ms();
    int r;

    if (now - w->renewed_ms < LEASE_MS)
        return 0;
    r = hdfs_renew_lease(w->namenode, w->lease.client, err);
    if (r == 0)
        w->renewed_ms = now;
    return r;
}

static int flush(struct hdfs_writer *w, struct sv_error *err)
{
    int r = renew(w, err);

    if (r == 0 && !w->pipeline.connection)
        r = open_block(w, err);
    if (r < 0)
        return r;
    r = hdfs_pipeline_put(&w->pipeline, w->packet, w->packet_len, err);
    if (r < 0)
        return failed(w, r, err);
    w->length += w->packet_len;
    w->packet_len = 0;
    return w->length == w->defaults.block_size ? end_block(w, err) : 0;
}

/* ---- The file ---- */

int hdfs_writer_new(struct hdfs_namenode *n, const struct hdfs_site *site, const char *path,
                    const char *client, uint32_t mode, struct hdfs_avoided *avoided,
                    struct hdfs_writer **ret, struct sv_error *err)
{
    _cleanup_(hdfs_writer_freep) struct hdfs_writer *w = calloc(1, sizeof(*w));
    struct hdfs_edek edek = { 0 };
    int r;

    if (!w)
        return sv_error_errno(err, -ENOMEM, "writer");
    w->namenode = n;
    w->access = (struct hdfs_access){ site, n };
    w->avoided = avoided;
    w->lease = (struct hdfs_lease){ .path = path, .client = client };
    w->pipeline = HDFS_PIPELINE_INIT;
    w->renewed_ms = sv_now_ms();
    r = hdfs_get_defaults(n, &w->defaults, err);
    if (r == 0)
        r = hdfs_create(n, &w->lease, mode, &w->defaults, &edek, err);
    if (r == 0 && edek.n > 0)
        r = hdfs_zone_open(n, site->keys, &edek, 0, &w->crypto, err);
    if (r < 0)
        return r;
    *ret = SV_TAKE(w);
    return 0;
}

struct hdfs_writer *hdfs_writer_free(struct hdfs_writer *w)
{
    if (!w)
        return NULL;
    hdfs_pipeline_close(&w->pipeline);
    sv_arena_free(w->arena);
    hdfs_crypto_free(w->crypto);
    free(w);
    return NULL;
}

/* Appends bytes of the file to the packet. */
static int fill(struct hdfs_writer *w, const uint8_t *p, size_t n, struct sv_error *err)
{
    uint8_t *to = w->packet + w->packet_len;

    w->packet_len += n;
    if (!w->crypto) {
        memcpy(to, p, n);
        return 0;
    }
    return hdfs_crypto_next(w->crypto, p, to, n) < 0 ? sv_error_errno(err, -EIO, "encryption") : 0;
}

int hdfs_writer_put(struct hdfs_writer *w, const void *p, size_t n, struct sv_error *err)
{
    int r = 0;

    for (size_t done = 0; r == 0 && done < n;) {
        uint64_t left = w->defaults.block_size - (w->pipeline.connection ? w->length : 0);
        size_t room = (size_t)SV_MIN(left, (uint64_t)sizeof(w->packet));
        size_t some = SV_MIN(n - done, room - w->packet_len);

        r = fill(w, (const uint8_t *)p + done, some, err);
        done += some;
        if (r == 0 && w->packet_len == room)
            r = flush(w, err);
    }
    return r;
}

int hdfs_writer_finish(struct hdfs_writer *w, struct sv_error *err)
{
    Hadoop__Hdfs__ExtendedBlockProto last = HADOOP__HDFS__EXTENDED_BLOCK_PROTO__INIT;
    int r = w->packet_len > 0 ? flush(w, err) : 0;

    if (r == 0 && w->pipeline.connection)
        r = end_block(w, err);
    if (r < 0)
        return r;
    if (w->located) {
        last = *w->located->b;
        last.has_numbytes = true;
        last.numbytes = w->length;
    }
    for (int attempt = 0;; attempt++) {
        r = hdfs_complete(w->namenode, &w->lease, w->located ? &last : NULL, err);
        if (r != -EAGAIN || wait_for_replicas(attempt) < 0)
            return r;
    }
}
