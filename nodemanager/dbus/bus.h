/* The daemon on D-Bus: the name org.selvedge.NodeManager1, on the system bus or at another address.
 * The bus is optional: the daemon starts without one, continues when the bus disconnects, and
 * reconnects, after a second at first and after a minute at most.
 *
 * Messages have the lowest priority of the event loop, one a turn. No answer waits for the bus, the
 * name service or a job's file system. Hostile: everybody who can connect to the bus. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_H

#include "common/error.h"
#include "nodemanager/dbus/bus-object.h"

struct nm_bus;
struct sv_groups;

/* `address`: "system", "off" or a D-Bus address. `groups`: groups of users, borrowed. 0 and NULL:
 * off. */
int nm_bus_new(const struct nm_bus_view *view, const char *address, struct sv_groups *groups,
               struct nm_bus **ret, struct sv_error *err) _must_use_;
struct nm_bus *nm_bus_free(struct nm_bus *b);
/* Reports a possible change of an object; NULL is allowed. */
void nm_bus_changed(struct nm_bus *b);
/* Tells the end of a container; NULL is allowed as `b`. */
void nm_bus_ended(struct nm_bus *b, const struct nm_container *c);
/* Call it when groups of a user have become known; NULL is allowed. */
void nm_bus_groups_known(struct nm_bus *b);

#endif
