/* Text form of a token, as in files and command lines of Hadoop's tools. Hostile: the text. */
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#include "wire/token/token.h"
#include "wire/token/writable.h"

#define TEXT_MAX (4 * (YARN_TOKEN_ID_MAX + 4096) / 3)

int yarn_token_text(struct sv_arena *a, const struct yarn_token *t, const char **ret)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(TEXT_MAX / 4 * 3);
    int r = ipc_writable_put_token(&b, t);
    if (r < 0)
        return r;
    char *s = sv_arena_alloc(a, (b.len + 2) / 3 * 4 + 1);
    if (!s)
        return -ENOMEM;
    int n = EVP_EncodeBlock((uint8_t *)s, b.data, (int)b.len);
    OPENSSL_cleanse(b.data, b.len);
    while (n > 0 && s[n - 1] == '=')
        s[--n] = 0;
    for (char *p = s; *p; p++)
        *p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
    *ret = s;
    return 0;
}

/* Accepts both alphabets, with or without padding, as Hadoop's reader does; no white space. */
int yarn_token_parse(struct sv_arena *a, const char *text, struct yarn_token *ret)
{
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '=')
        n--;
    if (n == 0 || n > TEXT_MAX || n % 4 == 1)
        return -EBADMSG;
    size_t whole = (n + 3) / 4 * 4;
    uint8_t *in = sv_arena_alloc(a, whole), *out = sv_arena_alloc(a, whole);
    if (!in || !out)
        return -ENOMEM;
    for (size_t i = 0; i < whole; i++) {
        char c = i < n ? text[i] : '=';
        c = c == '-' ? '+' : c == '_' ? '/' : c;
        if (i < n && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            !(c >= '0' && c <= '9') && c != '+' && c != '/')
            return -EBADMSG;
        in[i] = (uint8_t)c;
    }
    int len = EVP_DecodeBlock(out, in, (int)whole);
    if (len < (int)(whole - n))
        return -EBADMSG;
    struct sv_buf b = SV_BUF_VIEW(out, (size_t)len - (whole - n));
    return ipc_writable_get_token(&b, a, ret);
}
