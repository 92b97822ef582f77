/* Failed log uploads in REST. */
#ifndef SELVEDGE_NODEMANAGER_WEB_UPLOADS_JSON_H
#define SELVEDGE_NODEMANAGER_WEB_UPLOADS_JSON_H

#include <jansson.h>

#include "nodemanager/web/nm-web.h"

/* Their number, and the first hundred that the caller may see. */
json_t *nm_web_uploads(const struct nm_web *w, const struct sv_http_request *req);

#endif
