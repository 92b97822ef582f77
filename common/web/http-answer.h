/* Answers of the HTTP server that are complete, for http.c: the body, and the headers that
 * every answer has. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_ANSWER_H
#define SELVEDGE_COMMON_WEB_HTTP_ANSWER_H

#include <microhttpd.h>

#include "common/web/http.h"

/* Name and value of the headers that guard every answer of ours, a stream too. */
#define HTTP_GUARDS 4
#define HTTP_GUARD_POLICY 1 /* another one for a page with a script */
extern const char *const http_guards[HTTP_GUARDS][2];

/* Takes the contents of *a, whatever the result. */
enum MHD_Result http_answer_send(struct MHD_Connection *conn, struct sv_http_response *a);
void http_answer_drop(struct sv_http_response *a);
enum MHD_Result http_answer_text(struct MHD_Connection *conn, unsigned status, const char *text);
/* 500 for a handler's -errno, with a number that the log has beside the reason. */
enum MHD_Result http_answer_incident(struct MHD_Connection *conn, const char *method,
                                     const char *url, int error);
/* OPTIONS of any path: Hadoop's AuthenticatedURL sends it before its first GET, and expects 200. */
enum MHD_Result http_answer_options(struct MHD_Connection *conn);

#endif
