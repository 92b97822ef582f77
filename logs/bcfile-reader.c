/* See bcfile.h: reader. Hostile: every byte of the file. No region extends beyond the file. */
#include <errno.h>
#include <string.h>

#include "logs/bcfile.h"
#include "logs/block-reader.h"
#include "logs/vint.h"

#define TRAILER (8 + 4 + LOGS_MAGIC_BYTES) /* offset of the index, version, magic */

struct meta {
    char name[LOGS_NAME_MAX + 1];
    enum logs_codec codec;
    struct logs_region region;
};

struct logs_bcreader {
    struct logs_source source;
    struct meta metas[LOGS_METAS_MAX];
    size_t n_metas;
    enum logs_codec codec;
    struct logs_region *blocks;
    size_t n_blocks;

    struct logs_block *block; /* current block */
};

static int bad(struct sv_error *err, const char *what)
{
    return sv_error_set(err, -EBADMSG, "not a TFile of aggregated logs: %s", what);
}

/* ---- Bytes of a block ---- */

ssize_t logs_bcreader_get(struct logs_bcreader *r, void *p, size_t n, struct sv_error *err)
{
    return logs_block_get(r->block, p, n, err);
}

ssize_t logs_bcreader_skip(struct logs_bcreader *r, uint64_t n, struct sv_error *err)
{
    return logs_block_skip(r->block, n, err);
}

int logs_bcreader_get_all(struct logs_bcreader *r, void *p, size_t n, struct sv_error *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = logs_bcreader_get(r, (uint8_t *)p + done, n - done, err);

        if (k < 0)
            return (int)k;
        if (k == 0)
            return bad(err, "a block ends too early");
        done += (size_t)k;
    }
    return 0;
}

int logs_bcreader_next_vint(struct logs_bcreader *r, int64_t *ret, struct sv_error *err)
{
    uint8_t bytes[LOGS_VINT_MAX];
    ssize_t k = logs_bcreader_get(r, bytes, 1, err);
    int n;

    if (k <= 0)
        return (int)k;
    n = logs_vint_size(bytes[0]);
    if (n < 0)
        return bad(err, "a malformed number");
    k = logs_bcreader_get_all(r, bytes + 1, (size_t)n - 1, err);
    if (k < 0)
        return (int)k;
    *ret = logs_vint_decode(bytes);
    return 1;
}

int logs_bcreader_get_vint(struct logs_bcreader *r, int64_t *ret, struct sv_error *err)
{
    int k = logs_bcreader_next_vint(r, ret, err);

    return k == 0 ? bad(err, "a block ends too early") : SV_MIN(k, 0);
}

/* ---- Indexes ---- */

static int get_name(struct logs_bcreader *r, char ret[LOGS_NAME_MAX + 1], struct sv_error *err)
{
    int64_t n;
    int k = logs_bcreader_get_vint(r, &n, err);

    if (k < 0)
        return k;
    if (n < 0 || n > LOGS_NAME_MAX)
        return bad(err, "too long a name");
    k = logs_bcreader_get_all(r, ret, (size_t)n, err);
    if (k == 0)
        ret[n] = 0;
    return k;
}

static int get_codec(struct logs_bcreader *r, enum logs_codec *ret, struct sv_error *err)
{
    char name[LOGS_NAME_MAX + 1] = "";
    int k = get_name(r, name, err);

    if (k < 0)
        return k;
    k = logs_codec_parse(name, ret);
    if (k == -EOPNOTSUPP)
        return sv_error_set(err, k, "it is compressed with %s, which is not supported", name);
    return k < 0 ? bad(err, "an unknown compression") : 0;
}

static int get_region(struct logs_bcreader *r, struct logs_region *ret, struct sv_error *err)
{
    int64_t v[3] = { 0 };
    int k = 0;

    for (size_t i = 0; k == 0 && i < SV_ARRAY_LEN(v); i++)
        k = logs_bcreader_get_vint(r, &v[i], err);
    if (k < 0)
        return k;
    if (v[0] < 0 || v[1] < 0 || (uint64_t)v[0] > r->source.length ||
        (uint64_t)v[1] > r->source.length - (uint64_t)v[0])
        return bad(err, "a block outside of the file");
    *ret = (struct logs_region){ (uint64_t)v[0], (uint64_t)v[1], (uint64_t)v[2] };
    return 0;
}

