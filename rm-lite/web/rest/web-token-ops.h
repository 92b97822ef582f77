/* Hadoop's operations on delegation tokens by ?op=GETDELEGATIONTOKEN, RENEWDELEGATIONTOKEN and
 * CANCELDELEGATIONTOKEN, on any path (DelegationTokenAuthenticationHandler): beside
 * /delegation-token, with the same tokens. The token's owner is the caller's account, where RPC has
 * the principal. Browsers are refused: a GET gives a token here. Hostile: the query. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_WEB_TOKEN_OPS_H
#define SELVEDGE_RM_LITE_WEB_REST_WEB_TOKEN_OPS_H

#include "common/web/http.h"
#include "rm-lite/core/context.h"

/* A request that the gate has found to be one of them (req->caller->operation). */
int rm_web_token_operation(struct rm *rm, const struct sv_http_request *req,
                           struct sv_http_response *ret) _must_use_;

#endif
