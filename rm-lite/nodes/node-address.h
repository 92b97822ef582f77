/* Check that a node's claimed host is the machine from which it connects. */
#ifndef SELVEDGE_RM_LITE_NODES_NODE_ADDRESS_H
#define SELVEDGE_RM_LITE_NODES_NODE_ADDRESS_H

#include <netinet/in.h>
#include <protobuf-c/protobuf-c.h>

#include "rm-lite/core/context.h"
#include "wire/ipc/ipc-server.h"

/* `status`: 0 = the host is the peer; -EACCES = it is another machine; -EHOSTUNREACH = the name has
 * no address. Other values: the ResourceManager stops, or has no memory. */
typedef void (*rm_node_address_done)(int status, struct rm *rm, struct ipc_call *call,
                                     const ProtobufCMessage *request);

/* Runs `done` once, immediately if no look-up is needed, else later; the caller keeps the call
 * open. */
void rm_node_address_check(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *request,
                           const char *host, rm_node_address_done done);
/* True for equal addresses, or if both are this machine's. */
bool rm_node_address_same(const struct in6_addr *a, const struct in6_addr *b);
void rm_node_address_stop(struct rm *rm); /* cancels look-ups with -ECANCELED */

#endif
