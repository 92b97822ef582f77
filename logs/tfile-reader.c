/* See tfile.h: sequential reader. From the index it uses the number of pairs per block, to avoid
 * decompressing anything after the last wanted pair, and the key of each block with a single pair,
 * to skip unwanted blocks unread; without a usable index, a block's pairs end where the block ends.
 * Hostile: every byte; a key from the index is compared with the block's own when its value is
 * read. */
#include <errno.h>
#include <string.h>

#include "logs/tfile.h"

#define INDEX_KEY_MAX 256u        /* longer keys are read from their blocks */
#define INDEX_KEYS_MAX (8u << 20) /* all keys together; further ones are read from their blocks */

struct entry { /* index entry of one block */
    uint32_t pairs;
    uint32_t key, key_n; /* position in `keys`; key_n 0: read the key from the block */
};

struct logs_tfile_reader {
    struct logs_bcreader *in;
    size_t block; /* next block */
    bool in_block;
    bool unread;           /* the block before `block` is unread, its key known */
    struct entry *entries; /* one per block; NULL: no usable index */
    struct sv_buf keys;
    uint32_t pairs_left; /* remaining pairs of the current block */
    uint64_t chunk;      /* remaining bytes of the current chunk */
    bool last;           /* it is the value's last chunk */
};

static int bad(struct sv_error *err, const char *what)
{
    return sv_error_set(err, -EBADMSG, "not a TFile of aggregated logs: %s", what);
}

static int skip_key(struct logs_tfile_reader *r, int64_t n, struct sv_error *err)
{
    while (n > 0) {
        ssize_t some = logs_bcreader_skip(r->in, (uint64_t)n, err);

        if (some <= 0)
            return some < 0 ? (int)some : bad(err, "an index that ends too early");
        n -= some;
    }
    return 0;
}

/* Appends the key to `keys`, or skips it and leaves ret->key_n 0. */
static int get_key(struct logs_tfile_reader *r, int64_t n, struct entry *ret, struct sv_error *err)
{
    int k;

    *ret = (struct entry){ .key = (uint32_t)r->keys.len };
    if (n == 0)
        return 0;
    if (n > INDEX_KEY_MAX || sv_buf_reserve(&r->keys, (size_t)n) < 0)
        return skip_key(r, n, err);
    k = logs_bcreader_get_all(r->in, r->keys.data + r->keys.len, (size_t)n, err);
    if (k < 0)
        return k;
    r->keys.len += (size_t)n;
    ret->key_n = (uint32_t)n;
    return 0;
}

/* Reads one index entry: a key, followed (except in the very first entry) by the number of pairs.
 * Returns 0 if there is none. */
static int get_entry(struct logs_tfile_reader *r, bool first, struct entry *ret,
                     struct sv_error *err)
{
    int64_t whole = 0, key = 0, n = 1;
    int k = logs_bcreader_get_vint(r->in, &whole, err);

    if (k < 0 || (first && whole == 0))
        return k;
    k = logs_bcreader_get_vint(r->in, &key, err);
    if (k == 0 && (key < 0 || key > LOGS_KEY_MAX))
        return bad(err, "an index with too long a key");
    if (k == 0)
        k = get_key(r, key, ret, err);
    if (k == 0 && !first)
        k = logs_bcreader_get_vint(r->in, &n, err);
    if (k < 0)
        return k;
    if (n < 1 || n > UINT32_MAX)
        return bad(err, "an index with an empty block");
    ret->pairs = (uint32_t)n;
    if (first || n > 1) { /* the first key of several pairs */
        r->keys.len = ret->key;
        ret->key_n = 0;
    }
    return 1;
}

/* A file whose index is unusable is read without it. */
static int get_entries(struct logs_tfile_reader *r)
{
    size_t blocks = logs_bcreader_blocks(r->in);
    _cleanup_free_ struct entry *entries = reallocarray(NULL, blocks + 1, sizeof(*entries));
    struct sv_error ignored = { 0 };
    int k;

    if (!entries)
        return -ENOMEM;
    k = logs_bcreader_meta(r->in, "TFile.index", &ignored);
    if (k == 0)
        k = get_entry(r, true, &entries[0], &ignored);
    for (size_t i = 0; k > 0 && i < blocks; i++)
        k = get_entry(r, false, &entries[i], &ignored);
    if (k > 0)
        r->entries = SV_TAKE(entries);
    return k == -ENOMEM ? k : 0;
}

int logs_tfile_reader_new(const struct logs_source *source, struct logs_tfile_reader **ret,
                          struct sv_error *err)
{
    _cleanup_(logs_tfile_reader_freep) struct logs_tfile_reader *r = calloc(1, sizeof(*r));
    uint8_t version[4];
    int k;

    if (!r)
        return sv_error_errno(err, -ENOMEM, "reader");
    r->last = true;
    r->keys = SV_BUF_INIT(INDEX_KEYS_MAX);
    k = logs_bcreader_new(source, &r->in, err);
    if (k == 0)
        k = logs_bcreader_meta(r->in, "TFile.meta", err);
    if (k == 0)
        k = logs_bcreader_get_all(r->in, version, sizeof(version), err);
    if (k < 0)
        return k;
    if (version[0] != 0 || version[1] != LOGS_VERSION_MAJOR)
        return bad(err, "an unknown version");
    k = get_entries(r);
    if (k < 0)
        return sv_error_errno(err, k, "index");
    *ret = SV_TAKE(r);
    return 0;
}

