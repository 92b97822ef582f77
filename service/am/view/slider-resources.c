/* See slider-resources.h. */
#include "service/am/view/slider-resources.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

static int bad(struct sv_error *err, const char *component, const char *key, const char *value,
               const char *rule)
{
    return sv_error_set(err, -EINVAL, "components.%.64s.%.64s: \"%.64s\": %s", component, key,
                        value, rule);
}

/* ---- Options ---- */

static int check_number(const char *component, const char *key, const char *value, int64_t is,
                        struct sv_error *err)
{
    char rule[64];
    int64_t n;

    (void)snprintf(rule, sizeof(rule), "%lld, which a running service cannot change",
                   (long long)is);
    if (sv_parse_i64(value, INT64_MIN, INT64_MAX, &n) < 0 || n != is)
        return bad(err, component, key, value, rule);
    return 0;
}

/* Statistics, which GET of the live resources adds, and options of placement are Slider's own. */
static int check_option(const struct svc_component *c, size_t priority, const char *key,
                        const char *value, int64_t *ret_count, struct sv_error *err)
{
    if (strcmp(key, "yarn.component.instances") == 0)
        return sv_parse_i64(value, 0, SVC_INSTANCES_MAX, ret_count) < 0
                   ? bad(err, c->name, key, value, "a number, 0 to 100000")
                   : 0;
    if (strcmp(key, "yarn.memory") == 0)
        return check_number(c->name, key, value, c->resource.memory_mb, err);
    if (strcmp(key, "yarn.vcores") == 0)
        return check_number(c->name, key, value, c->resource.vcores, err);
    if (strcmp(key, "yarn.role.priority") == 0)
        return check_number(c->name, key, value, (int64_t)priority, err);
    return sv_has_prefix(key, "yarn.") ? 0
                                       : bad(err, c->name, key, value, "keys begin with \"yarn.\"");
}

static int read_component(const struct svc_definition *d, size_t i, json_t *options,
                          struct svc_flex *to, struct sv_error *err)
{
    const struct svc_component *c = &d->components[i];
    int64_t count = -1;
    const char *key;
    json_t *value;
    int r = 0;

    if (!json_is_object(options))
        return sv_error_set(err, -EINVAL, "components.%.64s: an object of texts", c->name);
    json_object_foreach(options, key, value)
    {
        if (!json_is_string(value))
            r = sv_error_set(err, -EINVAL, "components.%.64s.%.64s: a text", c->name, key);
        else
            r = check_option(c, i + 1, key, json_string_value(value), &count, err);
        if (r < 0)
            return r;
    }
    if (count < 0)
        return sv_error_set(err, -EINVAL, "components.%.64s.yarn.component.instances is missing",
                            c->name);
    to->count = count;
    return 0;
}

/* ---- The tree ---- */

static int check_head(json_t *root, struct sv_error *err)
{
    const char *schema = json_string_value(json_object_get(root, "schema")), *key;
    json_t *global = json_object_get(root, "global"), *value;

    if (!schema || strcmp(schema, SVC_SLIDER_SCHEMA) != 0)
        return sv_error_set(err, -EINVAL, "schema: \"%.64s\": " SVC_SLIDER_SCHEMA,
                            schema ? schema : "");
    if (global && !json_is_object(global))
        return sv_error_set(err, -EINVAL, "global: an object of texts");
    json_object_foreach(global, key, value) if (
        !json_is_string(value) ||
        (!sv_has_prefix(key, "yarn.") &&
         strcmp(key, "component.unique.names") !=
             0)) return sv_error_set(err, -EINVAL,
                                     "global.%.64s: a text, by a key that begins with \"yarn.\"",
                                     key);
    return 0;
}

static int read_components(json_t *root, const struct svc_definition *d, struct svc_flex *list,
                           struct sv_error *err)
{
    json_t *components = json_object_get(root, "components"), *options;
    const struct svc_component *c;
    const char *name;
    int r;

    if (!json_is_object(components))
        return sv_error_set(err, -EINVAL, "components: an object is expected");
    json_object_foreach(components, name, options)
    {
        if (strcmp(name, SVC_SLIDER_MASTER) == 0)
            continue;
        c = svc_component_named(d, name);
        if (!c)
            return sv_error_set(err, -EINVAL,
                                "components.%.64s: the service has no such component, and a "
                                "running one gets none",
                                name);
        r = read_component(d, (size_t)(c - d->components), options, &list[c - d->components], err);
        if (r < 0)
            return r;
    }
    return 0;
}

int svc_slider_resources(const char *json, size_t len, const struct svc_definition *d,
                         struct sv_arena *a, struct svc_flex **ret, size_t *ret_n,
                         struct sv_error *err)
{
    struct svc_flex *list = sv_newn(a, struct svc_flex, d->n_components + 1);
    json_error_t where;
    json_t *root;
    int r;

    if (!list)
        return sv_error_errno(err, -ENOMEM, "resources");
    root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(root)) {
        json_decref(root);
        return sv_error_set(err, -EINVAL, "line %d: %s", root ? 1 : where.line,
                            root ? "an object is expected" : where.text);
    }
    for (size_t i = 0; i < d->n_components; i++)
        list[i] = (struct svc_flex){ d->components[i].name, 0 };
    r = check_head(root, err);
    if (r == 0)
        r = read_components(root, d, list, err);
    json_decref(root);
    if (r < 0)
        return r;
    *ret = list;
    *ret_n = d->n_components;
    return 0;
}
