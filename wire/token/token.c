/* Hadoop tokens: passwords, master keys, comparison, the wire message. Hostile: identifiers and
 * passwords that a peer presents. */
#include "wire/token/token.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <sys/random.h>

#include "common/str.h"
#include "proto/security.pb-c.h"

static const struct {
    const char *name; /* Java's */
    const EVP_MD *(*md)(void);
} hmacs[] = {
    [YARN_HMAC_SHA1] = { "HmacSHA1", EVP_sha1 },
    [YARN_HMAC_SHA224] = { "HmacSHA224", EVP_sha224 },
    [YARN_HMAC_SHA256] = { "HmacSHA256", EVP_sha256 },
    [YARN_HMAC_SHA384] = { "HmacSHA384", EVP_sha384 },
    [YARN_HMAC_SHA512] = { "HmacSHA512", EVP_sha512 },
};

int yarn_hmac_parse(const char *name, enum yarn_hmac *ret)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(hmacs); i++)
        if (strcasecmp(hmacs[i].name, name) == 0) {
            *ret = (enum yarn_hmac)i;
            return 0;
        }
    return -EINVAL;
}

int yarn_master_key_generate(int32_t key_id, size_t len, struct yarn_master_key *ret)
{
    struct yarn_master_key key = { .key_id = key_id, .len = len };
    if (len == 0 || len > sizeof(key.bytes))
        return -EINVAL;
    if (getrandom(key.bytes, len, 0) != (ssize_t)len)
        return -EIO;
    *ret = key;
    OPENSSL_cleanse(&key, sizeof(key));
    return 0;
}

int yarn_token_password(enum yarn_hmac alg, const struct yarn_master_key *key, const uint8_t *id,
                        size_t id_len, uint8_t ret[YARN_TOKEN_PASSWORD_MAX], size_t *ret_len)
{
    uint8_t out[EVP_MAX_MD_SIZE];
    unsigned len = sizeof(out);
    if ((size_t)alg >= SV_ARRAY_LEN(hmacs) || key->len == 0 || key->len > sizeof(key->bytes))
        return -EINVAL;
    if (!HMAC(hmacs[alg].md(), key->bytes, (int)key->len, id, id_len, out, &len) ||
        len > YARN_TOKEN_PASSWORD_MAX)
        return -EIO;
    memcpy(ret, out, len);
    *ret_len = len;
    OPENSSL_cleanse(out, sizeof(out));
    return 0;
}

bool yarn_bytes_equal(const void *a, size_t an, const void *b, size_t bn)
{
    return an == bn && CRYPTO_memcmp(a, b, an) == 0;
}

/* ---- TokenProto ---- */

int yarn_token_from(const Hadoop__Common__TokenProto *m, struct sv_arena *a, struct yarn_token *ret)
{
    if (!m || m->identifier.len > YARN_TOKEN_ID_MAX || m->password.len > YARN_TOKEN_ID_MAX ||
        !m->kind || !m->service)
        return -EBADMSG;
    struct yarn_token t = {
        .id = sv_arena_memdup(a, m->identifier.data, m->identifier.len),
        .id_len = m->identifier.len,
        .password = sv_arena_memdup(a, m->password.data, m->password.len),
        .password_len = m->password.len,
        .kind = sv_arena_strdup(a, m->kind),
        .service = sv_arena_strdup(a, m->service),
    };
    if (!t.id || !t.password || !t.kind || !t.service)
        return -ENOMEM;
    *ret = t;
    return 0;
}

Hadoop__Common__TokenProto *yarn_token_to(struct sv_arena *a, const struct yarn_token *t)
{
    Hadoop__Common__TokenProto *m = sv_new(a, Hadoop__Common__TokenProto);
    if (!m)
        return NULL;
    hadoop__common__token_proto__init(m);
    m->identifier.data = sv_arena_memdup(a, t->id, t->id_len);
    m->identifier.len = t->id_len;
    m->password.data = sv_arena_memdup(a, t->password, t->password_len);
    m->password.len = t->password_len;
    m->kind = sv_arena_strdup(a, t->kind ? t->kind : "");
    m->service = sv_arena_strdup(a, t->service ? t->service : "");
    return m->identifier.data && m->password.data && m->kind && m->service ? m : NULL;
}
