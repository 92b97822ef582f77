/* See tfile.h: writer. Each block has one index entry and at least one pair: memory grows with the
 * number of pairs, not with their size. */
#include <errno.h>
#include <string.h>

#include "logs/tfile.h"
#include "logs/vint.h"

#define INDEX_MAX (128ul << 20)

struct logs_tfile_writer {
    struct logs_bcwriter *out;
    enum logs_codec codec;
    uint64_t pairs, pairs_in_block;
    bool in_block;
    uint8_t key[LOGS_KEY_MAX]; /* of the current pair */
    size_t key_len;
    struct sv_buf index; /* of the data blocks: the very first key, then the last key of each */
    uint8_t chunk[LOGS_CHUNK_MAX];
    size_t chunk_len;
};

int logs_tfile_writer_new(const struct logs_sink *sink, enum logs_codec codec,
                          struct logs_tfile_writer **ret)
{
    _cleanup_(logs_tfile_writer_freep) struct logs_tfile_writer *w = calloc(1, sizeof(*w));
    int r;

    if (!w)
        return -ENOMEM;
    w->codec = codec;
    w->index = SV_BUF_INIT(INDEX_MAX);
    r = logs_bcwriter_new(sink, codec, &w->out);
    if (r < 0)
        return r;
    *ret = SV_TAKE(w);
    return 0;
}

struct logs_tfile_writer *logs_tfile_writer_free(struct logs_tfile_writer *w)
{
    if (!w)
        return NULL;
    w->out = logs_bcwriter_free(w->out);
    sv_buf_free(&w->index);
    free(w);
    return NULL;
}

static int put_vint(struct logs_tfile_writer *w, int64_t v)
{
    uint8_t bytes[LOGS_VINT_MAX];

    return logs_bcwriter_put(w->out, bytes, logs_vint_encode(v, bytes));
}

/* Adds an index entry: its length, the key with its length, and the number of pairs, which the very
 * first entry lacks. */
static int add_index(struct logs_tfile_writer *w, bool first)
{
    uint8_t n[LOGS_VINT_MAX], count[LOGS_VINT_MAX], whole[LOGS_VINT_MAX];
    size_t n_len = logs_vint_encode((int64_t)w->key_len, n);
    size_t count_len = first ? 0 : logs_vint_encode((int64_t)w->pairs_in_block, count);
    size_t whole_len = logs_vint_encode((int64_t)(n_len + w->key_len + count_len), whole);
    int r = sv_buf_put(&w->index, whole, whole_len);

    if (r == 0)
        r = sv_buf_put(&w->index, n, n_len);
    if (r == 0)
        r = sv_buf_put(&w->index, w->key, w->key_len);
    return r < 0 ? r : sv_buf_put(&w->index, count, count_len);
}

int logs_tfile_key(struct logs_tfile_writer *w, const void *key, size_t n)
{
    int r = 0;

    if (n > LOGS_KEY_MAX)
        return -EMSGSIZE;
    memcpy(w->key, key, n);
    w->key_len = n;
    w->chunk_len = 0;
    if (!w->in_block)
        r = logs_bcwriter_begin(w->out, w->codec);
    w->in_block = true;
    if (r == 0 && w->index.len == 0)
        r = add_index(w, true);
    if (r == 0)
        r = put_vint(w, (int64_t)n);
    return r < 0 ? r : logs_bcwriter_put(w->out, key, n);
}

static int put_chunk(struct logs_tfile_writer *w, bool last)
{
    int64_t n = (int64_t)w->chunk_len;
    int r = put_vint(w, last ? n : -n);

    if (r == 0)
        r = logs_bcwriter_put(w->out, w->chunk, w->chunk_len);
    w->chunk_len = 0;
    return r;
}

int logs_tfile_put(struct logs_tfile_writer *w, const void *p, size_t n)
{
    int r = 0;

    for (size_t done = 0; r == 0 && done < n;) {
        size_t some;

        if (w->chunk_len == sizeof(w->chunk))
            r = put_chunk(w, false);
        some = SV_MIN(n - done, sizeof(w->chunk) - w->chunk_len);
        memcpy(w->chunk + w->chunk_len, (const uint8_t *)p + done, some);
        w->chunk_len += some;
        done += some;
    }
    return r;
}

static int end_block(struct logs_tfile_writer *w)
{
    int r = add_index(w, false);

    if (r == 0)
        r = logs_bcwriter_end(w->out, NULL);
    w->in_block = false;
    w->pairs_in_block = 0;
    return r;
}

int logs_tfile_end(struct logs_tfile_writer *w)
{
    int r = put_chunk(w, true);

    if (r == 0)
        r = logs_bcwriter_end_record(w->out, LOGS_BLOCK_MIN);
    w->pairs++;
    w->pairs_in_block++;
    if (r < 0 || logs_bcwriter_block_size(w->out) < LOGS_BLOCK_MIN)
        return r;
    return end_block(w);
}

/* Version, number of pairs, and no comparator: keys are unsorted. */
static int write_meta(struct logs_tfile_writer *w)
{
    static const uint8_t version[] = { 0, LOGS_VERSION_MAJOR, 0, 0 };
    int r = logs_bcwriter_begin(w->out, LOGS_NONE);

    if (r == 0)
        r = logs_bcwriter_put(w->out, version, sizeof(version));
    if (r == 0)
        r = put_vint(w, (int64_t)w->pairs);
    if (r == 0)
        r = put_vint(w, 0);
    return r < 0 ? r : logs_bcwriter_end(w->out, "TFile.meta");
}

static int write_index(struct logs_tfile_writer *w)
{
    int r = logs_bcwriter_begin(w->out, w->codec);

    if (r == 0)
        r = w->index.len > 0 ? logs_bcwriter_put(w->out, w->index.data, w->index.len)
                             : put_vint(w, 0);
    return r < 0 ? r : logs_bcwriter_end(w->out, "TFile.index");
}

int logs_tfile_finish(struct logs_tfile_writer *w)
{
    int r = w->in_block ? end_block(w) : 0;

    if (r == 0)
        r = write_meta(w);
    if (r == 0)
        r = write_index(w);
    return r < 0 ? r : logs_bcwriter_finish(w->out);
}
