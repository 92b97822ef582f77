/* NameNodes of a file system, and their text, for programs that read no configuration. Pure. */
#ifndef SELVEDGE_HDFS_SERVERS_H
#define SELVEDGE_HDFS_SERVERS_H

#include "common/base.h"
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

/* A name or an address of at most HDFS_HOST_MAX bytes. */
bool hdfs_host_valid(const char *s, size_t n);
/* Parses host, host:port or [v6]:port in s[0..n). -EINVAL. */
int hdfs_server_parse(const char *s, size_t n, struct hdfs_server *ret) _must_use_;
/* Parses "host:port,host:port", an IPv6 address in brackets, as written by hdfs_servers_text.
 * -EINVAL. */
int hdfs_servers_parse(const char *text, struct hdfs_server ret[HDFS_NAMENODES_MAX],
                       unsigned *ret_n) _must_use_;
int hdfs_servers_text(const struct hdfs_site *s, char ret[HDFS_SERVERS_TEXT_MAX + 1]) _must_use_;

#endif
