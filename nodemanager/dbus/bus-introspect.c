/* See bus-introspect.h. */
#include "nodemanager/dbus/bus-introspect.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-caller.h"

static const char doctype[] =
    "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n"
    "\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n<node>\n";
static const char head[] =
    " <interface name=\"org.freedesktop.DBus.Introspectable\">\n"
    "  <method name=\"Introspect\"><arg name=\"xml\" type=\"s\" direction=\"out\"/></method>\n"
    " </interface>\n"
    " <interface name=\"org.freedesktop.DBus.Peer\">\n"
    "  <method name=\"Ping\"/>\n"
    "  <method name=\"GetMachineId\"><arg name=\"id\" type=\"s\" direction=\"out\"/></method>\n"
    " </interface>\n";

static const char properties_interface[] =
    " <interface name=\"org.freedesktop.DBus.Properties\">\n"
    "  <method name=\"Get\"><arg name=\"interface\" type=\"s\" direction=\"in\"/>"
    "<arg name=\"name\" type=\"s\" direction=\"in\"/>"
    "<arg name=\"value\" type=\"v\" direction=\"out\"/></method>\n"
    "  <method name=\"GetAll\"><arg name=\"interface\" type=\"s\" direction=\"in\"/>"
    "<arg name=\"properties\" type=\"a{sv}\" direction=\"out\"/></method>\n"
    "  <method name=\"Set\"><arg name=\"interface\" type=\"s\" direction=\"in\"/>"
    "<arg name=\"name\" type=\"s\" direction=\"in\"/>"
    "<arg name=\"value\" type=\"v\" direction=\"in\"/></method>\n"
    "  <signal name=\"PropertiesChanged\"><arg name=\"interface\" type=\"s\"/>"
    "<arg name=\"changed\" type=\"a{sv}\"/><arg name=\"invalidated\" type=\"as\"/></signal>\n"
    " </interface>\n";

static const char manager_interface[] =
    " <interface name=\"org.freedesktop.DBus.ObjectManager\">\n"
    "  <method name=\"GetManagedObjects\">"
    "<arg name=\"objects\" type=\"a{oa{sa{sv}}}\" direction=\"out\"/></method>\n"
    "  <signal name=\"InterfacesAdded\"><arg name=\"object\" type=\"o\"/>"
    "<arg name=\"interfaces\" type=\"a{sa{sv}}\"/></signal>\n"
    "  <signal name=\"InterfacesRemoved\"><arg name=\"object\" type=\"o\"/>"
    "<arg name=\"interfaces\" type=\"as\"/></signal>\n"
    " </interface>\n";

/* Requires that every argument has a type of one character. */
static void print_method(FILE *out, const struct nm_bus_method *method)
{
    const char *name = method->in_names;

    fprintf(out, "  <method name=\"%s\">", method->name);
    for (const char *type = method->in; *type; type++) {
        int n = (int)strcspn(name, " ");

        fprintf(out, "<arg name=\"%.*s\" type=\"%c\" direction=\"in\"/>", n, name, *type);
        name += n + (name[n] == ' ');
    }
    for (const char *type = method->out; *type; type++)
        fprintf(out, "<arg type=\"%c\" direction=\"out\"/>", *type);
    fputs("</method>\n", out);
}

static void print_interface(FILE *out, const struct nm_bus_interface *i)
{
    fprintf(out, " <interface name=\"%s\">\n", i->name);
    for (size_t n = 0; n < i->n_methods; n++)
        print_method(out, &i->methods[n]);
    for (size_t n = 0; n < i->n_properties; n++) {
        const struct nm_bus_property *p = &i->properties[n];

        fprintf(out,
                "  <property name=\"%s\" type=\"%s\" access=\"%s\">"
                "<annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\" "
                "value=\"%s\"/></property>\n",
                p->name, p->signature, p->set ? "readwrite" : "read",
                p->flags & NM_BUS_CHANGES ? "true"
                : p->flags & NM_BUS_CONST ? "const"
                                          : "false");
    }
    fputs(i->signals ? i->signals : "", out);
    fputs(" </interface>\n", out);
}

static void print_child(FILE *out, const char *prefix, const char *id)
{
    char path[NM_BUS_PATH_MAX];

    fprintf(out, " <node name=\"%s\"/>\n", nm_bus_path(prefix, id, path) + strlen(prefix) + 1);
}

static void print_applications(FILE *out, const struct nm_bus_view *view,
                               const struct nm_bus_caller *who)
{
    int n = 0;

    for (struct nm_app *a = view->ctx->apps; a && n < NM_BUS_CHILDREN_MAX; a = a->hh.next)
        if (nm_bus_may_read(who, a)) {
            print_child(out, NM_BUS_APPLICATIONS, a->text);
            n++;
        }
}

static void print_containers(FILE *out, const struct nm_bus_view *view,
                             const struct nm_bus_caller *who)
{
    int n = 0;

    for (struct nm_container *c = view->ctx->containers; c && n < NM_BUS_CHILDREN_MAX;
         c = c->hh.next)
        if (nm_bus_may_read(who, c->app)) {
            print_child(out, NM_BUS_CONTAINERS, c->text);
            n++;
        }
}

/* Prints the next components of a parent path of the objects; false: it is none. */
static bool print_way(FILE *out, const char *path)
{
    static const struct {
        const char *path, *next;
    } way[] = { { "/", "org" },
                { "/org", "selvedge" },
                { "/org", "freedesktop" },
                { "/org/selvedge", "NodeManager1" },
                { "/org/freedesktop", "LogControl1" } };
    bool found = false;

    for (size_t i = 0; i < SV_ARRAY_LEN(way); i++)
        if (sv_streq(path, way[i].path)) {
            fprintf(out, " <node name=\"%s\"/>\n", way[i].next);
            found = true;
        }
    return found;
}

static int print(FILE *out, const struct nm_bus_view *view, const struct nm_bus_caller *who,
                 const char *path)
{
    struct nm_bus_object o;

    fprintf(out, "%s%s", doctype, head);
    if (print_way(out, path)) {
        /* no object of its own */
    } else if (sv_streq(path, NM_BUS_APPLICATIONS)) {
        print_applications(out, view, who);
    } else if (sv_streq(path, NM_BUS_CONTAINERS)) {
        print_containers(out, view, who);
    } else if (nm_bus_object_find(view, who, path, &o) < 0) {
        return -ENOENT;
    } else {
        fputs(properties_interface, out);
        print_interface(out, o.interface);
        if (o.interface == &nm_bus_node)
            fprintf(out, "%s <node name=\"application\"/>\n <node name=\"container\"/>\n",
                    manager_interface);
    }
    fputs("</node>\n", out);
    return 0;
}

void nm_bus_print_interfaces(FILE *out)
{
    static const struct nm_bus_interface *const own[] = { &nm_bus_node, &nm_bus_application,
                                                          &nm_bus_container };

    fputs(doctype, out);
    for (size_t i = 0; i < SV_ARRAY_LEN(own); i++)
        print_interface(out, own[i]);
    fputs("</node>\n", out);
}

int nm_bus_introspect(const struct nm_bus_view *view, const struct nm_bus_caller *who,
                      const char *path, char **ret)
{
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int r;

    if (!out)
        return -ENOMEM;
    r = print(out, view, who, path);
    if (fclose(out) != 0 && r >= 0)
        r = -ENOMEM;
    if (r >= 0)
        *ret = SV_TAKE(text);
    return r;
}
