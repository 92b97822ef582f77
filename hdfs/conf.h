/* Hadoop's keys of HDFS clients, from core-site.xml and hdfs-site.xml: resolves a URL's authority
 * to NameNodes. Read by the daemon; sandboxed readers get the result as text. */
#ifndef SELVEDGE_HDFS_CONF_H
#define SELVEDGE_HDFS_CONF_H

#include "common/conf.h"
#include "hdfs/limits.h"

#define HDFS_PORT 8020 /* default of a NameNode */

struct hdfs_server {
    char host[HDFS_HOST_MAX + 1];
    uint16_t port;
};

/* For a nameservice with several NameNodes: dfs.client.failover.… */
struct hdfs_failover {
    uint32_t attempts;        /* max.attempts: failovers of one call, before it fails */
    uint32_t base_ms, max_ms; /* sleep.base.millis, doubled each time up to sleep.max.millis */
};
#define HDFS_FAILOVER_DEFAULT ((struct hdfs_failover){ 15, 500, 15000 })

/* Connection parameters of a file system. */
struct hdfs_site {
    struct hdfs_server servers[HDFS_NAMENODES_MAX]; /* of one nameservice, in its order */
    unsigned n_servers;
    struct hdfs_failover failover;
    uint32_t io_timeout_ms; /* dfs.client.socket-timeout: to connect, and between packets */
    bool use_hostname;      /* dfs.client.use.datanode.hostname */
};

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

/* Parses "host:port,host:port", an IPv6 address in brackets, as written by hdfs_servers_text.
 * -EINVAL. */
int hdfs_servers_parse(const char *text, struct hdfs_server ret[HDFS_NAMENODES_MAX],
                       unsigned *ret_n) _must_use_;
int hdfs_servers_text(const struct hdfs_site *s, char ret[HDFS_SERVERS_TEXT_MAX + 1]) _must_use_;

#endif
