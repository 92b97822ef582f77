/* Response body of a file range between two texts, for http.c. The file may shrink while it is
 * sent: then the connection is closed, so that the client detects the truncation. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_FRAMED_H
#define SELVEDGE_COMMON_WEB_HTTP_FRAMED_H

#include <microhttpd.h>

#include "common/web/http.h"

/* Takes before, after and fd of `a`, whatever the result. NULL when out of memory. */
struct MHD_Response *sv_http_framed_response(struct sv_http_response *a);

#endif
