/* One HTTP request's reading of logs, off the loop: a handler that needs them returns -EAGAIN and
 * is called again when the disks have answered (sv_http_kept). */
#ifndef SELVEDGE_NODEMANAGER_WEB_LOG_REQUEST_H
#define SELVEDGE_NODEMANAGER_WEB_LOG_REQUEST_H

#include "nodemanager/services/log-search.h"
#include "nodemanager/web/nm-web.h"

struct nm_log_text {
    const char *bytes;
    size_t n;
};

/* The search of this request for the list (`file` NULL) or for one file, which has ended. -EAGAIN:
 * not yet. -EINVAL: not the name of a file. -ENOMEM. It lives until the
 * handler has another result than -EAGAIN. */
int nm_log_request_search(const struct nm_web *w, const struct sv_http_request *req,
                          struct yarn_container_id id, const char *file, struct nm_log_search **ret)
    _must_use_;
/* Bytes of a file, which may have fewer by now. -EAGAIN: not yet. -EIO, with `why`: the disk does
 * not answer. One call a request. */
int nm_log_request_text(const struct nm_web *w, const struct sv_http_request *req,
                        const struct nm_log_file *file, int64_t offset, size_t n,
                        struct nm_log_text *ret, struct sv_error *why) _must_use_;

#endif
