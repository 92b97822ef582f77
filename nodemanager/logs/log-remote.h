/* The configured remote log directory: validated at start, so that uploads need no
 * configuration. */
#ifndef SELVEDGE_NODEMANAGER_LOGS_LOG_REMOTE_H
#define SELVEDGE_NODEMANAGER_LOGS_LOG_REMOTE_H

#include "common/buf.h"
#include "fs/url.h"
#include "hdfs/limits.h"
#include "nodemanager/conf/conf.h"

struct nm_log_remote {
    char *path;
    char servers[HDFS_SERVERS_TEXT_MAX + 1]; /* "": no HDFS */
    char web[FS_SERVER_MAX + 1];             /* "": no WebHDFS */
    uint32_t io_timeout_ms, protection;      /* protection: hdfs_site_protection() */
    bool use_hostname;
    int root; /* a local directory: open, created if missing; -1: not usable yet */
};

int nm_log_remote_open(const struct nm_conf *conf, struct nm_log_remote *ret, struct sv_error *err)
    _must_use_;
/* Call it before an upload: opens a local directory that could not be opened before, such as one
 * that was not mounted at start. */
int nm_log_remote_ready(struct nm_log_remote *r, struct sv_error *err) _must_use_;
void nm_log_remote_close(struct nm_log_remote *r);
/* Appends the destination fields of an upload's request. */
int nm_log_remote_put(const struct nm_log_remote *r, const struct nm_conf_logs *conf,
                      const char *node_id, struct sv_buf *b) _must_use_;

#endif
