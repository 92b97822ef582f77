/* See curl.h. Whoever names this table links to libcurl. */
#include "common/web/curl.h"

const struct sv_curl sv_curl_linked = {
#define MEMBER(name) .name = curl_##name,
    SV_CURL_FUNCTIONS(MEMBER)
};
