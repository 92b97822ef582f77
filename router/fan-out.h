/* Calls that all active members answer, at once: their answers become one. All must answer, unless
 * partial results are allowed; the first failure is the client's answer, with its class and text.
 */
#ifndef SELVEDGE_ROUTER_FAN_OUT_H
#define SELVEDGE_ROUTER_FAN_OUT_H

#include "router/list-answer.h"

struct rtr_fan_kind {
    rtr_merge *merge; /* NULL: a list */
    enum rtr_list_kind list;
    int64_t (*limit)(const ProtobufCMessage *request);    /* entries of a list; NULL: all */
    const char *(*only)(const ProtobufCMessage *request); /* the one member that the request is for,
                                                           * of any state; NULL: all active ones */
};

/* Answers and frees the call. */
void rtr_fan_out(struct rtr_call *x, const struct rtr_fan_kind *kind);

#endif
