/* Private to the web back ends: options of every transfer. No proxy, cookies, credentials,
 * decompression or other protocol; servers' certificates are verified; redirects are not followed;
 * connections only where the policy allows them. */
#ifndef SELVEDGE_FS_WEB_H
#define SELVEDGE_FS_WEB_H

#include "common/web/curl.h"
#include "fs/backend.h"

struct fs_web {
    const struct sv_curl *curl;
    const struct fs_policy *policy;
    const char *program; /* the user agent */
    bool secure;         /* https */
    uint32_t connect_ms;
};

/* Forgets all former options. `why`: libcurl's text of a failure. */
CURLcode fs_web_setup(const struct fs_web *w, CURL *c, const char *url, char why[CURL_ERROR_SIZE])
    _must_use_;

#endif
