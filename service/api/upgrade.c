/* Upgrades: of a service to another version, then of components or instances; cancelling. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/url.h"
#include "service/api/call.h"

/* ---- A service to another version ---- */

static int check_policies(struct svc_call *c, const json_t *stored)
{
    json_t *one;
    size_t i;

    json_array_foreach(svc_components(stored), i, one)
    {
        const char *policy = svc_text(one, "restart_policy");

        if (!policy || strcmp(policy, "NEVER") != 0)
            return 0;
    }
    return svc_fail(c, SVC_FAIL_YARN,
                    "All the components of the service %s have NEVER restart policy, so it cannot "
                    "be upgraded.",
                    c->service);
}

static int check_stable(struct svc_call *c)
{
    json_t *status;
    const char *state;
    int r = svc_status(c, c->service, &status);

    if (r < 0)
        return r;
    state = svc_text(status, "state");
    if (!state || strcmp(state, "STABLE") != 0)
        r = svc_fail(c, SVC_FAIL_YARN,
                     "%s is at %s state and upgrade can only be initiated when service is STABLE.",
                     c->service, state ? state : "an unknown");
    json_decref(status);
    return r;
}

static int check_version(struct svc_call *c, const json_t *stored, const char *version)
{
    const char *old = svc_text(stored, "version");

    if (!version || !*version)
        return svc_fail(c, SVC_FAIL_ARGUMENT,
                        "Version of service %s is either empty or not provided", c->service);
    if (!fs_name_valid(version)) /* it names a directory */
        return svc_fail(c, SVC_FAIL_ARGUMENT,
                        "version: \"%.80s\": no '/' and no control characters", version);
    if (old && strcmp(old, version) == 0)
        return svc_fail(c, SVC_FAIL_YARN,
                        "%s is already at version %s. There is nothing to upgrade.", c->service,
                        version);
    return check_policies(c, stored);
}

/* The new definition is stored beside the current one. */
static int store_version(struct svc_call *c, const char *version)
{
    struct svc_definition *d;
    _cleanup_free_ char *text = NULL;
    int r = svc_complete(c, c->body, svc_dialect_of(c), &d);

    if (r < 0)
        return r;
    r = svc_definition_print(d, &text);
    if (r == 0)
        r = c->b->create(c->b->userdata, c->service, version, text, &c->err);
    return r < 0 ? svc_fail_of(c, r) : 0;
}

static int begin_upgrade(struct svc_call *c, json_t *stored, const char *state)
{
    const char *version = svc_text(c->body, "version");
    bool express = strcmp(state, "EXPRESS_UPGRADING") == 0;
    struct svc_app app;
    int r = check_version(c, stored, version);

    if (r == 0)
        r = check_stable(c);
    if (r == 0)
        r = svc_running(c, stored, "upgrade", &app);
    if (r == 0)
        r = store_version(c, version);
    if (r < 0)
        return r;
    r = c->b->upgrade(c->b->userdata, &app, version,
                      express || strcmp(state, "UPGRADING_AUTO_FINALIZE") == 0, express, &c->err);
    if (r < 0)
        return svc_fail(c, r == -ETIMEDOUT ? SVC_FAIL_LATE : SVC_FAIL_YARN,
                        "Failed to %s service %s to version %s because %.700s",
                        express ? "express upgrade" : "upgrade", c->service, version, c->err.text);
    return svc_say(c, 202, NULL,
                   sv_arena_printf(c->arena, "Service %s version %s saved.", c->service, version),
                   "ACCEPTED");
}

int svc_op_upgrade(struct svc_call *c, const char *state)
{
    json_t *stored;
    int r;

    if (!c->settings->upgrades)
        return svc_fail(c, SVC_FAIL_YARN, "Service upgrade is disabled.");
    r = svc_check_name(c, c->service);
    if (r == 0)
        r = svc_load(c, c->service, &stored);
    if (r < 0)
        return r;
    r = begin_upgrade(c, stored, state);
    json_decref(stored);
    return r;
}

