/* Token keys and their rolling. See secrets.h. */
#include "rm-lite/core/secrets.h"

#include <errno.h>

int rm_secrets_init(struct rm_secrets *s, int64_t now, struct sv_error *err)
{
    for (int k = RM_SECRET_CONTAINER; k < RM_SECRETS; k++) {
        int r = yarn_key_roll_init(&s->keys[k], s->key_len, now);

        if (r < 0)
            return sv_error_errno(err, r, "token keys: no random bytes");
    }
    return 0;
}

int rm_secrets_tick(struct rm_secrets *s, int64_t now, struct sv_error *err)
{
    int changed = 0, r;

    for (int i = RM_SECRET_CONTAINER; i < RM_SECRETS; i++) {
        struct yarn_key_roll *k = &s->keys[i];
        struct yarn_master_key next;

        switch (yarn_key_roll_due(k, s->roll_ms[i], s->delay_ms[i], now)) {
        case YARN_KEY_ROLL_NOTHING:
            continue;
        case YARN_KEY_ROLL_ACTIVATE:
            yarn_key_roll_activate(k);
            break;
        case YARN_KEY_ROLL_MAKE:
            r = yarn_key_roll_make(k, s->key_len, &next);
            if (r < 0)
                return sv_error_errno(err, r, "token keys: no random bytes for the next key");
            yarn_key_roll_add(k, &next, now);
            break;
        }
        changed = 1;
    }
    return changed;
}

const struct yarn_master_key *rm_secrets_announce(const struct rm_secrets *s, enum rm_secret k)
{
    return yarn_key_roll_newest(&s->keys[k]);
}

const struct yarn_master_key *rm_secrets_signing(const struct rm_secrets *s, enum rm_secret k)
{
    return k == RM_SECRET_AMRM ? rm_secrets_announce(s, k) : &s->keys[k].current;
}

int rm_secrets_password(const struct rm_secrets *s, enum rm_secret k, int32_t key_id,
                        const uint8_t *id, size_t id_len, uint8_t ret[YARN_TOKEN_PASSWORD_MAX],
                        size_t *ret_len)
{
    const struct yarn_master_key *key = yarn_key_roll_find(&s->keys[k], key_id);

    if (!key)
        return -ENOKEY;
    return yarn_token_password(s->hmac, key, id, id_len, ret, ret_len);
}
