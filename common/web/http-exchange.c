/* Requests of the HTTP server, see http.h: headers, body, turn, gate, handler, answer. What exceeds
 * a turn is suspended, and its handler is called in a later one, one request of each client address
 * after the other (http-share.h).
 *
 * Hostile: everything a client sends. Body bytes are bounded here; a NUL encoded in the URL as %00
 * is rejected, because it would truncate the path for the handler. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "common/web/http-filters.h"
#include "common/web/http-internal.h"
#include "common/web/http-upgrade.h"

#define BODY_MAX ((size_t)128 << 10) /* a REST submission, parsed in one handler: 10 ms */
#define DISCARD_MAX                                                                                \
    ((uint64_t)8 << 20) /* bytes read of an oversized body before the connection is closed */

void http_kick(void *server)
{
    struct sv_http *h = server;

    (void)sd_event_source_set_time_relative(h->timer, 0);
    (void)sd_event_source_set_enabled(h->timer,
                                      SD_EVENT_ONESHOT); /* it would run later, ignoring */
}

/* ---- Begin and end ---- */

void *http_exchange_new(void *server, const char *uri, struct MHD_Connection *conn)
{
    struct sv_http *h = server;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_exchange *r = info && info->socket_context ? calloc(1, sizeof(*r)) : NULL;

    if (!r)
        return NULL;
    r->server = h;
    r->share = info->socket_context;
    r->turn.conn = conn;
    r->uri = strdup(uri);
    if (!r->uri) {
        free(r);
        return NULL;
    }
    r->body = SV_BUF_INIT(BODY_MAX);
    r->setting = (struct http_setting){ h->filters, &r->caller };
    r->place = (struct http_stream_place){
        .all = &h->streams, .kick = http_kick, .server = h, .setting = &r->setting
    };
    r->bad_uri = *uri != '/' || strstr(uri, "%00");
    return r;
}

static void drop_body(struct sv_http *h, struct http_exchange *r)
{
    http_share_drop(&h->shares, r->share, HTTP_BODIES, r->body.len);
    sv_buf_free(&r->body);
}

static void drop_kept(struct sv_http_kept *k)
{
    if (k->data)
        k->free(SV_TAKE(k->data));
}

static void drop_caller(struct sv_http_caller *c)
{
    drop_kept(&c->kept);
    free(c->user);
    free(c->full);
    free(c->real);
    free(c->cookie);
    free(c->challenge);
    *c = (struct sv_http_caller){ 0 };
}

void http_exchange_end(void *server, struct MHD_Connection *conn, void **exchange,
                       enum MHD_RequestTerminationCode why)
{
    struct http_exchange *r = *exchange;
    struct sv_http *h = server;

    (void)conn;
    (void)why;
    if (r) {
        drop_kept(&r->kept);
        drop_caller(&r->caller);
        if (r->place.stream)
            sv_http_stream_gone(r->place.stream);
        drop_body(h, r);
        http_share_drop(&h->shares, r->share, HTTP_ANSWERS, r->answer);
        r->upgrade = http_upgraded_free(r->upgrade);
        free(r->uri);
    }
    free(r);
    *exchange = NULL;
}

/* ---- Headers and body ---- */

static bool method_allowed(const char *method)
{
    static const char *const allowed[] = { "GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS" };

    for (size_t i = 0; i < SV_ARRAY_LEN(allowed); i++)
        if (strcmp(method, allowed[i]) == 0)
            return true;
    return false;
}

static enum MHD_Result too_large(const struct http_exchange *r, struct MHD_Connection *conn)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "the body is larger than %zu KiB\n", r->body.max >> 10);
    return http_answer_text(&r->setting, conn, 413, text);
}

