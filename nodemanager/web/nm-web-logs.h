/* Container logs over HTTP. The directories are written by jobs: every name below the configured
 * log directory is opened without following links, must be a regular file with one name and belong
 * to the account that owns the container's directory. Content is sent as text/plain; page-logs.h
 * shows it escaped. */
#ifndef SELVEDGE_NODEMANAGER_WEB_NM_WEB_LOGS_H
#define SELVEDGE_NODEMANAGER_WEB_NM_WEB_LOGS_H

#include <jansson.h>
#include <sys/stat.h>

#include "common/web/http.h"
#include "wire/ids.h"

struct nm_context;

/* Opens a log file read-only: a descriptor and its fstat. -EINVAL: not a file name. -ENOENT: no
 * such log file on this node. */
int nm_web_log_open(const struct nm_context *ctx, struct yarn_container_id id, const char *file,
                    struct stat *ret_stat) _must_use_;
/* Calls `fn` for each log file. Returns the number of entries read, or -ENOENT without a directory.
 * This and the next two read at most 1,000 entries of its directories, on the daemon's only
 * thread. */
typedef void (*nm_web_log_fn)(const char *name, const struct stat *st, void *userdata);
int nm_web_each_log(const struct nm_context *ctx, struct yarn_container_id id, nm_web_log_fn fn,
                    void *userdata);
/* True if this node has a log directory of the container. */
bool nm_web_has_logs(const struct nm_context *ctx, struct yarn_container_id id);
/* Names of a container's log files; [] when there are none. */
json_t *nm_web_log_names(const struct nm_context *ctx, struct yarn_container_id id);
int nm_web_log_list(const struct nm_context *ctx, struct yarn_container_id id,
                    struct sv_http_response *ret);
/* `framed`: with Hadoop's lines around the text, unless the request says format=octet-stream. */
int nm_web_log_file(const struct nm_context *ctx, struct yarn_container_id id, const char *file,
                    bool framed, const struct sv_http_request *req, struct sv_http_response *ret);

#endif
