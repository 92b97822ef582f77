/* Validates a requested resource before its container is accepted, so that a bad request fails
 * early and starts nothing. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "fs/url.h"
#include "localizer/cache.h"

int loc_resource_check(const struct loc_resource *r, struct sv_error *err)
{
    struct fs_url url;
    const char *what = NULL;

    if (!r->url)
        return sv_error_set(err, -EINVAL, "Invalid resource: no url");
    if (r->type < LOC_ARCHIVE || r->type > LOC_PATTERN)
        what = "unknown type";
    else if (r->visibility < LOC_PUBLIC || r->visibility > LOC_APPLICATION)
        what = "unknown visibility";
    else if (r->timestamp < 0)
        what = "negative timestamp";
    else if (r->pattern && r->pattern[0] && r->type != LOC_PATTERN)
        what = "a pattern, but its type is not PATTERN";
    else if (r->pattern && strnlen(r->pattern, SV_PATTERN_MAX + 1) > SV_PATTERN_MAX)
        what = "pattern is longer than 512 bytes";
    if (what) {
        char shown[200];

        sv_escape(shown, sizeof(shown), r->url);
        return sv_error_set(err, -EINVAL, "Invalid resource %s: %s", shown, what);
    }
    return fs_url_parse(r->url, &url, err);
}
