/* See bus-call.h. */
#include "nodemanager/dbus/bus-call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/dbus/bus-auth.h"
#include "nodemanager/dbus/bus-introspect.h"
#include "nodemanager/dbus/bus-list.h"

struct call { /* a call under way */
    const struct nm_bus_calls *all;
    const struct nm_bus_view *view;
    sd_bus_message *m;
    const struct nm_bus_caller *who;
};

void nm_bus_call_refuse(sd_bus_message *m, const char *name, const char *text)
{
    /* The caller may have disconnected. */
    (void)sd_bus_reply_method_errorf(m, name, "%s", text); /* ignoring */
}

static void unknown_object(const struct call *c)
{
    nm_bus_call_refuse(c->m, SD_BUS_ERROR_UNKNOWN_OBJECT,
                       "no such object on this node, or not one of yours");
}

/* ---- Introspectable, ObjectManager ------------------------------------------------------------*/

static int introspect(const struct call *c)
{
    _cleanup_free_ char *xml = NULL;
    int r = nm_bus_introspect(c->view, c->who, sd_bus_message_get_path(c->m), &xml);

    if (r == -ENOENT) {
        unknown_object(c);
        return 0;
    }
    return r < 0 ? r : sd_bus_reply_method_return(c->m, "s", xml);
}

static int managed_objects(const struct call *c)
{
    int r;

    if (!sv_streq(sd_bus_message_get_path(c->m), NM_BUS_ROOT)) {
        unknown_object(c);
        return 0;
    }
    r = nm_bus_lists_add(c->all->lists, c->m, c->who);
    if (r != -EBUSY && r != -E2BIG)
        return r;
    nm_bus_call_refuse(c->m, SD_BUS_ERROR_LIMITS_EXCEEDED,
                       r == -E2BIG ? "more objects than one reply holds: read the property "
                                     "Containers of each application"
                                   : "too many lists are being made: call again");
    return 0;
}

/* ---- Properties -------------------------------------------------------------------------------*/

/* Reads the figures of a container now; if that fails, the last ones are shown. */
static void refresh(struct nm_bus_object *o, struct cg_usage *usage)
{
    struct cg_leaf *leaf = o->c && o->c->launch.exe ? exe_container_cgroup(o->c->launch.exe) : NULL;

    if (leaf && cg_leaf_usage(leaf, usage) >= 0)
        o->usage = usage;
}

/* False: answered with an error. */
static bool has_interface(const struct call *c, const struct nm_bus_object *o, const char *name)
{
    if (sv_streq(name, o->interface->name))
        return true;
    nm_bus_call_refuse(c->m, SD_BUS_ERROR_UNKNOWN_INTERFACE,
                       "the object has no such interface with properties");
    return false;
}

static int get(const struct call *c, struct nm_bus_object *o)
{
    const char *interface, *name;
    const struct nm_bus_property *p;
    sd_bus_message *reply = NULL;
    struct cg_usage usage;
    int r = sd_bus_message_read(c->m, "ss", &interface, &name);

    if (r < 0)
        return r;
    if (!has_interface(c, o, interface))
        return 0;
    p = nm_bus_property_find(o->interface, name);
    if (!p) {
        nm_bus_call_refuse(c->m, SD_BUS_ERROR_UNKNOWN_PROPERTY, "the object has no such property");
        return 0;
    }
    refresh(o, &usage);
    r = sd_bus_message_new_method_return(c->m, &reply);
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'v', p->signature);
    if (r >= 0)
        r = p->append(reply, o);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r;
}

static int get_all(const struct call *c, struct nm_bus_object *o)
{
    const char *interface;
    sd_bus_message *reply = NULL;
    struct cg_usage usage;
    int r = sd_bus_message_read(c->m, "s", &interface);

    if (r < 0)
        return r;
    if (*interface && !has_interface(c, o, interface))
        return 0;
    refresh(o, &usage);
    r = sd_bus_message_new_method_return(c->m, &reply);
    if (r >= 0)
        r = nm_bus_append_properties(reply, o, 0, 0);
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r;
}

