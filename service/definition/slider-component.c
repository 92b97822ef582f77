/* See slider-component.h. Defaults are Slider's where they differ from YARN's services. */
#include "service/definition/slider-component.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/str.h"
#include "service/definition/fields.h"
#include "service/definition/map.h"
#include "service/definition/refuse.h"
#include "service/definition/service-keys.h"
#include "service/definition/slider.h"

#define UNLIMITED INT32_MAX

int svc_pairs_new(struct sv_arena *a, size_t room, struct svc_pairs *ret)
{
    *ret = (struct svc_pairs){ .map.pairs = sv_newn(a, struct svc_pair, room + 1), .room = room };
    return ret->map.pairs ? 0 : -ENOMEM;
}

void svc_pairs_add(struct svc_pairs *p, const char *name, const char *value)
{
    if (p->map.n < p->room)
        p->map.pairs[p->map.n++] = (struct svc_pair){ name, value };
}

const char *svc_slider_component_name(struct sv_arena *a, const char *name)
{
    char *s = sv_arena_strdup(a, name);

    for (char *p = s; s && *p; p++)
        *p = (char)(*p == '_' ? '-' : tolower((unsigned char)*p));
    return s;
}

/* ---- Resources ---- */

/* "max" is the ResourceManager's maximum, which a definition does not know. */
static int amount(const struct svc_slider_import *in, const struct svc_slider_component *c,
                  const char *option, int64_t def, int64_t *ret)
{
    const char *v = svc_map_get(&c->options, option);

    if (v && !strcmp(v, "max"))
        return svc_refuse(in->err,
                          svc_path("resources.json: component %s: %s", c->name, option).text, v,
                          "what the cluster allows at most is not known here: give a number");
    return svc_slider_int(&in->resources, c, option, def, 1, INT32_MAX, ret, in->err);
}

static int read_resource(const struct svc_slider_import *in, const struct svc_slider_component *c,
                         struct svc_component *ret)
{
    int64_t cores;
    int r = amount(in, c, "yarn.memory", 256, &ret->resource.memory_mb);

    if (r == 0)
        r = amount(in, c, "yarn.vcores", 1, &cores);
    if (r == 0)
        ret->resource.vcores = (int32_t)cores;
    return r;
}

/* ---- Thresholds ---- */

static const struct threshold {
    const char *option;
    enum svc_key key;
    int64_t def, min, max;
    int64_t unlimited_below; /* values below mean no limit */
} thresholds[] = {
    { "yarn.node.failure.threshold", SVC_KEY_NODE_THRESHOLD, 3, -1, UNLIMITED, 0 },
    { "yarn.container.failure.threshold", SVC_KEY_FAILURE_THRESHOLD, 5, INT32_MIN, UNLIMITED, 1 },
    { "yarn.container.health.threshold.percent", SVC_KEY_HEALTH_PERCENT, -1, -1, 100, INT64_MIN },
    { "yarn.container.health.threshold.poll.frequency.secs", SVC_KEY_HEALTH_POLL_S, 10, 1, 86400,
      INT64_MIN },
    { "yarn.container.health.threshold.window.secs", SVC_KEY_HEALTH_WINDOW_S, 600, 1, UNLIMITED,
      INT64_MIN },
    { "yarn.container.health.threshold.init.delay.secs", SVC_KEY_HEALTH_DELAY_S, 600, 0, UNLIMITED,
      INT64_MIN },
};

static int add_thresholds(const struct svc_slider_import *in, const struct svc_slider_component *c,
                          struct svc_pairs *properties)
{
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
        const struct threshold *t = &thresholds[i];
        int64_t n;
        const char *text;
        int r = svc_slider_int(&in->resources, c, t->option, t->def, t->min, t->max, &n, in->err);

        if (r < 0)
            return r;
        text = sv_arena_printf(in->a, "%" PRId64, n < t->unlimited_below ? UNLIMITED : n);
        if (!text)
            return -ENOMEM;
        svc_pairs_add(properties, svc_key_row(t->key)->name, text);
    }
    return 0;
}

/* ---- Placement ---- */

enum { ANTI_AFFINITY = 4, ALL_BITS = 1 | 2 | ANTI_AFFINITY };

/* A label alone is a rule that any number of instances on a node satisfies. */
static int read_placement(const struct svc_slider_import *in, const struct svc_slider_component *c,
                          struct svc_component *ret)
{
    const char *label = svc_map_get(&c->options, "yarn.label.expression");
    struct svc_constraint *k = sv_new(in->a, struct svc_constraint);
    const char **names = sv_newn(in->a, const char *, 2);
    int64_t bits;
    int r = svc_slider_int(&in->resources, c, SVC_SLIDER_PLACEMENT, 0, 0, ALL_BITS, &bits, in->err);

