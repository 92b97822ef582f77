/* The methods of the tables, in bus-container-methods.c and bus-node-methods.c. They run only for
 * authorized callers, on an object that exists at that moment. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_METHODS_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_METHODS_H

#include "nodemanager/dbus/bus-object.h"

#define NM_BUS_CONTAINER_METHODS 8
#define NM_BUS_NODE_METHODS 4

extern const struct nm_bus_method nm_bus_container_methods[NM_BUS_CONTAINER_METHODS];
extern const struct nm_bus_method nm_bus_node_methods[NM_BUS_NODE_METHODS];

#endif
