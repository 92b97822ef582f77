/* Delegation tokens of the Router: Hadoop's keys of the ResourceManager's, which its Router reads
 * too. */
#ifndef SELVEDGE_ROUTER_CONF_TOKENS_H
#define SELVEDGE_ROUTER_CONF_TOKENS_H

#include "common/conf.h"
#include "wire/token/token.h"

struct rtr_conf_tokens {
    int64_t key_ms;   /* age at which the key is replaced */
    int64_t max_ms;   /* life of a token, however often it is renewed */
    int64_t renew_ms; /* and without a renewal */
    int64_t scan_ms;  /* between looks for tokens that have ended */
    int64_t per_user; /* tokens that one user may have of this Router */
    int64_t key_bits;
    enum yarn_hmac hmac;
};

int rtr_conf_tokens_read(struct sv_conf *c, struct rtr_conf_tokens *ret, struct sv_error *err)
    _must_use_;
const struct sv_conf_key *rtr_conf_tokens_keys(size_t *ret_n);

#endif
