/* Answers one method call of a caller who is known: Introspect, Properties.Get and GetAll,
 * GetManagedObjects. Hostile: every part of the call. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_CALL_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_CALL_H

#include "nodemanager/dbus/bus-caller.h"
#include "nodemanager/dbus/bus-object.h"

struct nm_bus_lists;

/* What somebody may not read is answered as what is not there. */
void nm_bus_call_answer(const struct nm_bus_view *view, struct nm_bus_lists *lists,
                        sd_bus_message *m, const struct nm_bus_caller *who);
/* The error reply; `r` negative. Nothing where none is expected. */
void nm_bus_call_refuse(sd_bus_message *m, const char *name, const char *text);

#endif
