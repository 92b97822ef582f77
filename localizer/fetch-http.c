/* http: and https: urls. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "localizer/fetch-common.h"
#include "localizer/http-get.h"

static int verify(const struct loc_source *s, const struct loc_http_get *g, struct sv_error *err)
{
    int r;

    /* Hadoop's http file system has no times and reports 0: nothing to compare. */
    if (s->request->timestamp != 0) {
        if (g->mtime < 0)
            return sv_error_set(err, -ESTALE,
                                "Resource %s changed on src filesystem - the server "
                                "gave no Last-Modified",
                                s->request->url);
        /* The header has whole seconds. */
        r = loc_check_time(s, g->mtime * 1000 + s->request->timestamp % 1000, err);
        if (r < 0)
            return r;
    }
    return loc_check_size(s, g->bytes, err);
}

static int restart(void *userdata)
{
    struct loc_source *s = userdata;

    s->size = 0;
    return ftruncate(s->fd, 0) < 0 || lseek(s->fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

int loc_http_copy(struct loc_source *s, struct loc_http_get *g, enum loc_fail *ret_reason,
                  struct sv_error *err)
{
    const struct loc_fetch *q = s->request;
    int r;

    g->source = s;
    g->limit = q->size >= 0 ? SV_MIN((uint64_t)q->size, q->limits.bytes) : q->limits.bytes;
    g->sink = loc_copy_append;
    g->restart = restart;
    g->userdata = s;
    *ret_reason = LOC_FAIL_DISK;
    s->fd = loc_make_copy(s, err);
    if (s->fd < 0)
        return s->fd;
    r = loc_http_get(g, ret_reason, err);
    if (r < 0 && g->over && q->size >= 0) {
        *ret_reason = LOC_FAIL_CHANGED;
        return sv_error_set(err, -ESTALE,
                            "Resource %s changed on src filesystem - expected: %lld "
                            "bytes, was: more",
                            q->url, (long long)q->size);
    }
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_CHANGED;
    r = verify(s, g, err);
    return r < 0 ? r : loc_copy_finish(s, ret_reason, err);
}

static int fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct loc_http_get g = { .url = s->request->url, .secure = s->url.scheme == FS_SCHEME_HTTPS };

    return loc_http_copy(s, &g, ret_reason, err);
}

const struct loc_fetcher loc_fetcher_http = { .fetch = fetch };