static void fail(sd_bus_message *m, int r, const char *text)
{
    const char *name = r == -EINVAL   ? SD_BUS_ERROR_INVALID_ARGS
                       : r == -ENOENT ? SD_BUS_ERROR_FILE_NOT_FOUND
                       : r == -ENOMEM ? SD_BUS_ERROR_NO_MEMORY
                                      : SD_BUS_ERROR_FAILED;
    char shown[SV_ERROR_TEXT_MAX];

    sv_escape(shown, sizeof(shown), text);
    nm_bus_call_refuse(m, name, shown);
}

/* Few properties can be set, and by root alone. */
static int set(const struct call *c, const struct nm_bus_object *o)
{
    const struct nm_bus_property *p;
    const char *interface, *name;
    struct sv_error err = { 0 };
    int r = sd_bus_message_read(c->m, "ss", &interface, &name);

    if (r < 0)
        return r;
    if (!has_interface(c, o, interface))
        return 0;
    p = nm_bus_property_find(o->interface, name);
    if (!p || !p->set) {
        nm_bus_call_refuse(c->m,
                           p ? SD_BUS_ERROR_PROPERTY_READ_ONLY : SD_BUS_ERROR_UNKNOWN_PROPERTY,
                           p ? "the property cannot be set" : "the object has no such property");
        return 0;
    }
    if (c->who->uid != 0) {
        nm_bus_call_refuse(c->m, SD_BUS_ERROR_ACCESS_DENIED, "root alone sets it");
        return 0;
    }
    r = sd_bus_message_enter_container(c->m, 'v', p->signature);
    if (r <= 0)
        return -ENXIO;
    r = p->set(c->m, &err);
    if (r >= 0)
        return sd_bus_reply_method_return(c->m, "");
    fail(c->m, r, err.text);
    return 0;
}

static int properties(const struct call *c, const char *member)
{
    struct nm_bus_object o;

    if (nm_bus_object_find(c->view, c->who, sd_bus_message_get_path(c->m), &o) < 0) {
        unknown_object(c);
        return 0;
    }
    if (sv_streq(member, "Get"))
        return get(c, &o);
    if (sv_streq(member, "GetAll"))
        return get_all(c, &o);
    return sv_streq(member, "Set") ? set(c, &o) : -EBADR;
}

/* ---- our own methods --------------------------------------------------------------------------*/

/* Runs a method after its caller was authorized. */
static void run(const struct call *c, const struct nm_bus_method *method)
{
    const char *object = sd_bus_message_get_path(c->m);
    struct sv_error err = { 0 };
    struct nm_bus_object o;
    char caller[SV_GROUPS_NAME_MAX + 32];
    int r;

    if (nm_bus_object_find(c->view, c->who, object, &o) < 0 ||
        !sv_streq(sd_bus_message_get_interface(c->m), o.interface->name)) {
        unknown_object(c);
        return;
    }
    o.who = c->who;
    snprintf(caller, sizeof(caller), "%s (uid %u)", *c->who->user ? c->who->user : "an operator",
             (unsigned)c->who->uid);
    r = method->run(&o, c->m, caller, &err);
    if (method->action)
        sv_log(SV_LOG_NOTICE, o.c ? o.c->text : NULL, "D-Bus: %s of %s by %s: %s", method->name,
               o.c ? o.c->text : "the node", caller, r < 0 ? err.text : "done");
    if (r < 0)
        fail(c->m, r, err.text);
    else if (r == 0)
        (void)sd_bus_reply_method_return(c->m, ""); /* the caller may have disconnected, ignoring */
    if (c->all->changed)
        c->all->changed(c->all->userdata);
}

