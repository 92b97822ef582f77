/* See striped-reader.h. Memory: a buffer for each unit that is read, BAND bytes of data in all or
 * one stripe, whichever is more. */
#include "hdfs/striped-reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "hdfs/erasure-code.h"
#include "hdfs/limits.h"

#define BAND ((size_t)8 << 20)

struct band {
    struct hdfs_striped_read *r;
    uint64_t base;                  /* offset in each unit at which its buffer begins */
    size_t size;                    /* of a buffer */
    uint8_t *bytes[HDFS_UNITS_MAX]; /* NULL: not needed so far */
    struct hdfs_part parts[HDFS_UNITS_MAX];
    struct sv_error last; /* of the last DataNode that failed */
};

void hdfs_striped_unit(const struct hdfs_stripes *s, const Hadoop__Hdfs__LocatedBlockProto *group,
                       size_t location, struct hdfs_unit_block *ret)
{
    unsigned unit = group->blockindices.data[location];

    ret->block = *group->b;
    ret->block.blockid += unit;
    ret->block.numbytes = hdfs_stripes_unit_length(s, group->b->numbytes, unit);
    ret->located = *group;
    ret->located.b = &ret->block;
    ret->located.n_locs = 1;
    ret->located.locs = group->locs + location;
    if (location < group->n_blocktokens)
        ret->located.blocktoken = group->blocktokens[location];
    ret->located.has_blockindices = false;
    ret->located.n_blocktokens = 0;
    ret->located.n_iscached = ret->located.n_storagetypes = ret->located.n_storageids = 0;
}

/* ---- One unit ---- */

struct place {
    uint8_t *to;
    size_t left;
};

static int to_place(void *userdata, const void *p, size_t n)
{
    struct place *at = userdata;

    if (n > at->left)
        return -EOVERFLOW;
    memcpy(at->to, p, n);
    at->to += n;
    at->left -= n;
    return 0;
}

/* Reads bytes of the unit at one location. */
static int read_at(struct band *b, size_t location, struct hdfs_part part, uint8_t *to)
{
    const struct hdfs_striped_read *r = b->r;
    struct place at = { to, (size_t)(part.until - part.from) };
    struct hdfs_unit_block unit;
    struct hdfs_transfer t = { .block = &unit.located,
                               .access = r->access,
                               .sink = to_place,
                               .userdata = &at,
                               .done = part.from,
                               .end = part.until };

    hdfs_striped_unit(&r->stripes, r->group, location, &unit);
    return hdfs_datanode_read(&t, 0, &b->last);
}

/* 0: read by one of its locations; -EIO: by none. */
static int read_unit(struct band *b, unsigned unit, struct hdfs_part part, uint8_t *to)
{
    struct hdfs_striped_read *r = b->r;
    size_t n = SV_MIN(r->group->n_locs, (size_t)HDFS_REPLICAS_MAX);
    char text[HDFS_NODE_TEXT_MAX];

    for (size_t i = 0; i < n; i++) {
        const Hadoop__Hdfs__DatanodeInfoProto *d = r->group->locs[i];
        int k;

        if (r->group->blockindices.data[i] != unit || r->corrupt >> i & 1 ||
            hdfs_node_set_has(r->dead, d))
            continue;
        k = read_at(b, i, part, to);
        if (k == 0)
            return 0;
        (void)sv_error_wrap(&b->last, "DataNode %s", hdfs_datanode_text(d, text));
        sv_log_debug("unit %u: %s", unit, b->last.text);
        if (k == -EKEYEXPIRED && !r->renewed)
            return -ESTALE;
        if (k == -EILSEQ)
            r->corrupt |= UINT64_C(1) << i;
        else
            hdfs_node_set_add(r->dead, d);
    }
    return -EIO;
}

/* Fills the part in the unit's buffer; past the unit's end with zeros, as the code has them. */
static int fetch(struct band *b, unsigned unit, struct hdfs_part part)
{
    const struct hdfs_striped_read *r = b->r;
    uint64_t length = hdfs_stripes_unit_length(&r->stripes, r->group->b->numbytes, unit);
    struct hdfs_part there = { part.from, SV_MIN(part.until, length) };
    uint8_t *to;

    if (!b->bytes[unit])
        b->bytes[unit] = malloc(b->size);
    if (!b->bytes[unit])
        return -ENOMEM;
    to = b->bytes[unit] + (part.from - b->base);
    if (there.until <= there.from) {
        memset(to, 0, (size_t)(part.until - part.from));
        return 0;
    }
    memset(to + (there.until - there.from), 0, (size_t)(part.until - there.until));
    return read_unit(b, unit, there, to);
}

