/* Answers of the web server: JSON, Hadoop's RemoteException, redirects. */
#ifndef SELVEDGE_RM_LITE_WEB_REPLY_H
#define SELVEDGE_RM_LITE_WEB_REPLY_H

#include <jansson.h>

#include "common/http.h"

/* Takes ownership of the JSON; NULL: no memory. */
int rm_web_json(struct sv_http_response *ret, unsigned status, json_t *root) _must_use_;
/* {"RemoteException":{…}} with a class of org.apache.hadoop.yarn.webapp, as REST clients parse it.
 */
int rm_web_error(struct sv_http_response *ret, unsigned status, const char *exception,
                 const char *fmt, ...) _printf_(4, 5) _must_use_;
/* Texts of users: bytes that are not UTF-8 are escaped. NULL: no memory. */
json_t *rm_web_text(const char *s);
int rm_web_redirect(struct sv_http_response *ret, const char *to) _must_use_;

#define rm_web_not_found(ret, ...) rm_web_error(ret, 404, "NotFoundException", __VA_ARGS__)
#define rm_web_bad_request(ret, ...) rm_web_error(ret, 400, "BadRequestException", __VA_ARGS__)

#endif
