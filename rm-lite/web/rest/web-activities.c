/* See web-activities.h. Hostile: paths and queries. What one answer has is bounded in rows, so that
 * no handler takes long; a bulk answer is written in turns. */
#include "rm-lite/web/rest/web-activities.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/web/http-stream.h"
#include "common/web/json-text.h"
#include "common/web/json-xml.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/requests/turn.h"
#include "rm-lite/requests/viewer.h"
#include "rm-lite/web/rest/activities-json.h"
#include "rm-lite/web/rest/web-list.h"
#include "rm-lite/web/rest/web-reply.h"

#define ANSWER_ROWS 4000 /* of an application's visits: the newest */
#define MAX_TIME_S 600   /* most of maxTime */
#define BULK_DEFAULT 10
#define BULK_WAIT_MS 10000
#define BULK_POLL_US 20000
#define BULK_BEATS 3 /* intervals of heartbeats, of which a node that counts has sent one */
#define VISIT_TEXT_MAX ((size_t)16 << 20) /* JSON or XML of one visit */

/* ---- Queries ---- */

/* False: not one of Hadoop's. */
static bool group_by(const struct sv_http_request *req, bool *ret, char *why, size_t size)
{
    const char *text = sv_http_query(req, "groupBy");

    *ret = text && strcasecmp(text, "diagnostic") == 0;
    if (!text || *ret)
        return true;
    (void)snprintf(why, size, "Got invalid groupBy: %.100s, valid groupBy types: [DIAGNOSTIC]",
                   text);
    return false;
}

/* Numbers between commas; false: one is not a number. More than there is room for are dropped. */
static bool numbers(const char *text, int64_t min, int64_t max, int64_t *ret, size_t *ret_n)
{
    *ret_n = 0;
    while (text && *text) {
        size_t len = strcspn(text, ",");
        char one[32];

        if (len >= sizeof(one))
            return false;
        (void)snprintf(one, sizeof(one), "%.*s", (int)len, text);
        if (*ret_n < RM_ACTIVITIES_NUMBERS && sv_parse_i64(one, min, max, &ret[(*ret_n)++]) < 0)
            return false;
        text += len + (text[len] == ',');
    }
    return true;
}

/* ---- Visits of nodes ---- */

static int answer_refused(struct sv_http_response *ret, const char *why, const char *node)
{
    json_t *o = json_pack("{s:s}", "diagnostic", why);

    if (o && node)
        (void)json_object_set_new(o, "nodeId", sv_json_text(node)); /* no memory, ignoring */
    return rm_web_json(ret, 200, json_pack("{s:o}", "activities", o));
}

/* "host:port", or a host: the first of its nodes. */
static const struct rm_node *node_of(const struct rm *rm, const char *text)
{
    const struct rm_node *n;

    for (n = rm->nodes; n; n = n->hh.next)
        if (rm_node_is_active(n) && (sv_streq(n->key, text) || sv_streq(n->id.host, text)))
            return n;
    return NULL;
}

int rm_web_activities(struct rm *rm, const struct sv_http_request *req, const char *rest,
                      struct sv_http_response *ret)
{
    const char *text = sv_http_query(req, "nodeId");
    const struct rm_node *node = text ? node_of(rm, text) : NULL;
    const struct rm_visit *v;
    char why[200];
    bool grouped;

    (void)rest;
    if (!group_by(req, &grouped, why, sizeof(why)))
        return answer_refused(ret, why, text);
    if (rm_active_nodes(rm) == 0)
        return answer_refused(ret, "No node manager running in the cluster", text);
    if (text && !node)
        return answer_refused(ret, "Cannot find node manager with given node id", text);
    v = rm_visit_of(rm->sched, node ? &node->id : NULL, sv_now_ms());
    rm_record_next_visit(rm->sched, node ? &node->id : NULL);
    if (!v)
        return answer_refused(ret, node ? "waiting for display" : "waiting for next allocation",
                              node ? node->key : NULL);
    return rm_web_json(ret, 200, json_pack("{s:o}", "activities", rm_json_visit(v, grouped)));
}

/* ---- Many of them ---- */

