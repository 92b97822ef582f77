/* The interface Application. */
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/dbus/bus-object.h"
#include "nodemanager/dbus/bus-values.h"

#define CONTAINERS_MAX 10000 /* containers listed for one application */

#define APPLICATION(name) static int name(sd_bus_message *m, const struct nm_bus_object *o)

APPLICATION(id)
{
    return sd_bus_message_append(m, "s", o->app->text);
}

APPLICATION(state)
{
    return sd_bus_message_append(m, "s", nm_app_state_name(o->app->state));
}

APPLICATION(user)
{
    return nm_bus_append_text(m, o->app->user);
}

APPLICATION(account)
{
    return nm_bus_append_text(m, o->app->run_as);
}

APPLICATION(start_time)
{
    return sd_bus_message_append(m, "x", o->app->start_ms);
}

APPLICATION(start_usec)
{
    return nm_bus_append_usec(m, o->app->start_ms);
}

APPLICATION(containers)
{
    char path[NM_BUS_PATH_MAX];
    int r = sd_bus_message_open_container(m, 'a', "o"), n = 0;

    for (const struct nm_app_member *i = o->app->members; i && r >= 0 && n < CONTAINERS_MAX;
         i = i->hh.next, n++)
        r = sd_bus_message_append(m, "o", nm_bus_path(NM_BUS_CONTAINERS, i->c->text, path));
    return r < 0 ? r : sd_bus_message_close_container(m);
}

static const struct nm_bus_property properties[] = {
    { "Id", "s", NM_BUS_CONST, id },
    { "State", "s", NM_BUS_CHANGES, state },
    { "User", "s", NM_BUS_CONST, user },
    { "Account", "s", NM_BUS_CONST, account },
    { "StartTime", "x", NM_BUS_CONST, start_time },
    { "StartTimeUSec", "t", NM_BUS_CONST, start_usec },
    { "Containers", "ao", 0, containers },
};

const struct nm_bus_interface nm_bus_application = { .name = NM_BUS_NAME ".Application",
                                                     .properties = properties,
                                                     .n_properties = SV_ARRAY_LEN(properties) };
