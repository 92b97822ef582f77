/* See indexed-reader.h. */
#include "logs/indexed-reader.h"

#include <errno.h>
#include <string.h>

#include "logs/block-reader.h"
#include "logs/indexed-meta.h"
#include "logs/java-utf.h"

#define MARK_BYTES 32u /* SHA-256 of the application's id */
#define TRAILER (4u + MARK_BYTES)

struct logs_indexed {
    struct logs_source source;
    uint8_t *index;
    struct logs_indexed_meta meta;
    struct logs_block *block;
    size_t next, end; /* remaining logs of the current container */
    uint64_t left;    /* remaining bytes of the current log */
};

static int bad(struct sv_error *err, const char *what)
{
    return sv_error_set(err, -EBADMSG, "not an IndexedFile of aggregated logs: %s", what);
}

int logs_indexed_is(const struct logs_source *source)
{
    uint8_t first[MARK_BYTES], last[MARK_BYTES];
    int r;

    if (source->length < MARK_BYTES + TRAILER)
        return 0;
    r = source->read_at(source->userdata, 0, first, sizeof(first));
    if (r == 0)
        r = source->read_at(source->userdata, source->length - MARK_BYTES, last, sizeof(last));
    return r < 0 ? r : memcmp(first, last, sizeof(first)) == 0;
}

int logs_indexed_checksum(const struct logs_source *source, char ret_of[LOGS_CHECKSUM_NAME_MAX + 1],
                          uint64_t *ret_length, struct sv_error *err)
{
    uint8_t bytes[4 + LOGS_CHECKSUM_NAME_MAX + 8];
    size_t length = (size_t)SV_MIN(source->length, (uint64_t)sizeof(bytes));
    struct sv_buf b = SV_BUF_VIEW(bytes, length);
    const uint8_t *name;
    uint64_t end;
    uint32_t n;
    int k = length > 0 ? source->read_at(source->userdata, 0, bytes, length) : 0;

    if (k < 0)
        return sv_error_errno(err, k, "read");
    if (sv_buf_get_u32(&b, &n) < 0 || n > LOGS_CHECKSUM_NAME_MAX ||
        sv_buf_get_ref(&b, &name, n) < 0 || sv_buf_get_u64(&b, &end) < 0)
        return bad(err, "a malformed length beside it");
    memcpy(ret_of, name, n);
    ret_of[n] = 0;
    *ret_length = end;
    return 0;
}

static int read_index(struct logs_indexed *r, struct sv_error *err)
{
    const uint64_t end = r->source.length - TRAILER;
    uint8_t bytes[4];
    uint32_t n;
    int k = r->source.read_at(r->source.userdata, end, bytes, sizeof(bytes));

    if (k < 0)
        return sv_error_errno(err, k, "read");
    n = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    if (n > LOGS_INDEX_MAX || n > end - MARK_BYTES)
        return bad(err, "an index outside of the file, or longer than 64 MiB");
    r->index = malloc(n + 1);
    if (!r->index)
        return sv_error_errno(err, -ENOMEM, "index");
    k = n > 0 ? r->source.read_at(r->source.userdata, end - n, r->index, n) : 0;
    if (k < 0)
        return sv_error_errno(err, k, "read");
    return logs_indexed_meta_parse(r->index, n, &r->meta, err);
}

int logs_indexed_new(const struct logs_source *source, struct logs_indexed **ret,
                     struct sv_error *err)
{
    _cleanup_(logs_indexed_freep) struct logs_indexed *r = calloc(1, sizeof(*r));
    int k;

    if (!r || logs_block_new(source, &r->block) < 0)
        return sv_error_errno(err, -ENOMEM, "reader");
    if (source->length < MARK_BYTES + TRAILER)
        return bad(err, "it is too short");
    r->source = *source;
    k = read_index(r, err);
    if (k < 0)
        return k;
    *ret = SV_TAKE(r);
    return 0;
}

struct logs_indexed *logs_indexed_free(struct logs_indexed *r)
{
    if (!r)
        return NULL;
    logs_indexed_meta_clear(&r->meta);
    r->block = logs_block_free(r->block);
    free(r->index);
    free(r);
    return NULL;
}

static bool same(const struct logs_indexed_file *a, const struct logs_indexed_file *b)
{
    return a->upload == b->upload && a->container.n == b->container.n &&
           memcmp(a->container.p, b->container.p, a->container.n) == 0;
}

int logs_indexed_container(struct logs_indexed *r, char ret_id[LOGS_ID_MAX + 1],
                           struct sv_error *err)
{
    const struct logs_indexed_file *f;

    r->left = 0;
    r->next = r->end;
    if (r->next == r->meta.n)
        return 0;
    f = &r->meta.files[r->next];
    if (f->container.n > LOGS_ID_MAX)
        return bad(err, "too long a container's id");
    while (r->end < r->meta.n && same(f, &r->meta.files[r->end]))
        r->end++;
    logs_utf_text(f->container.p, f->container.n, ret_id);
    return 1;
}

int logs_indexed_file(struct logs_indexed *r, char ret_name[LOGS_FILE_NAME_MAX + 1],
                      uint64_t *ret_length, struct sv_error *err)
{
    const struct logs_indexed_file *f = &r->meta.files[r->next];
    struct logs_region g;
    int k;

    if (r->next == r->end)
        return 0;
    if (f->name.n > LOGS_FILE_NAME_MAX)
        return bad(err, "too long a name");
    if (f->start > r->source.length || f->size > r->source.length - f->start ||
        f->length > INT64_MAX)
        return bad(err, "a log outside of the file");
    g = (struct logs_region){ .offset = f->start, .size = f->size };
    k = logs_block_enter(r->block, r->meta.codec, &g, err);
    if (k < 0)
        return k;
    logs_utf_text(f->name.p, f->name.n, ret_name);
    *ret_length = r->left = f->length;
    r->next++;
    return 1;
}

int logs_indexed_skip(struct logs_indexed *r, uint64_t n, struct sv_error *err)
{
    n = SV_MIN(n, r->left);
    while (n > 0) {
        ssize_t k = logs_block_skip(r->block, n, err);

        if (k <= 0)
            return (int)k;
        n -= (uint64_t)k;
        r->left -= (uint64_t)k;
    }
    return 0;
}

ssize_t logs_indexed_get(struct logs_indexed *r, void *p, size_t n, struct sv_error *err)
{
    ssize_t k;

    n = (size_t)SV_MIN((uint64_t)n, r->left);
    k = n > 0 ? logs_block_get(r->block, p, n, err) : 0;
    if (k > 0)
        r->left -= (uint64_t)k;
    return k;
}
