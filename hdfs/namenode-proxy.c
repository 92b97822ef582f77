/* See namenode-proxy.h. */
#include "hdfs/namenode-proxy.h"

#include "wire/ipc/methods-hdfs.h"

#define ANSWER_MAX ((size_t)1 << 20)
#define WAIT_MS 20000
#define INTERVAL_MS 1000

/* As the readers of HDFS, who come after it. */
static struct ipc_retry_policy policy(const struct hdfs_site *site, int64_t wait_ms)
{
    return (struct ipc_retry_policy){
        .kind = site->n_servers > 1 ? IPC_RETRY_FAILOVER : IPC_RETRY_RM,
        .connect_interval_ms = INTERVAL_MS,
        .max_wait_ms = wait_ms ? wait_ms : WAIT_MS,
        .interval_ms = INTERVAL_MS,
        .max_failovers = (int)site->failover.attempts,
        .base_ms = site->failover.base_ms,
        .max_ms = site->failover.max_ms,
    };
}

int hdfs_proxy_new(const struct hdfs_login *login, const struct hdfs_site *site,
                   struct ipc_proxy **ret, struct sv_error *err)
{
    struct ipc_proxy_config c = {
        .client = { .protocol = HDFS_CLIENT_PROTOCOL,
                    .version = 1,
                    .kerberos = login->kerberos,
                    .for_user = login->for_user,
                    .qop_mask = login->qop_mask,
                    .call_ms = HDFS_TOKEN_CALL_MS,
                    .max_frame = ANSWER_MAX },
        .n_servers = site->n_servers,
        .retry = policy(site, login->wait_ms),
    };

    for (unsigned i = 0; i < site->n_servers; i++) {
        c.servers[i].host = site->servers[i].host;
        c.servers[i].port = site->servers[i].port;
    }
    return ipc_proxy_new(login->event, &c, ret, err);
}
