/* See http-answer.h. */
#include "common/web/http-answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/log.h"
#include "common/str.h"
#include "common/web/http-filters.h"

#define POLICY                                                                                     \
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "                  \
    "frame-ancestors 'none'"

/* Filters of a server that has none set; never written. */
static const struct sv_http_filters strict = {
    .frame = "DENY",
    .policy = (char *)(uintptr_t)POLICY,
    .script_policy = (char *)(uintptr_t)POLICY "; script-src 'self'; connect-src 'self'",
};

static const char *header_of(struct MHD_Connection *conn, const char *name)
{
    return MHD_lookup_connection_value(conn, MHD_HEADER_KIND, name);
}

/* An answer that carries a cookie must be nobody else's. */
static size_t put_login(const struct sv_http_caller *c, struct http_header *ret)
{
    size_t n = 0;

    if (c->cookie) {
        ret[n++] = (struct http_header){ "Set-Cookie", c->cookie };
        ret[n++] = (struct http_header){ "Cache-Control", "no-store" };
    }
    if (c->challenge)
        ret[n++] = (struct http_header){ "WWW-Authenticate", c->challenge };
    return n;
}

size_t http_answer_headers(const struct http_setting *s, struct MHD_Connection *conn, bool script,
                           struct http_header ret[HTTP_HEADERS_MAX])
{
    const struct sv_http_filters *f = s->filters ? s->filters : &strict;
    const char *origin = f->cors ? header_of(conn, "Origin") : NULL;
    size_t n = put_login(s->caller, ret);

    ret[n++] = (struct http_header){ "X-Content-Type-Options", "nosniff" };
    ret[n++] =
        (struct http_header){ "Content-Security-Policy", script ? f->script_policy : f->policy };
    if (f->frame)
        ret[n++] = (struct http_header){ "X-Frame-Options", f->frame };
    ret[n++] = (struct http_header){ "Referrer-Policy", "same-origin" };
    if (!origin ||
        !sv_http_filters_origin(f, origin, header_of(conn, "Access-Control-Request-Method"),
                                header_of(conn, "Access-Control-Request-Headers")))
        return n;
    ret[n++] = (struct http_header){ "Access-Control-Allow-Origin", origin };
    ret[n++] = (struct http_header){ "Access-Control-Allow-Credentials", "true" };
    ret[n++] = (struct http_header){ "Access-Control-Allow-Methods", f->methods_text };
    ret[n++] = (struct http_header){ "Access-Control-Allow-Headers", f->headers_text };
    ret[n++] = (struct http_header){ "Access-Control-Max-Age", f->max_age };
    return n;
}

static enum MHD_Result add_headers(const struct http_setting *s, struct MHD_Connection *conn,
                                   bool script, struct MHD_Response *response)
{
    struct http_header headers[HTTP_HEADERS_MAX];
    size_t n = http_answer_headers(s, conn, script, headers);
    enum MHD_Result ok = MHD_YES;

    for (size_t i = 0; ok && i < n; i++)
        ok = MHD_add_response_header(response, headers[i].name, headers[i].value);
    return ok;
}

static int set_text(struct sv_http_response *a, unsigned status, const char *text)
{
    a->status = status;
    a->body = strdup(text);
    a->body_len = a->body ? strlen(text) : 0;
    return a->body ? 0 : -ENOMEM;
}

void http_answer_drop(struct sv_http_response *a)
{
    free(a->body);
    free(a->location);
    *a = (struct sv_http_response){ .status = 500 };
}

enum MHD_Result http_answer_send(const struct http_setting *s, struct MHD_Connection *conn,
                                 struct sv_http_response *a)
{
    _cleanup_free_ char *location = SV_TAKE(a->location);
    const char *type = a->content_type ? a->content_type : "text/plain; charset=utf-8";
    const char *cache = a->cache_control;
    struct MHD_Response *response;
    enum MHD_Result ok;

    if (!cache && sv_has_prefix(type, "text/html") && !s->caller->cookie)
        cache = "no-store";
    if (a->body)
        response = MHD_create_response_from_buffer(a->body_len, a->body, MHD_RESPMEM_MUST_FREE);
    else
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!response) {
        http_answer_drop(a);
        return MHD_NO;
    }
    ok = MHD_add_response_header(response, "Content-Type", type);
    ok = ok && add_headers(s, conn, a->script, response) &&
         (!cache || MHD_add_response_header(response, "Cache-Control", cache)) &&
         (!location || MHD_add_response_header(response, "Location", location));
    if (ok)
        ok = MHD_queue_response(conn, a->status, response);
    MHD_destroy_response(response);
    return ok;
}

enum MHD_Result http_answer_text(const struct http_setting *s, struct MHD_Connection *conn,
                                 unsigned status, const char *text)
{
    struct sv_http_response a = { 0 };

    return set_text(&a, status, text) < 0 ? MHD_NO : http_answer_send(s, conn, &a);
}

enum MHD_Result http_answer_incident(const struct http_setting *s, struct MHD_Connection *conn,
                                     const char *method, const char *url, int error)
{
    char text[64];
    uint32_t incident = 0;

    (void)!getrandom(&incident, sizeof(incident),
                     0); /* only a correlation id for the log, ignoring */
    sv_log_err("http: %s %s: incident %08x: %s", method, url, incident, strerrordesc_np(-error));
    (void)snprintf(text, sizeof(text), "internal error, incident %08x\n", incident);
    return http_answer_text(s, conn, 500, text);
}

enum MHD_Result http_answer_options(const struct http_setting *s, struct MHD_Connection *conn)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result ok;

    if (!response)
        return MHD_NO;
    ok = MHD_add_response_header(response, "Allow", "GET, HEAD, PUT, POST, DELETE, OPTIONS") &&
         add_headers(s, conn, false, response) && MHD_queue_response(conn, 200, response);
    MHD_destroy_response(response);
    return ok;
}
