/* Lists over RPC that may be long, of all applications or nodes of a large cluster or of all
 * containers of an attempt: made in turns of the event loop, so that heartbeats do not wait.
 *
 * The bytes of a message with one repeated member are those of its entries one after the other, so
 * each entry is packed in its turn, and the answer is sent when all are there. One long list is
 * made at a time, others wait for it. Called by application-reports.c and cluster-reports.c. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_CALL_LIST_H
#define SELVEDGE_RM_LITE_REQUESTS_CALL_LIST_H

#include "common/arena.h"
#include "rm-lite/core/context.h"
#include "wire/ipc/ipc-server.h"

struct rm_call_item {
    struct yarn_app_id app;
    struct yarn_container_id container;
    char *node; /* malloc'd, or NULL */
    bool whole; /* the caller may see all of it */
};

struct rm_call_kind {
    /* In the arena. *ret NULL: it is gone meanwhile, left out. -ENOMEM. */
    int (*entry)(struct rm *rm, struct sv_arena *a, const char *user,
                 const struct rm_call_item *item, const ProtobufCMessage **ret);
    int member; /* number of the entries in the answer, or in the head */
};

struct rm_call_items {
    struct rm_call_item *items;
    size_t n;
};
/* Room for n items, zeroed; list.n stays 0. False: no memory. */
bool rm_call_items_new(struct rm_call_items *l, size_t n) _must_use_;
void rm_call_items_free(struct rm_call_items *l);

struct rm_call_request {
    struct ipc_call *call;
    const ProtobufCMessage *request; /* in the call's arena */
    ipc_handler handler;             /* gets the call again where it has to wait */
};

#define RM_CALL_LIST_TURN                                                                          \
    32 /* entries; a list that is no longer than two turns is made at once                         \
        */

/* Answers, at once or later. Takes the items. `head`: entries are not of the answer but of its
 * first member, and this is that member without them; or NULL. */
void rm_call_list(struct rm *rm, const struct rm_call_request *q, const struct rm_call_kind *kind,
                  struct rm_call_items *items, const ProtobufCMessage *head);
void rm_call_lists_stop(struct rm *rm);

#endif
