/* See router-series.h. Hostile: names of members, from the store, which sv_series_labels()
 * escapes. */
#include "router/router-series.h"

#include "common/loop-guard.h"
#include "common/web/series.h"
#include "router/member-stats.h"
#include "router/router.h"
#include "router/secure.h"
#include "wire/ipc/ipc-server.h"

/* ---- The federation ---- */

static void put_states(struct sv_series *s, const struct fed_answer *list)
{
    double n[FED_DECOMMISSIONED + 1] = { 0 };
    char labels[SV_SERIES_LABELS];

    for (size_t i = 0; list && i < list->n; i++)
        if (list->members[i].state >= FED_NEW && list->members[i].state <= FED_DECOMMISSIONED)
            n[list->members[i].state]++;
    sv_series_head(s, "selvedge_federation_members", "gauge",
                   "Members of the federation by state, as the Router last read them.");
    for (int i = FED_NEW; i <= FED_DECOMMISSIONED; i++)
        sv_series_value(s, "selvedge_federation_members",
                        sv_series_labels(labels, "state", fed_state_name((enum fed_state)i), NULL),
                        n[i]);
}

static void put_members(struct sv_series *s, const struct fed_answer *list)
{
    static const char active[] = "selvedge_federation_member_active";
    static const char beat[] = "selvedge_federation_member_last_heartbeat_timestamp_seconds";
    char labels[SV_SERIES_LABELS];

    sv_series_head(s, active, "gauge", "Whether the member is given applications.");
    for (size_t i = 0; list && i < list->n; i++)
        sv_series_value(s, active, sv_series_labels(labels, "member", list->members[i].id, NULL),
                        fed_state_active(list->members[i].state));
    sv_series_head(s, beat, "gauge", "When the member last wrote to the state store.");
    for (size_t i = 0; list && i < list->n; i++)
        sv_series_value(s, beat, sv_series_labels(labels, "member", list->members[i].id, NULL),
                        (double)list->members[i].last_heartbeat_ms / 1000);
}

/* ---- Calls to members ---- */

static void put_calls(struct sv_series *s, const struct rtr_member_stats *all)
{
    static const char times[] = "selvedge_router_member_call_seconds";
    static const char failures[] = "selvedge_router_member_call_failures_total";
    char labels[SV_SERIES_LABELS];

    sv_series_head(s, times, "histogram", "Calls that the member answered.");
    for (const struct rtr_member_stats *m = all; m; m = m->hh.next)
        sv_series_histogram(s, times, sv_series_labels(labels, "member", m->id, NULL), &m->times);
    sv_series_head(s, failures, "counter",
                   "Calls that the member did not answer: not reached, not active, or too late.");
    for (const struct rtr_member_stats *m = all; m; m = m->hh.next)
        sv_series_value(s, failures, sv_series_labels(labels, "member", m->id, NULL),
                        (double)m->failures);
}

/* ---- The daemon ---- */

static void put_router(struct sv_series *s, const struct router *r)
{
    struct sv_loop_stats loop = sv_loop_stats();

    sv_series_one(s, "selvedge_router_held_bytes", "gauge",
                  "Answers of members that wait for those of others.", (double)r->held);
    sv_series_one(s, "selvedge_router_store_away", "gauge",
                  "Whether the state store did not answer the last call.",
                  r->away || *fed_cache_away(r->cache));
    sv_series_one(s, "selvedge_loop_slow_handlers_total", "counter",
                  "Handlers of the event loop that took longer than 100 ms.", (double)loop.slow);
}

int rtr_series(const struct router *r, struct sv_buf *out)
{
    const struct fed_answer *list = fed_cache_members(r->cache);
    struct sv_series_rpc rpc = { .service = "ApplicationClientProtocol",
                                 .connections = ipc_server_connections(r->server),
                                 .open_calls = ipc_server_open_calls(r->server),
                                 .counters = ipc_server_counters(r->server) };
    struct sv_series s = { .out = out };

    rpc.methods = ipc_server_methods(r->server, &rpc.n_methods);
    put_states(&s, list);
    put_members(&s, list);
    put_calls(&s, r->stats);
    put_router(&s, r);
    rtr_secure_series(r, &s);
    sv_series_rpc(&s, &rpc, 1);
    sv_series_process(&s, "selvedge-router");
    return s.error;
}
