/* Long lists of several members as one answer, merged and packed in turns of the event loop, so
 * that other calls do not wait. One list is made at a time, others wait. */
#ifndef SELVEDGE_ROUTER_LIST_ANSWER_H
#define SELVEDGE_ROUTER_LIST_ANSWER_H

#include "router/call.h"
#include "router/merge.h"

struct rtr_lists;
/* NULL: no memory. */
struct rtr_lists *rtr_lists_new(sd_event *event);
/* Fails what is not made. */
struct rtr_lists *rtr_lists_free(struct rtr_lists *l);

/* The entries are the first field of the response's message. */
enum rtr_list_kind {
    RTR_LIST_NODES, /* GetClusterNodesResponseProto: all entries */
    RTR_LIST_APPS,  /* GetApplicationsResponseProto: one entry of each application */
};

struct rtr_list_parts {
    struct rtr_answers answers;
    int64_t limit;                /* entries */
    void (*free)(void *userdata); /* of the answers, when the list is made */
    void *userdata;
};
/* Answers and frees the call, later. */
void rtr_list_answer(struct rtr_call *x, enum rtr_list_kind kind,
                     const struct rtr_list_parts *parts);

#endif
