/* Token keys and their rolling. See secrets.h. */
#include "rm-lite/core/secrets.h"

#include <errno.h>
#include <string.h>

static int next_id(const struct rm_secret_keys *k)
{
    int32_t last = k->next.len ? k->next.key_id : k->current.key_id;

    return last == INT32_MAX ? 1 : last + 1;
}

int rm_secrets_init(struct rm_secrets *s, int64_t now, struct sv_error *err)
{
    for (int k = RM_SECRET_CONTAINER; k < RM_SECRETS; k++) {
        uint32_t start;
        int r;

        if (s->keys[k].current.len)
            continue;
        /* A random first id, so that a key of an earlier process is never mistaken for this one. */
        r = yarn_master_key_generate(0, sizeof(start), &s->keys[k].current);
        if (r < 0)
            return sv_error_errno(err, r, "token keys: no random bytes");
        memcpy(&start, s->keys[k].current.bytes, sizeof(start));
        r = yarn_master_key_generate((int32_t)(start & 0x3fffffff) | 1, s->key_len,
                                     &s->keys[k].current);
        if (r < 0)
            return sv_error_errno(err, r, "token keys: no random bytes");
        s->keys[k].made_ms = now;
    }
    return 0;
}

int rm_secrets_tick(struct rm_secrets *s, int64_t now, struct sv_error *err)
{
    int changed = 0;

    for (int i = RM_SECRET_CONTAINER; i < RM_SECRETS; i++) {
        struct rm_secret_keys *k = &s->keys[i];
        int64_t age = now - k->made_ms;

        if (k->next.len && age >= s->delay_ms[i]) {
            k->current = k->next;
            memset(&k->next, 0, sizeof(k->next));
            changed = 1;
        } else if (!k->next.len && age >= s->roll_ms[i]) {
            int r = yarn_master_key_generate(next_id(k), s->key_len, &k->next);

            if (r < 0)
                return sv_error_errno(err, r, "token keys: no random bytes for the next key");
            k->made_ms = now;
            changed = 1;
        }
    }
    return changed;
}

const struct yarn_master_key *rm_secrets_announce(const struct rm_secrets *s, enum rm_secret k)
{
    return s->keys[k].next.len ? &s->keys[k].next : &s->keys[k].current;
}

const struct yarn_master_key *rm_secrets_signing(const struct rm_secrets *s, enum rm_secret k)
{
    return k == RM_SECRET_AMRM ? rm_secrets_announce(s, k) : &s->keys[k].current;
}

int rm_secrets_password(const struct rm_secrets *s, enum rm_secret k, int32_t key_id,
                        const uint8_t *id, size_t id_len, uint8_t ret[YARN_TOKEN_PASSWORD_MAX],
                        size_t *ret_len)
{
    const struct rm_secret_keys *keys = &s->keys[k];
    const struct yarn_master_key *key = NULL;

    if (keys->current.len && keys->current.key_id == key_id)
        key = &keys->current;
    else if (keys->next.len && keys->next.key_id == key_id)
        key = &keys->next;
    if (!key)
        return -ENOKEY;
    return yarn_token_password(s->hmac, key, id, id_len, ret, ret_len);
}