int svc_op_cancel_upgrade(struct svc_call *c)
{
    json_t *status, *stored;
    struct svc_app app;
    const char *state;
    bool upgrading;
    int r = svc_status(c, c->service, &status);

    if (r < 0)
        return r;
    state = svc_text(status, "state");
    upgrading = svc_is_upgrading(status) || (state && strcmp(state, "EXPRESS_UPGRADING") == 0);
    json_decref(status);
    if (!upgrading)
        return svc_fail(c, SVC_FAIL_YARN, "Service %s is not upgrading, so nothing to cancel.",
                        c->service);
    r = svc_load(c, c->service, &stored);
    if (r < 0)
        return r;
    r = svc_running(c, stored, "cancelling", &app);
    json_decref(stored);
    if (r < 0)
        return r;
    r = c->b->cancel_upgrade(c->b->userdata, &app, &c->err);
    if (r < 0)
        return svc_fail_of(c, r);
    return svc_say(c, 202, NULL,
                   sv_arena_printf(c->arena, "Service %s cancelling upgrade.", c->service),
                   "ACCEPTED");
}

/* ---- Instances of an upgrade that has begun ---- */

struct chosen { /* containers to upgrade */
    const char **ids;
    size_t n, max;
};

static bool is_upgradable(const json_t *container)
{
    const char *state = svc_text(container, "state");

    return state && (strcmp(state, "NEEDS_UPGRADE") == 0 || strcmp(state, "FAILED_UPGRADE") == 0);
}

static int choose(struct svc_call *c, struct chosen *t, const json_t *container)
{
    const char *id = svc_text(container, "id");

    if (!id || t->n == t->max)
        return 0;
    t->ids[t->n] = sv_arena_strdup(c->arena, id);
    return t->ids[t->n++] ? 0 : svc_fail(c, SVC_FAIL_IO, "out of memory");
}

/* Status of the service, whose upgrade has begun; and room for all its containers. */
static int upgrading(struct svc_call *c, json_t **ret, struct chosen *t)
{
    json_t *status, *one;
    size_t i, n = 0;
    int r = svc_status(c, c->service, &status);

    if (r < 0)
        return r;
    json_array_foreach(svc_components(status), i, one) n +=
        json_array_size(json_object_get(one, "containers"));
    *t = (struct chosen){ .ids = sv_newn(c->arena, const char *, n + 1), .max = n };
    if (!svc_is_upgrading(status))
        r = svc_fail(c, SVC_FAIL_REQUEST, "The upgrade of service %s has not been initiated.",
                     c->service);
    else if (!t->ids)
        r = svc_fail(c, SVC_FAIL_IO, "out of memory");
    if (r < 0)
        json_decref(status);
    else
        *ret = status;
    return r;
}

static int send(struct svc_call *c, const struct chosen *t)
{
    struct svc_app app;
    json_t *stored;
    int r = svc_load(c, c->service, &stored);

    if (r < 0)
        return r;
    r = svc_running(c, stored, "upgrade", &app);
    json_decref(stored);
    if (r < 0)
        return r;
    r = c->b->upgrade_containers(c->b->userdata, &app, (struct svc_names){ t->ids, t->n }, &c->err);
    return r < 0 ? svc_fail_of(c, r) : 0;
}

/* "a,b,c", cut where an answer of a line ends. */
static const char *join(struct svc_call *c, const char *const *v, size_t n)
{
    const char *all = "";

    for (size_t i = 0; i < n && all && strlen(all) < 4000; i++)
        all = sv_arena_printf(c->arena, "%s%s%.300s", all, i ? "," : "", v[i]);
    return all ? all : "";
}

static int choose_of_component(struct svc_call *c, const json_t *component, struct chosen *t)
{
    const char *state = svc_text(component, "state");
    json_t *container;
    size_t i;
    int r = 0;

    if (!state || strcmp(state, "NEEDS_UPGRADE") != 0)
        return svc_fail(c, SVC_FAIL_REQUEST, "The component (%s) does not need an upgrade.",
                        svc_text(component, "name") ?: "");
    json_array_foreach(json_object_get(component, "containers"), i, container)
    {
        if (r == 0 && is_upgradable(container))
            r = choose(c, t, container);
    }
    return r;
}

static int upgrade_components(struct svc_call *c, const char *const *names, size_t n)
{
    struct chosen t;
    json_t *status;
    int r = upgrading(c, &status, &t);

    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < n; i++) {
        const json_t *component = svc_component_of(status, names[i]);

        if (component)
            r = choose_of_component(c, component, &t);
    }
    json_decref(status);
    if (r == 0)
        r = send(c, &t);
    return r < 0 ? r
                 : svc_say(c, 202, NULL,
                           sv_arena_printf(c->arena, "Upgrading components %s.", join(c, names, n)),
                           NULL);
}

