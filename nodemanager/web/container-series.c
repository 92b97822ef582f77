/* See container-series.h. */
#include "nodemanager/web/container-series.h"

#include <inttypes.h>

#include "cgroups/cg.h"
#include "nodemanager/core/context.h"

#define PREFIX "selvedge_containers_"

/* ---- One series ---- */

static int put_type(struct sv_buf *b, const char *name)
{
    return sv_buf_printf(b, "# TYPE " PREFIX "%s counter\n", name);
}

static int put_number(struct sv_buf *b, const char *name, const char *label, const char *value,
                      uint64_t n)
{
    return sv_buf_printf(b, PREFIX "%s{%s=\"%s\"} %" PRIu64 "\n", name, label, value, n);
}

static int put_seconds(struct sv_buf *b, const char *name, const char *label, const char *value,
                       uint64_t usec)
{
    return sv_buf_printf(b, PREFIX "%s{%s=\"%s\"} %" PRIu64 ".%06" PRIu64 "\n", name, label, value,
                         usec / 1000000, usec % 1000000);
}

/* ---- All of them ---- */

static int put_pressure(struct sv_buf *b, const char *name, bool full, const struct cg_usage *u)
{
    const struct {
        const char *resource;
        const struct cg_stall *stall;
    } rows[] = { { "cpu", &u->cpu_stall }, { "memory", &u->memory_stall }, { "io", &u->io_stall } };
    int r = put_type(b, name);

    for (size_t i = 0; i < SV_ARRAY_LEN(rows) && r >= 0; i++)
        r = put_seconds(b, name, "resource", rows[i].resource,
                        full ? rows[i].stall->full_usec : rows[i].stall->some_usec);
    return r;
}

/* By a container's own cpu.max, and by that of all of them. */
static int put_throttling(struct sv_buf *b, const struct nm_counters *n, const struct cg_usage *all)
{
    static const char periods[] = "cpu_throttled_periods_total";
    static const char seconds[] = "cpu_throttled_seconds_total";
    int r = put_type(b, periods);

    if (r >= 0)
        r = put_number(b, periods, "limit", "container", n->throttled_periods);
    if (r >= 0 && all)
        r = put_number(b, periods, "limit", "node", all->n_throttled);
    if (r >= 0)
        r = put_type(b, seconds);
    if (r >= 0)
        r = put_seconds(b, seconds, "limit", "container", n->throttled_usec);
    if (r >= 0 && all)
        r = put_seconds(b, seconds, "limit", "node", all->throttled_usec);
    return r;
}

static int put_kills(struct sv_buf *b, const struct cg_usage *all)
{
    int r = put_type(b, "oom_kills_total");

    return r < 0 ? r : sv_buf_printf(b, PREFIX "oom_kills_total %" PRIu64 "\n", all->oom_kills);
}

int nm_container_series(const struct nm_counters *n, const struct cg_usage *all, struct sv_buf *out)
{
    int r = put_throttling(out, n, all);

    if (r >= 0 && all)
        r = put_pressure(out, "pressure_waiting_seconds_total", false, all);
    if (r >= 0 && all)
        r = put_pressure(out, "pressure_stalled_seconds_total", true, all);
    if (r >= 0 && all)
        r = put_kills(out, all);
    return r < 0 ? r : sv_histogram_put(&n->launch_times, "selvedge_container_launch_seconds", out);
}
