/* See remote.h. */
#include "logs/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "fs/configured.h"
#include "logs/names.h"

#define WINDOW_MIN ((size_t)64 << 10)
#define WINDOW_MAX ((size_t)8 << 20)
#define TAIL ((size_t)64 << 10)

struct logs_remote {
    struct fs *fs;
    struct fs_url url;
};

struct logs_piece { /* bytes of a file */
    uint8_t *p;
    uint64_t at;
    size_t n;
};

struct logs_remote_file {
    struct fs_file *file;
    struct logs_source source;
    int64_t modified_ms;
    struct sv_error problem;
    struct logs_piece tail; /* the end of the file with all indexes, read at once and cached */
    struct logs_piece
        ahead; /* cache for the rest: short after a seek, longer while reading sequentially */
    size_t window;
};

static const struct fs_policy policy = {
    .schemes = 1u << FS_SCHEME_FILE | 1u << FS_SCHEME_HDFS | 1u << FS_SCHEME_WEBHDFS |
               1u << FS_SCHEME_SWEBHDFS,
    .redirects = FS_REDIRECTS_MAX,
};

int logs_remote_open(struct sv_conf *c, const struct fs_url *url, const struct fs_identity *who,
                     struct logs_remote **ret, struct sv_error *err)
{
    _cleanup_(logs_remote_freep) struct logs_remote *r = calloc(1, sizeof(*r));
    struct fs_options o = {
        .root = -1, .program = "selvedge-logs", .identity = *who, .policy = &policy
    };
    int k;

    if (!r)
        return sv_error_errno(err, -ENOMEM, "remote log directory");
    if (!(policy.schemes & 1u << url->scheme))
        return sv_error_set(err, -EOPNOTSUPP, "logs are read from hdfs:, webhdfs: and file: alone");
    r->url = *url;
    o.url = &r->url;
    k = fs_open_configured(c, &o, &r->fs, err);
    if (k < 0)
        return k;
    *ret = SV_TAKE(r);
    return 0;
}

struct logs_remote *logs_remote_free(struct logs_remote *r)
{
    if (!r)
        return NULL;
    r->fs = fs_close(r->fs);
    free(r);
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int logs_remote_list(struct logs_remote *r, const char *dir, char ***ret, struct sv_error *err)
{
    struct logs_names names;
    int k = logs_names_list(r->fs, dir, &names, err);

    if (k < 0)
        return k;
    if (names.n > 0)
        qsort(names.v, names.n, sizeof(names.v[0]), by_name);
    *ret = names.v;
    return 0;
}

/* ---- Files ---- */

static int fill(struct logs_remote_file *f, struct logs_piece *piece, uint64_t offset, uint64_t n)
{
    int k;

    piece->n = 0;
    piece->at = offset;
    k = fs_read(f->file, offset, piece->p, (size_t)n, &f->problem);
    if (k == 0)
        piece->n = (size_t)n;
    return k;
}

static bool has(const struct logs_piece *piece, uint64_t offset)
{
    return offset >= piece->at && offset < piece->at + piece->n;
}

/* Provides the bytes at an offset, at least one. */
static int piece_at(struct logs_remote_file *f, uint64_t offset, const struct logs_piece **ret)
{
    uint64_t length = f->source.length, tail = length - SV_MIN(length, (uint64_t)TAIL);
    struct logs_piece *a = &f->ahead;

    *ret = offset >= tail ? &f->tail : a;
    if (has(*ret, offset))
        return 0;
    if (offset >= tail)
        return fill(f, &f->tail, tail, length - tail);
    f->window = a->n > 0 && offset == a->at + a->n ? SV_MIN(2 * f->window, WINDOW_MAX) : WINDOW_MIN;
    return fill(f, a, offset, SV_MIN(tail - offset, (uint64_t)f->window));
}

static int read_at(void *userdata, uint64_t offset, void *p, size_t n)
{
    struct logs_remote_file *f = userdata;

    if (offset > f->source.length || n > f->source.length - offset)
        return -EINVAL;
    for (uint8_t *to = p; n > 0;) {
        const struct logs_piece *piece = NULL;
        int r = piece_at(f, offset, &piece);
        size_t k;

        if (r < 0)
            return r;
        k = SV_MIN(n, (size_t)(piece->at + piece->n - offset));
        memcpy(to, piece->p + (offset - piece->at), k);
        to += k;
        offset += k;
        n -= k;
    }
    return 0;
}

int logs_remote_file(struct logs_remote *r, const char *path, struct logs_remote_file **ret,
                     struct sv_error *err)
{
    _cleanup_(logs_remote_file_freep) struct logs_remote_file *f = calloc(1, sizeof(*f));
    struct fs_status st;
    int k;

    if (!f)
        return sv_error_errno(err, -ENOMEM, "%s", path);
    f->ahead.p = malloc(WINDOW_MAX);
    f->tail.p = malloc(TAIL);
    f->source.read_at = read_at;
    f->source.userdata = f;
    k = f->ahead.p && f->tail.p ? fs_open_file(r->fs, path, &f->file, &st, err)
                                : sv_error_errno(err, -ENOMEM, "%s", path);
    if (k < 0)
        return k;
    f->source.length = st.length;
    f->modified_ms = st.mtime_ms;
    *ret = SV_TAKE(f);
    return 0;
}

const struct logs_source *logs_remote_source(const struct logs_remote_file *f)
{
    return &f->source;
}

int64_t logs_remote_modified_ms(const struct logs_remote_file *f)
{
    return f->modified_ms;
}

const char *logs_remote_problem(const struct logs_remote_file *f)
{
    return f->problem.text;
}

struct logs_remote_file *logs_remote_file_free(struct logs_remote_file *f)
{
    if (!f)
        return NULL;
    f->file = fs_file_free(f->file);
    free(f->ahead.p);
    free(f->tail.p);
    free(f);
    return NULL;
}
