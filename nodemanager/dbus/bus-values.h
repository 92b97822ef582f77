/* Values of properties shared by several tables. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_VALUES_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_VALUES_H

#include <systemd/sd-bus.h>

#include "common/base.h"

/* Text of users, jobs or the system as a D-Bus string, which must be UTF-8: other bytes become
 * \xNN. NULL is "". At most NM_BUS_TEXT_MAX bytes. */
#define NM_BUS_TEXT_MAX 16384
int nm_bus_append_text(sd_bus_message *m, const char *text) _must_use_;
/* Milliseconds since 1970 as microseconds (t); 0: not yet. */
int nm_bus_append_usec(sd_bus_message *m, int64_t ms) _must_use_;

#endif
