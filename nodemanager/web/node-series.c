/* See node-series.h. Hostile: nothing; paths are the administrator's. */
#include "nodemanager/web/node-series.h"

#include "common/loop-guard.h"
#include "common/web/http-events.h"
#include "common/web/series.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/logs/log-failures.h"
#include "wire/ipc/ipc-server.h"

#define MIB 1048576.0
#define DISKS_MAX 256

/* ---- Containers and resources ---- */

static void put_node(struct sv_series *s, const struct nm_context *ctx)
{
    static const char *const names[] = { "localizing", "scheduled", "running", "paused", "other" };
    double states[SV_ARRAY_LEN(names)] = { 0 }, memory = 0, vcores = 0;
    char labels[SV_SERIES_LABELS], report[NM_HEALTH_REPORT_MAX];

    for (const struct nm_container *c = ctx->containers; c; c = c->hh.next) {
        if (nm_container_is_done(c))
            continue;
        states[c->state == NM_CONTAINER_LOCALIZING  ? 0
               : c->state == NM_CONTAINER_SCHEDULED ? 1
               : c->state == NM_CONTAINER_RUNNING   ? 2
               : c->state == NM_CONTAINER_PAUSED    ? 3
                                                    : 4]++;
        memory += (double)c->resource.memory_mb;
        vcores += c->resource.vcores;
    }
    sv_series_head(s, "selvedge_containers", "gauge", "Containers that have not ended, by state.");
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        sv_series_value(s, "selvedge_containers", sv_series_labels(labels, "state", names[i], NULL),
                        states[i]);
    sv_series_one(s, "selvedge_node_memory_bytes", "gauge", "Memory of the node for containers.",
                  (double)ctx->total.memory_mb * MIB);
    sv_series_one(s, "selvedge_node_memory_allocated_bytes", "gauge", "Memory given to containers.",
                  memory * MIB);
    sv_series_one(s, "selvedge_node_vcores", "gauge", "Vcores of the node for containers.",
                  ctx->total.vcores);
    sv_series_one(s, "selvedge_node_vcores_allocated", "gauge", "Vcores given to containers.",
                  vcores);
    sv_series_one(s, "selvedge_node_healthy", "gauge", "1: the node reports itself healthy.",
                  nm_health_report(ctx->health, report) ? 1 : 0);
}

/* ---- Disks ---- */

static void put_disk(struct sv_series *s, const struct nm_dirs *dirs, const char *name,
                     double (*value)(const struct nm_dir_space *d))
{
    char labels[SV_SERIES_LABELS];
    struct nm_dir_space d;

    for (int i = 0; i < DISKS_MAX && nm_dirs_space(dirs, i, &d); i++)
        sv_series_value(
            s, name,
            sv_series_labels(labels, "path", d.path, "use", d.local ? "local" : "log", NULL),
            value(&d));
}

static double size_of(const struct nm_dir_space *d)
{
    return (double)d->all_bytes;
}

static double used_of(const struct nm_dir_space *d)
{
    return (double)d->used_bytes;
}

static double usable_of(const struct nm_dir_space *d)
{
    return d->usable && !*d->why ? 1 : 0;
}

static void put_disks(struct sv_series *s, const struct nm_dirs *dirs)
{
    sv_series_head(s, "selvedge_directory_usable", "gauge",
                   "1: new containers are given the directory.");
    put_disk(s, dirs, "selvedge_directory_usable", usable_of);
    sv_series_head(s, "selvedge_directory_size_bytes", "gauge",
                   "Size of the directory's file system; 0: not known.");
    put_disk(s, dirs, "selvedge_directory_size_bytes", size_of);
    sv_series_head(s, "selvedge_directory_used_bytes", "gauge",
                   "Used bytes of the directory's file system.");
    put_disk(s, dirs, "selvedge_directory_used_bytes", used_of);
}

/* ---- The daemon ---- */

int nm_node_series(const struct nm_web *w, struct sv_buf *out)
{
    struct sv_series_rpc rpc = { .service = "ContainerManagementProtocol",
                                 .connections = ipc_server_connections(w->rpc),
                                 .open_calls = ipc_server_open_calls(w->rpc),
                                 .counters = ipc_server_counters(w->rpc) };
    struct sv_series s = { .out = out };

    rpc.methods = ipc_server_methods(w->rpc, &rpc.n_methods);
    put_node(&s, w->ctx);
    put_disks(&s, w->ctx->dirs);
    sv_series_one(&s, "selvedge_log_uploads_failing", "gauge",
                  "Applications whose logs could not be uploaded and are still on the node.",
                  HASH_COUNT(nm_aggregation_failures(w->aggregation)->all));
    sv_series_one(&s, "selvedge_loop_slow_handlers_total", "counter",
                  "Handlers of the event loop that took longer than 100 ms.",
                  (double)sv_loop_stats().slow);
    sv_series_one(&s, "selvedge_event_streams", "gauge", "Pages that follow live figures.",
                  w->live ? sv_http_events_count(w->live) : 0);
    sv_series_rpc(&s, &rpc, 1);
    sv_series_process(&s, "selvedge-nodemanager");
    return s.error;
}
