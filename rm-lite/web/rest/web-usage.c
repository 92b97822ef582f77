/* See web-usage.h. */
#include "rm-lite/web/rest/web-usage.h"

#include <stdio.h>

#include "rm-lite/core/app-usage.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"

static void set(json_t *o, const char *key, json_t *value)
{
    (void)json_object_set_new(o, key, value); /* no memory: the field is missing, ignoring */
}

static void num(json_t *o, const char *key, int64_t v)
{
    set(o, key, json_integer(v));
}

static void real(json_t *o, const char *key, double v)
{
    set(o, key, json_real(isfinite(v) ? v : 0));
}

/* ---- One amount ---- */

static json_t *one(const char *name, const char *units, int64_t value, int64_t min, int64_t max)
{
    return json_pack("{s:{}, s:I, s:I, s:s, s:s, s:s, s:I}", "attributes", "maximumAllocation",
                     (json_int_t)max, "minimumAllocation", (json_int_t)min, "name", name,
                     "resourceType", "COUNTABLE", "units", units, "value", (json_int_t)value);
}

/* No memory: the row is missing, ignoring. */
static void append(json_t *list, json_t *row)
{
    (void)json_array_append_new(list, row);
}

json_t *rm_json_resource(struct rm_res r)
{
    const struct rm_types *t = rm_types();
    json_t *list = json_array();

    append(list, one("memory-mb", "Mi", r.mem, 0, INT64_MAX));
    append(list, one("vcores", "", r.vcores, 0, INT64_MAX));
    for (int i = 0; i < t->n; i++) { /* INT32_MAX is our default in place of Hadoop's INT64_MAX */
        int64_t max = t->max.extra[i] == INT32_MAX ? INT64_MAX : t->max.extra[i];

        append(list, one(t->names[i], "", r.extra[i], t->min.extra[i], max));
    }
    return json_pack("{s:I, s:I, s:{s:o}}", "memory", (json_int_t)r.mem, "vCores",
                     (json_int_t)r.vcores, "resourceInformations", "resourceInformation", list);
}

int64_t rm_json_percent(double part, double total)
{
    double v = total > 0 ? part * 100 / total : 0;

    return isfinite(v) && v > 0 && v < 1e15 ? (int64_t)v : 0;
}

/* ---- An application ---- */

static json_t *entry(const char *key, int64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%lld", (long long)value);
    return json_pack("{s:s, s:s}", "key", key, "value", text);
}

static json_t *seconds_map(const struct rm_usage_row *rows, int n, bool preempted)
{
    json_t *list = json_array();

    for (int i = 0; i < n; i++)
        append(list,
               entry(rows[i].type, (preempted ? rows[i].preempted_ms : rows[i].used_ms) / 1000));
    return json_pack("{s:o}", "entry", list);
}

static void preempted(json_t *o, const struct rm_app *app)
{
    const struct rm_preempted *p = &app->preempted;
    struct rm_usage_row rows[RM_USAGE_ROWS];
    int n = rm_app_usage_rows(app, rows);
    bool any = false;

    for (int i = 0; i < n; i++)
        any |= rows[i].preempted_ms != 0;
    num(o, "preemptedResourceMB", p->resource.mem);
    num(o, "preemptedResourceVCores", p->resource.vcores);
    num(o, "numNonAMContainerPreempted", p->containers);
    num(o, "numAMContainerPreempted", p->masters);
    num(o, "preemptedMemorySeconds", p->seconds.memory_ms / 1000);
    num(o, "preemptedVcoreSeconds", p->seconds.vcore_ms / 1000);
    set(o, "resourceSecondsMap", seconds_map(rows, n, false));
    set(o, "preemptedResourceSecondsMap", any ? seconds_map(rows, n, true) : json_object());
}

static json_t *usages(const struct rm_app *app, const struct rm_app_usage *use)
{
    struct rm_res none = { 0 };

    return json_pack("{s:[{s:s, s:o, s:o, s:o, s:o, s:o, s:o}]}", "resourceUsagesByPartition",
                     "partitionName", "", "used", rm_json_resource(use->used), "reserved",
                     rm_json_resource(use->reserved), "pending", rm_json_resource(use->pending),
                     "amUsed", rm_json_resource(app->unmanaged ? none : app->am_resource),
                     "amLimit", rm_json_resource(none), "userAmLimit", rm_json_resource(none));
}

void rm_json_app_usage(json_t *o, struct rm_app *app)
{
    struct rm_app_usage use = { .queue_path = NULL };
    struct rm_res cluster = rm_sched_cluster(app->rm->sched);
    bool live = rm_sched_app_usage(app->rm->sched, app->id, &use) >= 0 && !rm_app_is_final(app);
    enum rm_calculator calc = rm_sched_calculator(app->rm->sched);
    int64_t mb, vc;

    rm_app_seconds(app, &mb, &vc);
    num(o, "allocatedMB", live ? use.used.mem : -1);
    num(o, "allocatedVCores", live ? use.used.vcores : -1);
    num(o, "reservedMB", live ? use.reserved.mem : -1);
    num(o, "reservedVCores", live ? use.reserved.vcores : -1);
    num(o, "runningContainers", live ? use.containers : -1);
    num(o, "memorySeconds", mb);
    num(o, "vcoreSeconds", vc);
    real(o, "queueUsagePercentage", 0);
    real(o, "clusterUsagePercentage", rm_res_share(calc, use.used, cluster) * 100);
    preempted(o, app);
    if (live)
        set(o, "resourceInfo", usages(app, &use));
}
