/* See slider.h. Slider's documents, their defaults and rules: the model of its specification, and
 * not the defects of its code (a window of failures is as long as it says, a threshold below zero
 * is none). */
#include "service/definition/slider.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/definition/fields.h"
#include "service/definition/map.h"
#include "service/definition/refuse.h"
#include "service/definition/service-keys.h"
#include "service/definition/slider-component.h"

/* ---- Documents ---- */

static int check_prefixes(const struct svc_slider_import *in)
{
    const struct svc_map *g = &in->resources.global;

    for (size_t i = 0; i < g->n; i++)
        if (!sv_has_prefix(g->pairs[i].name, "yarn.") &&
            strcmp(g->pairs[i].name, "component.unique.names"))
            return svc_refuse(in->err, "resources.json: global", g->pairs[i].name,
                              "an option of resources begins with yarn.");
    for (size_t i = 0; i < in->app_conf.n_components; i++) {
        const struct svc_slider_component *c = &in->app_conf.components[i];

        for (size_t k = 0; k < c->options.n; k++)
            if (sv_has_prefix(c->options.pairs[k].name, "yarn."))
                return svc_refuse(in->err, svc_path("appConf.json: component %s", c->name).text,
                                  c->options.pairs[k].name, "this option is of resources.json");
    }
    return 0;
}

static int read_files(const struct svc_slider_files *f, struct svc_slider_import *in)
{
    int r = f->resources ? 0 : svc_refuse(in->err, "resources.json", NULL, "missing");

    if (r == 0)
        r = svc_slider_tree_read("resources.json", f->resources, f->n_resources, in->a,
                                 &in->resources, in->err);
    if (r == 0)
        r = svc_slider_tree_read("appConf.json", f->app_conf, f->n_app_conf, in->a, &in->app_conf,
                                 in->err);
    if (r == 0)
        r = svc_slider_tree_read("internal.json", f->internal, f->n_internal, in->a, &in->internal,
                                 in->err);
    if (r == 0)
        r = check_prefixes(in);
    if (r < 0)
        return r;
    in->app_globals = in->app_conf.global;
    r = svc_slider_tree_resolve(&in->resources, in->a);
    return r < 0 ? r : svc_slider_tree_resolve(&in->app_conf, in->a);
}

/* ---- The service ---- */

/* Days, hours, minutes and seconds of which failures are counted. */
static int failure_window(const struct svc_slider_import *in, struct svc_pairs *properties)
{
    static const struct {
        const char *option;
        int64_t seconds, def;
    } parts[] = {
        { "yarn.container.failure.window.days", 86400, 0 },
        { "yarn.container.failure.window.hours", 3600, 6 },
        { "yarn.container.failure.window.minutes", 60, 0 },
        { "yarn.container.failure.window.seconds", 1, 0 },
    };
    int64_t sum = 0, n; /* four numbers of 32 bits times a day fit */
    const char *text;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int r = svc_slider_int(&in->resources, NULL, parts[i].option, parts[i].def, 0, INT32_MAX,
                               &n, in->err);

        if (r < 0)
            return r;
        sum += n * parts[i].seconds;
    }
    text = sv_arena_printf(in->a, "%" PRId64, sum < 1 || sum > INT32_MAX ? INT32_MAX : sum);
    if (!text)
        return -ENOMEM;
    svc_pairs_add(properties, svc_key_row(SVC_KEY_FAILURE_WINDOW_S)->name, text);
    return 0;
}

static void copy_option(const struct svc_map *from, const char *option, enum svc_key to,
                        struct svc_pairs *properties)
{
    const char *v = svc_map_get(from, option);

    if (v && *v)
        svc_pairs_add(properties, svc_key_row(to)->name, v);
}

static int service_properties(const struct svc_slider_import *in, struct svc_definition *d)
{
    const struct svc_map *resources = &in->resources.global, *app = &in->app_globals;
    struct svc_pairs properties, env;
    int r = svc_pairs_new(in->a, app->n + 8, &properties);

    if (r == 0)
        r = svc_pairs_new(in->a, app->n, &env);
    if (r == 0)
        r = failure_window(in, &properties);
    if (r < 0)
        return r;
    copy_option(resources, "yarn.log.include.patterns", SVC_KEY_LOG_INCLUDE, &properties);
    copy_option(resources, "yarn.log.exclude.patterns", SVC_KEY_LOG_EXCLUDE, &properties);
    copy_option(resources, "yarn.resourcemanager.am.retry-count-window-ms", SVC_KEY_AM_VALIDITY_MS,
                &properties);
    copy_option(svc_slider_options(&in->resources, SVC_SLIDER_AM), "yarn.memory",
                SVC_KEY_AM_MEMORY_MB, &properties);
    for (size_t i = 0; i < app->n; i++) {
        const struct svc_pair *p = &app->pairs[i];

        if (sv_has_prefix(p->name, "env."))
            svc_pairs_add(&env, p->name + 4, p->value);
        else if (!sv_has_prefix(p->name, "yarn.") && strcmp(p->name, "launch_command"))
            svc_pairs_add(&properties, p->name, p->value);
    }
    (void)svc_map_sort(&env.map); /* names of one map differ, ignoring */
    (void)svc_map_sort(&properties.map);
    d->configuration.env = env.map;
    d->configuration.properties = properties.map;
    return 0;
}

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static int describe_service(const struct svc_slider_import *in, const char *name,
                            struct svc_definition *d)
{
    const struct svc_map *internal = &in->internal.global;
    const char *image = svc_map_get(internal, "internal.application.image.path"),
               *home = svc_map_get(internal, "internal.application.home"),
               *version = svc_map_get(&in->app_globals, "site.global.app_version"),
               *keytab = svc_map_get(internal, "internal.keytab.location");

