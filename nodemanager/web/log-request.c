/* See log-request.h. */
#include "nodemanager/web/log-request.h"

#include <errno.h>
#include <stdlib.h>

#include "nodemanager/core/context.h"
#include "nodemanager/health/log-disks.h"
#include "nodemanager/services/log-read.h"

/* Outlives the request while it is pending. */
struct reading {
    const struct nm_web *w;
    char *bytes;
    size_t n;
    int disk, status;
    bool pending, freed;
};

struct kept {
    struct nm_log_search *list, *file;
    struct reading *reading;
};

static void reading_free(struct reading *r)
{
    if (!r)
        return;
    r->freed = true;
    if (r->pending)
        return;
    free(r->bytes);
    free(r);
}

static void kept_free(void *data)
{
    struct kept *k = data;

    reading_free(k->reading);
    (void)nm_log_search_free(k->list);
    (void)nm_log_search_free(k->file);
    free(k);
}

static struct kept *kept_of(const struct sv_http_request *req)
{
    if (!req->kept->data)
        *req->kept = (struct sv_http_kept){ calloc(1, sizeof(struct kept)), kept_free };
    return req->kept->data;
}

static void call_again(void *userdata)
{
    const struct nm_web *w = userdata;

    sv_http_retry(w->http);
}

int nm_log_request_search(const struct nm_web *w, const struct sv_http_request *req,
                          struct yarn_container_id id, const char *file, struct nm_log_search **ret)
{
    struct kept *k = kept_of(req);
    struct nm_log_search **s = !k ? NULL : file ? &k->file : &k->list;
    int r = 0;

    if (!s)
        return -ENOMEM;
    if (!*s)
        r = nm_log_search_new(w->ctx, id, file, call_again, (void *)w, s);
    if (r < 0)
        return r;
    if (!nm_log_search_ended(*s))
        return -EAGAIN;
    *ret = *s;
    return 0;
}

/* ---- Text ---- */

static void on_read(int status, char *bytes, size_t n, void *userdata)
{
    struct reading *r = userdata;

    r->pending = false;
    r->status = status;
    r->bytes = bytes;
    r->n = n;
    if (r->freed)
        reading_free(r);
    else
        call_again((void *)r->w);
}

static int start(struct kept *k, const struct nm_web *w, const struct nm_log_file *file,
                 int64_t offset, size_t n, struct sv_error *why)
{
    struct reading *r = calloc(1, sizeof(*r));
    int e;

    if (!r)
        return -ENOMEM;
    *r = (struct reading){ .w = w, .disk = file->disk, .pending = true };
    e = nm_log_read(w->ctx, file, offset, n, on_read, r, why);
    if (e < 0) {
        free(r);
        return e == -ENOMEM ? e : -EIO;
    }
    k->reading = r;
    return 0;
}

int nm_log_request_text(const struct nm_web *w, const struct sv_http_request *req,
                        const struct nm_log_file *file, int64_t offset, size_t n,
                        struct nm_log_text *ret, struct sv_error *why)
{
    struct kept *k = kept_of(req);
    const struct reading *r;
    int e = 0;

    if (!k)
        return -ENOMEM;
    if (!k->reading)
        e = start(k, w, file, offset, n, why);
    if (e < 0)
        return e;
    r = k->reading;
    if (r->pending)
        return -EAGAIN;
    if (r->status < 0) {
        nm_log_disks_why(w->ctx->log_disks, r->disk, r->status, why);
        return -EIO;
    }
    *ret = (struct nm_log_text){ r->bytes, r->n };
    return 0;
}
