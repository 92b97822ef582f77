/* See aggregated.h: writing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "logs/aggregated.h"
#include "logs/java-utf.h"

#define FORMAT_VERSION 1

struct logs_writer {
    struct logs_tfile_writer *out;
    char id[LOGS_ID_MAX + 1]; /* of the container; "": none */
    bool open;                /* its key has been written */
};

static int put_key(struct logs_writer *w, const char *key)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(LOGS_KEY_MAX);
    int r = logs_utf_put(&b, key);

    return r < 0 ? r : logs_tfile_key(w->out, b.data, b.len);
}

static int put_pair(struct logs_writer *w, const char *key, const struct sv_buf *value)
{
    int r = put_key(w, key);

    if (r == 0)
        r = logs_tfile_put(w->out, value->data, value->len);
    return r < 0 ? r : logs_tfile_end(w->out);
}

static int put_head(struct logs_writer *w, const char *owner, const struct logs_acl *acls,
                    size_t n_acls)
{
    _cleanup_buf_ struct sv_buf version = SV_BUF_INIT(4), lists = SV_BUF_INIT(0),
                                name = SV_BUF_INIT(2 + LOGS_UTF_MAX);
    int r = sv_buf_put_u32(&version, FORMAT_VERSION);

    for (size_t i = 0; r == 0 && i < n_acls; i++) {
        r = logs_utf_put(&lists, acls[i].right);
        if (r == 0)
            r = logs_utf_put(&lists, acls[i].list);
    }
    if (r == 0)
        r = logs_utf_put(&name, owner);
    if (r == 0)
        r = put_pair(w, "VERSION", &version);
    if (r == 0)
        r = put_pair(w, "APPLICATION_ACL", &lists);
    return r < 0 ? r : put_pair(w, "APPLICATION_OWNER", &name);
}

int logs_writer_new(const struct logs_sink *sink, enum logs_codec codec, const char *owner,
                    const struct logs_acl *acls, size_t n_acls, struct logs_writer **ret)
{
    _cleanup_(logs_writer_freep) struct logs_writer *w = calloc(1, sizeof(*w));
    int r;

    if (!w)
        return -ENOMEM;
    r = logs_tfile_writer_new(sink, codec, &w->out);
    if (r == 0)
        r = put_head(w, owner, acls, n_acls);
    if (r < 0)
        return r;
    *ret = SV_TAKE(w);
    return 0;
}

struct logs_writer *logs_writer_free(struct logs_writer *w)
{
    if (!w)
        return NULL;
    w->out = logs_tfile_writer_free(w->out);
    free(w);
    return NULL;
}

static int end_container(struct logs_writer *w)
{
    int r = w->open ? logs_tfile_end(w->out) : 0;

    w->open = false;
    return r;
}

int logs_writer_container(struct logs_writer *w, const char *id)
{
    int r = end_container(w);

    (void)snprintf(w->id, sizeof(w->id), "%s", id);
    return r;
}

int logs_writer_file(struct logs_writer *w, const char *name, uint64_t length)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(2 * (2 + LOGS_UTF_MAX));
    char digits[24];
    int r = w->open ? 0 : put_key(w, w->id);

    w->open = true;
    (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)length);
    if (r == 0)
        r = logs_utf_put(&b, name);
    if (r == 0)
        r = logs_utf_put(&b, digits);
    return r < 0 ? r : logs_tfile_put(w->out, b.data, b.len);
}

int logs_writer_put(struct logs_writer *w, const void *p, size_t n)
{
    return logs_tfile_put(w->out, p, n);
}

int logs_writer_finish(struct logs_writer *w)
{
    int r = end_container(w);

    return r < 0 ? r : logs_tfile_finish(w->out);
}
