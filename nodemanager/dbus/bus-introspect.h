/* Introspection data of a path, for one caller. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_INTROSPECT_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_INTROSPECT_H

#include <stdio.h>

#include "nodemanager/dbus/bus-object.h"

#define NM_BUS_CHILDREN_MAX 10000 /* nodes listed below one path */

/* malloc'd XML of an object, of a path with objects below it, or of a parent of one. NULL with
 * -ENOENT: nothing there is visible to this caller. */
int nm_bus_introspect(const struct nm_bus_view *view, const struct nm_bus_caller *who,
                      const char *path, char **ret) _must_use_;
/* The daemon's own interfaces: packaging/org.selvedge.NodeManager1.xml. */
void nm_bus_print_interfaces(FILE *out);

#endif
