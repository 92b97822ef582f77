/* See file.h. Replicas are tried in the NameNode's order, nearest first. A failed DataNode is
 * skipped for the rest of the file, until none remains for a block; a corrupt replica is skipped
 * for good, and reported once another one has delivered the block. If none has, the fault may be
 * local, and nothing is reported, as in Hadoop's client. */
#include "hdfs/file.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "hdfs/data-key.h"
#include "hdfs/striped-reader.h"
#include "hdfs/zone.h"

#define ROUNDS_MAX 3       /* over all replicas of a block; dfs.client.max.block.acquire.failures */
#define ROUND_WAIT_MS 1000 /* times the number of rounds so far */
struct reading {
    struct hdfs_access access;
    const char *path;
    const struct hdfs_status *st;
    struct hdfs_zone_read out; /* gets the blocks' bytes */
    uint64_t from, until;      /* offsets in the file */
    bool sink_failed;
    bool renewed;                 /* the current block's token was refused once */
    struct hdfs_node_set dead;    /* failed for this file */
    struct hdfs_node_set corrupt; /* with a corrupt replica of the current block */
    struct sv_error last;         /* error of the last failed replica */
};

static size_t replicas(const Hadoop__Hdfs__LocatedBlockProto *b)
{
    return SV_MIN(b->n_locs, (size_t)HDFS_REPLICAS_MAX);
}

/* Tries each replica once: 0 = the block is complete, -ESTALE = new locations are needed, -EIO = no
 * replica delivered it (reading.last has the reason), else the sink's error. */
static int one_round(struct reading *r, struct hdfs_transfer *t)
{
    char text[HDFS_NODE_TEXT_MAX];

    for (size_t i = 0; i < replicas(t->block); i++) {
        const Hadoop__Hdfs__DatanodeInfoProto *d = t->block->locs[i];
        int k;

        if (hdfs_node_set_has(&r->corrupt, d) || hdfs_node_set_has(&r->dead, d))
            continue;
        k = hdfs_datanode_read(t, i, &r->last);
        if (k == 0 || t->sink_error < 0)
            return k;
        (void)sv_error_wrap(&r->last, "DataNode %s", hdfs_datanode_text(d, text));
        sv_log_debug("%s: %s", r->path, r->last.text);
        if (k == -EKEYEXPIRED && !r->renewed) {
            r->renewed = true;
            return -ESTALE;
        }
        hdfs_node_set_add(k == -EILSEQ ? &r->corrupt : &r->dead, d);
    }
    return -EIO;
}

static bool all_corrupt(const struct reading *r, const Hadoop__Hdfs__LocatedBlockProto *b)
{
    for (size_t i = 0; i < replicas(b); i++)
        if (!hdfs_node_set_has(&r->corrupt, b->locs[i]))
            return false;
    return r->corrupt.n > 0;
}

static void report_corrupt(struct reading *r, const Hadoop__Hdfs__LocatedBlockProto *b)
{
    struct sv_error err = { 0 };

    for (size_t i = 0; i < replicas(b); i++)
        if (hdfs_node_set_has(&r->corrupt, b->locs[i]) &&
            hdfs_report_bad_block(r->access.namenode, b, i, &err) < 0)
            sv_log_debug("%s: reportBadBlocks: %s, ignoring", r->path, err.text);
}

/* Locates the same block again, in a new arena. */
static int locate(struct reading *r, uint64_t offset, const struct hdfs_stripes *stripes,
                  struct sv_arena **arena, const Hadoop__Hdfs__LocatedBlockProto **ret,
                  struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Hdfs__LocatedBlocksProto *m;
    uint64_t size = (*ret)->b->numbytes, id = (*ret)->b->blockid;
    struct hdfs_stripes now;
    int k;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "locations");
    k = hdfs_get_block_locations(r->access.namenode, r->path, offset, 1, r->st->length, a, &m, err);
    if (k == 0)
        k = hdfs_answer_stripes(m->ecpolicy, &now, err);
    if (k < 0)
        return k;
    if (memcmp(&now, stripes, sizeof(now)) != 0 || m->blocks[0]->offset != offset ||
        m->blocks[0]->b->numbytes != size || m->blocks[0]->b->blockid != id)
        return sv_error_set(err, -ESTALE, "it changed while it was read");
    *ret = m->blocks[0];
    sv_arena_free(*arena);
    *arena = SV_TAKE(a);
    return 0;
}

