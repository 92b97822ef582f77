/* The IPC server's retry cache: a call that Hadoop's client resends because the answer was lost
 * with its connection has the same client id and call id. For methods that must not run twice
 * (ipc_protocol.once) the first answer is cached and repeated; a repetition that arrives while the
 * first call is open waits for its answer. As in org.apache.hadoop.ipc.RetryCache, a failure is not
 * cached.
 *
 * The ids are chosen by the peer: an entry serves only the identity and the method that created it.
 * Bounded in entries, bytes and time. */
#ifndef SELVEDGE_WIRE_IPC_IPC_RETRY_H
#define SELVEDGE_WIRE_IPC_IPC_RETRY_H

#include "wire/ipc/ipc-conn.h"

struct ipc_retry_cache;
struct ipc_retry_entry;

struct ipc_retry_cache *ipc_retry_new(const struct ipc_limits *l);
/* Entries with an open call stay allocated until it finishes. */
struct ipc_retry_cache *ipc_retry_free(struct ipc_retry_cache *c);

enum ipc_retry {
    IPC_RETRY_RUN,  /* run the call; call->retry may have been set */
    IPC_RETRY_OVER, /* the call was answered or is waiting: the caller no longer owns it */
};
/* `call` has its method. */
enum ipc_retry ipc_retry_begin(struct ipc_retry_cache *c, struct ipc_call *call);

/* Completion of a call with call->retry; both finish the calls that wait for it. */
void ipc_retry_answered(struct ipc_call *call, const uint8_t *body, size_t n);
void ipc_retry_failed(struct ipc_call *call, int detail, const char *java_class, const char *text);

#endif
