/* InterfacesAdded, InterfacesRemoved and PropertiesChanged: the changes since the last time, at
 * most once every NM_BUS_SIGNAL_MS. Signals carry no text of a job; the bus policy delivers them to
 * root and NM_BUS_ADMINS alone. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_SIGNALS_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_SIGNALS_H

#include "nodemanager/dbus/bus-object.h"

#define NM_BUS_SIGNAL_MS 1000
#define NM_BUS_SIGNALS_A_TURN 64
#define NM_BUS_QUEUED_MAX 1024      /* messages not yet accepted by the bus: no further signals */
#define NM_BUS_ENDS_QUEUED_MAX 8192 /* the same for ContainerEnded, which nothing repeats */

struct nm_bus_signals;

int nm_bus_signals_new(sd_event *event, const struct nm_bus_view *view, struct nm_bus_signals **ret)
    _must_use_;
struct nm_bus_signals *nm_bus_signals_free(struct nm_bus_signals *s);
/* Sends signals to `bus` from now on, borrowed; existing objects are not signalled, clients list
 * them. NULL: none. */
void nm_bus_signals_connect(struct nm_bus_signals *s, sd_bus *bus);
/* Sends ContainerEnded, at once and for each container, however short its life was. */
void nm_bus_signals_ended(struct nm_bus_signals *s, const struct nm_container *c);
/* Reports a possible change. */
void nm_bus_signals_changed(struct nm_bus_signals *s);

#endif
