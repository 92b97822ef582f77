/* Numbers of instances: flex of components, decommission of instances. The counts are stored, then
 * the master is told. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "service/api/call.h"

/* The count that `wanted` means for a component that has `old`: "+2" and "-2" are relative, and so
 * is a negative number, which Hadoop's route takes for one; never below 0. */
static int count_of(struct svc_call *c, const json_t *wanted, int64_t old, int64_t *ret)
{
    const char *text = json_string_value(wanted);
    bool relative;
    int64_t n;

    if (json_is_integer(wanted)) {
        n = json_integer_value(wanted);
        relative = n < 0;
    } else if (text) {
        relative = *text == '+' || *text == '-';
        if (sv_parse_i64(*text == '+' ? text + 1 : text, -SVC_INSTANCES_MAX, SVC_INSTANCES_MAX,
                         &n) < 0)
            return svc_fail(c, SVC_FAIL_ARGUMENT, "For input string: \"%.40s\"", text);
    } else {
        return svc_fail(c, SVC_FAIL_ARGUMENT,
                        "components[].number_of_containers: a number, \"+n\" or \"-n\"");
    }
    if (n > SVC_INSTANCES_MAX || n < -SVC_INSTANCES_MAX)
        return svc_fail(c, SVC_FAIL_ARGUMENT,
                        "number_of_containers: %lld: a service has at most %d instances",
                        (long long)n, SVC_INSTANCES_MAX);
    *ret = relative ? SV_MAX(old + n, (int64_t)0) : n;
    return 0;
}

static int64_t stored_count(const json_t *component)
{
    int64_t n = json_integer_value(json_object_get(component, "number_of_containers"));

    return SV_MIN(SV_MAX(n, (int64_t)0), (int64_t)SVC_INSTANCES_MAX);
}

/* Changes the count of one component in the stored tree. */
static int change(struct svc_call *c, json_t *stored, const char *name, const json_t *wanted,
                  struct svc_count *ret, int64_t *ret_old)
{
    json_t *component;
    int r = svc_check_name(c, name);

    if (r < 0)
        return r;
    component = svc_component_of(stored, name);
    if (!component)
        return svc_fail(c, c->component ? SVC_FAIL_YARN : SVC_FAIL_ARGUMENT,
                        c->component ? "Components [%s] do not exist in app definition."
                                     : "%s does not exist !",
                        name);
    *ret_old = stored_count(component);
    r = count_of(c, wanted, *ret_old, &ret->count);
    if (r < 0)
        return r;
    ret->component = name;
    return json_object_set_new(component, "number_of_containers", json_integer(ret->count)) < 0
               ? svc_fail(c, SVC_FAIL_IO, "out of memory")
               : 0;
}

static int not_upgrading(struct svc_call *c)
{
    json_t *status;
    int r = svc_status(c, c->service, &status);

    if (r < 0)
        return r;
    if (svc_is_upgrading(status))
        r = svc_fail(c, SVC_FAIL_YARN,
                     "%s is at %s state, flex can not be invoked when service is upgrading. ",
                     c->service, svc_text(status, "state"));
    json_decref(status);
    return r;
}

/* Unlike Hadoop, which stores first: what is refused changes nothing. */
static int apply(struct svc_call *c, const json_t *stored, const struct svc_count *counts, size_t n)
{
    struct svc_app app;
    int r = svc_running(c, stored, "flex", &app);

    if (r == 0)
        r = not_upgrading(c);
    if (r == 0)
        r = svc_save(c, c->service, stored);
    if (r < 0)
        return r;
    r = c->b->flex(c->b->userdata, &app, counts, n, &c->err);
    return r < 0 ? svc_fail_of(c, r) : 0;
}

