/* Logs of a container: the list of its files, and one file in a page. Only its colour sequences are
 * interpreted. Hostile: names and contents. */
#ifndef SELVEDGE_NODEMANAGER_WEB_PAGE_LOGS_H
#define SELVEDGE_NODEMANAGER_WEB_PAGE_LOGS_H

#include "nodemanager/web/page-frame.h"
#include "wire/ids.h"

/* The caller must be allowed to view the container. `file` NULL: the list. ?start= and ?end= are
 * Hadoop's: bytes, negative from the end; the last 4096 without. At most NM_PAGE_LOG_MAX bytes are
 * shown. */
#define NM_PAGE_LOG_MAX ((int64_t)256 << 10)
int nm_page_logs(const struct nm_web *w, struct yarn_container_id id, const char *user,
                 const char *file, const struct sv_http_request *req, struct sv_http_response *ret)
    _must_use_;

#endif
