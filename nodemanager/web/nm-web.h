/* REST of the NodeManager under /ws/v1/node, container logs, as Hadoop's NMWebServices: the same
 * paths and fields. Rendering only. Hostile: paths and queries of anybody who can connect; file
 * names and contents of logs. */
#ifndef SELVEDGE_NODEMANAGER_WEB_NM_WEB_H
#define SELVEDGE_NODEMANAGER_WEB_NM_WEB_H

#include <jansson.h>

#include "common/http.h"
#include "wire/ids.h"

struct nm;

/* An sv_http_handler; userdata is the struct nm. */
int nm_web_handle(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata);

/* Takes the JSON over. */
int nm_web_json(struct sv_http_response *ret, unsigned status, json_t *j);
/* Hadoop's error body: {"RemoteException":{…}}. */
int nm_web_exception(struct sv_http_response *ret, unsigned status, const char *exception,
                     const char *fmt, ...) _printf_(4, 5);

/* nm-web-logs.c: names of a container's log files; [] when there are none. */
json_t *nm_web_log_names(struct nm *nm, struct yarn_container_id id);
int nm_web_log_list(struct nm *nm, struct yarn_container_id id, struct sv_http_response *ret);
int nm_web_log_file(struct nm *nm, struct yarn_container_id id, const char *file,
                    const struct sv_http_request *req, struct sv_http_response *ret);

#endif
