/* See container-series.h. */
#include "nodemanager/web/container-series.h"

#include "cgroups/cg.h"
#include "common/web/series.h"
#include "nodemanager/core/context.h"

#define PREFIX "selvedge_containers_"

/* ---- One series ---- */

static void put_number(struct sv_series *s, const char *name, const char *label, const char *value,
                       double n)
{
    char labels[SV_SERIES_LABELS];

    sv_series_value(s, name, sv_series_labels(labels, label, value, NULL), n);
}

static double seconds(uint64_t usec)
{
    return (double)usec / 1e6;
}

/* ---- All of them ---- */

static void put_pressure(struct sv_series *s, const char *name, const char *help, bool full,
                         const struct cg_usage *u)
{
    const struct {
        const char *resource;
        const struct cg_stall *stall;
    } rows[] = { { "cpu", &u->cpu_stall }, { "memory", &u->memory_stall }, { "io", &u->io_stall } };

    sv_series_head(s, name, "counter", help);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        put_number(s, name, "resource", rows[i].resource,
                   seconds(full ? rows[i].stall->full_usec : rows[i].stall->some_usec));
}

/* By a container's own cpu.max, and by that of all of them. */
static void put_throttling(struct sv_series *s, const struct nm_counters *n,
                           const struct cg_usage *all)
{
    static const char periods[] = PREFIX "cpu_throttled_periods_total";
    static const char time[] = PREFIX "cpu_throttled_seconds_total";

    sv_series_head(s, periods, "counter", "Periods in which cpu.max held containers back.");
    put_number(s, periods, "limit", "container", (double)n->throttled_periods);
    if (all)
        put_number(s, periods, "limit", "node", (double)all->n_throttled);
    sv_series_head(s, time, "counter", "Processor time that cpu.max held back.");
    put_number(s, time, "limit", "container", seconds(n->throttled_usec));
    if (all)
        put_number(s, time, "limit", "node", seconds(all->throttled_usec));
}

static void put_group(struct sv_series *s, const struct cg_usage *all)
{
    put_pressure(s, PREFIX "pressure_waiting_seconds_total",
                 "Time in which some runnable tasks of containers waited for the resource.", false,
                 all);
    put_pressure(s, PREFIX "pressure_stalled_seconds_total",
                 "Time in which all runnable tasks of containers waited for the resource.", true,
                 all);
    sv_series_one(s, PREFIX "oom_kills_total", "counter",
                  "Processes of containers that the kernel has killed for memory.",
                  (double)all->oom_kills);
    sv_series_one(s, PREFIX "memory_bytes", "gauge", "Memory that all containers use.",
                  (double)all->memory_current);
    sv_series_one(s, PREFIX "cpu_seconds_total", "counter", "Processor time of all containers.",
                  seconds(all->cpu_usec));
}

static void put_times(struct sv_series *s, const struct nm_counters *n)
{
    sv_series_one_histogram(
        s, "selvedge_container_launch_seconds",
        "From the localized files of a container, or its request, to its start.", &n->launch_times);
    sv_series_one_histogram(s, "selvedge_container_localization_seconds",
                            "Localization of the files of a container.", &n->localization_times);
    sv_series_one_histogram(s, "selvedge_container_request_seconds",
                            "From the request of a container until it runs.", &n->request_times);
    sv_series_one_histogram(s, "selvedge_heartbeat_seconds",
                            "From a heartbeat to the ResourceManager's answer.", &n->heartbeats);
}

int nm_container_series(const struct nm_counters *n, const struct cg_usage *all, struct sv_buf *out)
{
    struct sv_series s = { .out = out };

    sv_series_one(&s, PREFIX "launched_total", "counter", "Containers launched.",
                  (double)n->launched);
    sv_series_head(&s, PREFIX "ended_total", "counter",
                   "Containers that ended, by reason; success is one of them.");
    for (int i = 0; i < SV_ENDS; i++)
        put_number(&s, PREFIX "ended_total", "reason", sv_end_name((enum sv_end)i),
                   (double)n->ended[i]);
    put_throttling(&s, n, all);
    if (all)
        put_group(&s, all);
    put_times(&s, n);
    return s.error;
}
