/* Delegation tokens and their keys in the state store; see store.h. */
#ifndef SELVEDGE_RM_LITE_STORE_STORE_TOKENS_H
#define SELVEDGE_RM_LITE_STORE_STORE_TOKENS_H

#include "common/error.h"
#include "rm-lite/core/context.h"
#include "wire/token/token.h"

struct rm_stored_key {
    struct yarn_master_key key;
    int64_t made_ms, expires_ms; /* wall */
};

/* Callbacks for the stored rows, keys first. */
struct rm_store_tokens {
    void (*key)(struct rm *rm, const struct rm_stored_key *k);
    void (*token)(struct rm *rm, int32_t sequence, const uint8_t *id, size_t len, int64_t renew_ms);
};
/* *ret_sequence: the last one issued, 0 at first. */
int rm_store_tokens_load(struct rm *rm, const struct rm_store_tokens *to, int32_t *ret_sequence,
                         struct sv_error *err) _must_use_;

/* Does not answer: rm_store_reply() of store.h waits for the disk. */
void rm_store_token(struct rm *rm, int32_t sequence, const uint8_t *id, size_t len,
                    int64_t renew_ms);
void rm_store_token_sequence(struct rm *rm, int32_t last);
void rm_store_token_remove(struct rm *rm, int32_t sequence);
void rm_store_token_key(struct rm *rm, const struct rm_stored_key *k);
void rm_store_token_key_remove(struct rm *rm, int32_t key_id);

#endif