/* ---- A band ---- */

static int too_few(const struct band *b, unsigned have, struct sv_error *err)
{
    unsigned long long id = (unsigned long long)b->r->group->b->blockid;

    return sv_error_set(err, -EIO,
                        "block group blk_%llu: %u of the %u units that are needed are there: "
                        "%.500s",
                        id, have, b->r->stripes.data,
                        *b->last.text ? b->last.text : "the others have no DataNode");
}

/* Reads all of `whole` of as many units as the code needs, then restores the data units in `lost`
 * and those that fail on the way. */
static int restore(struct band *b, struct hdfs_part whole, unsigned lost, struct sv_error *err)
{
    const struct hdfs_stripes *s = &b->r->stripes;
    size_t len = (size_t)(whole.until - whole.from);
    struct hdfs_units have = { 0 };
    unsigned n = 0;

    for (unsigned u = 0; u < s->data + s->parity && n < s->data; u++) {
        int k = lost >> u & 1 ? -EIO : fetch(b, u, whole);

        if (k == -EIO) {
            lost |= 1u << u;
            continue;
        }
        if (k < 0)
            return sv_error_errno(err, k, "block group");
        have.number[n] = u;
        have.bytes[n++] = b->bytes[u];
    }
    if (n < s->data)
        return too_few(b, n, err);
    for (unsigned u = 0; u < s->data; u++) {
        int k = lost >> u & 1 && b->parts[u].from < b->parts[u].until
                    ? hdfs_erasure_decode(s, &have, u, b->bytes[u], len)
                    : 0;

        if (k < 0)
            return sv_error_errno(err, k, "decoding");
    }
    return 0;
}

static int pass_on(struct band *b, uint64_t until)
{
    struct hdfs_striped_read *r = b->r;

    while (r->done < until) {
        uint64_t at, left;
        unsigned unit = hdfs_stripes_find(&r->stripes, r->done, &at, &left);
        size_t n = (size_t)SV_MIN(left, until - r->done);

        r->sink_error = r->sink(r->userdata, b->bytes[unit] + (at - b->base), n);
        if (r->sink_error < 0)
            return r->sink_error;
        r->done += n;
    }
    return 0;
}

/* Reads the group's bytes up to `until`, which are in one band. */
static int read_band(struct band *b, uint64_t until, struct sv_error *err)
{
    struct hdfs_striped_read *r = b->r;
    struct hdfs_part whole = { UINT64_MAX, 0 };
    unsigned lost = 0;
    int k = 0;

    for (unsigned u = 0; u < r->stripes.data; u++) {
        struct hdfs_part p = b->parts[u] = hdfs_stripes_part(&r->stripes, u, r->done, until);

        if (p.from < p.until) {
            whole.from = SV_MIN(whole.from, p.from);
            whole.until = SV_MAX(whole.until, p.until);
        }
    }
    b->base = whole.from;
    for (unsigned u = 0; u < r->stripes.data; u++) {
        k = b->parts[u].from < b->parts[u].until ? fetch(b, u, b->parts[u]) : 0;
        if (k == -EIO)
            lost |= 1u << u;
        else if (k < 0)
            return sv_error_errno(err, k, "block group");
    }
    if (lost)
        k = restore(b, whole, lost, err);
    else
        k = 0;
    return k < 0 ? k : pass_on(b, until);
}

int hdfs_striped_read(struct hdfs_striped_read *r, struct sv_error *err)
{
    const struct hdfs_stripes *s = &r->stripes;
    size_t stripe = (size_t)s->cell * s->data, stripes = SV_MAX(BAND / stripe, (size_t)1);
    struct band b = { .r = r, .size = stripes * s->cell };
    uint64_t band = stripes * stripe;
    int k = 0;

    while (k == 0 && r->done < r->end)
        k = read_band(&b, SV_MIN(r->end, (r->done / band + 1) * band), err);
    for (size_t u = 0; u < HDFS_UNITS_MAX; u++)
        free(b.bytes[u]);
    return k;
}