static int get_metas(struct logs_bcreader *r, struct sv_error *err)
{
    int64_t n;
    int k = logs_bcreader_get_vint(r, &n, err);

    if (k < 0)
        return k;
    if (n < 0 || n > LOGS_METAS_MAX)
        return bad(err, "too many named blocks");
    for (int64_t i = 0; i < n; i++) {
        struct meta *m = &r->metas[i];

        k = get_name(r, m->name, err);
        if (k == 0)
            k = get_codec(r, &m->codec, err);
        if (k == 0)
            k = get_region(r, &m->region, err);
        if (k < 0)
            return k;
    }
    r->n_metas = (size_t)n;
    return 0;
}

/* The list grows as entries arrive, so a large count alone allocates nothing. */
static int get_blocks(struct logs_bcreader *r, struct sv_error *err)
{
    int64_t n;
    int k = logs_bcreader_meta(r, LOGS_INDEX_NAME, err);

    if (k == 0)
        k = get_codec(r, &r->codec, err);
    if (k == 0)
        k = logs_bcreader_get_vint(r, &n, err);
    if (k < 0)
        return k;
    if (n < 0 || n > LOGS_BLOCKS_MAX)
        return bad(err, "too many blocks");
    for (size_t cap = 0; r->n_blocks < (size_t)n; r->n_blocks++) {
        if (r->n_blocks == cap) {
            struct logs_region *more;

            cap = cap ? 2 * cap : 64;
            more = reallocarray(r->blocks, cap, sizeof(*more));
            if (!more)
                return sv_error_errno(err, -ENOMEM, "index");
            r->blocks = more;
        }
        k = get_region(r, &r->blocks[r->n_blocks], err);
        if (k < 0)
            return k;
    }
    return 0;
}

static int get_trailer(struct logs_bcreader *r, struct sv_error *err)
{
    uint8_t bytes[TRAILER];
    struct sv_buf b = SV_BUF_VIEW(bytes, sizeof(bytes));
    struct logs_region g = { 0 };
    uint64_t at = 0;
    uint32_t version = 0;
    int k;

    if (r->source.length < LOGS_MAGIC_BYTES + TRAILER)
        return bad(err, "it is too short");
    k = r->source.read_at(r->source.userdata, r->source.length - TRAILER, bytes, TRAILER);
    if (k < 0)
        return sv_error_errno(err, k, "read");
    if (sv_buf_get_u64(&b, &at) < 0 || sv_buf_get_u32(&b, &version) < 0 ||
        memcmp(b.data + b.pos, logs_bcfile_magic, LOGS_MAGIC_BYTES) != 0)
        return bad(err, "bad magic number at its end");
    if (version >> 16 != LOGS_VERSION_MAJOR)
        return sv_error_set(err, -EOPNOTSUPP, "version %u of the file format is not supported",
                            version >> 16);
    if (at > r->source.length - TRAILER)
        return bad(err, "an index outside of the file");
    g.offset = at;
    g.size = r->source.length - TRAILER - at;
    k = logs_block_enter(r->block, LOGS_NONE, &g, err);
    return k < 0 ? k : get_metas(r, err);
}

int logs_bcreader_new(const struct logs_source *source, struct logs_bcreader **ret,
                      struct sv_error *err)
{
    _cleanup_(logs_bcreader_freep) struct logs_bcreader *r = calloc(1, sizeof(*r));
    int k;

    if (!r || logs_block_new(source, &r->block) < 0)
        return sv_error_errno(err, -ENOMEM, "reader");
    r->source = *source;
    k = get_trailer(r, err);
    if (k == 0)
        k = get_blocks(r, err);
    if (k < 0)
        return k;
    *ret = SV_TAKE(r);
    return 0;
}

struct logs_bcreader *logs_bcreader_free(struct logs_bcreader *r)
{
    if (!r)
        return NULL;
    r->block = logs_block_free(r->block);
    free(r->blocks);
    free(r);
    return NULL;
}

size_t logs_bcreader_blocks(const struct logs_bcreader *r)
{
    return r->n_blocks;
}

int logs_bcreader_block(struct logs_bcreader *r, size_t i, struct sv_error *err)
{
    return i < r->n_blocks ? logs_block_enter(r->block, r->codec, &r->blocks[i], err)
                           : sv_error_set(err, -ENOENT, "no block %zu", i);
}

int logs_bcreader_meta(struct logs_bcreader *r, const char *name, struct sv_error *err)
{
    for (size_t i = 0; i < r->n_metas; i++)
        if (strncmp(r->metas[i].name, LOGS_META_PREFIX, strlen(LOGS_META_PREFIX)) == 0 &&
            strcmp(r->metas[i].name + strlen(LOGS_META_PREFIX), name) == 0)
            return logs_block_enter(r->block, r->metas[i].codec, &r->metas[i].region, err);
    return bad(err, "it has no index");
}
