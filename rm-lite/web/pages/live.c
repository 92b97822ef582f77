/* See live.h. Hostile: paths and names of queues. */
#include "rm-lite/web/pages/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"
#include "common/user-groups.h"
#include "common/web/live-event.h"
#include "rm-lite/core/app-use.h"
#include "rm-lite/core/history.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/scheduler.h"

#define PERIOD_MS 1000
#define HISTORY_BYTES ((size_t)256 << 10)
/* Lists of nodes show their load, which changes without a transition. */
#define NODES_PERIOD_MS 5000

/* The plots of a queue; the unit is that of live.js, to which `scale` brings a figure. */
static const struct {
    enum rm_figure figure;
    const char *name, *unit;
    double scale;
} plots[] = {
    { RM_FIGURE_MEMORY_MB, "Memory", "bytes", 1048576 },
    { RM_FIGURE_VCORES, "Vcores", "count", 1 },
    { RM_FIGURE_CONTAINERS, "Containers", "count", 1 },
    { RM_FIGURE_PENDING_MB, "Memory asked for", "bytes", 1048576 },
    { RM_FIGURE_PENDING_VCORES, "Vcores asked for", "count", 1 },
    { RM_FIGURE_WAIT_MS, "Ask to container", "seconds", 0.001 },
};

void rm_live_apps(const struct rm *rm, int32_t *ret_running, int32_t *ret_waiting)
{
    const int32_t *n = rm->app_counts;

    *ret_running = n[RM_APP_ST_RUNNING] + n[RM_APP_ST_FINISHING];
    *ret_waiting = n[RM_APP_ST_NEW] + n[RM_APP_ST_NEW_SAVING] + n[RM_APP_ST_SUBMITTED] +
                   n[RM_APP_ST_ACCEPTED] + n[RM_APP_ST_FINAL_SAVING] + n[RM_APP_ST_KILLING];
}

/* ---- Events of a queue ---- */

static json_t *number(float value, double scale)
{
    return value < 0 ? json_null() : json_real((double)value * scale);
}

static void put_points(struct sv_live *live, const struct rm_history_now *now)
{
    json_t *values = json_array(), *full = json_array();

    for (size_t i = 0; i < SV_ARRAY_LEN(plots); i++) {
        (void)json_array_append_new(values, number(now->values[plots[i].figure], plots[i].scale));
        (void)json_array_append_new(full, number(now->full[plots[i].figure], plots[i].scale));
    } /* without memory, ignoring */
    sv_live_set(
        live, "points",
        json_pack("{s:I,s:o,s:o}", "at", (json_int_t)now->at, "values", values, "full", full));
}

static void put_count(struct sv_live *live, const char *id, int64_t n)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRId64, n);
    sv_live_fact(live, id, text, "");
}

static void put_cluster(struct sv_live *live, const struct rm *rm, const struct rm_history_now *now)
{
    char used[SV_HTML_WORD], all[SV_HTML_WORD], text[2 * SV_HTML_WORD + 8];
    int32_t running, waiting;

    rm_live_apps(rm, &running, &waiting);
    put_count(live, RM_LIVE_NODE_COUNT, rm_active_nodes(rm));
    (void)snprintf(text, sizeof(text), "%s of %s",
                   sv_html_mb((int64_t)now->values[RM_FIGURE_MEMORY_MB], used),
                   sv_html_mb((int64_t)now->full[RM_FIGURE_MEMORY_MB], all));
    sv_live_fact(live, RM_LIVE_MEMORY, text, "");
    (void)snprintf(text, sizeof(text), "%.0f of %.0f", (double)now->values[RM_FIGURE_VCORES],
                   (double)now->full[RM_FIGURE_VCORES]);
    sv_live_fact(live, RM_LIVE_VCORES, text, "");
    put_count(live, RM_LIVE_RUNNING, running);
    put_count(live, RM_LIVE_WAITING, waiting);
    put_count(live, RM_LIVE_CONTAINERS, (int64_t)now->values[RM_FIGURE_CONTAINERS]);
    sv_live_fact(live, RM_LIVE_PENDING,
                 sv_html_mb((int64_t)now->values[RM_FIGURE_PENDING_MB], used), "");
    put_count(live, RM_LIVE_PENDING_VCORES, (int64_t)now->values[RM_FIGURE_PENDING_VCORES]);
}

static int write_queue(struct sv_live *live, const struct rm *rm, const char *path)
{
    struct rm_history_now now;
    int r = rm_history_now(rm, path, sv_now_ms(), &now);

    if (r < 0)
        return r;
    put_points(live, &now);
    if (sv_streq(path, "root"))
        put_cluster(live, rm, &now);
    sv_live_set(live, "version", json_integer(rm->counters.changes));
    return 0;
}

/* ---- Events of an application ---- */

static int write_app(struct sv_live *live, const struct rm *rm, const char *text)
{
    char memory[SV_HTML_WORD], all[SV_HTML_WORD], said[2 * SV_HTML_WORD + 8];
    const struct rm_app *app;
    struct yarn_app_id id;
    struct rm_app_use use;

    app = yarn_app_id_parse(text, &id) < 0 ? NULL : rm_app_find(rm, id);
    if (!app)
        return -ENOENT;
    rm_app_use_sum(app, &use);
    if (use.bytes > 0) { /* else no node of its containers measures memory */
        (void)snprintf(said, sizeof(said), "%s of %s", sv_html_bytes((uint64_t)use.bytes, memory),
                       sv_html_mb(app->live.mem, all));
        sv_live_row(live, "Memory",
                    app->live.mem > 0 ? (double)use.bytes / 1048576 / (double)app->live.mem : 0,
                    said);
    }
    if (use.told > 0) {
        (void)snprintf(said, sizeof(said), "%.2f of %lld cores", use.cores,
                       (long long)app->live.vcores);
        sv_live_row(live, "CPU", app->live.vcores > 0 ? use.cores / (double)app->live.vcores : 0,
                    said);
    }
    sv_live_set(live, "version", json_integer(app->changes));
    return 0;
}

