/* See merge-apps.h. */
#include "router/merge-apps.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "common/str.h"
#include "proto/yarn.pb-c.h"
#include "wire/ids.h"

#define UNMANAGED "UnmanagedAM" /* how a proxy names the half of an application that it makes */

typedef Hadoop__Yarn__ApplicationReportProto report;
typedef Hadoop__Yarn__ApplicationResourceUsageReportProto usage;

struct app {
    int64_t key[2]; /* timestamp, number */
    report *report;
    bool half; /* of a master on another member, whose report has not come */
    UT_hash_handle hh;
};

struct rtr_apps {
    bool orphans;
    struct app *by_key;
    struct app **order;
    size_t n, room;
};

struct rtr_apps *rtr_apps_new(bool orphans)
{
    struct rtr_apps *apps = calloc(1, sizeof(*apps));

    if (apps)
        apps->orphans = orphans;
    return apps;
}

struct rtr_apps *rtr_apps_free(struct rtr_apps *apps)
{
    if (!apps)
        return NULL;
    HASH_CLEAR(hh, apps->by_key);
    for (size_t i = 0; i < apps->n; i++)
        free(apps->order[i]);
    free(apps->order);
    free(apps);
    return NULL;
}

/* ---- Sums ---- */

static int64_t sum64(int64_t a, int64_t b)
{
    int64_t s;

    return __builtin_add_overflow(a, b, &s) ? (a < 0 ? INT64_MIN : INT64_MAX) : s;
}

static int32_t sum32(int32_t a, int32_t b)
{
    int32_t s;

    return __builtin_add_overflow(a, b, &s) ? (a < 0 ? INT32_MIN : INT32_MAX) : s;
}

static Hadoop__Yarn__ResourceInformationProto *find_type(const Hadoop__Yarn__ResourceProto *r,
                                                         const char *key)
{
    for (size_t i = 0; i < r->n_resource_value_map; i++)
        if (sv_streq(r->resource_value_map[i]->key, key))
            return r->resource_value_map[i];
    return NULL;
}

/* Types that `into` lacks are left out: they have no unit to be added to. */
static Hadoop__Yarn__ResourceProto *sum_resource(Hadoop__Yarn__ResourceProto *into,
                                                 Hadoop__Yarn__ResourceProto *more)
{
    if (!into || !more)
        return into ?: more;
    into->memory = sum64(into->memory, more->memory);
    into->has_memory |= more->has_memory;
    into->virtual_cores = sum32(into->virtual_cores, more->virtual_cores);
    into->has_virtual_cores |= more->has_virtual_cores;
    for (size_t i = 0; i < into->n_resource_value_map; i++) {
        Hadoop__Yarn__ResourceInformationProto *t = into->resource_value_map[i];
        const Hadoop__Yarn__ResourceInformationProto *m = find_type(more, t->key);

        if (m && sv_streq(m->units ?: "", t->units ?: "")) {
            t->value = sum64(t->value, m->value);
            t->has_value |= m->has_value;
        }
    }
    return into;
}

static Hadoop__Yarn__StringLongMapProto *find_long(Hadoop__Yarn__StringLongMapProto **v, size_t n,
                                                   const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (sv_streq(v[i]->key, key))
            return v[i];
    return NULL;
}

static void sum_longs(Hadoop__Yarn__StringLongMapProto **v, size_t n,
                      Hadoop__Yarn__StringLongMapProto **more, size_t n_more)
{
    for (size_t i = 0; i < n; i++) {
        const Hadoop__Yarn__StringLongMapProto *m = find_long(more, n_more, v[i]->key);

        if (m)
            v[i]->value = sum64(v[i]->value, m->value);
    }
}

#define SUM(field, sum)                                                                            \
    do {                                                                                           \
        into->field = sum(into->field, more->field);                                               \
        into->has_##field |= more->has_##field;                                                    \
    } while (0)
#define PLUS(a, b) ((a) + (b))

static void sum_usage(usage *into, usage *more)
{
    SUM(num_used_containers, sum32);
    SUM(num_reserved_containers, sum32);
    SUM(memory_seconds, sum64);
    SUM(vcore_seconds, sum64);
    SUM(preempted_memory_seconds, sum64);
    SUM(preempted_vcore_seconds, sum64);
    SUM(queue_usage_percentage, PLUS);
    SUM(cluster_usage_percentage, PLUS);
    into->used_resources = sum_resource(into->used_resources, more->used_resources);
    into->reserved_resources = sum_resource(into->reserved_resources, more->reserved_resources);
    into->needed_resources = sum_resource(into->needed_resources, more->needed_resources);
    sum_longs(into->application_resource_usage_map, into->n_application_resource_usage_map,
              more->application_resource_usage_map, more->n_application_resource_usage_map);
    sum_longs(into->application_preempted_resource_usage_map,
              into->n_application_preempted_resource_usage_map,
              more->application_preempted_resource_usage_map,
              more->n_application_preempted_resource_usage_map);
}

static void sum_report(report *into, report *more)
{
    if (into->app_resource_usage && more->app_resource_usage)
        sum_usage(into->app_resource_usage, more->app_resource_usage);
    else if (more->app_resource_usage)
        into->app_resource_usage = more->app_resource_usage;
}

/* ---- The list ---- */

static bool is_half(const report *r)
{
    return r->unmanaged_application && r->name && sv_has_prefix(r->name, UNMANAGED);
}

static int append(struct rtr_apps *apps, report *r, bool half, const int64_t key[2])
{
    struct app *app;

    if (apps->n == apps->room) {
        size_t room = apps->room ? 2 * apps->room : 64;
        struct app **v = reallocarray(apps->order, room, sizeof(struct app *));

        if (!v)
            return -ENOMEM;
        apps->order = v;
        apps->room = room;
    }
    app = calloc(1, sizeof(*app));
    if (!app)
        return -ENOMEM;
    *app = (struct app){ .key = { key[0], key[1] }, .report = r, .half = half };
    apps->order[apps->n++] = app;
    HASH_ADD(hh, apps->by_key, key, sizeof(app->key), app);
    return 0;
}

int rtr_apps_add(struct rtr_apps *apps, report *r)
{
    struct yarn_app_id id;
    struct app *app;
    int64_t key[2];
    bool half = is_half(r);

    if (yarn_app_id_from(r->applicationid, &id) < 0)
        return 0; /* no application's */
    key[0] = id.cluster_ts;
    key[1] = id.id;
    HASH_FIND(hh, apps->by_key, key, sizeof(key), app);
    if (!app)
        return append(apps, r, half, key);
    if (app->half && !half) {
        sum_report(r, app->report);
        app->report = r;
        app->half = false;
    } else {
        sum_report(app->report, r);
    }
    return 0;
}

size_t rtr_apps_count(const struct rtr_apps *apps)
{
    return apps->n;
}

report *rtr_apps_at(const struct rtr_apps *apps, size_t i)
{
    return apps->order[i]->half && !apps->orphans ? NULL : apps->order[i]->report;
}
