/* Hadoop's keys of HDFS clients, from core-site.xml and hdfs-site.xml: resolves a URL's authority
 * to NameNodes. Read by the daemon; sandboxed readers get the result as text. */
#ifndef SELVEDGE_HDFS_CONF_H
#define SELVEDGE_HDFS_CONF_H

#include "common/conf.h"
#include "hdfs/servers.h"

/* Loads hdfs-site.xml from the directory of the core-site.xml that `c` was loaded from; it may be
 * missing. */
int hdfs_conf_load(struct sv_conf *c, struct sv_error *err) _must_use_;
/* Finds the NameNodes of "hdfs://host:port": a nameservice when the port is 0 and dfs.nameservices
 * lists the host, else that one; of fs.defaultFS when the host is empty. -EINVAL with the key at
 * fault, -EOPNOTSUPP when the configuration requires an unsupported feature. */
int hdfs_conf_site(struct sv_conf *c, const char *host, uint16_t port, struct hdfs_site *ret,
                   struct sv_error *err) _must_use_;
/* Table of keys for --print-config and the manual. */
const struct sv_conf_key *hdfs_conf_keys(size_t *ret_n);

#endif
