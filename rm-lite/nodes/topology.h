/* The racks of nodes, as Hadoop's RackResolver: from a table file or a script of the operator's
 * (net.topology.*). A node's address is resolved when it registers, off the loop; answers are
 * cached until refreshNodes, which reads the table again. An unknown node is in /default-rack. */
#ifndef SELVEDGE_RM_LITE_NODES_TOPOLOGY_H
#define SELVEDGE_RM_LITE_NODES_TOPOLOGY_H

#include <protobuf-c/protobuf-c.h>

#include "rm-lite/core/context.h"
#include "wire/ipc/ipc-server.h"

#define RM_RACK_MAX 255                 /* bytes of a rack's path */
#define RM_TOPOLOGY_TIMEOUT_MS 10000    /* limit of one run of the script, which is then killed */
#define RM_TOPOLOGY_TABLE_MAX (4 << 20) /* size limit of the table file */

/* `rack` is valid during the call; NULL: the ResourceManager stops. */
typedef void (*rm_rack_done)(const char *rack, struct rm *rm, struct ipc_call *call,
                             const ProtobufCMessage *request);

/* Reads the table. Refuses a mapping class that is not Hadoop's script or table, a script that
 * cannot be executed and a table that cannot be read. */
int rm_topology_new(struct rm *rm, struct sv_error *err) _must_use_;
/* Cancels look-ups with NULL. */
void rm_topology_free(struct rm *rm);
/* Runs `done` once, immediately or later; the caller keeps the call open. Searches the table for
 * `host` and for the peer's address, passes the address to the script. */
void rm_topology_find(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *request,
                      const char *host, rm_rack_done done);
/* Reads the table again and drops the script's answers; for nodes that register from now on. On an
 * error the old ones are kept. */
int rm_topology_refresh(struct rm *rm, struct sv_error *err) _must_use_;
/* For tests: replaces RM_TOPOLOGY_TIMEOUT_MS. */
void rm_topology_set_timeout(struct rm *rm, int64_t timeout_ms);
/* A path such as "/dc1/rack2": printable, no blank, no "//", at most RM_RACK_MAX bytes. */
bool rm_rack_valid(const char *rack);

#endif
