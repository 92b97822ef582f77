/* Long lists over RPC (applications or nodes of a large cluster, containers of an attempt), built
 * in turns of the event loop, so that heartbeats do not wait.
 *
 * A message with one repeated member is the concatenation of its packed entries, so each entry is
 * packed in its turn, and the answer is sent when all are packed. Selection is part of the turns: a
 * list begins with all objects that exist, and each is compared with the request in its turn. One
 * long list is built at a time, others wait. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_CALL_LIST_H
#define SELVEDGE_RM_LITE_REQUESTS_CALL_LIST_H

#include "common/arena.h"
#include "rm-lite/core/context.h"
#include "rm-lite/requests/turn.h"
#include "wire/ipc/ipc-server.h"

struct rm_call_item {
    struct yarn_app_id app;
    struct yarn_container_id container;
    char *node; /* malloc'd, or NULL */
};

/* The objects of a list, and what the request asks for. */
struct rm_call_items {
    struct rm_call_item *items;
    size_t n;
    int64_t limit; /* entries of the answer */
    void *wanted;  /* of the kind, malloc'd, or NULL */
    void (*free_wanted)(void *wanted);
};

struct rm_call_kind {
    /* Makes the entry in the arena. *ret stays NULL: not asked for, or it no longer exists.
     * -ENOMEM. Entries that were made without a user's groups are thrown away with the list, and
     * the call is handled again (rm_viewer_waits). */
    int (*entry)(struct rm *rm, struct sv_arena *a, void *wanted, const struct rm_call_item *item,
                 const ProtobufCMessage **ret);
    int member; /* field number of the entries in the answer, or in the head */
};

/* Allocates n zeroed items without a limit; list.n is 0. False: no memory. */
bool rm_call_items_new(struct rm_call_items *l, size_t n) _must_use_;
void rm_call_items_free(struct rm_call_items *l);

struct rm_call_request {
    struct ipc_call *call;
    const ProtobufCMessage *request; /* in the call's arena */
    ipc_handler handler;             /* handles the call again after a wait for groups */
};

/* A list of no more objects than this is made at once, within one turn. */
#define RM_CALL_LIST_SHORT (2 * RM_TURN_MAKES)

/* Answers, immediately or later. Takes ownership of the items. `head`: the entries belong to the
 * answer's first member, which is `head` without them; or NULL. */
void rm_call_list(struct rm *rm, const struct rm_call_request *q, const struct rm_call_kind *kind,
                  struct rm_call_items *items, const ProtobufCMessage *head);
void rm_call_lists_stop(struct rm *rm);

#endif
