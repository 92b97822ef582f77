/* The three token secret managers: RMContainerTokenSecretManager, NMTokenSecretManagerInRM and
 * AMRMTokenSecretManager. Keys and their rolling, and passwords for identifiers.
 *
 * A roll makes a next key. NodeManagers learn the next key by heartbeat and it becomes the one that
 * signs 1.5 expiry intervals later, when each of them has had the time. AMRM tokens, which only
 * this process verifies, use the next key at once, and the old one stays valid for that delay. */
#ifndef SELVEDGE_RM_LITE_CORE_SECRETS_H
#define SELVEDGE_RM_LITE_CORE_SECRETS_H

#include "common/base.h"
#include "common/error.h"
#include "wire/token/token.h"

enum rm_secret { RM_SECRET_CONTAINER = 1, RM_SECRET_NM = 2, RM_SECRET_AMRM = 3 };
#define RM_SECRETS 4 /* with the unused number 0 */

struct rm_secret_keys {
    struct yarn_master_key current, next; /* next.len 0 = none */
    int64_t made_ms; /* of the newest key: monotonic, so that setting the clock does not roll it */
};

struct rm_secrets {
    enum yarn_hmac hmac;
    size_t key_len;
    int64_t roll_ms[RM_SECRETS], delay_ms[RM_SECRETS];
    struct rm_secret_keys keys[RM_SECRETS];
};

/* Fresh keys for each kind that has none yet. */
int rm_secrets_init(struct rm_secrets *s, int64_t now_ms, struct sv_error *err) _must_use_;
/* Rolls and activates the keys that are due. 1: changed, to be stored; 0: unchanged. */
int rm_secrets_tick(struct rm_secrets *s, int64_t now_ms, struct sv_error *err) _must_use_;

/* The key that NodeManagers must know: the next one where there is one. */
const struct yarn_master_key *rm_secrets_announce(const struct rm_secrets *s, enum rm_secret k);
/* The key that new tokens are made with. */
const struct yarn_master_key *rm_secrets_signing(const struct rm_secrets *s, enum rm_secret k);
/* Password of an identifier, under the key that it names. -ENOKEY for an unknown key. */
int rm_secrets_password(const struct rm_secrets *s, enum rm_secret k, int32_t key_id,
                        const uint8_t *id, size_t id_len, uint8_t ret[YARN_TOKEN_PASSWORD_MAX],
                        size_t *ret_len) _must_use_;

#endif
