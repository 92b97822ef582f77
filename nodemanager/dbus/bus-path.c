/* See bus-path.h. */
#include "nodemanager/dbus/bus-path.h"

#include <stdio.h>
#include <systemd/sd-bus.h>

const char *nm_bus_path(const char *prefix, const char *id, char ret[NM_BUS_PATH_MAX])
{
    _cleanup_free_ char *path = NULL;

    /* An id has letters, digits and underscores; each underscore is encoded in three characters. */
    if (sd_bus_path_encode(prefix, id, &path) < 0)
        snprintf(ret, NM_BUS_PATH_MAX, "%s/_", prefix);
    else
        snprintf(ret, NM_BUS_PATH_MAX, "%s", path);
    return ret;
}
