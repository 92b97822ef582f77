/* DIGEST-MD5's directives and its formula; see digest.h. Hostile: the directives. */
#include "wire/sasl/digest.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

/* ---- Directives: name=token or name="quoted", separated by commas ---- */

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static bool token_char(char c)
{
    return c > 0x20 && c < 0x7f && !strchr("()<>@,;:\\\"/[]?={}", c);
}

static char *blanks_skip(char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* Parses one directive at p. NULL on a violation, else the position after it. */
static char *directive_parse(char *p, struct digest_directive *ret)
{
    ret->name = p;
    while (name_char(*p))
        p++;
    if (p == ret->name || *p != '=')
        return NULL;
    *p++ = 0;
    char *end;
    if (*p == '"') {
        ret->value = ++p;
        while (*p && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
            p++;
        if (*p != '"')
            return NULL;
        end = p++;
    } else {
        ret->value = p;
        while (token_char(*p))
            p++;
        if (p == ret->value)
            return NULL;
        end = p;
    }
    p = blanks_skip(p);
    if (*p == ',')
        p = blanks_skip(p + 1);
    else if (*p)
        return NULL;
    *end = 0;
    return p;
}

int ipc_digest_parse(struct digest_directives *ds, const uint8_t *p, size_t n, size_t max)
{
    if (n == 0 || n > max || n >= sizeof(ds->text) || memchr(p, 0, n))
        return -EBADMSG;
    memcpy(ds->text, p, n);
    ds->text[n] = 0;
    ds->n = 0;
    for (char *at = blanks_skip(ds->text); *at;) {
        if (ds->n == DIGEST_DIRECTIVES_MAX)
            return -EBADMSG;
        at = directive_parse(at, &ds->d[ds->n]);
        if (!at)
            return -EBADMSG;
        for (size_t i = 0; i < ds->n; i++)
            if (sv_streq(ds->d[i].name, ds->d[ds->n].name))
                return -EBADMSG;
        ds->n++;
    }
    return 0;
}

const char *ipc_digest_get(const struct digest_directives *ds, const char *name)
{
    for (size_t i = 0; i < ds->n; i++)
        if (sv_streq(ds->d[i].name, name))
            return ds->d[i].value;
    return NULL;
}

bool ipc_digest_known(const struct digest_directives *ds, const char *const *names)
{
    for (size_t i = 0; i < ds->n; i++) {
        const char *const *k = names;
        while (*k && !sv_streq(*k, ds->d[i].name))
            k++;
        if (!*k)
            return false;
    }
    return true;
}

/* ---- RFC 2831 2.1.2.1 and 2.1.3 ---- */

/* Computes MD5 over pieces. */
struct piece {
    const void *p;
    size_t n;
};
#define TEXT(s)                                                                                    \
    {                                                                                              \
        (s), strlen(s)                                                                             \
    }

static int md5(uint8_t ret[DIGEST_MD5_LEN], const struct piece *pieces, size_t n)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_md5(), NULL);
    for (size_t i = 0; ok && i < n; i++)
        ok = EVP_DigestUpdate(ctx, pieces[i].p, pieces[i].n);
    ok = ok && EVP_DigestFinal_ex(ctx, ret, NULL);
    EVP_MD_CTX_free(ctx);
    return ok ? 0 : -EIO;
}

int ipc_digest_md5(uint8_t ret[DIGEST_MD5_LEN], const void *a, size_t a_len, const void *b,
                   size_t b_len)
{
    const struct piece pieces[] = { { a, a_len }, { b, b_len } };
    return md5(ret, pieces, 2);
}

static void hex(const uint8_t *p, char out[DIGEST_HEX_LEN])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < DIGEST_MD5_LEN; i++) {
        out[2 * i] = digits[p[i] >> 4];
        out[2 * i + 1] = digits[p[i] & 15];
    }
    out[2 * DIGEST_MD5_LEN] = 0;
}

static int ha1(const struct digest_input *in, uint8_t ret[DIGEST_MD5_LEN])
{
    uint8_t secret[DIGEST_MD5_LEN];
    const struct piece first[] = { TEXT(in->user), TEXT(":"), TEXT(in->realm), TEXT(":"),
                                   TEXT(in->password) };
    bool acts = in->authzid && *in->authzid;
    const struct piece second[] = { { secret, sizeof(secret) },
                                    TEXT(":"),
                                    TEXT(in->nonce),
                                    TEXT(":"),
                                    TEXT(in->cnonce),
                                    TEXT(acts ? ":" : ""),
                                    TEXT(acts ? in->authzid : "") };
    int r = md5(secret, first, SV_ARRAY_LEN(first));
    if (r >= 0)
        r = md5(ret, second, SV_ARRAY_LEN(second));
    OPENSSL_cleanse(secret, sizeof(secret));
    return r;
}

/* Computes the response value of one side; `who` is "AUTHENTICATE" for the client, "" for the
 * server. */
static int proof(const struct digest_input *in, const uint8_t a1[DIGEST_MD5_LEN], const char *who,
                 char ret[DIGEST_HEX_LEN])
{
    static const char no_body[] = ":00000000000000000000000000000000";
    uint8_t h[DIGEST_MD5_LEN];
    char a1_hex[DIGEST_HEX_LEN], a2_hex[DIGEST_HEX_LEN];
    const struct piece a2[] = { TEXT(who), TEXT(":"), TEXT(in->uri),
                                TEXT(sv_streq(in->qop, "auth") ? "" : no_body) };
    const struct piece all[] = { { a1_hex, 32 },     TEXT(":"),        TEXT(in->nonce),
                                 TEXT(":00000001:"), TEXT(in->cnonce), TEXT(":"),
                                 TEXT(in->qop),      TEXT(":"),        { a2_hex, 32 } };
    int r = md5(h, a2, SV_ARRAY_LEN(a2));
    if (r < 0)
        return r;
    hex(h, a2_hex);
    hex(a1, a1_hex);
    r = md5(h, all, SV_ARRAY_LEN(all));
    OPENSSL_cleanse(a1_hex, sizeof(a1_hex));
    if (r < 0)
        return r;
    hex(h, ret);
    return 0;
}

int ipc_digest_compute(const struct digest_input *in, struct digest_output *ret)
{
    int r = ha1(in, ret->ha1);
    if (r >= 0)
        r = proof(in, ret->ha1, "AUTHENTICATE", ret->response);
    if (r >= 0)
        r = proof(in, ret->ha1, "", ret->rspauth);
    return r;
}
