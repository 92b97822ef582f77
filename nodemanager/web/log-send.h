/* Sends a range of a log file, block by block as its disk's thread reads it and the client takes
 * it. If the file shrinks meanwhile or the disk hangs, the connection is closed, so that the client
 * detects the truncation. */
#ifndef SELVEDGE_NODEMANAGER_WEB_LOG_SEND_H
#define SELVEDGE_NODEMANAGER_WEB_LOG_SEND_H

#include "nodemanager/services/log-search.h"
#include "nodemanager/web/nm-web.h"

#define NM_LOG_SENDS_MAX 128u /* at a time; each holds less than HTTP_STREAM_MAX and one block */

struct nm_log_range {
    const char *type;     /* static: the content type */
    char *before, *after; /* malloc'd texts around the range; or NULL */
    uint64_t offset, size;
};

/* Takes the file of a search that has found it, and the texts of the range, unless it fails.
 * Returns SV_HTTP_LATER; -EBUSY: NM_LOG_SENDS_MAX are under way. */
int nm_log_send(const struct nm_web *w, const struct sv_http_request *req,
                struct nm_log_search *from, struct nm_log_range *range) _must_use_;

#endif
