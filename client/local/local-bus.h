/* The NodeManager of this machine on the message bus: properties as JSON objects, and calls that
 * change something. All functions block until the answer arrives. 0, or an exit code after a
 * message. */
#ifndef SELVEDGE_CLIENT_LOCAL_LOCAL_BUS_H
#define SELVEDGE_CLIENT_LOCAL_LOCAL_BUS_H

#include <jansson.h>

#include "client/core/session.h"

struct cli_bus;

/* Reads selvedge.nodemanager.dbus of the configuration and connects. */
int cli_bus_open(struct cli_ctx *ctx, struct cli_bus **ret);
struct cli_bus *cli_bus_free(struct cli_bus *b);
static inline void cli_bus_freep(struct cli_bus **b)
{
    *b = cli_bus_free(*b);
}
#define _cleanup_bus_ _cleanup_(cli_bus_freep)

/* Returns {property: value} of the interface Node. */
int cli_bus_node(struct cli_bus *b, json_t **ret);
/* Returns {id: {property: value}} of the containers visible to the caller. Their figures are from
 * the daemon's last periodic reading. */
int cli_bus_containers(struct cli_bus *b, json_t **ret);
/* Returns {property: value} of one container, with figures read for this call. NULL without a
 * message if it does not exist and `quiet`. */
int cli_bus_container(struct cli_bus *b, const char *id, bool quiet, json_t **ret);
/* Opens a session in a container: a socket for client/exec/. */
int cli_bus_session(struct cli_bus *b, const char *id, int *ret_fd);
/* Calls a method of the interface Node. `text`: its argument, or NULL. */
int cli_bus_call_node(struct cli_bus *b, const char *method, const char *text);

#endif