static int no_replica(struct reading *r, const Hadoop__Hdfs__LocatedBlockProto *b,
                      struct sv_error *err)
{
    unsigned long long id = (unsigned long long)b->b->blockid;

    if (b->n_locs == 0)
        return sv_error_set(err, -EIO, "block blk_%llu has no DataNode", id);
    if (all_corrupt(r, b))
        return sv_error_set(err, -EILSEQ, "all %zu replicas of block blk_%llu are corrupt: %.500s",
                            b->n_locs, id, r->last.text);
    return sv_error_set(err, -EIO, "no DataNode delivers block blk_%llu: %.600s", id, r->last.text);
}

static const struct hdfs_stripes replicated; /* none */

static int read_block(struct reading *r, const Hadoop__Hdfs__LocatedBlockProto *b,
                      struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    uint64_t offset = b->offset;
    struct hdfs_transfer t = { .block = b,
                               .done = r->from > offset ? r->from - offset : 0,
                               .end = SV_MIN(b->b->numbytes, r->until - offset),
                               .access = &r->access,
                               .sink = hdfs_zone_read_sink,
                               .userdata = &r->out };

    r->corrupt.n = 0;
    r->renewed = false;
    for (int round = 1;; round++) {
        int k = one_round(r, &t);

        if (k == 0)
            break;
        if (t.sink_error < 0) {
            r->sink_failed = true;
            return sv_error_errno(err, t.sink_error, "write");
        }
        if (round == ROUNDS_MAX || all_corrupt(r, t.block))
            return no_replica(r, t.block, err);
        if (k != -ESTALE) {
            r->dead.n = 0;
            (void)poll(NULL, 0, round * ROUND_WAIT_MS); /* only a delay, ignoring */
        }
        k = locate(r, offset, &replicated, &a, &t.block, err);
        if (k < 0)
            return k;
    }
    report_corrupt(r, t.block);
    return 0;
}

static void report_units(struct reading *r, const struct hdfs_striped_read *t)
{
    struct sv_error err = { 0 };

    for (size_t i = 0; i < replicas(t->group); i++) {
        struct hdfs_unit_block unit;

        if (!(t->corrupt >> i & 1))
            continue;
        hdfs_striped_unit(&t->stripes, t->group, i, &unit);
        if (hdfs_report_bad_block(r->access.namenode, &unit.located, 0, &err) < 0)
            sv_log_debug("%s: reportBadBlocks: %s, ignoring", r->path, err.text);
    }
}

/* As read_block, for a group of a striped file. */
static int read_group(struct reading *r, const struct hdfs_stripes *stripes,
                      const Hadoop__Hdfs__LocatedBlockProto *b, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    uint64_t offset = b->offset;
    struct hdfs_striped_read t = { .stripes = *stripes,
                                   .group = b,
                                   .done = r->from > offset ? r->from - offset : 0,
                                   .end = SV_MIN(b->b->numbytes, r->until - offset),
                                   .access = &r->access,
                                   .sink = hdfs_zone_read_sink,
                                   .userdata = &r->out,
                                   .dead = &r->dead };

    for (int round = 1;; round++) {
        int k = hdfs_striped_read(&t, err);

        if (k == 0)
            break;
        if (t.sink_error < 0) {
            r->sink_failed = true;
            return sv_error_errno(err, t.sink_error, "write");
        }
        if (round == ROUNDS_MAX || (k != -EIO && k != -ESTALE))
            return k;
        t.renewed |= k == -ESTALE;
        if (k != -ESTALE) {
            r->dead.n = 0;
            (void)poll(NULL, 0, round * ROUND_WAIT_MS); /* only a delay, ignoring */
        }
        k = locate(r, offset, stripes, &a, &t.group, err);
        if (k < 0)
            return k;
        t.corrupt = 0; /* the locations are others */
    }
    report_units(r, &t);
    return 0;
}

