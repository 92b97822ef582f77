/* Container logs over REST: their names and their text, which is sent as text/plain; page-logs.h
 * shows it escaped. The disks are read by their threads (log-request.h): each function may return
 * -EAGAIN. A log that is not found while a log directory cannot be read is 503 with the reason, not
 * 404. */
#ifndef SELVEDGE_NODEMANAGER_WEB_NM_WEB_LOGS_H
#define SELVEDGE_NODEMANAGER_WEB_NM_WEB_LOGS_H

#include <jansson.h>

#include "nodemanager/web/nm-web.h"
#include "wire/ids.h"

/* Names of a container's log files; [] when there are none. */
int nm_web_log_names(const struct nm_web *w, const struct sv_http_request *req,
                     struct yarn_container_id id, json_t **ret) _must_use_;
int nm_web_log_list(const struct nm_web *w, const struct sv_http_request *req,
                    struct yarn_container_id id, struct sv_http_response *ret);
/* `framed`: with Hadoop's lines around the text, unless the request says format=octet-stream. */
int nm_web_log_file(const struct nm_web *w, struct yarn_container_id id, const char *file,
                    bool framed, const struct sv_http_request *req, struct sv_http_response *ret);

#endif
