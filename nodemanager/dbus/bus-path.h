/* Names on the bus: the daemon's, and the paths of objects. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_PATH_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_PATH_H

#include "wire/ids.h"

#define NM_BUS_NAME "org.selvedge.NodeManager1"
#define NM_BUS_ROOT "/org/selvedge/NodeManager1"
/* Log level and target of a daemon, as systemd defines it. */
#define NM_BUS_LOG "/org/freedesktop/LogControl1"
#define NM_BUS_APPLICATIONS NM_BUS_ROOT "/application"
#define NM_BUS_CONTAINERS NM_BUS_ROOT "/container"
#define NM_BUS_PATH_MAX (sizeof(NM_BUS_APPLICATIONS) + 3 * YARN_ID_TEXT_MAX)

/* The path of an id below one of the two prefixes. */
const char *nm_bus_path(const char *prefix, const char *id, char ret[NM_BUS_PATH_MAX]);

#endif
