/* WebHDFS client for aggregated logs: synchronous, one call at a time, simple authentication. For
 * single-purpose processes (log-uploader, `selvedge logs`). Hostile: answers of NameNodes and
 * DataNodes and their redirects, which must keep the scheme. No proxy, cookies or credentials. */
#ifndef SELVEDGE_LOGS_WEB_CLIENT_H
#define SELVEDGE_LOGS_WEB_CLIENT_H

#include "common/base.h"
#include "common/error.h"
#include "common/web/curl.h"
#include "fs/url.h"
#include "fs/webhdfs-json.h"

struct logs_web;
/* `server`: "http://host:port" or "https://…". */
int logs_web_new(const struct sv_curl *curl, const char *server, const char *user,
                 uint32_t timeout_ms, struct logs_web **ret, struct sv_error *err) _must_use_;
struct logs_web *logs_web_free(struct logs_web *w);
static inline void logs_web_freep(struct logs_web **w)
{
    *w = logs_web_free(*w);
}

/* Errors of all functions: -ENOENT, -EACCES, -EDQUOT, -EROFS (safe mode), -EREMOTEIO (another
 * exception), -EBADMSG, -EIO (network), with the server's text. */
int logs_web_status(struct logs_web *w, const char *path, struct webhdfs_status *ret,
                    struct sv_error *err) _must_use_;
/* As above, with its owner. */
int logs_web_owned_status(struct logs_web *w, const char *path, struct webhdfs_status *ret,
                          struct webhdfs_owner *ret_owner, struct sv_error *err) _must_use_;
/* Lists all children, in several requests. */
int logs_web_list(struct logs_web *w, const char *path,
                  int (*child)(void *userdata, const struct webhdfs_child *c), void *userdata,
                  struct sv_error *err) _must_use_;
int logs_web_mkdir(struct logs_web *w, const char *path, uint32_t mode, struct sv_error *err)
    _must_use_;
int logs_web_set_permission(struct logs_web *w, const char *path, uint32_t mode,
                            struct sv_error *err) _must_use_;
int logs_web_set_group(struct logs_web *w, const char *path, const char *group,
                       struct sv_error *err) _must_use_;
/* Replaces `to` if it exists. */
int logs_web_rename(struct logs_web *w, const char *from, const char *to, struct sv_error *err)
    _must_use_;
/* Deletes a file; a missing file is success. */
int logs_web_delete(struct logs_web *w, const char *path, struct sv_error *err) _must_use_;
/* Reads exactly n bytes within the file. */
int logs_web_read(struct logs_web *w, const char *path, uint64_t offset, void *p, size_t n,
                  struct sv_error *err) _must_use_;

/* Writes a file, replacing an existing one: create, write, finish; it is complete after finish. */
int logs_web_create(struct logs_web *w, const char *path, uint32_t mode, struct sv_error *err)
    _must_use_;
int logs_web_write(struct logs_web *w, const void *p, size_t n, struct sv_error *err) _must_use_;
int logs_web_finish(struct logs_web *w, struct sv_error *err) _must_use_;
void logs_web_abandon(struct logs_web *w); /* keeps the partial file; delete it by name */

#endif
