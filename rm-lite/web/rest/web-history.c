/* See web-history.h. Hostile: the query; names in the answer. A client that reads slowly holds one
 * row's text and a key, or the sums; the table is read anew in each turn. */
#include "rm-lite/web/rest/web-history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/user-groups.h"
#include "common/web/http-stream.h"
#include "rm-lite/requests/past-apps.h"
#include "rm-lite/requests/turn.h"
#include "rm-lite/web/rest/history-json.h"
#include "rm-lite/web/rest/history-sums.h"
#include "rm-lite/web/rest/web-list.h"
#include "rm-lite/web/rest/web-query.h"
#include "rm-lite/web/rest/web-reply.h"

#define TEXT_MAX ((size_t)1 << 20)               /* of one turn */
#define PRIORITY (SD_EVENT_PRIORITY_NORMAL + 20) /* web-list.c's */

enum by { BY_NONE, BY_USER, BY_QUEUE };
static const char *const by_names[] = { [BY_USER] = "user", [BY_QUEUE] = "queue" };

struct answer {
    struct rm *rm;
    struct sv_http_stream *stream;
    sd_event_source *source;
    struct rm_app_filter filter;
    struct rm_viewer who;
    struct rm_past_key at; /* the last row that was read */
    int64_t limit, n;      /* rows of the answer */
    enum by by;
    struct rm_sums sums;
    struct sv_buf text;
    struct rm_turn turn;
    int error;
    bool begun, walked, done;
    bool some; /* an entry has been written */
};

static void answer_free(struct answer *a)
{
    a->rm->n_lists--;
    sd_event_source_disable_unref(a->source);
    rm_app_filter_free(&a->filter);
    rm_sums_free(&a->sums);
    sv_buf_free(&a->text);
    free(a);
}

/* ---- Text ---- */

/* Takes the entry; NULL: no memory. */
static int put_entry(struct answer *a, json_t *entry)
{
    char *text = entry ? json_dumps(entry, JSON_COMPACT) : NULL;
    int r = text ? 0 : -ENOMEM;

    if (r >= 0 && a->some)
        r = sv_buf_put_u8(&a->text, ',');
    if (r >= 0)
        r = sv_buf_put_str(&a->text, text);
    a->some = true;
    free(text);
    json_decref(entry);
    return r;
}

/* "oldest" says how far the rows go back: that of the sums, too. */
static int put_begin(struct answer *a)
{
    int64_t oldest = rm_store_history_oldest(a->rm);
    int r =
        sv_buf_printf(&a->text, "{\"history\":{\"oldest\":%lld,\"full\":%s,",
                      oldest == INT64_MAX ? -1LL : (long long)oldest,
                      rm_store_history_count(a->rm) >= a->rm->conf.history_apps ? "true" : "false");

    if (r < 0)
        return r;
    return a->by ? sv_buf_printf(&a->text, "\"by\":\"%s\",\"sums\":[", by_names[a->by])
                 : sv_buf_put_str(&a->text, "\"apps\":[");
}

/* With "next", where more may follow: the value of `after` for the next page. */
static int put_end(struct answer *a)
{
    char id[YARN_ID_TEXT_MAX];

    a->done = true;
    if (a->by || a->n < a->limit)
        return sv_buf_put_str(&a->text, "]}}");
    return sv_buf_printf(&a->text, "],\"next\":\"%lld-%s\"}}", (long long)a->at.finish_ms,
                         yarn_app_id_text(a->at.id, id));
}

/* ---- Turns ---- */

/* False: stop behind this row. */
static bool take_row(const struct rm_past_app *past, void *userdata)
{
    struct answer *a = userdata;
    bool takes = rm_past_matches(&a->filter, past);
    bool sees = takes && rm_viewer_sees_past(&a->who, past);

    if (takes && a->by)
        a->error = rm_sums_add(&a->sums, a->by == BY_USER ? past->user : past->queue, past, sees);
    else if (takes)
        a->error = put_entry(a, rm_json_past(past, sees));
    a->n += takes;
    rm_turn_count(&a->turn, takes && !a->by);
    return a->error >= 0 && (a->by || a->n < a->limit) && !rm_turn_is_over(&a->turn);
}

static int walk(struct answer *a)
{
    int r;

    (void)sv_groups_missed(a->rm->groups); /* missed by others, ignoring */
    r = rm_store_history_walk(a->rm, &a->at, a->filter.finish[0], take_row, a);
    if (sv_groups_missed(a->rm->groups))
        return -ESTALE; /* they were known at the start: the answer is cut, a later one is right */
    a->walked = r == 1 || (!a->by && a->n >= a->limit);
    return r < 0 ? r : a->error;
}

static int put_sums(struct answer *a)
{
    struct rm_sum *sum = NULL;
    int r = 0;

    while (r >= 0 && !rm_turn_is_over(&a->turn) && (sum = rm_sums_take(&a->sums))) {
        r = put_entry(a, rm_json_sum(sum, by_names[a->by]));
        rm_sum_free(sum);
        rm_turn_count(&a->turn, true);
    }
    return r < 0 || sum ? r : put_end(a);
}