/* Headers are complete. Queues an error response, or lets the body arrive. */
static enum MHD_Result on_headers(struct MHD_Connection *conn, struct http_exchange *r,
                                  const char *url, const char *method)
{
    const char *length = MHD_lookup_connection_value(conn, MHD_HEADER_KIND, "Content-Length");
    uint64_t n;

    r->seen = true;
    if (r->server->large_prefix && sv_has_prefix(url, r->server->large_prefix))
        r->body.max = r->server->large_max;
    if (r->bad_uri)
        return http_answer_text(&r->setting, conn, 400,
                                "the URL must start with '/' and hold no NUL\n");
    if (!method_allowed(method))
        return http_answer_text(&r->setting, conn, 405,
                                "only GET, HEAD, PUT, POST, DELETE and OPTIONS are served\n");
    if (length && (sv_parse_u64(length, 0, UINT64_MAX, &n) < 0 || n > r->body.max))
        return too_large(r, conn);
    return MHD_YES;
}

static int keep_body(struct sv_http *h, struct http_exchange *r, const char *data, size_t size)
{
    int e = http_share_hold(&h->shares, r->share, HTTP_BODIES, size);

    if (e < 0)
        return e;
    e = sv_buf_put(&r->body, data, size);
    if (e < 0)
        http_share_drop(&h->shares, r->share, HTTP_BODIES, size);
    return e;
}

static enum MHD_Result on_body(struct sv_http *h, struct http_exchange *r, const char *data,
                               size_t *size)
{
    int e = r->refused ? 0 : keep_body(h, r, data, *size);

    if (e < 0) {
        drop_body(h, r);
        r->refused = e == -EBUSY ? 503 : 413;
    }
    if (r->refused) {
        r->discarded += *size;
        if (r->discarded > DISCARD_MAX)
            return MHD_NO;
    }
    *size = 0;
    return MHD_YES;
}

/* ---- Turns ---- */

bool http_turn_is_over(const struct sv_http *h)
{
    return h->turn.requests >= HTTP_TURN_REQUESTS || sv_now_ms() - h->turn.begin_ms >= HTTP_TURN_MS;
}

/* True: suspended until a later turn. */
static bool wait_for_turn(struct sv_http *h, struct MHD_Connection *conn, struct http_exchange *r)
{
    if (!http_turn_is_over(h) && (r->turn.called || !h->shares.turns)) {
        h->turn.requests++;
        r->turn.called = false;
        return false;
    }
    http_share_wait(&h->shares, r->share, &r->turn, r->turn.called);
    MHD_suspend_connection(conn);
    return true;
}

void http_call_next(struct sv_http *h, unsigned n)
{
    for (struct http_waiting *w; n > 0 && (w = http_share_next(&h->shares)); n--) {
        w->called = true;
        MHD_resume_connection(w->conn);
    }
}

/* ---- Requests that wait for sv_http_retry ---- */

static void suspend(struct sv_http *h, struct MHD_Connection *conn, struct http_exchange *r)
{
    r->suspended = conn;
    DL_APPEND(h->suspended, r);
    MHD_suspend_connection(conn);
}

void http_resume(struct sv_http *h)
{
    while (h->suspended) {
        struct http_exchange *r = h->suspended;

        DL_DELETE(h->suspended, r);
        MHD_resume_connection(SV_TAKE(r->suspended));
    }
}

/* libmicrohttpd calls http_exchange_run() again from its next run, which its epoll set does not
 * announce. */
void sv_http_retry(struct sv_http *h)
{
    int r;

    if (!h || !h->suspended)
        return;
    http_resume(h);
    r = sd_event_source_set_time_relative(h->timer, 0);
    if (r >= 0)
        r = sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
    if (r < 0)
        sv_log_err("http: port %u: timer: %s", h->port, strerrordesc_np(-r));
}

void sv_http_wake(struct sv_http_caller *caller)
{
    struct http_exchange *r =
        (void *)((char *)caller - offsetof(struct http_exchange, caller)); /* it is part of one */

    if (!r->suspended)
        return;
    DL_DELETE(r->server->suspended, r);
    MHD_resume_connection(SV_TAKE(r->suspended));
    http_kick(r->server);
}

/* ---- Requests ---- */

static bool may_pass(const struct sv_http *h, struct MHD_Connection *conn, const char *method)
{
    const struct sv_http_filters *f = h->filters;

    return !f || !f->csrf ||
           sv_http_filters_pass(f, method,
                                MHD_lookup_connection_value(conn, MHD_HEADER_KIND, "User-Agent"),
                                MHD_lookup_connection_value(conn, MHD_HEADER_KIND, f->csrf_header));
}

