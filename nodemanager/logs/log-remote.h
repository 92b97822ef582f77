/* The remote log directory as the configuration names it: checked at start, so that an upload needs
 * no look at the configuration. */
#ifndef SELVEDGE_NODEMANAGER_LOGS_LOG_REMOTE_H
#define SELVEDGE_NODEMANAGER_LOGS_LOG_REMOTE_H

#include "common/buf.h"
#include "hdfs/limits.h"
#include "logs/web-url.h"
#include "nodemanager/conf/conf.h"

struct nm_log_remote {
    char *path;
    char servers[HDFS_SERVERS_TEXT_MAX + 1]; /* "": no HDFS */
    char web[LOGS_WEB_SERVER_MAX + 1];       /* "": no WebHDFS */
    uint32_t io_timeout_ms;
    bool use_hostname;
    int root; /* of this machine: open, made if it does not exist; -1: not usable yet */
};

int nm_log_remote_open(const struct nm_conf *conf, struct nm_log_remote *ret, struct sv_error *err)
    _must_use_;
/* Before an upload: opens a directory of this machine that could not be opened before, such as one
 * that was not mounted at start. */
int nm_log_remote_ready(struct nm_log_remote *r, struct sv_error *err) _must_use_;
void nm_log_remote_close(struct nm_log_remote *r);
/* Appends the fields of an upload's request that say where to. */
int nm_log_remote_put(const struct nm_log_remote *r, const struct nm_conf_logs *conf,
                      const char *node_id, struct sv_buf *b) _must_use_;

#endif