/* Passes the owner of the job to polkit's rules; "" for the node and unknown objects. */
static int ask(const struct call *c, const struct nm_bus_method *method)
{
    static const struct nm_bus_caller everything = { .sees_all = true };
    const char *path = sd_bus_message_get_path(c->m);
    struct nm_bus_object o = { 0 };
    char action[128], id[YARN_ID_TEXT_MAX] = "", user[SV_GROUPS_NAME_MAX + 1] = "";
    const char *const details[] = { "container", id, "user", user, NULL };
    int r;

    if (nm_bus_object_find(c->view, &everything, path, &o) >= 0 && o.c) {
        snprintf(id, sizeof(id), "%s", o.c->text);
        sv_escape(user, sizeof(user), o.c->app ? o.c->app->user : "");
    }
    snprintf(action, sizeof(action), NM_BUS_NAME ".%s", method->action);
    r = nm_bus_auth_ask(c->all->auth, c->m, c->who->uid, action, details);
    if (r != -EBUSY)
        return r;
    nm_bus_call_refuse(c->m, SD_BUS_ERROR_LIMITS_EXCEEDED,
                       "too many calls wait for polkit: call again");
    return 0;
}

/* False: refused, because of its arguments alone. */
static bool passes_check(const struct call *c, const struct nm_bus_method *method)
{
    struct sv_error err = { 0 };
    int r = method->check ? method->check(c->m, &err) : 0;

    if (r < 0)
        fail(c->m, r, err.text);
    return r >= 0;
}

static int call_method(const struct call *c, const struct nm_bus_method *method)
{
    if (sd_bus_message_has_signature(c->m, method->in) <= 0)
        return -ENXIO;
    if (!method->action || c->who->uid == 0) {
        run(c, method);
        return 0;
    }
    return passes_check(c, method) ? ask(c, method) : 0;
}

static const struct nm_bus_method *method_of(sd_bus_message *m)
{
    return nm_bus_method_find(sd_bus_message_get_interface(m), sd_bus_message_get_member(m));
}

void nm_bus_call_decided(const struct nm_bus_calls *calls, sd_bus_message *m,
                         const struct nm_bus_caller *who, const char *refusal)
{
    struct nm_bus_caller authorized = *who;
    const struct call c = { .all = calls, .view = calls->view, .m = m, .who = &authorized };
    const struct nm_bus_method *method = method_of(m);

    authorized.sees_all = true;
    if (refusal)
        nm_bus_call_refuse(m, SD_BUS_ERROR_ACCESS_DENIED, refusal);
    else if (method)
        run(&c, method);
}

/* ---- all --------------------------------------------------------------------------------------*/

/* -EBADR: there is no such method. */
static int dispatch(const struct call *c, const char *interface, const char *member)
{
    const struct nm_bus_method *method = method_of(c->m);

    if (method)
        return call_method(c, method);
    if (sv_streq(interface, "org.freedesktop.DBus.Properties"))
        return properties(c, member);
    if (sv_streq(interface, "org.freedesktop.DBus.Introspectable") &&
        sv_streq(member, "Introspect"))
        return introspect(c);
    if (sv_streq(interface, "org.freedesktop.DBus.ObjectManager") &&
        sv_streq(member, "GetManagedObjects"))
        return managed_objects(c);
    return -EBADR;
}

void nm_bus_call_answer(const struct nm_bus_calls *calls, sd_bus_message *m,
                        const struct nm_bus_caller *who)
{
    const struct call c = { .all = calls, .view = calls->view, .m = m, .who = who };
    int r = dispatch(&c, sd_bus_message_get_interface(m), sd_bus_message_get_member(m));

    if (r >= 0)
        return;
    if (r == -EBADR)
        nm_bus_call_refuse(m, SD_BUS_ERROR_UNKNOWN_METHOD, "the object has no such method");
    else if (r == -ENXIO || r == -EBADMSG)
        nm_bus_call_refuse(m, SD_BUS_ERROR_INVALID_ARGS, "the arguments have other types");
    else
        nm_bus_call_refuse(m, SD_BUS_ERROR_FAILED, strerror(-r));
}
