/* See auth-cookie.h. The signature is compared in constant time, before any field is read. */
#include "common/web/auth-cookie.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <time.h>

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

/* The base64 text of the signature. -EBADMSG: there is no secret. */
static int sign(struct span text, const void *secret, size_t secret_len, char **ret)
{
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned mac_len = 0;

    if (secret_len == 0 || secret_len > INT32_MAX ||
        !HMAC(EVP_sha256(), secret, (int)secret_len, (const uint8_t *)text.p, text.len, mac,
              &mac_len))
        return -EBADMSG;
    return sv_base64_encode(mac, mac_len, ret);
}

static int verify_signature(struct span text, struct span signature, const void *secret,
                            size_t secret_len)
{
    _cleanup_free_ char *wanted = NULL;
    int r = sign(text, secret, secret_len, &wanted);

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

int sv_auth_cookie_names(const char *header, const void *secret, size_t secret_len,
                         const char *type, int64_t now_ms, struct sv_auth_names *ret)
{
    struct sv_auth_names names = { .principal = "" };
    char found_type[64];
    struct span value, text, signature;
    int r = find_cookie(header, &value);

    if (r >= 0)
        r = split_signature(value, &text, &signature);
    if (r >= 0)
        r = verify_signature(text, signature, secret, secret_len);
    if (r < 0)
        return r;
    if (!field(text, 'u', names.user, sizeof(names.user)) || !*names.user ||
        !field(text, 't', found_type, sizeof(found_type)) || !sv_streq(found_type, type))
        return -EBADMSG;
    r = check_time(text, 'e', true, now_ms);
    if (r >= 0)
        r = check_time(text, 'i', false, now_ms); /* inactivity */
    if (r < 0)
        return r;
    (void)field(text, 'p', names.principal, sizeof(names.principal)); /* may be absent */
    *ret = names;
    return 0;
}

int sv_auth_cookie_verify(const char *header, const void *secret, size_t secret_len,
                          const char *type, int64_t now_ms, char ret_user[SV_AUTH_USER_MAX])
{
    struct sv_auth_names names;
    int r = sv_auth_cookie_names(header, secret, secret_len, type, now_ms, &names);

    if (r >= 0)
        memcpy(ret_user, names.user, sizeof(names.user));
    return r;
}

/* ---- Cookies that are issued ---- */

/* Neither a separator of the cookie's own fields, nor one of the header. */
static bool is_field(const char *s)
{
    size_t n = strlen(s);

    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~' || strchr("&;,\"\\", s[i]))
            return false;
    return n > 0;
}

int sv_auth_cookie_sign(const struct sv_auth_cookie *c, const void *secret, size_t secret_len,
                        char **ret)
{
    _cleanup_free_ char *text = NULL, *signature = NULL;
    int r;

    if (!is_field(c->user) || !is_field(c->principal))
        return -EINVAL;
    r = sv_asprintf(&text, "u=%s&p=%s&t=%s&e=%lld", c->user, c->principal, c->type,
                    (long long)c->expires_ms);
    if (r >= 0)
        r = sign((struct span){ text, strlen(text) }, secret, secret_len, &signature);
    return r < 0 ? r : sv_asprintf(ret, "%s" SIGNATURE "%s", text, signature);
}

int sv_auth_cookie_header(const struct sv_auth_cookie_header *h, char **ret)
{
    char expires[64] = "";
    time_t at = (time_t)(h->expires_ms / 1000);
    struct tm tm;

    if (h->expires_ms >= 0 &&
        (!gmtime_r(&at, &tm) ||
         strftime(expires, sizeof(expires), "; Expires=%a, %d-%b-%Y %H:%M:%S GMT", &tm) == 0))
        return -EINVAL;
    return sv_asprintf(ret, NAME "%s%s%s; Path=/%s%s%s%s; HttpOnly", h->value ? "\"" : "",
                       h->value ? h->value : "", h->value ? "\"" : "", h->domain ? "; Domain=" : "",
                       h->domain ? h->domain : "", expires, h->secure ? "; Secure" : "");
}
