/* The master key of this Router's delegation tokens. Each Router has its own, as Apache's have:
 * made when it is needed first, stored before it is used, and replaced by age. Keys whose tokens
 * have all ended are deleted in the store, those of lives before with the first key. */
#ifndef SELVEDGE_ROUTER_TOKEN_KEYS_H
#define SELVEDGE_ROUTER_TOKEN_KEYS_H

#include "federation/store/store.h"
#include "router/conf-tokens.h"

struct rtr_token_keys;

/* NULL: no memory. All outlive it. */
struct rtr_token_keys *rtr_token_keys_new(struct fed_store *store,
                                          const struct rtr_conf_tokens *conf);
/* The store must be gone, which ends what is waited for. Accepts NULL, returns NULL. */
struct rtr_token_keys *rtr_token_keys_free(struct rtr_token_keys *k);

/* `key` is valid during the call; NULL: there is none, a->error and a->reason say why. */
typedef void (*rtr_key_done)(const struct yarn_master_key *key, const struct fed_answer *a,
                             void *userdata);
/* `done` runs once, at once where the key is there. -ENOMEM: it never runs. */
int rtr_token_keys_get(struct rtr_token_keys *k, rtr_key_done done, void *userdata) _must_use_;

#endif
