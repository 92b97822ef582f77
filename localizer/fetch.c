/* See fetch.h. Selects the fetcher by the url's scheme and checks the source against the
 * request. */
#include <errno.h>

#include "localizer/fetch-tree.h"

/* One row per scheme of fs/url.c. */
static const struct {
    enum fs_scheme scheme;
    const struct loc_fetcher *fetcher;
} schemes[] = {
    { FS_SCHEME_FILE, &loc_fetcher_file },       { FS_SCHEME_HTTP, &loc_fetcher_http },
    { FS_SCHEME_HTTPS, &loc_fetcher_http },      { FS_SCHEME_HDFS, &loc_fetcher_hdfs },
    { FS_SCHEME_WEBHDFS, &loc_fetcher_webhdfs }, { FS_SCHEME_SWEBHDFS, &loc_fetcher_webhdfs },
    { FS_SCHEME_S3, &loc_fetcher_s3 },
};

static const struct loc_fetcher *find(enum fs_scheme scheme)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(schemes); i++)
        if (schemes[i].scheme == scheme)
            return schemes[i].fetcher;
    return NULL;
}

static int check(struct loc_source *s, const struct loc_fetcher *f, const struct loc_found *found,
                 enum loc_fail *ret_reason, struct sv_error *err)
{
    bool is_public = true;
    int r;

    *ret_reason = LOC_FAIL_CHANGED;
    r = loc_check_time(s, found->mtime_ms, err);
    if (r == 0 && !found->directory)
        r = loc_check_size(s, found->size, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_LIMIT;
    if (!found->directory && found->size > s->request->limits.bytes)
        return sv_error_set(err, -EFBIG, "Resource %s is larger than the limit of %llu bytes",
                            s->request->url, (unsigned long long)s->request->limits.bytes);
    *ret_reason = LOC_FAIL_SOURCE;
    if (s->request->visibility == LOC_PUBLIC)
        r = f->is_public(s, &is_public, ret_reason, err);
    return r < 0 || is_public ? r : loc_not_public(s, ret_reason, err);
}

static int open_and_fetch(struct loc_source *s, const struct loc_fetcher *f,
                          enum loc_fail *ret_reason, struct sv_error *err)
{
    struct loc_found found = { 0 };
    int r = f->open(s, &found, ret_reason, err);

    if (r == 0)
        r = check(s, f, &found, ret_reason, err);
    if (r < 0)
        return r;
    return found.directory ? loc_tree_fetch(s, f->tree, found.mode, ret_reason, err)
                           : f->fetch(s, ret_reason, err);
}

int loc_source_fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    const struct loc_fetcher *f;
    int r = fs_url_parse(s->request->url, &s->url, err);

    *ret_reason = LOC_FAIL_URL;
    if (r < 0)
        return r;
    f = find(s->url.scheme);
    if (!f)
        return sv_error_set(err, -EINVAL, "Resource %s: no fetcher for its scheme",
                            s->request->url);
    if (!f->open)
        return f->fetch(s, ret_reason, err);
    r = open_and_fetch(s, f, ret_reason, err);
    if (f->close)
        f->close(s);
    return r;
}
