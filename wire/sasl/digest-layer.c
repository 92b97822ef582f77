/* Integrity and privacy of DIGEST-MD5; see digest-layer.h. Hostile: wrapped input and its order.
 *
 *   integrity:           message | MAC[0..9] | 0x0001 | number
 *   privacy:   3DES-CBC( message | padding | MAC[0..9] ) | 0x0001 | number
 *
 * MAC = HMAC-MD5 over number and message; the numbers count from 0, 4 bytes, big-endian; the
 * cipher's chain continues from message to message. Java reads the RFC the same way (checked by
 * tests/interop/test-wire in both directions). */
#include "wire/sasl/digest-layer.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <string.h>

#include "wire/sasl/digest.h"

#define MAC_LEN 10
#define TAIL_LEN 6 /* type and number */
#define BLOCK 8

/* One direction. */
struct sasl_direction {
    EVP_MAC_CTX *mac;       /* keyed */
    EVP_CIPHER_CTX *cipher; /* NULL: integrity */
    uint32_t number;        /* of the next message */
    bool over;              /* the numbers are exhausted */
};

struct digest_layer {
    struct sasl_layer base;
    enum ipc_qop qop;
    struct sasl_direction out, in;
};

static const struct sasl_layer_functions functions;

static struct digest_layer *digest_of(struct sasl_layer *l)
{
    return (struct digest_layer *)l;
}

static const struct digest_layer *digest_of_const(const struct sasl_layer *l)
{
    return (const struct digest_layer *)l;
}

static void put_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

/* ---- Keys ---- */

static int direction_mac(struct sasl_direction *w, const uint8_t *ha1, const char *magic)
{
    uint8_t key[DIGEST_MD5_LEN];
    char md5[] = "MD5";
    OSSL_PARAM params[] = { OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, md5, 0),
                            OSSL_PARAM_construct_end() };
    int r = ipc_digest_md5(key, ha1, DIGEST_MD5_LEN, magic, strlen(magic));
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    w->mac = hmac ? EVP_MAC_CTX_new(hmac) : NULL;
    if (r < 0 || !w->mac || !EVP_MAC_init(w->mac, key, sizeof(key), params))
        r = -EIO;
    EVP_MAC_free(hmac);
    OPENSSL_cleanse(key, sizeof(key));
    return r;
}

/* Expands 7 bytes of key to the 8 of DES, which uses the upper 7 bits of each. */
static void des_key(const uint8_t *p, uint8_t out[BLOCK])
{
    uint64_t bits = 0;
    for (size_t i = 0; i < 7; i++)
        bits = bits << 8 | p[i];
    for (size_t i = 0; i < BLOCK; i++)
        out[i] = (uint8_t)((bits >> (49 - 7 * i) & 0x7f) << 1);
}

static int direction_cipher(struct sasl_direction *w, const uint8_t *ha1, const char *magic,
                            int encrypt)
{
    uint8_t kc[DIGEST_MD5_LEN], key[2 * BLOCK];
    int r = ipc_digest_md5(kc, ha1, DIGEST_MD5_LEN, magic, strlen(magic));
    des_key(kc, key);
    des_key(kc + 7, key + BLOCK);
    w->cipher = EVP_CIPHER_CTX_new();
    if (r < 0 || !w->cipher ||
        !EVP_CipherInit_ex2(w->cipher, EVP_des_ede_cbc(), key, kc + BLOCK, encrypt, NULL) ||
        !EVP_CIPHER_CTX_set_padding(w->cipher, 0))
        r = -EIO;
    OPENSSL_cleanse(kc, sizeof(kc));
    OPENSSL_cleanse(key, sizeof(key));
    return r;
}

int ipc_digest_layer_new(enum ipc_qop qop, const uint8_t *ha1, bool server, size_t peer_maxbuf,
                         struct sasl_layer **ret)
{
    static const char sign_client[] =
        "Digest session key to client-to-server signing key magic constant";
    static const char sign_server[] =
        "Digest session key to server-to-client signing key magic constant";
    static const char seal_client[] = "Digest H(A1) to client-to-server sealing key magic constant";
    static const char seal_server[] = "Digest H(A1) to server-to-client sealing key magic constant";
    if (qop == IPC_QOP_AUTH || peer_maxbuf < SASL_LAYER_MAXBUF_MIN)
        return -EINVAL;
    struct digest_layer *l = calloc(1, sizeof(*l));
    if (!l)
        return -ENOMEM;
    _cleanup_(sasl_layer_freep) struct sasl_layer *base = &l->base;
    base->f = &functions;
    base->max_input = SV_MIN(peer_maxbuf, (size_t)SASL_LAYER_MAXBUF) - DIGEST_LAYER_OVERHEAD;
    l->qop = qop;
    int r = direction_mac(&l->out, ha1, server ? sign_server : sign_client);
    if (r >= 0)
        r = direction_mac(&l->in, ha1, server ? sign_client : sign_server);
    if (r >= 0 && qop == IPC_QOP_PRIVACY)
        r = direction_cipher(&l->out, ha1, server ? seal_server : seal_client, 1);
    if (r >= 0 && qop == IPC_QOP_PRIVACY)
        r = direction_cipher(&l->in, ha1, server ? seal_client : seal_server, 0);
    if (r >= 0)
        *ret = SV_TAKE(base);
    return r;
}

