/* The objects on the bus and the tables of their interfaces: look-up of an object by its path, its
 * properties and their encoding. Paths come from callers and are hostile; an object is looked up
 * again for every call and never cached. */
#ifndef SELVEDGE_NODEMANAGER_DBUS_BUS_OBJECT_H
#define SELVEDGE_NODEMANAGER_DBUS_BUS_OBJECT_H

#include <systemd/sd-bus.h>

#include "cgroups/cg.h"
#include "common/base.h"
#include "common/error.h"
#include "nodemanager/dbus/bus-path.h"

struct nm_app;
struct nm_bus_caller;
struct nm_container;
struct nm_context;
struct nm_sessions;
struct nm_updater;

struct nm_bus_view { /* sources of the tables' values */
    struct nm_context *ctx;
    const struct nm_updater *updater;
    struct nm_sessions *sessions; /* of users, in containers */
};

struct nm_bus_object {
    const struct nm_bus_view *view;
    const struct nm_bus_caller *who; /* for a method without `action`: its caller */
    const struct nm_bus_interface *interface;
    struct nm_app *app;           /* for an application */
    struct nm_container *c;       /* for a container */
    const struct cg_usage *usage; /* for a container: source of its figures */
};

enum {                     /* flags of a property */
       NM_BUS_CHANGES = 1, /* part of PropertiesChanged */
       NM_BUS_PRIVATE = 2, /* a job's text: in no signal */
       NM_BUS_CONST = 4,   /* the same as long as the object exists */
};

struct nm_bus_property {
    const char *name, *signature;
    unsigned flags;
    /* Appends the value to an open variant: 0 or more, or -errno. Blocks on nothing. */
    int (*append)(sd_bus_message *m, const struct nm_bus_object *o);
    /* Sets it, for root alone, to the value that the message has next; NULL: it cannot be set.
     * Negative, with `err`. */
    int (*set)(sd_bus_message *m, struct sv_error *err);
};

struct nm_bus_method {
    const char *name, *in, *out; /* signatures */
    const char *in_names;        /* of the arguments, with blanks between them */
    /* Authorization: NULL for callers that may read the object; else root, and callers that polkit
     * authorizes for the action NM_BUS_NAME "." this. */
    const char *action;
    /* 0: the caller sends an empty reply. 1: it has replied, or will. Negative, with `err`. The
     * arguments have the types of `in`. */
    int (*run)(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
               struct sv_error *err);
    /* Checks the arguments alone, before polkit is asked; or NULL. -EINVAL, with `err`; else the
     * message is rewound. */
    int (*check)(sd_bus_message *m, struct sv_error *err);
};

struct nm_bus_interface {
    const char *name;
    const char *signals; /* XML of its own signals; NULL: none */
    const struct nm_bus_property *properties;
    size_t n_properties;
    const struct nm_bus_method *methods;
    size_t n_methods;
};

extern const struct nm_bus_interface nm_bus_node, nm_bus_application, nm_bus_container, nm_bus_log;

/* The object of `path`, if `who` may read it; else -ENOENT. */
int nm_bus_object_find(const struct nm_bus_view *view, const struct nm_bus_caller *who,
                       const char *path, struct nm_bus_object *ret) _must_use_;
void nm_bus_object_of_app(const struct nm_bus_view *view, struct nm_app *app,
                          struct nm_bus_object *ret);
void nm_bus_object_of_container(const struct nm_bus_view *view, struct nm_container *c,
                                struct nm_bus_object *ret);

/* NULL: no interface has such a method. */
const struct nm_bus_method *nm_bus_method_find(const char *interface, const char *name);
const struct nm_bus_property *nm_bus_property_find(const struct nm_bus_interface *i,
                                                   const char *name);
/* Appends a{sv} of the properties with every flag of `with` and none of `without`. */
int nm_bus_append_properties(sd_bus_message *m, const struct nm_bus_object *o, unsigned with,
                             unsigned without) _must_use_;
/* Appends a{sa{sv}}: the object's interface with its properties. */
int nm_bus_append_interfaces(sd_bus_message *m, const struct nm_bus_object *o, unsigned without)
    _must_use_;

#endif
