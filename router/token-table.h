/* The tokens that this Router has issued since its start: how many each user has, and which of them
 * have ended, so that their rows are deleted in the store. */
#ifndef SELVEDGE_ROUTER_TOKEN_TABLE_H
#define SELVEDGE_ROUTER_TOKEN_TABLE_H

#include <systemd/sd-event.h>

#include "federation/store/store.h"
#include "router/conf-tokens.h"

struct rtr_token_table;

/* NULL: no memory. */
struct rtr_token_table *rtr_token_table_new(sd_event *event, struct fed_store *store,
                                            const struct rtr_conf_tokens *conf);
/* The store must be gone. Accepts NULL, returns NULL. */
struct rtr_token_table *rtr_token_table_free(struct rtr_token_table *t);

size_t rtr_token_table_count(const struct rtr_token_table *t);
size_t rtr_token_table_of(const struct rtr_token_table *t, const char *holder);
/* -ENOMEM. */
int rtr_token_table_add(struct rtr_token_table *t, int32_t sequence, const char *holder,
                        int64_t renew_ms) _must_use_;
void rtr_token_table_renewed(struct rtr_token_table *t, int32_t sequence, int64_t renew_ms);
void rtr_token_table_drop(struct rtr_token_table *t, int32_t sequence);

#endif