static void direction_free(struct sasl_direction *w)
{
    EVP_MAC_CTX_free(w->mac);
    EVP_CIPHER_CTX_free(w->cipher);
}

static void layer_free(struct sasl_layer *base)
{
    struct digest_layer *l = digest_of(base);
    direction_free(&l->out);
    direction_free(&l->in);
    free(l);
}

static size_t padding(const struct digest_layer *l, size_t n)
{
    return l->qop == IPC_QOP_PRIVACY ? BLOCK - (n + MAC_LEN) % BLOCK : 0;
}

static size_t layer_size(const struct sasl_layer *base, size_t n)
{
    return n + padding(digest_of_const(base), n) + MAC_LEN + TAIL_LEN;
}

/* ---- Messages ---- */

static int mac(struct sasl_direction *w, const uint8_t *p, size_t n, uint8_t ret[DIGEST_MD5_LEN])
{
    uint8_t number[4];
    size_t len;
    put_u32(number, w->number);
    bool ok = EVP_MAC_init(w->mac, NULL, 0, NULL) &&
              EVP_MAC_update(w->mac, number, sizeof(number)) && EVP_MAC_update(w->mac, p, n) &&
              EVP_MAC_final(w->mac, ret, &len, DIGEST_MD5_LEN);
    return ok ? 0 : -EIO;
}

static int crypt_in_place(struct sasl_direction *w, uint8_t *p, size_t n)
{
    int len = 0;
    if (n > INT32_MAX || !EVP_CipherUpdate(w->cipher, p, &len, p, (int)n) || (size_t)len != n)
        return -EIO;
    return 0;
}

static void number_next(struct sasl_direction *w)
{
    w->over = ++w->number == 0;
}

static int layer_wrap(struct sasl_layer *base, const uint8_t *p, size_t n, uint8_t *out)
{
    struct digest_layer *l = digest_of(base);
    uint8_t full[DIGEST_MD5_LEN];
    if (l->out.over)
        return -EOVERFLOW;
    int r = mac(&l->out, p, n, full);
    if (r < 0)
        return r;
    size_t pad = padding(l, n), body = n + pad + MAC_LEN;
    memcpy(out, p, n);
    memset(out + n, (int)pad, pad);
    memcpy(out + n + pad, full, MAC_LEN);
    if (l->out.cipher && (r = crypt_in_place(&l->out, out, body)) < 0)
        return r;
    out[body] = 0;
    out[body + 1] = 1;
    put_u32(out + body + 2, l->out.number);
    number_next(&l->out);
    return 0;
}

/* Returns the number of padding bytes at the end of n; 0 with privacy = invalid. Only the last byte
 * is checked, as in Java: the MAC decides. */
static size_t padding_found(const struct digest_layer *l, const uint8_t *p, size_t n)
{
    if (l->qop != IPC_QOP_PRIVACY || n == 0)
        return 0;
    size_t pad = p[n - 1];
    return pad <= BLOCK && pad <= n ? pad : 0;
}

static int layer_unwrap(struct sasl_layer *base, uint8_t *p, size_t n, uint8_t **ret,
                        size_t *ret_len)
{
    struct digest_layer *l = digest_of(base);
    uint8_t full[DIGEST_MD5_LEN], tail[TAIL_LEN] = { 0, 1 };
    if (n < MAC_LEN + TAIL_LEN || l->in.over)
        return -EBADMSG;
    size_t body = n - TAIL_LEN;
    put_u32(tail + 2, l->in.number);
    if (memcmp(p + body, tail, TAIL_LEN) != 0)
        return -EBADMSG;
    if (l->in.cipher && (body % BLOCK || crypt_in_place(&l->in, p, body) < 0))
        return -EBADMSG;
    size_t len = body - MAC_LEN, pad = padding_found(l, p, len);
    if (mac(&l->in, p, len - pad, full) < 0 || CRYPTO_memcmp(full, p + len, MAC_LEN) != 0 ||
        (l->in.cipher && pad == 0))
        return -EBADMSG;
    number_next(&l->in);
    *ret = p;
    *ret_len = len - pad;
    return 0;
}

static const struct sasl_layer_functions functions = {
    .size = layer_size,
    .wrap = layer_wrap,
    .unwrap = layer_unwrap,
    .free = layer_free,
};