static int begin(struct answer *a)
{
    int r = put_begin(a);

    if (r >= 0)
        r = sv_http_stream_own(a->stream, SV_JSON_TYPE);
    if (r < 0)
        return r;
    a->begun = true;
    sv_http_stream_begin(a->stream, 200, -1);
    return 0;
}

/* -EAGAIN: the client has not read enough. */
static int go_on(struct answer *a)
{
    int r = a->begun ? 0 : begin(a);

    if (r >= 0)
        r = sv_http_stream_flush(a->stream, &a->text);
    if (r < 0 || a->done)
        return r;
    a->turn = rm_turn_begin();
    if (!a->walked)
        r = walk(a);
    else
        r = a->by ? put_sums(a) : put_end(a);
    return r < 0 ? r : sv_http_stream_flush(a->stream, &a->text);
}

static int on_turn(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct answer *a = userdata;
    int r = go_on(a);

    if (r == -EAGAIN) {
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF); /* cannot fail, ignoring */
    } else if (r < 0 || (a->done && sv_buf_left(&a->text) == 0)) {
        sv_http_stream_end(a->stream, r >= 0);
        answer_free(a);
    }
    return 0;
}

static void on_drained(void *userdata)
{
    struct answer *a = userdata;

    (void)sd_event_source_set_enabled(a->source, SD_EVENT_ON); /* cannot fail, ignoring */
}

static void on_gone(void *userdata)
{
    answer_free(userdata);
}

/* ---- Requests ---- */

/* "1700000000123-application_1700000000000_0042", as "next" says. */
static int read_after(const char *text, struct rm_past_key *ret, struct sv_error *err)
{
    size_t n = strcspn(text, "-");
    char time[24];

    (void)snprintf(time, sizeof(time), "%.*s", (int)SV_MIN(n, sizeof(time)), text);
    if (text[n] != '-' || sv_parse_i64(time, 0, INT64_MAX, &ret->finish_ms) < 0 ||
        yarn_app_id_parse(text + n + 1, &ret->id) < 0)
        return sv_error_set(err, -EINVAL,
                            "after: \"%.64s\" is not a place in the history; give \"next\" of an "
                            "earlier answer",
                            text);
    return 0;
}

static int read_by(const char *text, enum by *ret, struct sv_error *err)
{
    *ret = BY_NONE;
    if (!text)
        return 0;
    for (enum by by = BY_USER; by <= BY_QUEUE; by++)
        if (sv_streq(text, by_names[by])) {
            *ret = by;
            return 0;
        }
    return sv_error_set(err, -EINVAL, "by: \"%.64s\" is neither user nor queue", text);
}

static int read_request(const struct sv_http_request *req, struct answer *a, struct sv_error *err)
{
    const char *after = sv_http_query(req, "after");
    int r = rm_query_apps(req, &a->filter, &a->limit, err);

    if (r < 0)
        return r;
    a->limit = SV_MIN(a->limit, (int64_t)RM_HISTORY_PAGE);
    a->at = (struct rm_past_key){ .finish_ms = a->filter.finish[1] };
    if (a->at.finish_ms < INT64_MAX)
        a->at.finish_ms++;
    r = read_by(sv_http_query(req, "by"), &a->by, err);
    return r < 0 || !after ? r : read_after(after, &a->at, err);
}

static int start(struct answer *a, const struct sv_http_request *req)
{
    static const struct sv_http_stream_events events = { .drained = on_drained, .gone = on_gone };
    int r = sd_event_add_defer(a->rm->event, &a->source, on_turn, a);

    if (r >= 0)
        r = sd_event_source_set_priority(a->source, PRIORITY);
    if (r >= 0)
        r = sd_event_source_set_enabled(a->source, SD_EVENT_ON);
    if (r < 0)
        return r;
    a->stream = sv_http_stream_new(req, &events, a);
    return a->stream ? SV_HTTP_LATER : -ENOMEM;
}

static int refuse(struct rm *rm, struct sv_http_response *ret)
{
    if (!rm_store_keeps_history(rm))
        return rm_web_not_found(ret, "the ResourceManager keeps no history: "
                                     "yarn.resourcemanager.recovery.enabled is false, or "
                                     "selvedge.rm.history.max-applications is 0");
    return rm_web_error(ret, 503, "WebApplicationException",
                        "%d long lists are being written: try again later", RM_LISTS_MAX);
}

int rm_web_history(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    struct sv_error err = { 0 };
    struct answer *a;
    int r;

    if (!rm_store_keeps_history(rm) || rm->n_lists >= RM_LISTS_MAX)
        return refuse(rm, ret);
    a = calloc(1, sizeof(*a));
    if (!a)
        return -ENOMEM;
    a->rm = rm;
    a->text = SV_BUF_INIT(TEXT_MAX);
    rm->n_lists++; /* it is one */
    rm_viewer_of_request(rm, req, &a->who);
    r = read_request(req, a, &err);
    if (r >= 0)
        r = rm_viewer_groups(&a->who);
    if (r >= 0)
        r = start(a, req);
    if (r < 0)
        answer_free(a);
    if (r == -EDOM)
        return rm_web_illegal_argument(ret, "%s", err.text);
    return r == -EINVAL ? rm_web_bad_request(ret, "%s", err.text) : r;
}
