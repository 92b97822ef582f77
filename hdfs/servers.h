/* NameNodes of a file system, their text, and how connections are protected, for programs that read
 * no configuration. Pure. */
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

struct hdfs_keys;

/* Connection parameters of a file system. */
struct hdfs_site {
    struct hdfs_server servers[HDFS_NAMENODES_MAX]; /* of one nameservice, in its order */
    unsigned n_servers;
    char nameservice[HDFS_HOST_MAX + 1]; /* their common name, in tokens' services; "": none */
    struct hdfs_failover failover;
    uint32_t io_timeout_ms; /* dfs.client.socket-timeout: to connect, and between packets */
    bool use_hostname;      /* dfs.client.use.datanode.hostname */
    /* Protection; sets of enum ipc_qop (wire/sasl/qop.h). */
    bool secure;     /* hadoop.security.authentication is not simple: no call without a token */
    uint8_t rpc_qop; /* hadoop.rpc.protection; 0: any */
    uint8_t transfer_qop;   /* dfs.data.transfer.protection; 0: none */
    bool aes;               /* dfs.encrypt.data.transfer.cipher.suites has AES/CTR/NoPadding */
    struct hdfs_keys *keys; /* of files in encryption zones (zone.h); NULL: they are refused */
};

/* A name or an address of at most HDFS_HOST_MAX bytes. */
bool hdfs_host_valid(const char *s, size_t n);
/* Parses host, host:port or [v6]:port in s[0..n). -EINVAL. */
int hdfs_server_parse(const char *s, size_t n, struct hdfs_server *ret) _must_use_;
/* Parses "nameservice@host:port,host:port" into the site's servers and nameservice, as written by
 * hdfs_servers_text; an IPv6 address is in brackets, the nameservice and its '@' may be missing.
 * -EINVAL. */
int hdfs_servers_parse(const char *text, struct hdfs_site *ret) _must_use_;
int hdfs_servers_text(const struct hdfs_site *s, char ret[HDFS_SERVERS_TEXT_MAX + 1]) _must_use_;
/* The site's protection as a number, and back. -EINVAL: no number of hdfs_site_protection(). */
uint32_t hdfs_site_protection(const struct hdfs_site *s);
int hdfs_site_protect(struct hdfs_site *s, uint32_t protection) _must_use_;

#endif
