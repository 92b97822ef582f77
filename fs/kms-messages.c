/* See kms-messages.h. */
#include "fs/kms-messages.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define KEY_TEXT_MAX 44 /* base64 of HDFS_KEY_MAX bytes */

/* ---- The provider ---- */

static bool is_host_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_';
}

/* "host1;host2" in s[0..n). */
static int parse_hosts(const char *s, size_t n, struct fs_kms_uri *u)
{
    for (const char *end = s + n;; s++) {
        size_t len = 0;

        while (s + len < end && is_host_byte(s[len]))
            len++;
        if (len == 0 || len > HDFS_HOST_MAX || u->n == FS_KMS_HOSTS_MAX)
            return -EINVAL;
        memcpy(u->hosts[u->n], s, len);
        u->hosts[u->n++][len] = 0;
        s += len;
        if (s == end)
            return 0;
        if (*s != ';')
            return -EINVAL;
    }
}

static int parse_port(const char *s, size_t n, uint16_t *ret)
{
    char text[6];
    uint64_t v;

    if (n == 0 || n >= sizeof(text))
        return -EINVAL;
    memcpy(text, s, n);
    text[n] = 0;
    if (sv_parse_u64(text, 1, UINT16_MAX, &v) < 0)
        return -EINVAL;
    *ret = (uint16_t)v;
    return 0;
}

/* Components of letters, digits and "-._", none of which is "." or "..". */
static int parse_path(const char *s, struct fs_kms_uri *u)
{
    size_t n = strlen(s);

    if (n > 0 && s[n - 1] == '/')
        n--;
    if (n > FS_KMS_PATH_MAX)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (s[i] == '/' ? i + 1 == n || s[i + 1] == '/' || s[i + 1] == '.' : !is_host_byte(s[i]))
            return -EINVAL;
    memcpy(u->path, s, n);
    return 0;
}

int fs_kms_uri_parse(const char *provider, struct fs_kms_uri *ret, struct sv_error *err)
{
    struct fs_kms_uri u = { 0 };
    const char *at = provider, *colon, *slash;
    size_t scheme = strcspn(provider, ":"), n;
    char printable[200];

    if (!*provider)
        return sv_error_set(err, -EOPNOTSUPP, "the NameNode names no key provider");
    sv_escape(printable, sizeof(printable), provider);
    if (scheme != 3 || strncmp(provider, "kms", 3) != 0)
        return sv_error_set(err, -EOPNOTSUPP,
                            "its key provider is %s, which is not supported: kms: is", printable);
    if (sv_has_prefix(at, "kms://http@"))
        at += strlen("kms://http@");
    else if (sv_has_prefix(at, "kms://https@"))
        at += strlen("kms://https@");
    u.secure = sv_has_prefix(provider, "kms://https@");
    n = strcspn(at, "/");
    slash = at + n;
    colon = memchr(at, ':', n);
    if (at == provider || !colon || parse_hosts(at, (size_t)(colon - at), &u) < 0 ||
        parse_port(colon + 1, (size_t)(slash - colon - 1), &u.port) < 0 ||
        parse_path(slash, &u) < 0)
        return sv_error_set(err, -EINVAL,
                            "its key provider is %s, not kms://http@host:port/path or "
                            "kms://https@host1;host2:port/path",
                            printable);
    *ret = u;
    return 0;
}

/* ---- The request ---- */

int fs_kms_url(const struct fs_kms_uri *u, unsigned host, const struct hdfs_edek *e,
               const char *user, char ret[FS_URL_MAX + 1])
{
    char version[3 * HDFS_KEY_NAME_MAX + 1], name[3 * HDFS_USER_MAX + 1];
    int n;

    if (fs_url_encode(e->version, version, sizeof(version)) < 0 ||
        fs_url_encode(user, name, sizeof(name)) < 0)
        return -ENAMETOOLONG;
    n = snprintf(ret, FS_URL_MAX + 1, "%s://%s:%u%s/v1/keyversion/%s/_eek?eek_op=decrypt%s%s",
                 u->secure ? "https" : "http", u->hosts[host], u->port, u->path, version,
                 *name ? "&user.name=" : "", name);
    return n < 0 || n > FS_URL_MAX ? -ENAMETOOLONG : 0;
}

static void json_freep(json_t **j)
{
    json_decref(*j);
}

int fs_kms_request(const struct hdfs_edek *e, char **ret)
{
    _cleanup_free_ char *key = NULL, *iv = NULL;
    _cleanup_(json_freep) json_t *j = NULL;
    int r = sv_base64_encode(e->key, e->n, &key);

    if (r == 0)
        r = sv_base64_encode(e->iv, sizeof(e->iv), &iv);
    if (r < 0)
        return r;
    j = json_pack("{s:s, s:s, s:s}", "name", e->name, "iv", iv, "material", key);
    *ret = j ? json_dumps(j, JSON_COMPACT) : NULL;
    return *ret ? 0 : -ENOMEM;
}

/* ---- The answer ---- */

/* Base64 in either alphabet, with padding or without, as standard base64. */
static size_t standard_base64(const char *s, size_t n, char ret[KEY_TEXT_MAX + 1])
{
    size_t len = 0;

    for (; len < n; len++)
        ret[len] = s[len] == '-' ? '+' : s[len] == '_' ? '/' : s[len];
    while (len % 4 != 0)
        ret[len++] = '=';
    ret[len] = 0;
    return len;
}

int fs_kms_answer(const char *text, size_t n, size_t want, uint8_t ret[HDFS_KEY_MAX])
{
    _cleanup_(json_freep) json_t *j =
        n <= FS_KMS_ANSWER_MAX ? json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *material = json_object_get(j, "material");
    const char *s = json_string_value(material);
    size_t len = json_string_length(material), got = 0;
    char standard[KEY_TEXT_MAX + 1];
    uint8_t *key = NULL;
    int r = -EBADMSG;

    if (!s || len > KEY_TEXT_MAX)
        return r;
    len = standard_base64(s, len, standard);
    explicit_bzero((char *)(uintptr_t)s, json_string_length(material)); /* jansson's copy */
    if (sv_base64_decode(standard, len, HDFS_KEY_MAX, &key, &got) == 0) {
        if (got == want) {
            memcpy(ret, key, got);
            r = 0;
        }
        explicit_bzero(key, got);
        free(key);
    }
    explicit_bzero(standard, sizeof(standard));
    return r;
}