    if (image && *image && home && *home)
        return svc_refuse(in->err, "internal.json", NULL,
                          "internal.application.image.path and internal.application.home: one");
    d->name = or_empty(name ? name : svc_map_get(internal, "application.name"));
    d->version = version && *version ? version : "1";
    d->queue = or_empty(svc_map_get(internal, "internal.queue"));
    d->keytab = keytab && strstr(keytab, "://") ? keytab : "";
    if (image && *image)
        d->artifact = (struct svc_artifact){ SVC_ARTIFACT_TARBALL, image, "" };
    return service_properties(in, d);
}

/* ---- Components ---- */

struct ordered {
    struct svc_component c;
    int64_t priority;
};

static int by_priority(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;

    return (x->priority > y->priority) - (x->priority < y->priority);
}

static int read_components(const struct svc_slider_import *in, struct svc_definition *d)
{
    size_t n = in->resources.n_components;
    struct ordered *list = sv_newn(in->a, struct ordered, n + 1);

    d->components = sv_newn(in->a, struct svc_component, n + 1);
    if (!list || !d->components)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct svc_slider_component *c = &in->resources.components[i];
        int r;

        if (!strcmp(c->name, SVC_SLIDER_AM))
            continue;
        r = svc_slider_component(in, c, &list[d->n_components].c, &list[d->n_components].priority);
        if (r < 0)
            return r;
        d->n_components++;
    }
    qsort(list, d->n_components, sizeof *list, by_priority);
    for (size_t i = 0; i < d->n_components; i++) {
        if (i && list[i - 1].priority == list[i].priority)
            return svc_refuse(in->err,
                              svc_path("resources.json: component %s", list[i].c.name).text, NULL,
                              SVC_SLIDER_PRIORITY " is that of %s too", list[i - 1].c.name);
        d->components[i] = list[i].c;
    }
    return 0;
}

int svc_slider_import(const struct svc_slider_files *files, const char *name, struct sv_arena *a,
                      struct svc_definition **ret, struct sv_error *err)
{
    struct svc_slider_import in = { .a = a, .err = err };
    struct svc_definition *d = sv_new(a, struct svc_definition);
    int r = d ? read_files(files, &in) : -ENOMEM;

    if (r == 0) {
        svc_record_defaults(&svc_definition_record, d);
        r = describe_service(&in, name, d);
    }
    if (r == 0)
        r = read_components(&in, d);
    if (r == -ENOMEM)
        return sv_error_errno(err, r, "Slider's documents");
    if (r == 0)
        r = svc_definition_check(d, err);
    if (r < 0)
        return r;
    *ret = d;
    return 0;
}

/* ---- Flex ---- */

static size_t position(const struct svc_definition *d, const char *name)
{
    size_t i = 0;

    while (i < d->n_components && strcmp(d->components[i].name, name))
        i++;
    return i;
}

static int flex_each(const struct svc_slider_tree *t, const struct svc_definition *d,
                     struct sv_arena *a, int64_t *counts, struct sv_error *err)
{
    for (size_t i = 0; i < t->n_components; i++) {
        const struct svc_slider_component *c = &t->components[i];
        const char *name = svc_slider_component_name(a, c->name);
        size_t at = name ? position(d, name) : 0;
        int64_t n;
        int r;

        if (!name)
            return sv_error_errno(err, -ENOMEM, "resources.json");
        if (!strcmp(c->name, SVC_SLIDER_AM))
            continue;
        if (at == d->n_components)
            return svc_refuse(err, "resources.json: components", c->name,
                              "the service has no such component");
        if (counts[at] >= 0)
            return svc_refuse(err, "resources.json: components", c->name, "is there twice");
        r = svc_slider_int(t, c, "yarn.component.instances", 0, 0, SVC_INSTANCES_MAX, &n, err);
        if (r < 0)
            return r;
        counts[at] = n;
    }
    return 0;
}

int svc_slider_flex(const char *resources, size_t len, const struct svc_definition *d,
                    int64_t *ret_counts, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_slider_tree t;
    int64_t *counts = a ? sv_newn(a, int64_t, d->n_components + 1) : NULL, sum = 0;
    int r = counts ? svc_slider_tree_read("resources.json", resources, len, a, &t, err) : -ENOMEM;

    if (r == 0)
        r = svc_slider_tree_resolve(&t, a);
    for (size_t i = 0; r == 0 && i < d->n_components; i++)
        counts[i] = -1; /* not mentioned */
    if (r == 0)
        r = flex_each(&t, d, a, counts, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < d->n_components; i++) {
        counts[i] = counts[i] < 0 ? 0 : counts[i];
        sum += counts[i];
    }
    if (sum > SVC_INSTANCES_MAX)
        return svc_refuse(err, "resources.json", NULL,
                          "instances of all components: %" PRId64 ", at most %d", sum,
                          SVC_INSTANCES_MAX);
    memcpy(ret_counts, counts, d->n_components * sizeof *counts);
    return 0;
}
