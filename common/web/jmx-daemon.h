/* Beans that every daemon of Hadoop's has, filled by a process without a virtual machine:
 * JvmMetrics, and RpcActivityForPort of an RPC server. Requires jansson. */
#ifndef SELVEDGE_COMMON_WEB_JMX_DAEMON_H
#define SELVEDGE_COMMON_WEB_JMX_DAEMON_H

#include <jansson.h>

#include "common/rpc-counters.h"

/* JvmMetrics of this process: resident memory in place of the heap, the limit of its cgroup in
 * place of the heap's maximum, threads by what the kernel says of them; no garbage collections. */
json_t *sv_jmx_process(const char *service);

/* Sets NAMENumOps and NAMEAvgTime; `now_ms`: sv_now_ms(). */
void sv_jmx_rate(json_t *bean, const char *name, const struct sv_rate *r, int64_t now_ms);

struct sv_jmx_rpc { /* an RPC server */
    uint16_t port;
    const char *server; /* "ContainerManagementProtocol" */
    size_t connections, open_calls;
    const struct sv_rpc_counters *counters;
};
json_t *sv_jmx_rpc(const char *service, const struct sv_jmx_rpc *rpc);

/* For tests: the least memory.max of a cgroup and those above it, below the mount `root`; `own` is
 * the content of /proc/self/cgroup. UINT64_MAX: none. */
uint64_t sv_cgroup_memory_max(const char *root, const char *own);

#endif
