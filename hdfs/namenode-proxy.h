/* A daemon's own connection to the NameNodes of a file system, with its Kerberos login, for calls
 * about delegation tokens. Hostile: what a NameNode answers. */
#ifndef SELVEDGE_HDFS_NAMENODE_PROXY_H
#define SELVEDGE_HDFS_NAMENODE_PROXY_H

#include "hdfs/servers.h"
#include "wire/ipc/proxy.h"

#define HDFS_TOKEN_CALL_MS 20000 /* one attempt, with the login at the NameNode */

struct hdfs_login {
    sd_event *event;
    const struct ipc_kerberos *kerberos; /* outlives the proxy */
    uint32_t qop_mask;                   /* hadoop.rpc.protection */
    int64_t wait_ms;                     /* for a single NameNode that is away; 0: 20000 */
    const char *for_user;                /* acts for this user; NULL: for itself */
};

/* The active one of several NameNodes is found by the site's failover keys. */
int hdfs_proxy_new(const struct hdfs_login *login, const struct hdfs_site *site,
                   struct ipc_proxy **ret, struct sv_error *err) _must_use_;

#endif
