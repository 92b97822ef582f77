/* Series of /metrics about the node's Kerberos login, and the tokens of HDFS that it gets with it;
 * none without Kerberos. */
#ifndef SELVEDGE_NODEMANAGER_WEB_KERBEROS_SERIES_H
#define SELVEDGE_NODEMANAGER_WEB_KERBEROS_SERIES_H

#include "common/buf.h"

struct nm_hdfs_tokens_counts;
struct sgss_daemon_state;

/* Writes them as Prometheus text; `now_s`: seconds since 1970. */
int nm_kerberos_series(const struct sgss_daemon_state *s,
                       const struct nm_hdfs_tokens_counts *tokens, int64_t now_s,
                       struct sv_buf *out) _must_use_;

#endif
