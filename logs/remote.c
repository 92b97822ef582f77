/* See remote.h: code shared by the back ends. */
#include "logs/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/fd.h"
#include "common/str.h"
#include "logs/remote-store.h"

#define WINDOW_MIN ((size_t)64 << 10)
#define WINDOW_MAX ((size_t)8 << 20)
#define TAIL ((size_t)64 << 10)

int logs_remote_parse(const char *default_fs, const char *remote, struct fs_url *ret,
                      struct sv_error *err)
{
    _cleanup_free_ char *url = NULL;
    int r = sv_asprintf(&url, "%s%s", remote[0] == '/' ? default_fs : "", remote);

    return r < 0 ? sv_error_errno(err, r, "%s", remote) : fs_url_parse(url, ret, err);
}

static const struct logs_remote_ops *ops_of(enum fs_scheme scheme)
{
    switch (scheme) {
    case FS_SCHEME_FILE:
        return &logs_remote_directory;
    case FS_SCHEME_HDFS:
        return &logs_remote_hdfs;
    case FS_SCHEME_WEBHDFS:
    case FS_SCHEME_SWEBHDFS:
        return &logs_remote_web;
    default:
        return NULL;
    }
}

int logs_remote_open(struct sv_conf *c, const struct fs_url *url, const char *user,
                     struct logs_remote **ret, struct sv_error *err)
{
    _cleanup_(logs_remote_freep) struct logs_remote *r = calloc(1, sizeof(*r));
    int k;

    if (!r)
        return sv_error_errno(err, -ENOMEM, "remote log directory");
    r->root = -1;
    r->ops = ops_of(url->scheme);
    if (!r->ops)
        return sv_error_set(err, -EOPNOTSUPP, "logs are read from hdfs:, webhdfs: and file: alone");
    k = snprintf(r->path, sizeof(r->path), "%s", url->path);
    if (k >= (int)sizeof(r->path))
        return sv_error_set(err, -ENAMETOOLONG, "remote log directory: too long a path");
    k = r->ops->open(r, c, url, user, err);
    if (k < 0)
        return k;
    *ret = SV_TAKE(r);
    return 0;
}

struct logs_remote *logs_remote_free(struct logs_remote *r)
{
    if (!r)
        return NULL;
    if (r->ops)
        r->ops->close(r);
    free(r);
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int logs_remote_list(struct logs_remote *r, const char *dir, char ***ret, struct sv_error *err)
{
    struct logs_names names = { calloc(1, sizeof(char *)), 0 };
    int k = names.v ? r->ops->list(r, dir, &names, err)
                    : sv_error_errno(err, -ENOMEM, "remote log directory");

    if (k == -E2BIG)
        (void)sv_error_set(err, k, "%s/%s: more than %d files", r->path, dir,
                           LOGS_REMOTE_FILES_MAX);
    if (k < 0) {
        sv_strv_free(names.v);
        return k;
    }
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
    k = f->r->ops->read(f, offset, piece->p, (size_t)n, &f->problem);
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
    int k;

    if (!f)
        return sv_error_errno(err, -ENOMEM, "%s", path);
    f->r = r;
    f->fd = -1;
    f->ahead.p = malloc(WINDOW_MAX);
    f->tail.p = malloc(TAIL);
    f->source.read_at = read_at;
    f->source.userdata = f;
    k = f->ahead.p && f->tail.p ? r->ops->file(r, path, f, err)
                                : sv_error_errno(err, -ENOMEM, "%s", path);
    if (k < 0)
        return k;
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
    f->r->ops->file_close(f);
    free(f->ahead.p);
    free(f->tail.p);
    free(f);
    return NULL;
}
