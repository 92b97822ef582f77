/* See http-answer.h. */
#include "common/web/http-answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/log.h"
#include "common/str.h"

#define POLICY                                                                                     \
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "                  \
    "frame-ancestors 'none'"

#define SCRIPT_POLICY POLICY "; script-src 'self'; connect-src 'self'"

const char *const http_guards[HTTP_GUARDS][2] = {
    { "X-Content-Type-Options", "nosniff" },
    [HTTP_GUARD_POLICY] = { "Content-Security-Policy", POLICY },
    { "X-Frame-Options", "DENY" },
    { "Referrer-Policy", "same-origin" },
};

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

enum MHD_Result http_answer_send(struct MHD_Connection *conn, struct sv_http_response *a)
{
    _cleanup_free_ char *location = SV_TAKE(a->location);
    const char *type = a->content_type ? a->content_type : "text/plain; charset=utf-8";
    struct MHD_Response *response;
    enum MHD_Result ok;

    if (a->body)
        response = MHD_create_response_from_buffer(a->body_len, a->body, MHD_RESPMEM_MUST_FREE);
    else
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!response) {
        http_answer_drop(a);
        return MHD_NO;
    }
    ok = MHD_add_response_header(response, "Content-Type", type);
    for (size_t k = 0; ok && k < HTTP_GUARDS; k++)
        ok = MHD_add_response_header(response, http_guards[k][0],
                                     a->script && k == HTTP_GUARD_POLICY ? SCRIPT_POLICY
                                                                         : http_guards[k][1]);
    ok = ok &&
         (!sv_has_prefix(type, "text/html") ||
          MHD_add_response_header(response, "Cache-Control", "no-store")) &&
         (!location || MHD_add_response_header(response, "Location", location));
    if (ok)
        ok = MHD_queue_response(conn, a->status, response);
    MHD_destroy_response(response);
    return ok;
}

enum MHD_Result http_answer_text(struct MHD_Connection *conn, unsigned status, const char *text)
{
    struct sv_http_response a = { 0 };

    return set_text(&a, status, text) < 0 ? MHD_NO : http_answer_send(conn, &a);
}

enum MHD_Result http_answer_incident(struct MHD_Connection *conn, const char *method,
                                     const char *url, int error)
{
    char text[64];
    uint32_t incident = 0;

    (void)!getrandom(&incident, sizeof(incident),
                     0); /* only a correlation id for the log, ignoring */
    sv_log_err("http: %s %s: incident %08x: %s", method, url, incident, strerrordesc_np(-error));
    (void)snprintf(text, sizeof(text), "internal error, incident %08x\n", incident);
    return http_answer_text(conn, 500, text);
}

enum MHD_Result http_answer_options(struct MHD_Connection *conn)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result ok;

    if (!response)
        return MHD_NO;
    ok = MHD_add_response_header(response, "Allow", "GET, HEAD, PUT, POST, DELETE, OPTIONS") &&
         MHD_queue_response(conn, 200, response);
    MHD_destroy_response(response);
    return ok;
}
