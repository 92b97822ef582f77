/* Answers one method call of an identified caller: Introspect, Properties.Get and GetAll,
 * GetManagedObjects, and the methods of our own interfaces, after their caller was authorized.
 * Hostile: every part of the call. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_CALL_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_CALL_H

#include "nodemanager/dbus/bus-caller.h"
#include "nodemanager/dbus/bus-object.h"

struct nm_bus_auth;
struct nm_bus_lists;

struct nm_bus_calls { /* environment of the calls */
    const struct nm_bus_view *view;
    struct nm_bus_lists *lists;
    struct nm_bus_auth *auth;
    void (*changed)(void *userdata); /* called after changes by a method */
    void *userdata;
};

/* An object that the caller may not read is answered as unknown. */
void nm_bus_call_answer(const struct nm_bus_calls *calls, sd_bus_message *m,
                        const struct nm_bus_caller *who);
/* polkit's decision about a call of one of our methods (`refusal`: the reason). Looks the object up
 * again: it may have ended meanwhile. */
void nm_bus_call_decided(const struct nm_bus_calls *calls, sd_bus_message *m,
                         const struct nm_bus_caller *who, const char *refusal);
/* Sends the error reply; `r` negative. Nothing if no reply is expected. */
void nm_bus_call_refuse(sd_bus_message *m, const char *name, const char *text);

#endif