int svc_op_components(struct svc_call *c)
{
    const char *names[SVC_COMPONENTS_MAX];
    size_t i, n = 0;
    json_t *one;

    if (c->component)
        return upgrade_components(c, &c->component, 1);
    if (json_array_size(c->body) == 0)
        return svc_fail(c, SVC_FAIL_REQUEST, "No components provided.");
    json_array_foreach(c->body, i, one)
    {
        const char *name = svc_text(one, "name"), *state = svc_text(one, "state");

        if (name && state && strcmp(state, "UPGRADING") == 0 && n < SVC_COMPONENTS_MAX)
            names[n++] = name;
    }
    return upgrade_components(c, names, n);
}

/* The containers of the status that have one of these names. */
static int choose_instances(struct svc_call *c, const json_t *status, const json_t *wanted,
                            struct chosen *t)
{
    json_t *component, *container;
    size_t i, k;

    json_array_foreach(svc_components(status), i, component)
    {
        json_array_foreach(json_object_get(component, "containers"), k, container)
        {
            const char *name = svc_text(container, "component_instance_name");

            if (!name || !json_object_get(wanted, name))
                continue;
            if (!is_upgradable(container))
                return svc_fail(c, SVC_FAIL_REQUEST,
                                "The component instance (%s) does not need an upgrade.", name);
            if (choose(c, t, container) < 0)
                return -1;
        }
    }
    return 0;
}

/* `wanted`: an object with the names as keys. */
static int upgrade_named(struct svc_call *c, const json_t *wanted)
{
    struct chosen t;
    json_t *status;
    int r = upgrading(c, &status, &t);

    if (r < 0)
        return r;
    r = choose_instances(c, status, wanted, &t);
    json_decref(status);
    if (r == 0)
        r = send(c, &t);
    return r < 0 ? r
                 : svc_say(c, 202, NULL,
                           sv_arena_printf(c->arena, "Upgrading component instances %s.",
                                           join(c, t.ids, t.n)),
                           NULL);
}

int svc_op_instances_upgrade(struct svc_call *c)
{
    json_t *wanted = json_object(), *one;
    size_t i;
    int r = 0;

    if (json_array_size(c->body) == 0)
        r = svc_fail(c, SVC_FAIL_REQUEST, "No containers provided.");
    json_array_foreach(c->body, i, one)
    {
        const char *name = svc_text(one, "component_instance_name"),
                   *state = svc_text(one, "state");

        if (name && state && strcmp(state, "UPGRADING") == 0)
            (void)json_object_set_new(wanted, name, json_true()); /* then missed below, ignoring */
    }
    if (r == 0 && json_object_size(wanted) > 0)
        r = upgrade_named(c, wanted);
    else if (r == 0)
        c->ret->status = 204;
    json_decref(wanted);
    return r;
}

static int check_instance(struct svc_call *c, const json_t *status)
{
    const json_t *component = svc_component_of(status, c->component);
    json_t *container;
    size_t i;

    if (!component)
        return svc_fail(c, SVC_FAIL_REQUEST, "The component name in the URI path (%s) is invalid.",
                        c->component);
    json_array_foreach(json_object_get(component, "containers"), i, container)
    {
        const char *name = svc_text(container, "component_instance_name");

        if (name && strcmp(name, c->instance) == 0)
            return 0;
    }
    return svc_fail(c, SVC_FAIL_REQUEST,
                    "The component (%s) does not have a component instance (%s).", c->component,
                    c->instance);
}

int svc_op_instance_upgrade(struct svc_call *c)
{
    const char *state = svc_text(c->body, "state");
    json_t *status, *wanted;
    int r = svc_status(c, c->service, &status);

    if (r < 0)
        return r;
    r = check_instance(c, status);
    json_decref(status);
    if (r < 0)
        return r;
    if (!state || strcmp(state, "UPGRADING") != 0) {
        c->ret->status = 204;
        return 0;
    }
    wanted = json_pack("{s:b}", c->instance, 1);
    if (!wanted)
        return svc_fail(c, SVC_FAIL_IO, "out of memory");
    r = upgrade_named(c, wanted);
    json_decref(wanted);
    return r;
}
