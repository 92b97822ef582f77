/* The objects on the bus and the tables of their interfaces: which object a path names, which
 * properties it has and how each is written into a message. Paths come from callers and are
 * hostile; an object is found anew for every call and kept by nobody. */
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
struct nm_updater;

struct nm_bus_view { /* what the tables read */
    struct nm_context *ctx;
    const struct nm_updater *updater;
};

struct nm_bus_object {
    const struct nm_bus_view *view;
    const struct nm_bus_interface *interface;
    struct nm_app *app;           /* of an application */
    struct nm_container *c;       /* of a container */
    const struct cg_usage *usage; /* of a container: what its figures are taken from */
};

enum {                     /* flags of a property */
       NM_BUS_CHANGES = 1, /* part of PropertiesChanged */
       NM_BUS_PRIVATE = 2, /* text of a job: in no signal */
};

struct nm_bus_property {
    const char *name, *signature;
    unsigned flags;
    /* Appends the value to an open variant: 0 or more, or -errno. Blocks on nothing. */
    int (*append)(sd_bus_message *m, const struct nm_bus_object *o);
};

struct nm_bus_method {
    const char *name, *in, *out; /* signatures */
    const char *in_names;        /* of the arguments, with blanks between them */
    /* Who may call it: NULL, whoever may read the object; else root, and whom polkit authorizes for
     * the action NM_BUS_NAME "." this. */
    const char *action;
    /* 0: an empty reply follows. 1: it has replied. Negative, with `err`. The arguments have the
     * types of `in`. */
    int (*run)(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
               struct sv_error *err);
};

struct nm_bus_interface {
    const char *name;
    const struct nm_bus_property *properties;
    size_t n_properties;
    const struct nm_bus_method *methods;
    size_t n_methods;
};

extern const struct nm_bus_interface nm_bus_node, nm_bus_application, nm_bus_container;

/* The object of `path` that `who` may read. -ENOENT: there is none for this caller. */
int nm_bus_object_find(const struct nm_bus_view *view, const struct nm_bus_caller *who,
                       const char *path, struct nm_bus_object *ret) _must_use_;
void nm_bus_object_of_app(const struct nm_bus_view *view, struct nm_app *app,
                          struct nm_bus_object *ret);
void nm_bus_object_of_container(const struct nm_bus_view *view, struct nm_container *c,
                                struct nm_bus_object *ret);
/* Whether `who` may read what belongs to the application; NULL: one that is forgotten. */
bool nm_bus_may_read(const struct nm_bus_caller *who, const struct nm_app *app);

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