struct bulk { /* an answer that waits for its visits, then is written in turns */
    struct rm *rm;
    struct sv_http_stream *stream;
    sd_event_source *timer;
    int64_t from, to; /* numbers of visits: after, up to */
    int64_t until_ms; /* monotonic; begins with what is there */
    struct sv_buf text;
    bool begun, some, done, grouped, xml;
};

static void bulk_free(struct bulk *b)
{
    b->rm->n_lists--;
    sd_event_source_disable_unref(b->timer);
    sv_buf_free(&b->text);
    free(b);
}

static int put_visit(struct bulk *b, const struct rm_visit *v)
{
    json_t *o = rm_json_visit(v, b->grouped);
    char *json = o && !b->xml ? json_dumps(o, JSON_COMPACT) : NULL;
    int r = o ? 0 : -ENOMEM;

    if (b->xml && r >= 0)
        r = sv_json_xml_element(o, "activities", &b->text);
    else if (r >= 0 && b->some)
        r = sv_buf_put_u8(&b->text, ',');
    if (!b->xml && r >= 0)
        r = json ? sv_buf_put_str(&b->text, json) : -ENOMEM;
    b->some = true;
    free(json);
    json_decref(o);
    return r;
}

static const struct rm_visit *next_visit(const struct bulk *b)
{
    const struct rm_visit *v = rm_visits(b->rm->sched);

    while (v && v->number <= b->from)
        v = v->next;
    return v && v->number <= b->to ? v : NULL;
}

static int begin(struct bulk *b)
{
    int r = sv_buf_put_str(&b->text, b->xml ? SV_XML_HEAD "<bulkActivities>"
                                            : "{\"bulkActivities\":{\"activities\":[");

    if (r >= 0)
        r = sv_http_stream_own(b->stream, b->xml ? SV_XML_TYPE : SV_JSON_TYPE);
    if (r < 0)
        return r;
    b->begun = true;
    sv_http_stream_begin(b->stream, 200, -1);
    return 0;
}

/* 1: all is written. -EAGAIN: the client has not read enough. */
static int write_some(struct bulk *b)
{
    struct rm_turn turn = rm_turn_begin();
    int r = b->begun ? 0 : begin(b);

    if (r >= 0)
        r = sv_http_stream_flush(b->stream, &b->text);
    while (r >= 0 && !b->done && !rm_turn_is_over(&turn)) {
        const struct rm_visit *v = next_visit(b);

        b->done = !v;
        if (v)
            b->from = v->number;
        r = v ? put_visit(b, v) : sv_buf_put_str(&b->text, b->xml ? "</bulkActivities>" : "]}}");
        if (r >= 0)
            r = sv_http_stream_flush(b->stream, &b->text);
        rm_turn_count(&turn, true);
    }
    return r < 0 ? r : b->done;
}

static int on_bulk_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct bulk *b = userdata;
    bool ready = b->begun || rm_recorded(b->rm->sched) >= b->to || sv_now_ms() >= b->until_ms;
    int r = ready ? write_some(b) : 0;

    if (r == 1 || (r < 0 && r != -EAGAIN)) {
        sv_http_stream_end(b->stream, r == 1);
        bulk_free(b);
        return 0;
    }
    (void)sd_event_source_set_time(source, usec + BULK_POLL_US);
    (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT); /* cannot fail, ignoring */
    return 0;
}

static void on_bulk_gone(void *userdata)
{
    bulk_free(userdata);
}

static int bulk_start(struct bulk *b, const struct sv_http_request *req)
{
    static const struct sv_http_stream_events events = { .gone = on_bulk_gone };
    int r = sd_event_add_time_relative(b->rm->event, &b->timer, CLOCK_MONOTONIC, BULK_POLL_US, 1000,
                                       on_bulk_timer, b);

    if (r >= 0)
        r = sd_event_source_set_priority(b->timer, SV_HTTP_PRIORITY);
    if (r < 0)
        return r;
    b->stream = sv_http_stream_new(req, &events, b);
    return b->stream ? 0 : -ENOMEM;
}

/* Visits come with heartbeats: where every node is silent there is nothing to wait for. */
static bool some_node_beats(const struct rm *rm)
{
    int64_t since_ms = sv_now_ms() - BULK_BEATS * rm->conf.heartbeat_ms;

    for (const struct rm_node *n = rm->nodes; n; n = n->hh.next)
        if (rm_node_is_active(n) && n->seen_ms > since_ms)
            return true;
    return false;
}

