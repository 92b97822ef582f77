/* The connections to NodeManagers, shared by nodes.c (connections, one call from start to end) and
 * node-calls.c (the methods). */
#ifndef SELVEDGE_CLIENT_LIB_NODES_INTERNAL_H
#define SELVEDGE_CLIENT_LIB_NODES_INTERNAL_H

#include <uthash.h>
#include <utlist.h>

#include "client/lib/internal.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ipc/proxy.h"

struct node {
    char key[264]; /* "host:port" */
    struct yarn_node_id id;
    struct sv_arena *token_arena;
    struct yarn_token token;
    struct ipc_proxy *ipc; /* created on first use; NULL after a token change */
    int open_calls;
    UT_hash_handle hh;
};

/* Containers that an answer refuses. */
struct node_failures {
    Hadoop__Yarn__ContainerExceptionMapProto *const *list;
    size_t n;
};

struct node_method {
    const char *name;
    const ProtobufCMessageDescriptor *response;
    struct node_failures (*failures)(const ProtobufCMessage *response); /* NULL: has none */
    bool once; /* must not arrive twice: after a break the status is queried first */
};

struct node_op { /* one call about one container */
    struct cli_nodes *nodes;
    struct node *node;
    struct yarn_container_id id;
    struct sv_arena *arena; /* holds the request for retries */
    const struct node_method *method;
    const ProtobufCMessage *request;
    int asked;        /* sends after which the connection broke */
    cli_node_fn done; /* or NULL */
    void *userdata;
    struct node_op *prev, *next;
};

struct cli_nodes {
    sd_event *event;
    struct ipc_proxy_config config; /* without a server and its token */
    cli_start_fn started;
    void *userdata;
    struct node *by_key;
    struct node_op *ops;
};

/* -ENOKEY: no NMToken was received for this node. */
int cli_node_op_new(struct cli_nodes *n, const struct yarn_node_id *id, struct yarn_container_id c,
                    struct node_op **ret) _must_use_;
/* Frees an operation that was not sent, and returns `status`. */
int cli_node_op_drop(struct node_op *op, int status);
/* `request`, in the operation's arena; NULL: out of memory. The operation is freed when it ends, or
 * when this fails. */
int cli_node_op_send(struct node_op *op, const struct node_method *method,
                     const ProtobufCMessage *request, cli_node_fn done, void *userdata) _must_use_;

#endif
