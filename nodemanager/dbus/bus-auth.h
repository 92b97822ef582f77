/* Authorization of method calls. Root is authorized; others if polkit authorizes the unique name of
 * the caller's connection for the method's action. polkit is queried asynchronously; without an
 * answer, or with any but a clear yes, the call is refused. After a yes the bus is asked whether
 * the caller is still connected: the call of one that has left is dropped. The number of pending
 * queries is bounded, in total and per account. Hostile: callers, who may disconnect at any time,
 * and have many connections. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_AUTH_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_AUTH_H

#include <systemd/sd-bus.h>

#include "common/base.h"

#define NM_BUS_ASKED_MAX 64
#define NM_BUS_ASKED_OF_USER 8
#define NM_BUS_AUTH_MS 20000              /* for polkit to decide by its rules */
#define NM_BUS_LEFT_MS 10000              /* for the bus to say whether the caller is there */
#define NM_BUS_INTERACTIVE_AUTH_MS 120000 /* if the caller lets polkit ask for a password */

struct nm_bus_auth;

/* `refusal` NULL: `m` is authorized; else the reason. */
typedef void (*nm_bus_decided_fn)(sd_bus_message *m, const char *refusal, void *userdata);

struct nm_bus_auth *nm_bus_auth_new(nm_bus_decided_fn decided, void *userdata); /* NULL: memory */
struct nm_bus_auth *nm_bus_auth_free(struct nm_bus_auth *a);
/* `uid`: of the caller. `action`: polkit's id. `details`: pairs of key and value for polkit's
 * rules, NULL at the end. 0: `decided` follows, unless the connection or the caller's ends. -EBUSY:
 * too many queries. */
int nm_bus_auth_ask(struct nm_bus_auth *a, sd_bus_message *m, uid_t uid, const char *action,
                    const char *const *details) _must_use_;
void nm_bus_auth_reset(struct nm_bus_auth *a); /* the connection ends: nothing is decided */

#endif
