/* The IPC server's retry cache: a call that Hadoop's client sends again, because the answer was
 * lost with its connection, carries the same client id and call id. For methods that must not run
 * twice (ipc_protocol.once) the first answer is kept and given again; a repetition that comes while
 * the first is still open waits for it. As org.apache.hadoop.ipc.RetryCache, a failure is not kept.
 *
 * The ids are a peer's own words: an entry serves only the identity and the method that made it.
 * Bounded in entries, bytes and time. */
#ifndef SELVEDGE_WIRE_IPC_RETRY_H
#define SELVEDGE_WIRE_IPC_RETRY_H

#include "wire/ipc-conn.h"

struct ipc_retry_cache;
struct ipc_retry_entry;

struct ipc_retry_cache *ipc_retry_new(const struct ipc_limits *l);
/* Entries whose call is still open live until it is finished. */
struct ipc_retry_cache *ipc_retry_free(struct ipc_retry_cache *c);

enum ipc_retry {
    IPC_RETRY_RUN,  /* run it; call->retry may have been set */
    IPC_RETRY_OVER, /* the call was answered or waits: it is no longer the caller's */
};
/* `call` has its method. */
enum ipc_retry ipc_retry_begin(struct ipc_retry_cache *c, struct ipc_call *call);

/* What a call with call->retry ends with; both finish the calls that wait for it. */
void ipc_retry_answered(struct ipc_call *call, const uint8_t *body, size_t n);
void ipc_retry_failed(struct ipc_call *call, int detail, const char *java_class, const char *text);

#endif