int rm_web_bulk_activities(struct rm *rm, const struct sv_http_request *req, const char *rest,
                           struct sv_http_response *ret)
{
    const char *text = sv_http_query(req, "activitiesCount");
    int64_t count = BULK_DEFAULT;
    char why[200];
    struct bulk *b;
    bool grouped;
    int r;

    (void)rest;
    if (text && sv_parse_i64(text, INT32_MIN, INT32_MAX, &count) < 0)
        return rm_web_not_found(ret, "activitiesCount is not a number");
    if (!group_by(req, &grouped, why, sizeof(why)))
        return rm_web_bad_request(ret, "%s", why);
    if (rm_active_nodes(rm) == 0)
        return rm_web_bad_request(ret, "No node manager running in the cluster");
    if (rm->n_lists >= RM_LISTS_MAX)
        return rm_web_error(ret, 503, "WebApplicationException",
                            "%d long lists are being written: try again later", RM_LISTS_MAX);
    b = calloc(1, sizeof(*b));
    if (!b)
        return -ENOMEM;
    count = SV_MIN(count > 0 ? count : BULK_DEFAULT, (int64_t)RM_VISITS_MAX);
    *b = (struct bulk){ .rm = rm,
                        .grouped = grouped,
                        .xml = ret->xml,
                        .until_ms = sv_now_ms() + (some_node_beats(rm) ? BULK_WAIT_MS : 0),
                        .from = rm_recorded(rm->sched) };
    rm->n_lists++; /* it is one, and may wait */
    b->text = SV_BUF_INIT(VISIT_TEXT_MAX);
    b->to = b->from + count;
    r = bulk_start(b, req);
    if (r < 0) {
        bulk_free(b);
        return r;
    }
    (void)rm_record_visits(rm->sched, (int32_t)count); /* of another request, if more */
    return SV_HTTP_LATER;
}

/* ---- Visits of an application ---- */

static int answer_text(struct sv_http_response *ret, const char *app, const char *why)
{
    char date[RM_ACTIVITIES_DATE_MAX];
    int64_t now = sv_wall_ms();

    return rm_web_json(ret, 200,
                       json_pack("{s:{s:o, s:o, s:I, s:s}}", "appActivities", "applicationId",
                                 sv_json_text(app), "diagnostic", sv_json_text(why), "timestamp",
                                 (json_int_t)now, "dateTime", rm_activities_date(now, date)));
}

struct app_query {
    struct rm_activities_filter filter;
    int64_t limit; /* of visits; -1: none */
    int64_t max_time_ms;
    bool refresh, get, summarize;
    const char *actions; /* as sent, or NULL */
};

/* False: `why` is what Hadoop answers. */
static bool read_actions(struct app_query *q, char *why, size_t size)
{
    const char *text = q->actions;

    q->refresh = q->get = !text || !*text;
    while (text && *text) {
        int len = (int)strcspn(text, ",");
        bool refresh = len == 7 && strncasecmp(text, "refresh", 7) == 0;
        bool get = len == 3 && strncasecmp(text, "get", 3) == 0;

        if (!refresh && !get) {
            (void)snprintf(why, size, "Got invalid action: %.*s, valid actions: [REFRESH, GET]",
                           SV_MIN(len, 100), text);
            return false;
        }
        q->refresh |= refresh;
        q->get |= get;
        text += len + (text[len] == ',');
    }
    return true;
}

static bool read_limit(const char *text, int64_t *ret, char *why, size_t size)
{
    *ret = -1;
    if (text && sv_parse_i64(text, INT32_MIN, INT32_MAX, ret) < 0)
        (void)snprintf(why, size, "limit must be integer!");
    else if (text && *ret <= 0)
        (void)snprintf(why, size, "limit must be greater than 0!");
    else
        return true;
    return false;
}

