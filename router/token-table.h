/* The tokens that this Router looks after: how many each user has, and which of them have ended, so
 * that their rows are deleted in the store. It has issued them since its start, or found them there
 * when it started, of lives before and of other Routers. */
#ifndef SELVEDGE_ROUTER_TOKEN_TABLE_H
#define SELVEDGE_ROUTER_TOKEN_TABLE_H

#include <systemd/sd-event.h>

#include "federation/store/store.h"
#include "router/conf-tokens.h"

#define RTR_TOKENS_MAX 100000 /* for all users together */

struct rtr_token_table;
struct yarn_delegation_token;

/* NULL: no memory. */
struct rtr_token_table *rtr_token_table_new(sd_event *event, struct fed_store *store,
                                            const struct rtr_conf_tokens *conf);
/* The store must be gone. Accepts NULL, returns NULL. */
struct rtr_token_table *rtr_token_table_free(struct rtr_token_table *t);

/* The user whose limit a token counts against: a proxy user has no more tokens than others. */
const char *rtr_token_holder(const struct yarn_delegation_token *what);
size_t rtr_token_table_count(const struct rtr_token_table *t);
size_t rtr_token_table_of(const struct rtr_token_table *t, const char *holder);
/* -ENOMEM. */
int rtr_token_table_add(struct rtr_token_table *t, int32_t sequence, const char *holder,
                        int64_t renew_ms) _must_use_;
void rtr_token_table_renewed(struct rtr_token_table *t, int32_t sequence, int64_t renew_ms);
void rtr_token_table_drop(struct rtr_token_table *t, int32_t sequence);

#endif