/* A browser asks so on behalf of a page of another origin, without saying who its user is. */
static bool is_preflight(const struct sv_http *h, struct MHD_Connection *conn)
{
    return h->filters && h->filters->cors &&
           MHD_lookup_connection_value(conn, MHD_HEADER_KIND, "Access-Control-Request-Method");
}

/* Asks the gate, until it has let the request pass. */
static int pass_gate(const struct sv_http *h, struct http_exchange *r,
                     const struct sv_http_request *q, struct sv_http_response *a)
{
    int result = 0;

    if (h->gate && !r->caller.known)
        result = h->gate->check(q, a, h->gate->userdata);
    r->caller.known = h->gate && result == 0;
    return result;
}

static void drop_answer(struct sv_http_response *a)
{
    a->upgrade = http_upgraded_free(a->upgrade);
    http_answer_drop(a);
}

/* Holds the answer's bytes in the address' share. */
static enum MHD_Result finish(struct sv_http *h, struct MHD_Connection *conn,
                              struct http_exchange *r, struct sv_http_response *a)
{
    if (a->body && http_share_hold(&h->shares, r->share, HTTP_ANSWERS, a->body_len) < 0) {
        drop_answer(a);
        return http_answer_text(&r->setting, conn, 503,
                                "too many answers wait to be read: try again later\n");
    }
    if (a->upgrade) {
        r->upgrade = SV_TAKE(a->upgrade);
        http_upgraded_of(r->upgrade, http_kick, h);
        return http_upgrade_send(&r->setting, conn, r->upgrade, a);
    }
    r->answer = a->body ? a->body_len : 0;
    return http_answer_send(&r->setting, conn, a);
}

/* In the request's turn: the gate, then the handler. */
static enum MHD_Result answer(struct sv_http *h, struct MHD_Connection *conn,
                              struct http_exchange *r, const struct sv_http_request *q)
{
    struct sv_http_response a = { .status = 404 };
    bool options = strcmp(q->method, "OPTIONS") == 0;
    int result = pass_gate(h, r, q, &a);

    if (result == 0 && options)
        return http_answer_options(&r->setting, conn);
    if (result == 0)
        result = h->handler(q, &a, h->userdata);
    else if (result > 0) /* SV_HTTP_REFUSED */
        return finish(h, conn, r, &a);
    if (result == -EAGAIN) {
        drop_answer(&a);
        suspend(h, conn, r);
        return MHD_YES;
    }
    drop_kept(&r->kept);
    if (result == SV_HTTP_LATER)
        return sv_http_stream_answer(r->place.stream);
    drop_body(h, r);
    if (result < 0) {
        drop_answer(&a);
        return http_answer_incident(&r->setting, conn, q->method, q->path, result);
    }
    return finish(h, conn, r, &a);
}

enum MHD_Result http_exchange_run(void *server, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **exchange)
{
    struct sv_http *h = server;
    struct http_exchange *r = *exchange;
    struct sv_http_request q;

    (void)version;
    if (!r)
        return MHD_NO;
    if (!r->seen)
        return on_headers(conn, r, url, method);
    if (r->place.stream)
        return sv_http_stream_answer(r->place.stream);
    if (*upload_size)
        return on_body(h, r, upload, upload_size);
    if (r->refused == 413)
        return too_large(r, conn);
    if (r->refused)
        return http_answer_text(&r->setting, conn, r->refused,
                                "too many bodies of requests are held: try again later\n");
    if (!may_pass(h, conn, method))
        return http_answer_text(&r->setting, conn, 400,
                                "Missing Required Header for CSRF Vulnerability Protection\n");
    if (strcmp(method, "OPTIONS") == 0 && (!h->gate || is_preflight(h, conn)))
        return http_answer_options(&r->setting, conn);
    if (wait_for_turn(h, conn, r))
        return MHD_YES;
    q = (struct sv_http_request){
        .method = method,
        .path = url,
        .uri = r->uri,
        .place = &r->place,
        .kept = &r->kept,
        .caller = &r->caller,
        .body = r->body.data,
        .body_len = r->body.len,
        .conn = conn,
    };
    return answer(h, conn, r, &q);
}
