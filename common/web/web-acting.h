/* How a gate (web-gate.h) takes what web-rights.h is about: the token in a request, and for whom
 * its caller acts. Hostile: headers and queries. */
#ifndef SELVEDGE_COMMON_WEB_WEB_ACTING_H
#define SELVEDGE_COMMON_WEB_WEB_ACTING_H

#include "common/identity/auth-to-local.h"
#include "common/web/http.h"
#include "common/web/web-rights.h"

/* The text of a delegation token: X-Hadoop-Delegation-Token, the older
 * Hadoop-YARN-Auth-Delegation-Token, or ?delegation=. NULL: there is none. */
const char *sv_web_bearer_text(const struct sv_http_request *req);
/* Which operation a request is. */
enum sv_web_operation sv_web_operation(const struct sv_http_request *req);
/* Its name in ?op=, and its method, of those that have one. SV_WEB_NO_OPERATION: NULL. */
const char *sv_web_operation_named(const char *op, const char **ret_method,
                                   enum sv_web_operation *ret);
/* The token's holder becomes the caller, or *ret is the refusal: 0, SV_HTTP_REFUSED, or a failure.
 * No cookie is given for a token, as in Hadoop: it would outlive it. */
int sv_web_take_bearer(const struct sv_web_rights *rights, const char *text,
                       struct sv_http_caller *caller, struct sv_http_response *ret) _must_use_;
/* The caller becomes whom it acts for, by ?doAs=, if it says so and may; results as above, and
 * -EAGAIN. Who came with a token acts for nobody else. `rules` NULL: names are accounts. */
int sv_web_act(const struct sv_web_rights *rights, struct sv_auth_to_local *rules,
               const struct sv_http_request *req, struct sv_http_response *ret) _must_use_;

#endif
