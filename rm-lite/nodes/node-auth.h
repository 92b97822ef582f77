/* Admission of peers as nodes on 8031: those that have the node secret and, without it, those whose
 * address is in root's setting; with Kerberos those whose ticket is the node's. */
#ifndef SELVEDGE_RM_LITE_NODES_NODE_AUTH_H
#define SELVEDGE_RM_LITE_NODES_NODE_AUTH_H

#include "common/error.h"
#include "rm-lite/core/context.h"
#include "wire/ipc/ipc-server.h"

/* Reads selvedge.node-secret.file and selvedge.rm.unprotected-nodes. Fails without both: the port
 * would give the keys of all tokens to everybody. */
int rm_node_auth_new(struct rm *rm, struct sv_error *err) _must_use_;
void rm_node_auth_free(struct rm *rm);
/* For the server: true if SIMPLE is accepted at all, and the verifier of node tokens or NULL. */
bool rm_node_auth_simple(const struct rm *rm);
ipc_token_verifier rm_node_auth_verifier(const struct rm *rm);
/* True if the caller may act for the node at `host`. If not, the call has failed. */
bool rm_node_auth_allows(struct rm *rm, struct ipc_call *call, const char *host) _must_use_;

#endif
