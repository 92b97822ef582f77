/* Tokens of a federation's Routers that jobs bring: a member renews and cancels them in the state
 * store, where Routers keep them, and logs in to nobody. Functions of token-calls.c. */
#ifndef SELVEDGE_RM_LITE_SECURITY_ROUTER_TOKENS_H
#define SELVEDGE_RM_LITE_SECURITY_ROUTER_TOKENS_H

#include "rm-lite/security/token-renewer-internal.h"

/* Whether the token, of kind RM_DELEGATION_TOKEN, may be one: this is a member of a federation, and
 * the token is none of its own. */
bool rm_router_token(const struct rm *rm, const struct yarn_token *t);
void rm_router_token_renew(struct rm_token_renewer *w, struct rm_renewal *t);
void rm_router_token_cancel(struct rm_token_renewer *w, struct rm_renewal *t);

#endif
