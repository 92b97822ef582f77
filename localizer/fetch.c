/* Selects the fetcher by the scheme of the url, see fetch.h. */
#include "localizer/fetch-common.h"

int loc_source_fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    int r = loc_url_parse(s->request->url, &s->url, err);

    if (r < 0) {
        *ret_reason = LOC_FAIL_URL;
        return r;
    }
    if (s->url.scheme == LOC_SCHEME_FILE)
        return loc_fetch_file(s, ret_reason, err);
    return loc_fetch_http(s, ret_reason, err);
}