/* Reads the blocks from `from` that the NameNode returns in one answer; *ret_next: their end. */
static int read_window(struct reading *r, uint64_t from, uint64_t *ret_next, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Hdfs__LocatedBlocksProto *m;
    struct hdfs_stripes stripes = { 0 };
    uint64_t block = SV_MIN(SV_MAX(r->st->block_size, 1u << 20), HDFS_BLOCK_MAX);
    int k;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "locations");
    k = hdfs_get_block_locations(r->access.namenode, r->path, from,
                                 SV_MIN(r->until - from, block * HDFS_WINDOW_BLOCKS), r->st->length,
                                 a, &m, err);
    if (k == 0 && m->blocks[0]->offset != from && from != r->from)
        k = sv_error_set(err, -ESTALE, "it changed while it was read");
    if (k == 0)
        k = hdfs_answer_stripes(m->ecpolicy, &stripes, err);
    if (k == 0 && r->st->striped && stripes.codec == HDFS_REPLICATED)
        k = sv_error_set(err, -EBADMSG,
                         "it is erasure-coded, and the NameNode's answer does not say by which "
                         "policy");
    if (k == 0 && r->st->encrypted && !m->fileencryptioninfo)
        k = sv_error_set(err, -EBADMSG,
                         "it is in an encryption zone, and the NameNode's answer has no key of it");
    if (k == 0)
        k = hdfs_zone_read_begin(&r->out, r->access.namenode, r->access.site->keys,
                                 m->fileencryptioninfo, r->from, err);
    for (size_t i = 0; k == 0 && i < m->n_blocks && from < r->until; i++) {
        k = stripes.codec == HDFS_REPLICATED ? read_block(r, m->blocks[i], err)
                                             : read_group(r, &stripes, m->blocks[i], err);
        from = m->blocks[i]->offset + m->blocks[i]->b->numbytes;
    }
    *ret_next = from;
    return k;
}

/* A file under construction may have no length yet. */
static int check_empty(struct hdfs_namenode *n, const char *path, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Hdfs__LocatedBlocksProto *m;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "locations");
    return hdfs_get_block_locations(n, path, 0, 1, 0, a, &m, err);
}

int hdfs_file_check(struct hdfs_namenode *n, const char *path, const struct hdfs_status *st,
                    struct sv_error *err)
{
    const struct hdfs_data_key *key;

    if (st->length == 0)
        return check_empty(n, path, err);
    return hdfs_data_key(n, &key, err); /* so that a NameNode's error is not a DataNode's */
}

static int check_unchanged(struct hdfs_namenode *n, const char *path, const struct hdfs_status *st,
                           struct sv_error *err)
{
    struct hdfs_status now;
    int r = hdfs_get_file_info(n, path, &now, err);

    if (r == 0 && (now.id != st->id || now.length != st->length || now.mtime_ms != st->mtime_ms))
        return sv_error_set(err, -ESTALE, "it changed while it was read");
    return r;
}

int hdfs_file_read(struct hdfs_namenode *n, const struct hdfs_site *site, const char *path,
                   const struct hdfs_status *st, hdfs_sink sink, void *userdata, bool *ret_sink,
                   struct sv_error *err)
{
    struct reading r = { .access = { site, n },
                         .path = path,
                         .st = st,
                         .out = { .sink = sink, .userdata = userdata },
                         .until = st->length };
    int k = hdfs_file_check(n, path, st, err);

    for (uint64_t at = 0; k == 0 && at < st->length;)
        k = read_window(&r, at, &at, err);
    hdfs_zone_read_end(&r.out);
    if (k == 0)
        k = check_unchanged(n, path, st, err);
    *ret_sink = r.sink_failed;
    return k;
}

int hdfs_file_read_range(struct hdfs_namenode *n, const struct hdfs_site *site, const char *path,
                         const struct hdfs_status *st, uint64_t from, uint64_t size, hdfs_sink sink,
                         void *userdata, struct sv_error *err)
{
    struct reading r = { .access = { site, n },
                         .path = path,
                         .st = st,
                         .out = { .sink = sink, .userdata = userdata },
                         .from = from,
                         .until = from + size };
    int k = 0;

    for (uint64_t at = from; k == 0 && at < r.until;)
        k = read_window(&r, at, &at, err);
    hdfs_zone_read_end(&r.out);
    return k;
}
