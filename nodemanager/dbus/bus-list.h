/* GetManagedObjects: all applications and containers that a caller may read, in one reply. The
 * reply is built in slices of NM_BUS_SLICE objects, one a turn of the event loop, so that a node
 * with a thousand containers answers others meanwhile. Its figures are those of the last periodic
 * reading. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_LIST_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_LIST_H

#include "nodemanager/dbus/bus-caller.h"
#include "nodemanager/dbus/bus-object.h"

#define NM_BUS_SLICE 32
#define NM_BUS_LISTS_MAX 16      /* in progress; the next caller is refused */
#define NM_BUS_LISTS_OF_USER 4   /* in progress of one uid */
#define NM_BUS_OBJECTS_MAX 20000 /* per reply */

struct nm_bus_lists;

int nm_bus_lists_new(sd_event *event, const struct nm_bus_view *view, struct nm_bus_lists **ret)
    _must_use_;
struct nm_bus_lists *nm_bus_lists_free(struct nm_bus_lists *l);
/* Starts the reply to the call `m`. -EBUSY: too many are in progress, in
 * all or of the caller. */
int nm_bus_lists_add(struct nm_bus_lists *l, sd_bus_message *m, const struct nm_bus_caller *who)
    _must_use_;
void nm_bus_lists_reset(struct nm_bus_lists *l); /* drops the pending replies */

#endif
