/* The replies to a NodeManager's heartbeat: what it has to do next, or that it has to register
 * again or end. */
#ifndef SELVEDGE_RM_LITE_NODES_HEARTBEAT_REPLY_H
#define SELVEDGE_RM_LITE_NODES_HEARTBEAT_REPLY_H

#include "common/arena.h"
#include "rm-lite/core/rm-node.h"
#include "wire/ipc/ipc-server.h"
#include "wire/token/token.h"

typedef struct Hadoop__Yarn__MasterKeyProto Hadoop__Yarn__MasterKeyProto;

/* Answers with all that waits for the node, and keeps the answer for rm_heartbeat_repeat. What the
 * arena has no room for stays for the next heartbeat. `heartbeat_id`: the number that the heartbeat
 * has. */
void rm_heartbeat_reply(struct ipc_call *call, struct rm_node *n, int32_t heartbeat_id,
                        struct sv_arena *a);
/* The last answer once more: the node has not got it. */
void rm_heartbeat_repeat(struct ipc_call *call, struct rm_node *n);
/* RESYNC or SHUTDOWN (NodeActionProto) alone, with the reason. */
void rm_heartbeat_refuse(struct ipc_call *call, int action, const char *why);

/* Also in the answer to a registration. NULL without memory. */
Hadoop__Yarn__MasterKeyProto *rm_master_key_to(struct sv_arena *a, const struct yarn_master_key *k);

#endif
