/* See bus-object.h. */
#include "nodemanager/dbus/bus-object.h"

#include <errno.h>
#include <stdlib.h>

#include "common/str.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-caller.h"

/* ---- paths ----------------------------------------------------------------------------------*/

/* malloc'd id; NULL: not one label below the prefix. */
static char *id_of_path(const char *path, const char *prefix)
{
    char *id = NULL;

    return sd_bus_path_decode(path, prefix, &id) > 0 ? id : NULL;
}

/* ---- objects --------------------------------------------------------------------------------*/

void nm_bus_object_of_app(const struct nm_bus_view *view, struct nm_app *app,
                          struct nm_bus_object *ret)
{
    *ret = (struct nm_bus_object){ .view = view, .interface = &nm_bus_application, .app = app };
}

void nm_bus_object_of_container(const struct nm_bus_view *view, struct nm_container *c,
                                struct nm_bus_object *ret)
{
    *ret = (struct nm_bus_object){
        .view = view, .interface = &nm_bus_container, .c = c, .usage = &c->usage.last
    };
}

int nm_bus_object_find(const struct nm_bus_view *view, const struct nm_bus_caller *who,
                       const char *path, struct nm_bus_object *ret)
{
    _cleanup_free_ char *app = NULL, *container = NULL;

    if (sv_streq(path, NM_BUS_ROOT)) {
        *ret = (struct nm_bus_object){ .view = view, .interface = &nm_bus_node };
        return 0;
    }
    if (sv_streq(path, NM_BUS_LOG)) {
        *ret = (struct nm_bus_object){ .view = view, .interface = &nm_bus_log };
        return 0;
    }
    app = id_of_path(path, NM_BUS_APPLICATIONS);
    if (app) {
        struct nm_app *a = nm_app_find(view->ctx, app);

        if (!a || !nm_bus_may_read(who, a))
            return -ENOENT;
        nm_bus_object_of_app(view, a, ret);
        return 0;
    }
    container = id_of_path(path, NM_BUS_CONTAINERS);
    if (container) {
        struct nm_container *c = nm_container_find(view->ctx, container);

        if (!c || !nm_bus_may_read(who, c->app))
            return -ENOENT;
        nm_bus_object_of_container(view, c, ret);
        return 0;
    }
    return -ENOENT;
}

/* ---- properties -----------------------------------------------------------------------------*/

const struct nm_bus_property *nm_bus_property_find(const struct nm_bus_interface *i,
                                                   const char *name)
{
    for (size_t n = 0; n < i->n_properties; n++)
        if (sv_streq(i->properties[n].name, name))
            return &i->properties[n];
    return NULL;
}

const struct nm_bus_method *nm_bus_method_find(const char *interface, const char *name)
{
    static const struct nm_bus_interface *const all[] = { &nm_bus_node, &nm_bus_application,
                                                          &nm_bus_container };

    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        for (size_t n = 0; sv_streq(interface, all[i]->name) && n < all[i]->n_methods; n++)
            if (sv_streq(name, all[i]->methods[n].name))
                return &all[i]->methods[n];
    return NULL;
}

static int append_property(sd_bus_message *m, const struct nm_bus_property *p,
                           const struct nm_bus_object *o)
{
    int r = sd_bus_message_open_container(m, 'e', "sv");

    if (r >= 0)
        r = sd_bus_message_append(m, "s", p->name);
    if (r >= 0)
        r = sd_bus_message_open_container(m, 'v', p->signature);
    if (r >= 0)
        r = p->append(m, o);
    if (r >= 0)
        r = sd_bus_message_close_container(m);
    return r < 0 ? r : sd_bus_message_close_container(m);
}

int nm_bus_append_properties(sd_bus_message *m, const struct nm_bus_object *o, unsigned with,
                             unsigned without)
{
    int r = sd_bus_message_open_container(m, 'a', "{sv}");

    for (size_t i = 0; i < o->interface->n_properties && r >= 0; i++) {
        const struct nm_bus_property *p = &o->interface->properties[i];

        if ((p->flags & with) == with && !(p->flags & without))
            r = append_property(m, p, o);
    }
    return r < 0 ? r : sd_bus_message_close_container(m);
}

int nm_bus_append_interfaces(sd_bus_message *m, const struct nm_bus_object *o, unsigned without)
{
    int r = sd_bus_message_open_container(m, 'a', "{sa{sv}}");

    if (r >= 0)
        r = sd_bus_message_open_container(m, 'e', "sa{sv}");
    if (r >= 0)
        r = sd_bus_message_append(m, "s", o->interface->name);
    if (r >= 0)
        r = nm_bus_append_properties(m, o, 0, without);
    if (r >= 0)
        r = sd_bus_message_close_container(m);
    return r < 0 ? r : sd_bus_message_close_container(m);
}