int svc_op_flex(struct svc_call *c)
{
    struct svc_count counts[SVC_COMPONENTS_MAX];
    json_t *stored, *one, *list = svc_components(c->body);
    int64_t old;
    size_t i;
    int r = svc_check_name(c, c->service);

    if (r < 0)
        return r;
    if (json_array_size(list) > SVC_COMPONENTS_MAX)
        return svc_fail(c, SVC_FAIL_ARGUMENT, "components: more than %d", SVC_COMPONENTS_MAX);
    r = svc_load(c, c->service, &stored);
    if (r < 0)
        return r;
    json_array_foreach(list, i, one)
    {
        r = change(c, stored, svc_text(one, "name"), json_object_get(one, "number_of_containers"),
                   &counts[i], &old);
        if (r < 0)
            break;
    }
    if (r == 0)
        r = apply(c, stored, counts, json_array_size(list));
    json_decref(stored);
    return r < 0 ? r
                 : svc_say(
                       c, 202, NULL,
                       sv_arena_printf(c->arena, "Service %s is successfully flexed.", c->service),
                       "ACCEPTED");
}

/* ---- One component ---- */

static int flex_one(struct svc_call *c, const json_t *wanted)
{
    struct svc_count count;
    json_t *stored;
    int64_t old;
    int r = svc_check_name(c, c->service);

    if (r == 0)
        r = svc_load(c, c->service, &stored);
    if (r < 0)
        return r;
    r = change(c, stored, c->component, wanted, &count, &old);
    if (r == 0)
        r = apply(c, stored, &count, 1);
    json_decref(stored);
    return r < 0
               ? r
               : svc_say(c, 200, NULL,
                         sv_arena_printf(c->arena, "Updating component (%s) size from %lld to %lld",
                                         c->component, (long long)old, (long long)count.count),
                         NULL);
}

int svc_op_component(struct svc_call *c)
{
    const char *name = svc_text(c->body, "name"), *state = svc_text(c->body, "state");
    const json_t *wanted = json_object_get(c->body, "number_of_containers");

    if (name && strcmp(name, c->component) != 0)
        return svc_fail(c, SVC_FAIL_REQUEST,
                        "Component name in the request object (%s) does not match that in the URI "
                        "path (%s)",
                        name, c->component);
    if (state && strcmp(state, "UPGRADING") == 0)
        return svc_op_components(c);
    if (!wanted || json_is_null(wanted))
        return svc_fail(c, SVC_FAIL_REQUEST, "No container count provided");
    if (json_is_integer(wanted) && json_integer_value(wanted) < 0)
        return svc_fail(c, SVC_FAIL_REQUEST, "Invalid number of containers specified %lld",
                        (long long)json_integer_value(wanted));
    return flex_one(c, wanted);
}

/* ---- Decommission ---- */

/* "sleep-1", or "sleep-1.SERVICE.USER[.DOMAIN]": *ret is the first part. */
static int instance_name(struct svc_call *c, const char *text, const char **ret)
{
    const char *domain = c->settings->dns_domain;
    char suffix[512];
    size_t n = strcspn(text, ".");

    (void)snprintf(suffix, sizeof(suffix), ".%s.%s%s%s", c->service, c->q->user,
                   domain && *domain ? "." : "", domain ? domain : "");
    if (text[n] && strcmp(text + n, suffix) != 0)
        return svc_fail(c, SVC_FAIL_ARGUMENT,
                        "Specified hostname %.200s does not have the expected format "
                        "componentInstanceName%s",
                        text, suffix);
    *ret = sv_arena_printf(c->arena, "%.*s", (int)SV_MIN(n, (size_t)200), text);
    return *ret ? 0 : svc_fail(c, SVC_FAIL_IO, "out of memory");
}

/* The instances that the stored components name as decommissioned, as the keys of an object. */
static json_t *noted_ones(const json_t *stored)
{
    json_t *component, *one, *ret = json_object();
    size_t i, k;

    json_array_foreach(svc_components(stored), i, component)
    {
        json_array_foreach(json_object_get(component, "decommissioned_instances"), k, one)
        {
            if (json_is_string(one) &&
                json_object_set_new(ret, json_string_value(one), json_true()) < 0) {
                json_decref(ret);
                return NULL;
            }
        }
    }
    return ret;
}

