/* See bcfile.h: writer. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "logs/bcfile.h"
#include "logs/deflate.h"
#include "logs/vint.h"

struct meta {
    const char *name;
    enum logs_codec codec;
    struct logs_region region;
};

struct logs_bcwriter {
    struct logs_sink sink;
    enum logs_codec codec; /* of data blocks */
    uint64_t at;           /* bytes written */
    struct logs_region *blocks;
    size_t n_blocks, cap_blocks;
    struct meta metas[LOGS_METAS_MAX];
    size_t n_metas;

    enum logs_codec block_codec;
    uint64_t block_at, raw;
    struct logs_deflate *deflate; /* from the first compressed block on */
};

static int emit(void *userdata, const void *p, size_t n)
{
    struct logs_bcwriter *w = userdata;
    int r = n > 0 ? w->sink.write(w->sink.userdata, p, n) : 0;

    if (r == 0)
        w->at += n;
    return r;
}

int logs_bcwriter_new(const struct logs_sink *sink, enum logs_codec codec,
                      struct logs_bcwriter **ret)
{
    _cleanup_(logs_bcwriter_freep) struct logs_bcwriter *w = calloc(1, sizeof(*w));
    int r;

    if (!w)
        return -ENOMEM;
    w->sink = *sink;
    w->codec = codec;
    r = emit(w, logs_bcfile_magic, LOGS_MAGIC_BYTES);
    if (r < 0)
        return r;
    *ret = SV_TAKE(w);
    return 0;
}

struct logs_bcwriter *logs_bcwriter_free(struct logs_bcwriter *w)
{
    if (!w)
        return NULL;
    logs_deflate_free(w->deflate);
    free(w->blocks);
    free(w);
    return NULL;
}

int logs_bcwriter_begin(struct logs_bcwriter *w, enum logs_codec codec)
{
    const struct logs_sink sink = { emit, w };

    w->block_codec = codec;
    w->block_at = w->at;
    w->raw = 0;
    return codec == LOGS_GZ && !w->deflate ? logs_deflate_new(&sink, &w->deflate) : 0;
}

int logs_bcwriter_put(struct logs_bcwriter *w, const void *p, size_t n)
{
    w->raw += n;
    return w->block_codec == LOGS_GZ ? logs_deflate_put(w->deflate, p, n) : emit(w, p, n);
}

int logs_bcwriter_end_record(struct logs_bcwriter *w, uint64_t least)
{
    uint64_t size = logs_bcwriter_block_size(w);

    if (w->block_codec != LOGS_GZ)
        return 0;
    return logs_deflate_pause(w->deflate, least - SV_MIN(size, least));
}

static int add_block(struct logs_bcwriter *w, const struct logs_region *g)
{
    if (w->n_blocks == LOGS_BLOCKS_MAX)
        return -E2BIG;
    if (w->n_blocks == w->cap_blocks) {
        size_t cap = w->cap_blocks ? 2 * w->cap_blocks : 64;
        struct logs_region *more = reallocarray(w->blocks, cap, sizeof(*more));

        if (!more)
            return -ENOMEM;
        w->blocks = more;
        w->cap_blocks = cap;
    }
    w->blocks[w->n_blocks++] = *g;
    return 0;
}

int logs_bcwriter_end(struct logs_bcwriter *w, const char *name)
{
    struct logs_region g;
    int r = 0;

    if (w->block_codec == LOGS_GZ)
        r = logs_deflate_end(w->deflate);
    if (r < 0)
        return r;
    g = (struct logs_region){ .offset = w->block_at, .size = w->at - w->block_at, .raw = w->raw };
    if (!name)
        return add_block(w, &g);
    if (w->n_metas == LOGS_METAS_MAX)
        return -E2BIG;
    w->metas[w->n_metas++] = (struct meta){ .name = name, .codec = w->block_codec, .region = g };
    return 0;
}

uint64_t logs_bcwriter_block_size(const struct logs_bcwriter *w)
{
    return w->at - w->block_at;
}

static int put_vint(struct sv_buf *b, uint64_t v)
{
    uint8_t bytes[LOGS_VINT_MAX];

    return sv_buf_put(b, bytes, logs_vint_encode((int64_t)v, bytes));
}

static int put_string(struct sv_buf *b, const char *prefix, const char *s)
{
    int r = put_vint(b, strlen(prefix) + strlen(s));

    if (r == 0)
        r = sv_buf_put_str(b, prefix);
    return r < 0 ? r : sv_buf_put_str(b, s);
}

static int put_region(struct sv_buf *b, const struct logs_region *g)
{
    int r = put_vint(b, g->offset);

    if (r == 0)
        r = put_vint(b, g->size);
    return r < 0 ? r : put_vint(b, g->raw);
}

static int write_data_index(struct logs_bcwriter *w)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(64 + LOGS_BLOCKS_MAX * 3ul * LOGS_VINT_MAX);
    int r = logs_bcwriter_begin(w, w->codec);

    if (r == 0)
        r = put_string(&b, "", logs_codec_name(w->codec));
    if (r == 0)
        r = put_vint(&b, w->n_blocks);
    for (size_t i = 0; r == 0 && i < w->n_blocks; i++)
        r = put_region(&b, &w->blocks[i]);
    if (r == 0)
        r = logs_bcwriter_put(w, b.data, b.len);
    return r < 0 ? r : logs_bcwriter_end(w, LOGS_INDEX_NAME);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct meta *)a)->name, ((const struct meta *)b)->name);
}

int logs_bcwriter_finish(struct logs_bcwriter *w)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(64u << 10);
    int r = write_data_index(w);
    uint64_t at = w->at;

    if (r == 0)
        r = put_vint(&b, w->n_metas);
    qsort(w->metas, w->n_metas, sizeof(w->metas[0]), by_name);
    for (size_t i = 0; r == 0 && i < w->n_metas; i++) {
        r = put_string(&b, LOGS_META_PREFIX, w->metas[i].name);
        if (r == 0)
            r = put_string(&b, "", logs_codec_name(w->metas[i].codec));
        if (r == 0)
            r = put_region(&b, &w->metas[i].region);
    }
    if (r == 0)
        r = sv_buf_put_u64(&b, at);
    if (r == 0)
        r = sv_buf_put_u32(&b, LOGS_VERSION_MAJOR << 16);
    if (r == 0)
        r = sv_buf_put(&b, logs_bcfile_magic, LOGS_MAGIC_BYTES);
    return r < 0 ? r : emit(w, b.data, b.len);
}
