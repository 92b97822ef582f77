/* Selects the fetcher by the scheme of the url, see fetch.h. */
#include <errno.h>

#include "localizer/fetch-common.h"

/* A row a scheme of localizer/url.c. Each fetcher opens the source, checks it against the request
 * (for PUBLIC also that everybody may read it) and leaves its content in s->fd. */
static const struct {
    enum loc_scheme scheme;
    int (*fetch)(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err);
} fetchers[] = {
    { LOC_SCHEME_FILE, loc_fetch_file },       { LOC_SCHEME_HTTP, loc_fetch_http },
    { LOC_SCHEME_HTTPS, loc_fetch_http },      { LOC_SCHEME_HDFS, loc_fetch_hdfs },
    { LOC_SCHEME_WEBHDFS, loc_fetch_webhdfs }, { LOC_SCHEME_SWEBHDFS, loc_fetch_webhdfs },
    { LOC_SCHEME_S3, loc_fetch_s3 },
};

int loc_source_fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    int r = loc_url_parse(s->request->url, &s->url, err);

    *ret_reason = LOC_FAIL_URL;
    if (r < 0)
        return r;
    for (size_t i = 0; i < SV_ARRAY_LEN(fetchers); i++)
        if (fetchers[i].scheme == s->url.scheme)
            return fetchers[i].fetch(s, ret_reason, err);
    return sv_error_set(err, -EINVAL, "Resource %s: no fetcher for its scheme", s->request->url);
}
