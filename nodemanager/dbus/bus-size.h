/* Bytes of a message, before it is kept: a caller without any right may send 32 MiB and more, and
 * calls are kept while the caller is looked up and while polkit decides. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_SIZE_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_SIZE_H

#include <systemd/sd-bus.h>

#include "common/base.h"

#define NM_BUS_MESSAGE_MAX 65536 /* texts of answers say 64 KiB */

/* Counts path, interface, member and values, at least 8 bytes each, and rewinds the message. Reads
 * no more than the limit allows. -EMSGSIZE: more than NM_BUS_MESSAGE_MAX; -EBADMSG: malformed. */
int nm_bus_check_size(sd_bus_message *m) _must_use_;

#endif
