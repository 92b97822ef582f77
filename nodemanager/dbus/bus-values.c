/* See bus-values.h. */
#include "nodemanager/dbus/bus-values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

int nm_bus_append_usec(sd_bus_message *m, int64_t ms)
{
    return sd_bus_message_append(m, "t", ms > 0 ? (uint64_t)ms * 1000 : 0);
}

int nm_bus_append_text(sd_bus_message *m, const char *text)
{
    char *shown;
    size_t n = text ? strlen(text) : 0;
    int r = -EINVAL;

    if (n < NM_BUS_TEXT_MAX)
        r = sd_bus_message_append(m, "s", text ? text : "");
    if (r != -EINVAL)
        return r;
    n = SV_MIN(n, (size_t)NM_BUS_TEXT_MAX / 4);
    shown = malloc(4 * n + 1);
    if (!shown)
        return -ENOMEM;
    sv_escape(shown, 4 * n + 1, text);
    r = sd_bus_message_append(m, "s", shown);
    free(shown);
    return r;
}
