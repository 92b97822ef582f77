/* Hadoop's keys of HDFS clients, from core-site.xml and hdfs-site.xml: the NameNodes of a url's
 * authority. Read by the daemon; a reader in a sandbox gets the result, as text. */
#ifndef SELVEDGE_HDFS_CONF_H
#define SELVEDGE_HDFS_CONF_H

#include "common/conf.h"
#include "hdfs/limits.h"

#define HDFS_PORT 8020 /* of a NameNode, where a url or an address names none */

struct hdfs_server {
    char host[HDFS_HOST_MAX + 1];
    uint16_t port;
};

/* Of a nameservice with several NameNodes: dfs.client.failover.… */
struct hdfs_failover {
    uint32_t attempts;        /* max.attempts: failovers of one call, before it fails */
    uint32_t base_ms, max_ms; /* sleep.base.millis, doubled each time up to sleep.max.millis */
};
#define HDFS_FAILOVER_DEFAULT ((struct hdfs_failover){ 15, 500, 15000 })

/* What a reader needs to know of a file system. */
struct hdfs_site {
    struct hdfs_server servers[HDFS_NAMENODES_MAX]; /* of one nameservice, in its order */
    unsigned n_servers;
    struct hdfs_failover failover;
    uint32_t io_timeout_ms; /* dfs.client.socket-timeout: without a packet, to connect */
    bool use_hostname;      /* dfs.client.use.datanode.hostname */
};

/* hdfs-site.xml beside the core-site.xml that `c` was loaded from; it may be missing. */
int hdfs_conf_load(struct sv_conf *c, struct sv_error *err) _must_use_;
/* The NameNodes of "hdfs://host:port": a nameservice when the port is 0 and dfs.nameservices names
 * the host, else that one; of fs.defaultFS when the host is empty. -EINVAL with the key at fault,
 * -EOPNOTSUPP when the configuration demands what this client does not have. */
int hdfs_conf_site(struct sv_conf *c, const char *host, uint16_t port, struct hdfs_site *ret,
                   struct sv_error *err) _must_use_;
/* Rows for --print-config and the manual. */
const struct sv_conf_key *hdfs_conf_keys(size_t *ret_n);

/* "host:port,host:port", an IPv6 address in brackets. Text from hdfs_servers_text only. -EINVAL. */
int hdfs_servers_parse(const char *text, struct hdfs_server ret[HDFS_NAMENODES_MAX],
                       unsigned *ret_n) _must_use_;
int hdfs_servers_text(const struct hdfs_site *s, char ret[HDFS_SERVERS_TEXT_MAX + 1]) _must_use_;

#endif
