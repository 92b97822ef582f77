/* An open call of a client, from its arrival to its answer. The client is hostile, what members and
 * store answer is judged by the layers below. */
#ifndef SELVEDGE_ROUTER_CALL_H
#define SELVEDGE_ROUTER_CALL_H

#include "router/router.h"
#include "wire/exceptions.h"
#include "wire/ids.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"

#define RTR_CLASS_MAX 128 /* bytes of a Java class with its NUL */

struct rtr_call {
    struct router *r;
    struct ipc_call *call;
    const ProtobufCMessage *request;
    const char *method; /* static, as `response` */
    const ProtobufCMessageDescriptor *response;
    const char *user;
    struct rtr_call *prev, *next;
};

/* Why a member has not answered a call as it should: its exception, or its absence. */
struct rtr_failure {
    char class[RTR_CLASS_MAX];
    struct sv_error err;
    bool absent;  /* not reached, not the active one, or no answer in time */
    bool unknown; /* the call may have been executed all the same */
};

/* NULL: answered already, there are too many calls or no memory. */
struct rtr_call *rtr_call_new(struct router *r, struct ipc_call *call,
                              const ProtobufCMessage *request, const char *method,
                              const ProtobufCMessageDescriptor *response);
/* Each answers and frees the call. */
void rtr_call_reply(struct rtr_call *x, const ProtobufCMessage *response);
void rtr_call_fail(struct rtr_call *x, const char *java_class, const char *fmt, ...) _printf_(3, 4);
void rtr_call_fail_as(struct rtr_call *x, const struct rtr_failure *f);
void rtr_call_no_memory(struct rtr_call *x);
/* Frees the call after ipc_call_… has answered it. */
void rtr_call_free(struct rtr_call *x);

/* A call to a member in the name of the client. As rtr_pool_call(), but that every failure is in
 * *ret. */
int rtr_call_member(struct rtr_call *x, const struct fed_member *m, const ProtobufCMessage *request,
                    ipc_done done, void *userdata, struct rtr_failure *ret) _must_use_;
/* Why a call to the member failed (result->status < 0). Members are read anew from the store where
 * it is absent. */
void rtr_failure_of(struct router *r, const char *member, const struct ipc_result *result,
                    const struct sv_error *err, struct rtr_failure *ret);
/* The store's refusal: a store that is away is worth a retry by the client. */
void rtr_call_store_failed(struct rtr_call *x, const struct fed_answer *a);

#endif
