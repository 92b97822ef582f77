/* See conf-tokens.h. The files are the operator's. */
#include "router/conf-tokens.h"

#include <errno.h>

#define DELEGATION "yarn.resourcemanager.delegation."
#define SECRET "hadoop.security.secret-manager."

enum { K_KEY, K_MAX, K_RENEW, K_SCAN, K_PER_USER, K_HMAC, K_BITS, K_COUNT };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_KEY] = { DELEGATION "key.update-interval", SV_CONF_DURATION, "86400000", 1000, INT64_MAX / 4, 1, "Age at which the key of this Router's delegation tokens is replaced." },
    [K_MAX] = { DELEGATION "token.max-lifetime", SV_CONF_DURATION, "604800000", 1000, INT64_MAX / 4, 1, "A delegation token ends so long after its issue, however often it is renewed." },
    [K_RENEW] = { DELEGATION "token.renew-interval", SV_CONF_DURATION, "86400000", 1000, INT64_MAX / 4, 1, "A delegation token ends so long after its issue or last renewal." },
    [K_SCAN] = { DELEGATION "token.remove-scan-interval", SV_CONF_DURATION, "1h", 1000, INT64_MAX / 4, 1, "How often expired tokens are deleted in the state store." },
    [K_PER_USER] = { "selvedge.router.delegation-tokens-per-user", SV_CONF_INT, "1000", 1, 100000, .help = "Delegation tokens that one user may have." },
    [K_HMAC] = { SECRET "key-generator.algorithm", SV_CONF_STRING, "HmacSHA1", .help = "HMAC of tokens; the same on every daemon." },
    [K_BITS] = { SECRET "key-length", SV_CONF_INT, "256", 64, 512, .help = "Bits of a token key." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *rtr_conf_tokens_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

int rtr_conf_tokens_read(struct sv_conf *c, struct rtr_conf_tokens *ret, struct sv_error *err)
{
    struct rtr_conf_tokens t;
    const char *hmac = NULL;
    int r = sv_conf_duration_ms(c, &keys[K_KEY], &t.key_ms, err);

    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_MAX], &t.max_ms, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_RENEW], &t.renew_ms, err);
    if (r >= 0)
        r = sv_conf_duration_ms(c, &keys[K_SCAN], &t.scan_ms, err);
    if (r >= 0)
        r = sv_conf_int(c, &keys[K_PER_USER], &t.per_user, err);
    if (r >= 0)
        r = sv_conf_int(c, &keys[K_BITS], &t.key_bits, err);
    if (r >= 0)
        r = sv_conf_string(c, &keys[K_HMAC], &hmac, err);
    if (r < 0)
        return r;
    if (yarn_hmac_parse(hmac, &t.hmac) < 0)
        return sv_error_set(err, -EINVAL,
                            "%s: \"%s\" is not HmacSHA1, HmacSHA224, HmacSHA256, HmacSHA384 or "
                            "HmacSHA512",
                            keys[K_HMAC].name, hmac);
    *ret = t;
    return 0;
}
