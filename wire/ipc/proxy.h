/* A service at one of several addresses, and calls that survive its restarts.
 *
 * The counterpart of Hadoop's RMProxy, ClientRMProxy and ServerProxy: a call is retried by the
 * rules of wire/ipc/retry.h, at the same server or the next one, always with the client id and call
 * id of the first attempt and a higher retry count, so that a server recognizes a repetition. Calls
 * are multiplexed over one connection per server. One sd-event loop, one thread. */
#ifndef SELVEDGE_WIRE_IPC_PROXY_H
#define SELVEDGE_WIRE_IPC_PROXY_H

#include "common/conf.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/retry.h"

#define IPC_PROXY_SERVERS_MAX 16

struct ipc_proxy_server {
    char id[64]; /* of yarn.resourcemanager.ha.rm-ids; "" when there is only one */
    const char *host;
    uint16_t port;
};

/* Called before a retry in `wait_ms`, at *next (an element of the list). For messages only; must
 * not free the proxy. */
typedef void (*ipc_proxy_notify)(const char *method, const struct sv_error *err, int64_t wait_ms,
                                 const struct ipc_proxy_server *failed,
                                 const struct ipc_proxy_server *next, void *userdata);

struct ipc_proxy_config {
    struct ipc_client_config client; /* host, port and client_id are ignored */
    struct ipc_proxy_server servers[IPC_PROXY_SERVERS_MAX]; /* texts are copied */
    size_t n_servers;                                       /* > 0 */
    struct ipc_retry_policy retry;
    ipc_proxy_notify notify; /* may be NULL */
    void *userdata;          /* of notify */
};

struct ipc_proxy;

int ipc_proxy_new(sd_event *event, const struct ipc_proxy_config *cfg, struct ipc_proxy **ret,
                  struct sv_error *err) _must_use_;
/* Finishes open calls with -ECANCELED before it returns. */
struct ipc_proxy *ipc_proxy_free(struct ipc_proxy *p);

/* As ipc_client_call; call_ms is the time of one attempt. `done` runs exactly once, when the call
 * is answered, abandoned, cancelled, or its proxy freed. *ret_id (may be NULL) is for
 * ipc_proxy_cancel. */
int ipc_proxy_call(struct ipc_proxy *p, const char *method, const ProtobufCMessage *request,
                   const ProtobufCMessageDescriptor *response, int64_t call_ms, ipc_done done,
                   void *userdata, int32_t *ret_id) _must_use_;
/* As ipc_client_cancel, also for a call between two attempts. */
bool ipc_proxy_cancel(struct ipc_proxy *p, int32_t id);
/* The server for new calls. */
const struct ipc_proxy_server *ipc_proxy_current(const struct ipc_proxy *p);
/* Its place in the list. */
size_t ipc_proxy_position(const struct ipc_proxy *p);
/* New calls begin at the next server of several: the current one has failed in a way that is final
 * to a call, and may not be so at another server, such as a refused login. */
void ipc_proxy_fail_over(struct ipc_proxy *p);
/* "rm1 (host:port)" or "host:port", for messages. */
const char *ipc_proxy_server_text(const struct ipc_proxy_server *s, char *buf, size_t size);

/* ---- Hadoop's keys (wire/ipc/proxy-conf.c) ---- */

enum yarn_rm_service {
    YARN_RM_CLIENTS,   /* yarn.resourcemanager.address, 8032 */
    YARN_RM_SCHEDULER, /* …scheduler.address, 8030 */
    YARN_RM_TRACKER,   /* …resource-tracker.address, 8031; NodeManager keys take precedence */
    YARN_RM_ADMIN,     /* …admin.address, 8033 */
};

/* Reads servers, retry rules and deadlines of the ResourceManager's service:
 * yarn.resourcemanager.ha.*, .connect.*, yarn.client.failover-*, ipc.client.*, ipc.ping.interval.
 * Sets everything except client.protocol, .version, .user, .token and the callback. Texts are valid
 * as long as `c`. */
int yarn_rm_proxy_config(struct sv_conf *c, enum yarn_rm_service service,
                         struct ipc_proxy_config *ret, struct sv_error *err) _must_use_;
/* As yarn_rm_proxy_config(), for ContainerManagementProtocol: yarn.client.nodemanager-connect.*;
 * sets no servers. */
int yarn_nm_proxy_config(struct sv_conf *c, struct ipc_proxy_config *ret, struct sv_error *err)
    _must_use_;
/* All keys that the two functions read, for --print-config. */
const struct sv_conf_key *yarn_proxy_conf_keys(size_t *ret_n);

#endif