struct logs_tfile_reader *logs_tfile_reader_free(struct logs_tfile_reader *r)
{
    if (!r)
        return NULL;
    r->in = logs_bcreader_free(r->in);
    free(r->entries);
    sv_buf_free(&r->keys);
    free(r);
    return NULL;
}

/* Enters the block whose key came from the index. */
static int enter_unread(struct logs_tfile_reader *r, struct sv_error *err)
{
    const struct entry *e = &r->entries[r->block - 1];
    uint8_t key[INDEX_KEY_MAX];
    int64_t n = 0;
    int k = logs_bcreader_block(r->in, r->block - 1, err);

    if (k == 0)
        k = logs_bcreader_get_vint(r->in, &n, err);
    if (k == 0 && n != e->key_n)
        return bad(err, "its index names another key than the block");
    if (k == 0)
        k = logs_bcreader_get_all(r->in, key, (size_t)n, err);
    if (k < 0)
        return k;
    if (memcmp(key, r->keys.data + e->key, (size_t)n) != 0)
        return bad(err, "its index names another key than the block");
    r->unread = false;
    return 0;
}

static int next_chunk(struct logs_tfile_reader *r, struct sv_error *err)
{
    int64_t n = 0;
    int k = logs_bcreader_get_vint(r->in, &n, err);

    if (k < 0)
        return k;
    if (n < -INT32_MAX || n > INT32_MAX)
        return bad(err, "a chunk with a wrong length");
    r->last = n >= 0;
    r->chunk = (uint64_t)(n < 0 ? -n : n);
    return 0;
}

ssize_t logs_tfile_get(struct logs_tfile_reader *r, void *p, size_t n, struct sv_error *err)
{
    ssize_t k = r->unread ? enter_unread(r, err) : 0;

    while (r->chunk == 0 && !r->last && k == 0)
        k = next_chunk(r, err);
    if (k < 0 || r->chunk == 0 || n == 0)
        return k;
    k = logs_bcreader_get(r->in, p, (size_t)SV_MIN((uint64_t)n, r->chunk), err);
    if (k == 0)
        return bad(err, "a value ends too early");
    if (k > 0)
        r->chunk -= (uint64_t)k;
    return k;
}

int logs_tfile_skip(struct logs_tfile_reader *r, uint64_t n, uint64_t *ret_skipped,
                    struct sv_error *err)
{
    uint64_t done = 0;
    ssize_t k = 1;

    if (r->unread && n > 0) {
        k = enter_unread(r, err);
        k = k < 0 ? k : 1;
    }
    while (done < n && k > 0) {
        k = 0;
        while (r->chunk == 0 && !r->last && k == 0)
            k = next_chunk(r, err);
        if (k < 0 || r->chunk == 0)
            break;
        k = logs_bcreader_skip(r->in, SV_MIN(n - done, r->chunk), err);
        if (k == 0)
            return bad(err, "a value ends too early");
        if (k > 0) {
            r->chunk -= (uint64_t)k;
            done += (uint64_t)k;
        }
    }
    *ret_skipped = done;
    return (int)SV_MIN(k, 0);
}

/* Reads the length of the next key. Returns 1, or 0 at the end of the last block. */
static int next_key_length(struct logs_tfile_reader *r, int64_t *ret, struct sv_error *err)
{
    for (;;) {
        int k = r->in_block ? logs_bcreader_next_vint(r->in, ret, err) : 0;

        if (k != 0)
            return k;
        if (r->block == logs_bcreader_blocks(r->in))
            return 0;
        k = logs_bcreader_block(r->in, r->block, err);
        if (k < 0)
            return k;
        r->pairs_left = r->entries ? r->entries[r->block].pairs : 0;
        r->block++;
        r->in_block = true;
    }
}

/* Takes the next block's only key from the index without reading the block; false if the index
 * lacks it. */
static bool next_of_index(struct logs_tfile_reader *r, uint8_t ret_key[LOGS_KEY_MAX], size_t *ret_n)
{
    const struct entry *e = r->block < logs_bcreader_blocks(r->in) ? &r->entries[r->block] : NULL;

    if (!e || e->key_n == 0)
        return false;
    memcpy(ret_key, r->keys.data + e->key, e->key_n);
    *ret_n = e->key_n;
    r->block++;
    r->unread = r->in_block = true;
    r->pairs_left = 0;
    r->chunk = 0;
    r->last = false;
    return true;
}

int logs_tfile_next(struct logs_tfile_reader *r, uint8_t ret_key[LOGS_KEY_MAX], size_t *ret_n,
                    struct sv_error *err)
{
    int64_t n = 0;
    uint64_t skipped = 0;
    int k = 0;

    r->unread = false;
    if (r->entries && r->pairs_left == 0) {
        r->in_block = false; /* the rest of the value is not even read */
        if (next_of_index(r, ret_key, ret_n))
            return 1;
    } else {
        k = logs_tfile_skip(r, UINT64_MAX, &skipped, err);
    }
    if (k == 0)
        k = next_key_length(r, &n, err);
    if (k <= 0)
        return k;
    if (n < 0 || n > LOGS_KEY_MAX)
        return bad(err, "a key with a wrong length");
    k = logs_bcreader_get_all(r->in, ret_key, (size_t)n, err);
    if (k < 0)
        return k;
    r->chunk = 0;
    r->last = false;
    r->pairs_left -= r->entries ? 1 : 0;
    *ret_n = (size_t)n;
    return 1;
}
