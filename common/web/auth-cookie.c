/* See auth-cookie.h. The signature is compared in constant time, before any field is read. */
#include "common/web/auth-cookie.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "common/str.h"

#define NAME "hadoop.auth="
#define SIGNATURE "&s="

struct span {
    const char *p;
    size_t len;
};

/* Finds the cookie's value, without its quotes. */
static int find_cookie(const char *header, struct span *ret)
{
    for (const char *p = header; *p;) {
        size_t len;

        p += strspn(p, " \t;");
        len = strcspn(p, ";");
        if (sv_has_prefix(p, NAME)) {
            struct span v = { p + strlen(NAME), len - strlen(NAME) };

            while (v.len > 0 && (v.p[v.len - 1] == ' ' || v.p[v.len - 1] == '\t'))
                v.len--;
            if (v.len >= 2 && v.p[0] == '"' && v.p[v.len - 1] == '"')
                v = (struct span){ v.p + 1, v.len - 2 };
            *ret = v;
            return 0;
        }
        p += len;
    }
    return -ENODATA;
}

/* Splits at the last "&s=". */
static int split_signature(struct span value, struct span *ret_text, struct span *ret_signature)
{
    const size_t mark = strlen(SIGNATURE);

    for (size_t i = value.len; i >= mark; i--) {
        const char *p = value.p + i - mark;

        if (memcmp(p, SIGNATURE, mark) == 0) {
            *ret_text = (struct span){ value.p, i - mark };
            *ret_signature = (struct span){ value.p + i, value.len - i };
            return 0;
        }
    }
    return -EBADMSG;
}

static int verify_signature(struct span text, struct span signature, const void *secret,
                            size_t secret_len)
{
    _cleanup_free_ char *wanted = NULL;
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned mac_len = 0;
    int r;

    if (secret_len == 0 || secret_len > INT32_MAX ||
        !HMAC(EVP_sha256(), secret, (int)secret_len, (const uint8_t *)text.p, text.len, mac,
              &mac_len))
        return -EBADMSG;
    r = sv_base64_encode(mac, mac_len, &wanted);
    if (r < 0)
        return r;
    if (signature.len != strlen(wanted) || CRYPTO_memcmp(signature.p, wanted, signature.len) != 0)
        return -EBADMSG;
    return 0;
}

/* Finds the last field `key` of the text, as Hadoop does. */
static bool field(struct span text, char key, char *buf, size_t size)
{
    bool found = false;

    for (size_t i = 0; i < text.len;) {
        const char *p = text.p + i, *end = memchr(p, '&', text.len - i);
        size_t len = end ? (size_t)(end - p) : text.len - i;

        if (len >= 2 && p[0] == key && p[1] == '=' && len - 2 < size) {
            memcpy(buf, p + 2, len - 2);
            buf[len - 2] = 0;
            found = true;
        }
        i += len + 1;
    }
    return found;
}

/* Checks a field of milliseconds of the wall clock; -1 means never. */
static int check_time(struct span text, char key, bool needed, int64_t now_ms)
{
    char value[32];
    int64_t end;

    if (!field(text, key, value, sizeof(value)))
        return needed ? -EBADMSG : 0;
    if (sv_parse_i64(value, -1, INT64_MAX, &end) < 0)
        return -EBADMSG;
    return end != -1 && now_ms > end ? -ETIME : 0;
}

int sv_auth_cookie_verify(const char *header, const void *secret, size_t secret_len,
                          const char *type, int64_t now_ms, char ret_user[SV_AUTH_USER_MAX])
{
    char user[SV_AUTH_USER_MAX], found_type[64];
    struct span value, text, signature;
    int r = find_cookie(header, &value);

    if (r >= 0)
        r = split_signature(value, &text, &signature);
    if (r >= 0)
        r = verify_signature(text, signature, secret, secret_len);
    if (r < 0)
        return r;
    if (!field(text, 'u', user, sizeof(user)) || !*user ||
        !field(text, 't', found_type, sizeof(found_type)) || !sv_streq(found_type, type))
        return -EBADMSG;
    r = check_time(text, 'e', true, now_ms);
    if (r >= 0)
        r = check_time(text, 'i', false, now_ms); /* inactivity */
    if (r < 0)
        return r;
    memcpy(ret_user, user, sizeof(user));
    return 0;
}
