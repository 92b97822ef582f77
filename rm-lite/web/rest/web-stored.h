/* Answers of REST that wait until what they tell is in the state store, as those of RPC do. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_STORED_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_STORED_H

#include <jansson.h>

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* Takes the answer; NULL: a status alone. -EAGAIN: the request comes again, and req->kept->data is
 * not NULL then. */
int rm_web_answer_later(struct rm *rm, const struct sv_http_request *req, json_t *answer)
    _must_use_;
/* When it comes again. `element`: of XML. */
int rm_web_answer_now(const struct sv_http_request *req, const char *element,
                      struct sv_http_response *ret) _must_use_;

#endif
