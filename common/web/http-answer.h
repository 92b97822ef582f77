/* Answers of the HTTP server that are complete, for http.c: the body, and the headers that
 * every answer has. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_ANSWER_H
#define SELVEDGE_COMMON_WEB_HTTP_ANSWER_H

#include <microhttpd.h>

#include "common/web/http.h"

struct sv_http_filters;

/* The headers of all answers to a request depend on this. */
struct http_setting {
    const struct sv_http_filters *filters; /* NULL: no frame shows it, no other origin may ask */
    const struct sv_http_caller *caller;
};

#define HTTP_HEADERS_MAX 12
struct http_header {
    const char *name, *value;
};
/* The headers that every answer of ours has, a stream too: those that guard it, those for pages of
 * other origins, those of the gate. `script`: a page with a script. Returns their number; they live
 * as long as the request. */
size_t http_answer_headers(const struct http_setting *s, struct MHD_Connection *conn, bool script,
                           struct http_header ret[HTTP_HEADERS_MAX]);

/* Takes the contents of *a, whatever the result. */
enum MHD_Result http_answer_send(const struct http_setting *s, struct MHD_Connection *conn,
                                 struct sv_http_response *a);
void http_answer_drop(struct sv_http_response *a);
enum MHD_Result http_answer_text(const struct http_setting *s, struct MHD_Connection *conn,
                                 unsigned status, const char *text);
/* 500 for a handler's -errno, with a number that the log has beside the reason. */
enum MHD_Result http_answer_incident(const struct http_setting *s, struct MHD_Connection *conn,
                                     const char *method, const char *url, int error);
/* OPTIONS of any path: Hadoop's AuthenticatedURL sends it before its first GET, and expects 200; a
 * browser asks so whether a page of another origin may. */
enum MHD_Result http_answer_options(const struct http_setting *s, struct MHD_Connection *conn);

#endif
