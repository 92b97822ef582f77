/* The token secret managers: RMContainerTokenSecretManager, NMTokenSecretManagerInRM,
 * AMRMTokenSecretManager and ClientToAMTokenSecretManagerInRM. Keys and their rolling, and
 * passwords for identifiers.
 *
 * A roll creates a next key. NodeManagers receive the next key by heartbeat, and it starts to sign
 * 1.5 expiry intervals later, when each of them has had the time. AMRM tokens, which only this
 * process verifies, use the next key at once, and the old one remains valid for that delay. */
#ifndef SELVEDGE_RM_LITE_CORE_SECRETS_H
#define SELVEDGE_RM_LITE_CORE_SECRETS_H

#include "common/base.h"
#include "common/error.h"
#include "wire/token/key-roll.h"

enum rm_secret {
    RM_SECRET_CONTAINER = 1,
    RM_SECRET_NM = 2,
    RM_SECRET_AMRM = 3,
    RM_SECRET_CLIENT_AM = 4, /* never rolls: each attempt has a key that follows from it */
};
#define RM_SECRETS 5 /* with the unused number 0 */

struct rm_secrets {
    enum yarn_hmac hmac;
    size_t key_len;
    int64_t roll_ms[RM_SECRETS], delay_ms[RM_SECRETS];
    struct yarn_key_roll keys[RM_SECRETS];
};

/* Generates a key for each kind that has none. */
int rm_secrets_init(struct rm_secrets *s, int64_t now_ms, struct sv_error *err) _must_use_;
/* Rolls and activates keys. 1: changed, to be stored; 0: unchanged. */
int rm_secrets_tick(struct rm_secrets *s, int64_t now_ms, struct sv_error *err) _must_use_;

/* The key to send to NodeManagers: the next one if there is one. */
const struct yarn_master_key *rm_secrets_announce(const struct rm_secrets *s, enum rm_secret k);
/* The key that signs new tokens. */
const struct yarn_master_key *rm_secrets_signing(const struct rm_secrets *s, enum rm_secret k);
/* Password of an identifier under the key that it names. -ENOKEY: unknown key. */
int rm_secrets_password(const struct rm_secrets *s, enum rm_secret k, int32_t key_id,
                        const uint8_t *id, size_t id_len, uint8_t ret[YARN_TOKEN_PASSWORD_MAX],
                        size_t *ret_len) _must_use_;

#endif
