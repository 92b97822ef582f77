/* See web-series.h. Hostile: names of queues, which sv_series_labels() escapes. */
#include "rm-lite/web/web-series.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/loop-guard.h"
#include "common/str.h"
#include "common/web/http-events.h"
#include "common/web/series.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/store/store-history.h"
#include "rm-lite/web/kerberos-series.h"
#include "wire/ipc/ipc-server.h"

#define MIB 1048576.0

/* ---- Nodes and applications ---- */

static void put_states(struct sv_series *s, const char *name, const struct sv_fsm *fsm,
                       const int32_t *counts)
{
    char labels[SV_SERIES_LABELS];

    for (int i = 1; i < fsm->n_states; i++)
        sv_series_value(s, name, sv_series_labels(labels, "state", fsm->state_names[i], NULL),
                        counts[i]);
}

static void put_objects(struct sv_series *s, const struct rm *rm)
{
    char labels[SV_SERIES_LABELS];

    sv_series_head(s, "selvedge_nodes", "gauge", "Nodes by state.");
    put_states(s, "selvedge_nodes", &rm_node_fsm, rm->node_counts);
    sv_series_head(s, "selvedge_applications", "gauge",
                   "Applications that the ResourceManager knows, by state.");
    put_states(s, "selvedge_applications", &rm_app_fsm, rm->app_counts);
    sv_series_one(s, "selvedge_history_applications", "gauge",
                  "Ended applications in the state store, for selvedge history.",
                  (double)rm_store_history_count(rm));
    sv_series_one(s, "selvedge_cluster_containers_allocated_total", "counter",
                  "Containers allocated.", (double)rm->counters.allocated);
    sv_series_head(s, "selvedge_cluster_containers_ended_total", "counter",
                   "Containers that ended, by reason; success is one of them.");
    for (int i = 0; i < SV_ENDS; i++)
        sv_series_value(s, "selvedge_cluster_containers_ended_total",
                        sv_series_labels(labels, "reason", sv_end_name((enum sv_end)i), NULL),
                        (double)rm->counters.ended[i]);
}

static void put_times(struct sv_series *s, const struct rm *rm)
{
    const struct rm_counters *n = &rm->counters;

    sv_series_one_histogram(s, "selvedge_container_ask_seconds",
                            "From an ask to the allocation of its containers, one by one.",
                            &n->waits);
    sv_series_one_histogram(s, "selvedge_container_start_seconds",
                            "From the allocation of a container until its node runs it.",
                            &n->starts);
    sv_series_one_histogram(s, "selvedge_application_start_seconds",
                            "From the submission of an application until its master registers.",
                            &n->app_starts);
}

/* ---- Queues ---- */

static const struct {
    const char *name, *type, *help;
} queue_series[] = {
    { "selvedge_queue_memory_used_bytes", "gauge", "Memory of the queue's containers." },
    { "selvedge_queue_memory_pending_bytes", "gauge", "Memory that is asked for and not given." },
    { "selvedge_queue_memory_guaranteed_bytes", "gauge", "Memory that the queue is guaranteed." },
    { "selvedge_queue_memory_limit_bytes", "gauge", "Memory that the queue may have at most." },
    { "selvedge_queue_vcores_used", "gauge", "Vcores of the queue's containers." },
    { "selvedge_queue_vcores_pending", "gauge", "Vcores that are asked for and not given." },
    { "selvedge_queue_vcores_limit", "gauge", "Vcores that the queue may have at most." },
    { "selvedge_queue_containers", "gauge", "Containers of the queue." },
    { "selvedge_queue_applications_active", "gauge",
      "Applications within the limit for ApplicationMasters." },
    { "selvedge_queue_applications_waiting", "gauge",
      "Applications that wait for that limit, or for max-parallel-apps." },
    { "selvedge_queue_applications_submitted_total", "counter", "Applications submitted." },
    { "selvedge_queue_applications_completed_total", "counter", "Applications that finished." },
    { "selvedge_queue_applications_failed_total", "counter", "Applications that failed." },
    { "selvedge_queue_applications_killed_total", "counter", "Applications that were killed." },
    { "selvedge_queue_containers_preempted_total", "counter", "Containers that were preempted." },
};

