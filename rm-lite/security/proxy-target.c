/* See proxy-target.h. URLs and headers are hostile. */
#include "rm-lite/security/proxy-target.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/address.h"
#include "common/fd.h"
#include "common/str.h"

static void url_freep(CURLU **u)
{
    curl_url_cleanup(*u);
}
static void curl_stringp(char **s)
{
    curl_free(*s);
}
#define _cleanup_url_ _cleanup_(url_freep)
#define _cleanup_curl_string_ _cleanup_(curl_stringp)

static char *part(CURLU *u, CURLUPart what)
{
    char *s = NULL;

    return curl_url_get(u, what, &s, 0) == CURLUE_OK ? s : NULL;
}

static bool printable(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s <= 0x20 || *s == 0x7f)
            return false;
    return true;
}

/* Parses the tracking URL; adds a missing scheme. */
static int parse_tracking(const char *text, CURLU **ret, struct sv_error *err)
{
    _cleanup_url_ CURLU *u = curl_url();
    _cleanup_curl_string_ char *scheme = NULL, *user = NULL, *host = NULL;
    _cleanup_free_ char *whole = NULL;

    if (!u || sv_asprintf(&whole, "%s%s", strstr(text, "://") ? "" : "http://", text) < 0)
        return sv_error_set(err, -ENOMEM, "out of memory");
    if (!printable(text) || curl_url_set(u, CURLUPART_URL, whole, 0) != CURLUE_OK)
        return sv_error_set(err, -EINVAL, "the application's tracking URL is not one");
    scheme = part(u, CURLUPART_SCHEME);
    user = part(u, CURLUPART_USER);
    host = part(u, CURLUPART_HOST);
    if (!host || !*host || user || !scheme ||
        (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
        return sv_error_set(err, -EINVAL,
                            "the application's tracking URL is not http://HOST:PORT/… or "
                            "https://HOST:PORT/…");
    (void)curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
    *ret = SV_TAKE(u);
    return 0;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Compares as the web server, which decodes names once and ignores their case. */
static bool is_token(const char *pair, size_t n)
{
    static const char name[] = "delegation";
    size_t at = 0;

    for (size_t i = 0; i < n && pair[i] != '='; i++) {
        char c = pair[i];

        if (c == '%' && i + 2 < n && hex(pair[i + 1]) >= 0 && hex(pair[i + 2]) >= 0) {
            c = (char)(hex(pair[i + 1]) << 4 | hex(pair[i + 2]));
            i += 2;
        }
        if (at >= strlen(name) || (c | 0x20) != name[at])
            return false;
        at++;
    }
    return at == strlen(name);
}

char *rm_proxy_without_tokens(const char *rest)
{
    size_t path = strcspn(rest, "?");
    char *ret = strdup(rest), *to = ret ? ret + path : NULL;
    char before = '?';

    if (!ret)
        return NULL;
    for (const char *p = rest + path; *p;) {
        const char *pair = p + 1;
        size_t n = strcspn(pair, "&");

        if (!is_token(pair, n)) {
            *to++ = before;
            memcpy(to, pair, n);
            to += n;
            before = '&';
        }
        p = pair + n;
    }
    *to = 0;
    return ret;
}

/* Assembled by hand: libcurl would change the case of %2F in the browser's path and query. */
int rm_proxy_url(const char *tracking_url, const char *rest, char **ret, struct sv_error *err)
{
    _cleanup_url_ CURLU *u = NULL;
    _cleanup_curl_string_ char *scheme = NULL, *host = NULL, *port = NULL, *base = NULL,
                               *query = NULL;
    const char *more = strchrnul(rest, '?');
    size_t own = (size_t)(more - rest), n;
    int r = parse_tracking(tracking_url, &u, err);

    if (r < 0)
        return r;
    if (!printable(rest) || (*rest && *rest != '/' && *rest != '?'))
        return sv_error_set(err, -EINVAL, "the path of the request is not one");
    scheme = part(u, CURLUPART_SCHEME);
    host = part(u, CURLUPART_HOST);
    port = part(u, CURLUPART_PORT);
    base = part(u, CURLUPART_PATH);
    query = part(u, CURLUPART_QUERY);
    if (!scheme || !host || !base)
        return sv_error_set(err, -ENOMEM, "out of memory");
    n = strlen(base);
    while (n > 0 && base[n - 1] == '/') /* one slash between the two */
        n--;
    if (own == 0 || (own == 1 && n > 0)) { /* the tracking URL's own path, as registered */
        n = strlen(base);
        own = 0;
    }
    more += *more ? 1 : 0;
    if (sv_asprintf(ret, "%s://%s%s%s%.*s%.*s%s%s%s%s", scheme, host, port ? ":" : "",
                    port ? port : "", (int)n, base, (int)own, rest, query || *more ? "?" : "",
                    query ? query : "", query && *more ? "&" : "", more) < 0)
        return sv_error_set(err, -ENOMEM, "out of memory");
    return 0;
}

static bool same(CURLU *a, CURLU *b, CURLUPart what, unsigned flags)
{
    _cleanup_curl_string_ char *x = NULL, *y = NULL;

    return curl_url_get(a, what, &x, flags) == CURLUE_OK &&
           curl_url_get(b, what, &y, flags) == CURLUE_OK && strcasecmp(x, y) == 0;
}

char *rm_proxy_location(const char *tracking_url, const char *application, const char *location)
{
    _cleanup_url_ CURLU *u = NULL, *to = NULL;
    _cleanup_curl_string_ char *base = NULL, *path = NULL, *query = NULL, *whole = NULL;
    _cleanup_free_ char *proxied = NULL;
    struct sv_error err;
    char *ret = NULL;
    size_t n;

    if (parse_tracking(tracking_url, &u, &err) < 0 || !(to = curl_url_dup(u)))
        return strdup(location);
    if (sv_asprintf(&proxied, "/proxy/%s", application) < 0)
        return NULL;
    if (sv_has_prefix(location, proxied)) /* the master adds the proxy's path itself */
        return strdup(location);
    (void)curl_url_set(to, CURLUPART_QUERY, NULL, 0);
    if (curl_url_set(to, CURLUPART_URL, location, 0) != CURLUE_OK ||
        !same(u, to, CURLUPART_SCHEME, 0) || !same(u, to, CURLUPART_HOST, 0) ||
        !same(u, to, CURLUPART_PORT, CURLU_DEFAULT_PORT))
        return strdup(location);
    base = part(u, CURLUPART_PATH);
    path = part(to, CURLUPART_PATH);
    query = part(to, CURLUPART_QUERY);
    n = base ? strlen(base) : 0;
    while (n > 0 && base[n - 1] == '/')
        n--;
    if (!path || strncmp(path, base ? base : "", n) != 0 || (path[n] && path[n] != '/')) {
        whole = part(to, CURLUPART_URL);
        return strdup(whole ? whole : location);
    }
    if (sv_asprintf(&ret, "%s%s%s%s", proxied, path[n] ? path + n : "/", query ? "?" : "",
                    query ? query : "") < 0)
        return NULL;
    return ret;
}

/* ---------------------------------------------------------------- addresses */

static bool may_connect_v4(uint32_t a, bool master_is_here)
{
    if (a >> 24 == 127)
        return master_is_here;
    return a >> 24 != 0 && /* this network */
           a >> 28 < 0xe;  /* multicast, reserved, broadcast */
}

static bool may_connect_v6(const struct in6_addr *a, bool master_is_here)
{
    uint32_t v4;

    if (IN6_IS_ADDR_LOOPBACK(a))
        return master_is_here;
    if (sv_address_v4_within(a, &v4))
        return may_connect_v4(v4, master_is_here);
    return !IN6_IS_ADDR_UNSPECIFIED(a) && !IN6_IS_ADDR_MULTICAST(a);
}

bool rm_proxy_may_connect(const struct sockaddr *to, bool master_is_here)
{
    if (sv_address_is_metadata(to))
        return false;
    if (to->sa_family == AF_INET)
        return may_connect_v4(ntohl(((const struct sockaddr_in *)to)->sin_addr.s_addr),
                              master_is_here);
    if (to->sa_family == AF_INET6)
        return may_connect_v6(&((const struct sockaddr_in6 *)to)->sin6_addr, master_is_here);
    return false;
}

static bool can_bind(const struct sockaddr *at, socklen_t len)
{
    _cleanup_close_ int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd >= 0 && bind(fd, at, len) == 0;
}

bool rm_proxy_is_local(const struct in6_addr *ip)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = *ip };

    if (!IN6_IS_ADDR_V4MAPPED(ip))
        return can_bind((struct sockaddr *)&v6, sizeof(v6));
    memcpy(&v4.sin_addr, ip->s6_addr + 12, sizeof(v4.sin_addr));
    return can_bind((struct sockaddr *)&v4, sizeof(v4));
}
