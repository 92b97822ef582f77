/* See url.h. Hostile: URLs of applications and redirects of web servers. */
#include "fs/url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

#define WEBHDFS_PORT 9870  /* dfs.namenode.http-address */
#define SWEBHDFS_PORT 9871 /* dfs.namenode.https-address */

static const struct {
    const char *text;
    enum fs_scheme scheme;
} schemes[] = {
    { "file", FS_SCHEME_FILE },       { "http", FS_SCHEME_HTTP },
    { "https", FS_SCHEME_HTTPS },     { "hdfs", FS_SCHEME_HDFS },
    { "webhdfs", FS_SCHEME_WEBHDFS }, { "swebhdfs", FS_SCHEME_SWEBHDFS },
    { "s3a", FS_SCHEME_S3 },          { "s3", FS_SCHEME_S3 },
};

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool fs_name_valid(const char *name)
{
    size_t n = strnlen(name, FS_NAME_MAX + 1);

    if (n == 0 || n > FS_NAME_MAX || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (name[i] == '/' || (unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return false;
    return true;
}

static const char *parse_scheme(const char *s, enum fs_scheme *ret)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(schemes); i++) {
        size_t n = strlen(schemes[i].text);

        if (strncasecmp(s, schemes[i].text, n) == 0 && s[n] == ':') {
            *ret = schemes[i].scheme;
            return s + n + 1;
        }
    }
    return NULL;
}

/* host, host:port, [v6], [v6]:port in s[0..n). */
static int parse_authority(const char *s, size_t n, struct fs_url *u)
{
    bool v6 = n > 0 && s[0] == '[';
    const char *end = v6 ? memchr(s, ']', n) : memchr(s, ':', n);
    size_t host_len;
    char port[6];

    if (v6) {
        if (!end)
            return -EINVAL;
        s++;
        n--;
    }
    host_len = end ? (size_t)(end - s) : n;
    if (host_len == 0 || host_len >= sizeof(u->host))
        return -EINVAL;
    for (size_t i = 0; i < host_len; i++) {
        bool ok = v6 ? hex(s[i]) >= 0 || s[i] == ':' || s[i] == '.'
                     : is_alnum(s[i]) || s[i] == '-' || s[i] == '.' || s[i] == '_';

        if (!ok)
            return -EINVAL;
        u->host[i] = s[i];
    }
    u->host[host_len] = 0;
    s += host_len + (v6 ? 1 : 0);
    n -= host_len + (v6 ? 1 : 0);
    u->port = 0;
    if (n > 0) {
        uint64_t v;

        if (s[0] != ':' || n - 1 >= sizeof(port))
            return -EINVAL;
        memcpy(port, s + 1, n - 1);
        port[n - 1] = 0;
        if (sv_parse_u64(port, 1, UINT16_MAX, &v) < 0)
            return -EINVAL;
        u->port = (uint16_t)v;
    }
    return 0;
}

/* Decodes s[0..n) into u->path, one '/' between components, and finds the name. */
static int parse_path(const char *s, size_t n, struct fs_url *u)
{
    size_t len = 0, start = 0; /* start: of the current component */

    if (n == 0 || s[0] != '/')
        return -EINVAL;
    for (size_t i = 0; i <= n; i++) {
        int c = i < n ? (unsigned char)s[i] : '/';

        if (c == '%') {
            int hi = i + 1 < n ? hex(s[i + 1]) : -1, lo = i + 2 < n ? hex(s[i + 2]) : -1;

            if (hi < 0 || lo < 0)
                return -EINVAL;
            c = hi << 4 | lo;
            i += 2;
            if (c == '/')
                return -EINVAL; /* some readers treat it as a separator */
        } else if (c == '/') {
            size_t part = len - start;

            if ((part == 1 && u->path[start] == '.') ||
                (part == 2 && u->path[start] == '.' && u->path[start + 1] == '.'))
                return -EINVAL;
            if (i == n)
                break;
            if (i > 0 && part == 0)
                continue; /* "//" */
            u->path[len++] = '/';
            start = len;
            continue;
        }
        if (c < 0x20 || c == 0x7f)
            return -EINVAL;
        u->path[len++] = (char)c; /* decoding only shrinks: n <= FS_URL_MAX */
    }
    u->path[len] = 0;
    if (len - start > FS_NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(u->name, u->path + start, len - start + 1);
    return fs_name_valid(u->name) ? 0 : -EINVAL;
}

/* "scheme is not one of file, http, …" */
static const char *known_schemes(void)
{
    static char text[128];
    size_t n = (size_t)snprintf(text, sizeof(text), "scheme is not one of ");

    for (size_t i = 0; i < SV_ARRAY_LEN(schemes) && n < sizeof(text); i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? ", " : "", schemes[i].text);
    return text;
}

static int parse(const char *url, struct fs_url *u, const char **why)
{
    size_t n = strnlen(url, FS_URL_MAX + 1), path_len;
    const char *p;
    int r;

    *why = "too long";
    if (n > FS_URL_MAX)
        return -ENAMETOOLONG;
    *why = "blanks, control bytes, quotes or non-ASCII bytes must be percent-encoded";
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)url[i] <= 0x20 || (unsigned char)url[i] >= 0x7f ||
            strchr("\"<>\\^`{|}", url[i]))
            return -EINVAL;
    *why = known_schemes();
    p = parse_scheme(url, &u->scheme);
    if (!p)
        return -EINVAL;
    *why = "fragment";
    if (strchr(p, '#'))
        return -EINVAL;
    if (u->scheme == FS_SCHEME_FILE) {
        *why = "file: takes an absolute path, without a host and without '?'";
        if (strncmp(p, "///", 3) == 0)
            p += 2;
        if (p[0] != '/' || p[1] == '/' || strchr(p, '?'))
            return -EINVAL;
        path_len = strlen(p);
    } else {
        size_t authority;

        *why = "malformed host or port; user names and passwords are not taken";
        if (strncmp(p, "//", 2) != 0)
            return -EINVAL;
        p += 2;
        authority = strcspn(p, "/?");
        r = authority == 0 && u->scheme == FS_SCHEME_HDFS ? 0 : parse_authority(p, authority, u);
        if (r < 0)
            return r;
        *why = "s3a: takes a bucket, without a port";
        if (u->scheme == FS_SCHEME_S3 && (u->port || strchr(u->host, ':')))
            return -EINVAL;
        p += authority;
        path_len = strcspn(p, "?");
        *why = "a query is taken in http: and https: only";
        if (p[path_len] && u->scheme >= FS_SCHEME_HDFS)
            return -EINVAL;
    }
    *why = "path must end in a file name and have no '.' or '..' component, no bad or doubtful "
           "percent escape and no control byte";
    return parse_path(p, path_len, u);
}