    if (r < 0 || !k || !names)
        return r < 0 ? r : -ENOMEM;
    if (label && (strstr(label, "&&") || strstr(label, "||")))
        return svc_refuse(
            in->err, svc_path("resources.json: component %s: yarn.label.expression", c->name).text,
            label, "one label");
    label = label && *label ? label : NULL;
    if (!label && !(bits & ANTI_AFFINITY))
        return 0;
    *k = (struct svc_constraint){ .name = "slider",
                                  .type = SVC_ANTI_AFFINITY,
                                  .target_tags = &names[0],
                                  .n_target_tags = 1,
                                  .node_partitions = &names[1],
                                  .n_node_partitions = label ? 1 : 0,
                                  .min_cardinality = -1,
                                  .max_cardinality = -1 };
    names[0] = ret->name;
    names[1] = label;
    if (!(bits & ANTI_AFFINITY)) {
        k->type = SVC_CARDINALITY;
        k->min_cardinality = 0;
        k->max_cardinality = SVC_INSTANCES_MAX;
    }
    ret->constraints = k;
    ret->n_constraints = 1;
    return 0;
}

/* ---- Options that are kept ---- */

static const char *const kept[] = { SVC_SLIDER_PRIORITY, SVC_SLIDER_PLACEMENT, SVC_SLIDER_ESCALATE,
                                    "yarn.resource.normalization.enabled" };

static void keep(const struct svc_slider_component *c, struct svc_pairs *properties)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *v = svc_map_get(&c->options, kept[i]);

        if (v)
            svc_pairs_add(properties, kept[i], v);
    }
}

/* appConf.json: env.NAME is a variable, launch_command the command; other options, those for
 * Slider's agent too, are properties. Globals are the service's. */
static int read_app_conf(const struct svc_slider_import *in, const struct svc_slider_component *c,
                         struct svc_pairs *properties, struct svc_component *ret)
{
    const struct svc_map *options = svc_slider_options(&in->app_conf, c->name);
    struct svc_pairs env;
    int r = svc_pairs_new(in->a, options->n, &env);

    for (size_t i = 0; r == 0 && i < options->n; i++) {
        const struct svc_pair *p = &options->pairs[i];
        const char *global = svc_map_get(&in->app_globals, p->name);

        if (!strcmp(p->name, "launch_command"))
            ret->launch_command = p->value;
        else if (global && !strcmp(global, p->value))
            continue;
        else if (sv_has_prefix(p->name, "env."))
            svc_pairs_add(&env, p->name + 4, p->value);
        else
            svc_pairs_add(properties, p->name, p->value);
    }
    if (r == 0 && !svc_map_sort(&env.map))
        r = -EINVAL;
    ret->configuration.env = env.map;
    return r;
}

int svc_slider_component(const struct svc_slider_import *in, const struct svc_slider_component *c,
                         struct svc_component *ret, int64_t *ret_priority)
{
    const struct svc_map *app = svc_slider_options(&in->app_conf, c->name);
    struct svc_pairs properties;
    int r = svc_pairs_new(in->a, app->n + 16, &properties);

    svc_record_defaults(&svc_component_record, ret);
    ret->name = svc_slider_component_name(in->a, c->name);
    if (r < 0 || !ret->name)
        return -ENOMEM;
    if (strcmp(ret->name, c->name))
        svc_pairs_add(&properties, SVC_SLIDER_NAME, c->name);
    r = svc_slider_int(&in->resources, c, SVC_SLIDER_PRIORITY, 0, 1, (1 << 30) - 1, ret_priority,
                       in->err);
    if (r == 0 && *ret_priority == 0)
        return svc_refuse(in->err, svc_path("resources.json: component %s", c->name).text, NULL,
                          SVC_SLIDER_PRIORITY " is missing");
    if (r == 0)
        r = svc_slider_int(&in->resources, c, "yarn.component.instances", -1, 0, SVC_INSTANCES_MAX,
                           &ret->count, in->err);
    if (r == 0 && ret->count < 0)
        return svc_refuse(in->err, svc_path("resources.json: component %s", c->name).text, NULL,
                          "yarn.component.instances is missing");
    if (r == 0)
        r = read_resource(in, c, ret);
    if (r == 0)
        r = add_thresholds(in, c, &properties);
    if (r == 0)
        r = read_placement(in, c, ret);
    keep(c, &properties);
    if (r == 0)
        r = read_app_conf(in, c, &properties, ret);
    if (r == 0 && !svc_map_sort(&properties.map))
        r = svc_refuse(in->err, svc_path("appConf.json: component %s", c->name).text, NULL,
                       "an option has the name of one of resources.json");
    ret->configuration.properties = properties.map;
    return r;
}