static void figures_of(const struct rm_queue_info *q, const struct rm_queue_counters *c,
                       double ret[static SV_ARRAY_LEN(queue_series)])
{
    const double all[] = { (double)q->used.mem * MIB,
                           (double)q->pending.mem * MIB,
                           (double)q->effective_min.mem * MIB,
                           (double)q->effective_max.mem * MIB,
                           (double)q->used.vcores,
                           (double)q->pending.vcores,
                           (double)q->effective_max.vcores,
                           q->containers,
                           q->active_apps,
                           q->pending_apps,
                           (double)c->sum[RM_COUNT_SUBMITTED],
                           (double)c->sum[RM_COUNT_COMPLETED],
                           (double)c->sum[RM_COUNT_FAILED],
                           (double)c->sum[RM_COUNT_KILLED],
                           (double)c->sum[RM_COUNT_PREEMPTED] };

    static_assert(SV_ARRAY_LEN(all) == SV_ARRAY_LEN(queue_series), "a figure a series");
    memcpy(ret, all, sizeof(all));
}

struct queue_figures {
    char path[256]; /* a longer one is cut */
    double v[SV_ARRAY_LEN(queue_series)];
};
struct queues {
    struct rm *rm;
    struct queue_figures *all;
    size_t n;
};

static int take_queue(const struct rm_queue_info *q, void *userdata)
{
    struct queues *l = userdata;
    struct queue_figures *to = &l->all[l->n];

    if (l->n == RM_SERIES_QUEUES)
        return -E2BIG;
    (void)snprintf(to->path, sizeof(to->path), "%s", q->path);
    figures_of(q, rm_queue_counters_find(l->rm, q->path, NULL), to->v);
    l->n++;
    return 0;
}

static int put_queues(struct sv_series *s, struct rm *rm)
{
    struct queues l = { .rm = rm, .all = calloc(RM_SERIES_QUEUES, sizeof(*l.all)) };
    char labels[SV_SERIES_LABELS];

    if (!l.all)
        return -ENOMEM;
    (void)rm_sched_each_queue(rm->sched, take_queue,
                              &l); /* -E2BIG: the rest is missing, ignoring */
    for (size_t i = 0; i < SV_ARRAY_LEN(queue_series); i++) {
        sv_series_head(s, queue_series[i].name, queue_series[i].type, queue_series[i].help);
        for (size_t k = 0; k < l.n; k++)
            sv_series_value(s, queue_series[i].name,
                            sv_series_labels(labels, "queue", l.all[k].path, NULL), l.all[k].v[i]);
    }
    free(l.all);
    return 0;
}

/* ---- The daemon ---- */

static void put_work(struct sv_series *s, const struct rm *rm)
{
    struct rm_sched_counts n = rm_sched_counts(rm->sched);
    struct sv_loop_stats loop = sv_loop_stats();

    sv_series_one(s, "selvedge_scheduler_node_visits_total", "counter",
                  "Nodes on which the scheduler looked for room.", (double)n.nodes_visited);
    sv_series_one(s, "selvedge_scheduler_asks_tested_total", "counter",
                  "Asks that the scheduler compared with a node.", (double)n.groups_tried);
    sv_series_one(s, "selvedge_loop_slow_handlers_total", "counter",
                  "Handlers of the event loop that took longer than 100 ms.", (double)loop.slow);
    sv_series_one(s, "selvedge_event_streams", "gauge", "Pages that follow live figures.",
                  rm->live ? sv_http_events_count(rm->live) : 0);
}

static struct sv_series_rpc server_of(const struct ipc_server *server, const char *service)
{
    struct sv_series_rpc ret = { .service = service,
                                 .connections = ipc_server_connections(server),
                                 .open_calls = ipc_server_open_calls(server),
                                 .counters = ipc_server_counters(server) };

    ret.methods = ipc_server_methods(server, &ret.n_methods);
    return ret;
}

int rm_web_series(struct rm *rm, struct sv_buf *out)
{
    const struct sv_series_rpc servers[] = {
        server_of(rm->client_server, "ApplicationClientProtocol"),
        server_of(rm->am_server, "ApplicationMasterProtocol"),
        server_of(rm->tracker_server, "ResourceTracker"),
        server_of(rm->admin_server, "ResourceManagerAdministrationProtocol"),
    };
    struct sv_series s = { .out = out };
    int r;

    put_objects(&s, rm);
    put_times(&s, rm);
    r = put_queues(&s, rm);
    put_work(&s, rm);
    rm_kerberos_series(&s, rm);
    sv_series_rpc(&s, servers, SV_ARRAY_LEN(servers));
    sv_series_process(&s, "selvedge-rm");
    return r < 0 ? r : s.error;
}