/* ---- Streams ---- */

static int write_event(const char *object, struct sv_http_reading *before,
                       char ret[static SV_HTTP_EVENT_MAX], void *userdata)
{
    const struct rm *rm = userdata;
    struct sv_live live;
    int r = 0;

    (void)before;
    sv_live_begin(&live);
    if (sv_has_prefix(object, RM_LIVE_QUEUE))
        r = write_queue(&live, rm, object + strlen(RM_LIVE_QUEUE));
    else if (sv_has_prefix(object, RM_LIVE_APP))
        r = write_app(&live, rm, object + strlen(RM_LIVE_APP));
    else if (sv_streq(object, RM_LIVE_APPS))
        sv_live_set(&live, "version", json_integer(rm->counters.changes));
    else if (sv_streq(object, RM_LIVE_NODES))
        sv_live_set(&live, "version", json_integer(sv_now_ms() / NODES_PERIOD_MS));
    else
        r = -ENOENT;
    sv_live_end(&live, ret);
    return r;
}

int rm_live_new(struct rm *rm, struct sv_http_events **ret)
{
    const struct sv_http_events_config config = { .period_ms = PERIOD_MS,
                                                  .max = RM_LIVE_STREAMS,
                                                  .max_per_address = RM_LIVE_STREAMS_OF_ADDRESS,
                                                  .sampler = write_event,
                                                  .userdata = rm };

    return sv_http_events_new(rm->event, &config, ret);
}

int rm_live_open(const struct rm_viewer *who, const struct sv_http_request *req,
                 struct sv_http_response *ret)
{
    struct yarn_app_id id;
    const struct rm_app *app = NULL;
    bool sees = true;

    if (sv_has_prefix(req->path, RM_LIVE_APP)) {
        if (yarn_app_id_parse(req->path + strlen(RM_LIVE_APP), &id) >= 0)
            app = rm_app_find(who->rm, id);
        if (!app)
            return 0; /* 404 */
        sees = rm_viewer_sees(who, app);
    }
    if (sv_groups_missed(who->rm->groups)) /* unknown yet if the caller may view it */
        return -EAGAIN;
    if (!sees) {
        ret->status = 403;
        return 0;
    }
    return sv_http_events_open(who->rm->live, req, req->path, ret);
}

/* ---- The last hour ---- */

static int put_values(struct sv_buf *b, const struct rm *rm, const char *path, size_t i)
{
    float values[RM_HISTORY_SAMPLES];
    size_t n = rm_history_samples(rm, path, plots[i].figure, values);
    int r = sv_buf_put_str(b, "\"values\":[");

    for (size_t k = 0; k < n && r >= 0; k++)
        r = values[k] < 0
                ? sv_buf_printf(b, "%snull", k ? "," : "")
                : sv_buf_printf(b, "%s%.7g", k ? "," : "", (double)values[k] * plots[i].scale);
    return r < 0 ? r : sv_buf_put_str(b, "]}");
}

static int put_plot(struct sv_buf *b, const struct rm *rm, const char *path,
                    const struct rm_history_now *now, size_t i)
{
    float full = now->full[plots[i].figure];
    int r = sv_buf_printf(b, "%s{\"name\":\"%s\",\"unit\":\"%s\",\"full\":", i ? "," : "",
                          plots[i].name, plots[i].unit);

    if (r >= 0)
        r = full < 0 ? sv_buf_put_str(b, "null,")
                     : sv_buf_printf(b, "%.7g,", (double)full * plots[i].scale);
    return r < 0 ? r : put_values(b, rm, path, i);
}

int rm_live_history(const struct rm *rm, const struct sv_http_request *req,
                    struct sv_http_response *ret)
{
    struct sv_buf b = SV_BUF_INIT(HISTORY_BYTES);
    struct rm_history_now now;
    struct rm_queue_info q;
    int r;

    if (rm_sched_queue(rm->sched, req->path + strlen(RM_LIVE_HISTORY), &q) < 0 ||
        rm_history_now(rm, q.path, sv_now_ms(), &now) < 0)
        return 0; /* 404 */
    r = sv_buf_printf(&b, "{\"step_s\":%d,\"samples\":%d,\"at\":%" PRId64 ",\"plots\":[",
                      RM_HISTORY_STEP_MS / 1000, RM_HISTORY_SAMPLES, rm_history_last(rm));
    for (size_t i = 0; i < SV_ARRAY_LEN(plots) && r >= 0; i++)
        r = put_plot(&b, rm, q.path, &now, i);
    if (r >= 0)
        r = sv_buf_put_str(&b, "]}\n");
    if (r < 0) {
        sv_buf_free(&b);
        return r;
    }
    ret->status = 200;
    ret->content_type = "application/json";
    ret->cache_control = "no-store";
    ret->body_len = b.len;
    ret->body = (char *)SV_TAKE(b.data); /* freed by the server */
    return 0;
}
