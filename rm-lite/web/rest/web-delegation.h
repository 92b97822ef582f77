/* /ws/v1/cluster/delegation-token: this ResourceManager's delegation tokens for callers with a
 * ticket. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_DELEGATION_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_DELEGATION_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

int rm_web_token_issue(struct rm *rm, const struct sv_http_request *req, const char *rest,
                       struct sv_http_response *ret) _must_use_;
/* The token of these two is in the header Hadoop-YARN-RM-Delegation-Token. */
int rm_web_token_renew(struct rm *rm, const struct sv_http_request *req, const char *rest,
                       struct sv_http_response *ret) _must_use_;
int rm_web_token_cancel(struct rm *rm, const struct sv_http_request *req, const char *rest,
                        struct sv_http_response *ret) _must_use_;

#endif