/* Notes an instance as decommissioned, once, and takes it off the component's count. */
static int note(struct svc_call *c, json_t *stored, json_t *noted, const char *instance)
{
    const char *dash = strrchr(instance, '-');
    json_t *component, *list;

    if (!dash)
        return svc_fail(c, SVC_FAIL_YARN, "Invalid component instance (%s) name.", instance);
    component = svc_component_of(
        stored, sv_arena_printf(c->arena, "%.*s", (int)(dash - instance), instance) ?: "");
    if (!component)
        return svc_fail(c, SVC_FAIL_ARGUMENT, "%s does not exist !", instance);
    if (json_object_get(noted, instance))
        return 0;
    list = json_object_get(component, "decommissioned_instances");
    if (!json_is_array(list)) {
        list = json_array();
        if (json_object_set_new(component, "decommissioned_instances", list) < 0)
            return svc_fail(c, SVC_FAIL_IO, "out of memory");
    }
    if (json_object_set_new(noted, instance, json_true()) < 0 ||
        json_array_append_new(list, json_string(instance)) < 0 ||
        json_object_set_new(component, "number_of_containers",
                            json_integer(SV_MAX(stored_count(component) - 1, (int64_t)0))) < 0)
        return svc_fail(c, SVC_FAIL_IO, "out of memory");
    return 0;
}

/* The instances of all components of the body. */
static int note_all(struct svc_call *c, json_t *stored, json_t *noted, const char **names,
                    size_t *ret_n)
{
    json_t *component, *name;
    size_t i, k;
    int r;

    *ret_n = 0;
    json_array_foreach(svc_components(c->body), i, component)
    {
        json_array_foreach(json_object_get(component, "decommissioned_instances"), k, name)
        {
            if (!json_is_string(name))
                return svc_fail(c, SVC_FAIL_ARGUMENT,
                                "decommissioned_instances: names of instances");
            r = instance_name(c, json_string_value(name), &names[*ret_n]);
            if (r == 0)
                r = note(c, stored, noted, names[*ret_n]);
            if (r < 0)
                return r;
            (*ret_n)++;
        }
    }
    return 0;
}

/* Collects these instances. */
static int collect(struct svc_call *c, json_t *stored, const char ***ret, size_t *ret_n)
{
    json_t *component, *noted;
    size_t i, n = 0;
    int r;

    json_array_foreach(svc_components(c->body), i, component) n +=
        json_array_size(json_object_get(component, "decommissioned_instances"));
    if (n > SVC_INSTANCES_MAX || !(*ret = sv_newn(c->arena, const char *, n)))
        return svc_fail(c, SVC_FAIL_ARGUMENT, "decommissioned_instances: more than %d",
                        SVC_INSTANCES_MAX);
    noted = noted_ones(stored);
    r = noted ? note_all(c, stored, noted, *ret, ret_n) : svc_fail(c, SVC_FAIL_IO, "out of memory");
    json_decref(noted);
    return r;
}

int svc_op_decommission(struct svc_call *c)
{
    const char **names = NULL;
    size_t n = 0;
    struct svc_app app;
    json_t *stored;
    int r = svc_check_name(c, c->service);

    if (r == 0)
        r = svc_load(c, c->service, &stored);
    if (r < 0)
        return r;
    r = svc_running(c, stored, "decommission", &app);
    if (r == 0)
        r = collect(c, stored, &names, &n);
    if (r == 0)
        r = svc_save(c, c->service, stored);
    json_decref(stored);
    if (r < 0)
        return r;
    r = c->b->decommission(c->b->userdata, &app, (struct svc_names){ names, n }, &c->err);
    if (r < 0)
        return svc_fail_of(c, r);
    return svc_say(c, 202, NULL,
                   sv_arena_printf(c->arena,
                                   "Service %s has successfully decommissioned instances.",
                                   c->service),
                   "ACCEPTED");
}