static bool read_query(const struct sv_http_request *req, struct app_query *q, char *why,
                       size_t size)
{
    struct rm_activities_filter *f = &q->filter;
    const char *time = sv_http_query(req, "maxTime");
    char *end = NULL;
    double s = time ? strtod(time, &end) : 3;

    q->actions = sv_http_query(req, "actions");
    q->summarize = strcasecmp(sv_http_query(req, "summarize") ?: "", "true") == 0;
    if (!group_by(req, &f->by_diagnostic, why, size) || !read_actions(q, why, size) ||
        !read_limit(sv_http_query(req, "limit"), &q->limit, why, size))
        return false;
    if (!numbers(sv_http_query(req, "requestPriorities"), INT32_MIN, INT32_MAX, f->priorities,
                 &f->n_priorities)) {
        (void)snprintf(why, size, "request priorities must be integers!");
        return false;
    }
    if (!numbers(sv_http_query(req, "allocationRequestIds"), INT64_MIN, INT64_MAX, f->ids,
                 &f->n_ids)) {
        (void)snprintf(why, size, "allocation request Ids must be integers!");
        return false;
    }
    if (time && (end == time || *end || !(s >= 0))) {
        (void)snprintf(why, size, "maxTime must be a number of seconds!");
        return false;
    }
    q->max_time_ms = (int64_t)(SV_MIN(s, (double)MAX_TIME_S) * 1000);
    return true;
}

/* The oldest of the newest visits that have ANSWER_ROWS together. */
static const struct rm_visit *bounded(const struct rm_visit *oldest)
{
    const struct rm_visit *v = oldest;
    size_t rows = 0;

    for (const struct rm_visit *it = oldest; it; it = it->next)
        rows += it->n;
    for (; v->next && rows > ANSWER_ROWS; v = v->next)
        rows -= v->n;
    return v;
}

/* The newest first, as many as the query allows. */
static json_t *list_visits(const struct rm_app *app, const struct rm_visit *oldest,
                           const struct app_query *q)
{
    json_t *list = json_array();
    const struct rm_visit *v = oldest;

    while (v->next)
        v = v->next;
    while (v && (q->limit <= 0 || (int64_t)json_array_size(list) < q->limit)) {
        json_t *o = rm_json_app_visit(app, v, &q->filter);

        if (o)
            (void)json_array_append_new(list, o); /* no memory: it is missing, ignoring */
        v = v == oldest ? NULL : v->prev;
    }
    return list;
}

static int answer_visits(struct sv_http_response *ret, const struct rm_app *app,
                         const struct app_query *q)
{
    const struct rm_visit *v = rm_app_visits(app->rm->sched, app->id, sv_now_ms());
    json_t *o, *list;

    if (!v)
        return answer_text(ret, app->id_str, "waiting for display");
    v = bounded(v);
    o = json_pack("{s:s}", "applicationId", app->id_str);
    list = q->summarize ? json_pack("[o]", rm_json_app_summary(app, v, &q->filter, q->max_time_ms))
                        : list_visits(app, v, q);
    if (json_array_size(list) > 0)
        (void)json_object_set_new(o, "allocations", list); /* no memory: it is missing, ignoring */
    else
        json_decref(list);
    return rm_web_json(ret, 200, json_pack("{s:o}", "appActivities", o));
}

int rm_web_app_activities(struct rm *rm, const struct sv_http_request *req, const char *rest,
                          struct sv_http_response *ret)
{
    struct app_query q = { 0 };
    struct yarn_app_id id;
    struct rm_viewer who;
    struct rm_app *app;
    char why[300];
    bool sees;

    if (!read_query(req, &q, why, sizeof(why)))
        return answer_text(ret, rest, why);
    if (yarn_app_id_parse(rest, &id) < 0)
        return answer_text(ret, rest, "Cannot find application with given appId");
    app = rm_app_find(rm, id);
    rm_viewer_of_request(rm, req, &who);
    sees = app && rm_viewer_sees(&who, app);
    if (rm_viewer_waits(&who))
        return -EAGAIN;
    if (app && !sees)
        return rm_web_hidden(who.user, app->id_str, ret);
    if (!app || rm_app_is_final(app))
        return answer_text(ret, rest, "fail to get application activities after finished");
    if (q.refresh)
        rm_record_app(rm->sched, id, sv_now_ms() + q.max_time_ms);
    if (q.get)
        return answer_visits(ret, app, &q);
    (void)snprintf(why, sizeof(why), "Successfully received action%s %.200s",
                   strchr(q.actions, ',') ? "s:" : ":", q.actions);
    return answer_text(ret, rest, why);
}
