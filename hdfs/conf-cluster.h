/* The cluster's NameNodes: those that the operator's configuration names. A job names others in its
 * urls; a daemon never authenticates itself to one of those. */
#ifndef SELVEDGE_HDFS_CONF_CLUSTER_H
#define SELVEDGE_HDFS_CONF_CLUSTER_H

#include "common/conf.h"
#include "hdfs/servers.h"

/* The keys that name them, for messages. */
#define HDFS_CLUSTER_KEYS                                                                          \
    "fs.defaultFS, dfs.namenode.rpc-address…, mapreduce.job.hdfs-servers, "                      \
    "fs.viewfs.mounttable…"

struct hdfs_cluster;

/* Reads the keys. -ENOMEM. */
int hdfs_cluster_new(struct sv_conf *c, struct hdfs_cluster **ret) _must_use_;
struct hdfs_cluster *hdfs_cluster_free(struct hdfs_cluster *k);
static inline void hdfs_cluster_freep(struct hdfs_cluster **k)
{
    *k = hdfs_cluster_free(*k);
}
/* The first NameNode of the site that none of the keys names; NULL: all are the cluster's. Hosts
 * are compared as they are written, without case: no address is the one of a name. */
const struct hdfs_server *hdfs_cluster_foreign(const struct hdfs_cluster *k,
                                               const struct hdfs_site *site);
/* All of them, as they are written; one may be there twice. */
const struct hdfs_server *hdfs_cluster_servers(const struct hdfs_cluster *k, size_t *ret_n);

#endif
