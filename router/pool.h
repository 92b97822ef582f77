/* Connections to members, one for each pair of a member's address and a caller, in whose name its
 * calls go out; the idlest are closed for others. One loop, one thread. */
#ifndef SELVEDGE_ROUTER_POOL_H
#define SELVEDGE_ROUTER_POOL_H

#include "wire/ipc/ipc-client.h"

#define RTR_CONNECTIONS_MAX 1024 /* a quarter of them to one address */

struct rtr_member_stats;
struct rtr_pool;

struct rtr_pool_config {
    const char *user;                    /* own account */
    const struct ipc_kerberos *kerberos; /* own ticket; NULL: SIMPLE. Outlives the pool */
    uint32_t qop_mask;                   /* hadoop.rpc.protection; 0: authentication alone */
    int64_t timeout_ms;                  /* of a call, and of connecting */
    size_t max_open;                     /* calls of one address; > 0 */
    size_t max_frame;                    /* bytes of an answer */
};
/* Texts are borrowed. NULL: no memory. */
struct rtr_pool *rtr_pool_new(sd_event *event, const struct rtr_pool_config *cfg);
/* Finishes open calls with -ECANCELED before it returns. */
struct rtr_pool *rtr_pool_free(struct rtr_pool *p);

struct rtr_outgoing {
    const char *address; /* "host:port" of a member, from the store */
    const char *caller;
    const char *method; /* static, as `response` */
    const ProtobufCMessage *request;
    const ProtobufCMessageDescriptor *response;
    struct rtr_member_stats *stats; /* where the call counts; or NULL. Outlives it. */
};
/* `done` as of ipc_client_call(), never from inside. -EBUSY: that address has not answered as many
 * calls as it may have, or no connection is free; -EINVAL: no address; -ECANCELED: from inside of
 * rtr_pool_free(). `done` then never runs. */
int rtr_pool_call(struct rtr_pool *p, const struct rtr_outgoing *q, ipc_done done, void *userdata,
                  struct sv_error *err) _must_use_;

#endif