int fs_url_parse(const char *url, struct fs_url *ret, struct sv_error *err)
{
    struct fs_url u = { 0 };
    const char *why;
    int r = parse(url, &u, &why);

    if (r < 0) {
        char shown[256], plain[256]; /* the query may contain a token */

        (void)snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(url, "?"), url);
        sv_escape(shown, sizeof(shown), plain);
        return sv_error_set(err, r, "Invalid resource %s: %s", shown, why);
    }
    *ret = u;
    return 0;
}

static bool put(char *buf, size_t *len, const char *s)
{
    size_t n = strlen(s);

    if (n > FS_URL_MAX - *len)
        return false;
    memcpy(buf + *len, s, n + 1);
    *len += n;
    return true;
}

int fs_url_make(const char *scheme, const char *host, int port, const char *file,
                char ret[FS_URL_MAX + 1])
{
    static const char digits[] = "0123456789ABCDEF";
    bool has_host = host && host[0];
    size_t len = 0;
    char number[16] = "";

    if (!scheme || !scheme[0] || !file || file[0] != '/' || port > UINT16_MAX)
        return -EINVAL;
    if (has_host && port > 0)
        snprintf(number, sizeof(number), ":%d", port);
    if (!put(ret, &len, scheme) || !put(ret, &len, "://") ||
        (has_host && (!put(ret, &len, host) || !put(ret, &len, number))))
        return -ENAMETOOLONG;
    for (const unsigned char *p = (const unsigned char *)file; *p; p++) {
        char one[4] = { (char)*p, 0 };

        if (!is_alnum((char)*p) && !strchr("/-._~!$&'()*+,;=:@", *p)) {
            one[0] = '%';
            one[1] = digits[*p >> 4];
            one[2] = digits[*p & 15];
            one[3] = 0;
        }
        if (!put(ret, &len, one))
            return -ENAMETOOLONG;
    }
    return 0;
}

int fs_url_encode(const char *text, char *ret, size_t size)
{
    size_t n = 0;

    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        bool plain = is_alnum((char)*p) || strchr("-._~/", *p);

        if (size - n < 4)
            return -ENAMETOOLONG;
        n += (size_t)snprintf(ret + n, size - n, plain ? "%c" : "%%%02X", *p);
    }
    ret[n] = 0;
    return 0;
}

int fs_url_web_port(const struct fs_url *url)
{
    return url->port ? url->port : url->scheme == FS_SCHEME_SWEBHDFS ? SWEBHDFS_PORT : WEBHDFS_PORT;
}

int fs_url_server(const struct fs_url *url, char ret[FS_SERVER_MAX + 1], struct sv_error *err)
{
    bool v6 = strchr(url->host, ':');

    if (!*url->host)
        return sv_error_set(err, -EINVAL, "%s: expected webhdfs://HOST:PORT/PATH", url->path);
    (void)snprintf(ret, FS_SERVER_MAX + 1, "%s://%s%s%s:%d",
                   url->scheme == FS_SCHEME_SWEBHDFS ? "https" : "http", v6 ? "[" : "", url->host,
                   v6 ? "]" : "", fs_url_web_port(url));
    return 0;
}
