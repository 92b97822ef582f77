/* See block-reader.h. */
#include "logs/block-reader.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

struct logs_block {
    struct logs_source source;
    enum logs_codec codec;
    uint64_t at, end; /* in the file */
    bool over;        /* the last compressed stream has ended */
    z_stream z;
    size_t in_pos, in_len;
    uint8_t in[LOGS_CODEC_BUFFER];
};

static int bad(struct sv_error *err, const char *what)
{
    return sv_error_set(err, -EBADMSG, "aggregated logs: %s", what);
}

int logs_block_new(const struct logs_source *source, struct logs_block **ret)
{
    _cleanup_(logs_block_freep) struct logs_block *b = calloc(1, sizeof(*b));

    if (!b || inflateInit(&b->z) != Z_OK)
        return -ENOMEM;
    b->source = *source;
    *ret = SV_TAKE(b);
    return 0;
}

struct logs_block *logs_block_free(struct logs_block *b)
{
    if (!b)
        return NULL;
    if (b->z.state)
        (void)inflateEnd(&b->z); /* only frees, ignoring */
    free(b);
    return NULL;
}

int logs_block_enter(struct logs_block *b, enum logs_codec codec, const struct logs_region *g,
                     struct sv_error *err)
{
    b->codec = codec;
    b->at = g->offset;
    b->end = g->offset + g->size;
    b->over = false;
    b->in_pos = b->in_len = 0;
    if (codec == LOGS_GZ && inflateReset(&b->z) != Z_OK)
        return sv_error_errno(err, -EINVAL, "zlib");
    return 0;
}

/* Reads compressed bytes into `in` if it is empty; false at the end of the block. */
static int refill(struct logs_block *b, struct sv_error *err)
{
    size_t n = (size_t)SV_MIN(b->end - b->at, (uint64_t)sizeof(b->in));
    int k = 0;

    if (b->in_pos < b->in_len)
        return 1;
    if (n > 0)
        k = b->source.read_at(b->source.userdata, b->at, b->in, n);
    if (k < 0)
        return sv_error_errno(err, k, "read");
    b->at += n;
    b->in_pos = 0;
    b->in_len = n;
    return n > 0;
}

static ssize_t get_plain(struct logs_block *b, void *p, size_t n, struct sv_error *err)
{
    int k = refill(b, err);

    if (k <= 0)
        return k;
    n = SV_MIN(n, b->in_len - b->in_pos);
    memcpy(p, b->in + b->in_pos, n);
    b->in_pos += n;
    return (ssize_t)n;
}

/* One stream has ended: the next begins at once, or the block ends with it. */
static int next_stream(struct logs_block *b, struct sv_error *err)
{
    b->over = b->in_pos == b->in_len && b->at == b->end;
    if (!b->over && inflateReset(&b->z) != Z_OK)
        return sv_error_errno(err, -EINVAL, "zlib");
    return 0;
}

static ssize_t get_inflated(struct logs_block *b, void *p, size_t n, struct sv_error *err)
{
    n = SV_MIN(n, (size_t)1 << 30);
    b->z.next_out = p;
    b->z.avail_out = (uInt)n;
    while (!b->over && b->z.avail_out == n) {
        int k = refill(b, err), z;

        if (k < 0)
            return k;
        if (k == 0)
            return bad(err, "a compressed block ends too early");
        b->z.next_in = b->in + b->in_pos;
        b->z.avail_in = (uInt)(b->in_len - b->in_pos);
        z = inflate(&b->z, Z_NO_FLUSH);
        b->in_pos = b->in_len - b->z.avail_in;
        if (z == Z_STREAM_END)
            k = next_stream(b, err);
        else if (z != Z_OK)
            return bad(err, "a compressed block is damaged");
        if (k < 0)
            return k;
    }
    return (ssize_t)(n - b->z.avail_out);
}

ssize_t logs_block_get(struct logs_block *b, void *p, size_t n, struct sv_error *err)
{
    if (n == 0)
        return 0;
    return b->codec == LOGS_GZ ? get_inflated(b, p, n, err) : get_plain(b, p, n, err);
}

ssize_t logs_block_skip(struct logs_block *b, uint64_t n, struct sv_error *err)
{
    uint8_t buf[16384];
    uint64_t have = b->in_len - b->in_pos;

    n = SV_MIN(n, (uint64_t)SSIZE_MAX);
    if (b->codec == LOGS_GZ || n == 0)
        return logs_block_get(b, buf, (size_t)SV_MIN(n, (uint64_t)sizeof(buf)), err);
    if (n <= have) {
        b->in_pos += (size_t)n;
        return (ssize_t)n;
    }
    n = SV_MIN(n, have + (b->end - b->at));
    b->at += n - have;
    b->in_pos = b->in_len = 0;
    return (ssize_t)n;
}
