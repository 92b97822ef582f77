/* See principal.h. */
#include "common/identity/principal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "common/utf8.h"

/* Line ends of Unicode count as control characters: expressions read "." and "$" otherwise in Java
 * than in PCRE2 there. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

/* NULL: the bytes are characters that a principal may have. */
static const char *refused_character(const char *text, size_t len)
{
    uint32_t c;

    for (size_t at = 0, n; at < len; at += n) {
        n = sv_utf8_at(text + at, len - at, &c);
        if (n == 0)
            return "is not UTF-8";
        if (c == 0)
            return "has a NUL";
        if (is_control(c))
            return "has a control character";
        if (c == '\\')
            return "has a backslash, by which / and @ inside a component are written: there may "
                   "be none";
    }
    return NULL;
}

static void copy(char *to, const char *from, size_t len)
{
    memcpy(to, from, len);
    to[len] = 0;
}

/* NULL: good. The length was checked. */
static const char *split(const char *text, size_t len, struct sv_principal *ret)
{
    const char *end = text + len, *at = memchr(text, '@', len);
    const char *names_end = at ? at : end;
    const char *slash = memchr(text, '/', (size_t)(names_end - text));
    const char *name_end = slash ? slash : names_end;

    if (name_end == text || (slash && slash + 1 == names_end))
        return "has an empty component";
    if (slash && memchr(slash + 1, '/', (size_t)(names_end - slash - 1)))
        return "has more than two components";
    if (at && at + 1 == end)
        return "has an empty realm";
    if (at && memchr(at + 1, '@', (size_t)(end - at - 1)))
        return "has a second @";
    if (at && memchr(at + 1, '/', (size_t)(end - at - 1)))
        return "has a / in its realm";
    copy(ret->name, text, (size_t)(name_end - text));
    copy(ret->host, slash ? slash + 1 : end, slash ? (size_t)(names_end - slash - 1) : 0);
    copy(ret->realm, at ? at + 1 : end, at ? (size_t)(end - at - 1) : 0);
    return NULL;
}

int sv_principal_parse(const char *text, size_t len, struct sv_principal *ret, struct sv_error *err)
{
    char head[64], shown[4 * sizeof(head)];
    const char *why;

    if (len == 0)
        why = "is empty";
    else if (len > SV_PRINCIPAL_MAX)
        why = "is longer than 512 bytes";
    else if (!(why = refused_character(text, len)))
        why = split(text, len, ret);
    if (!why)
        return 0;
    copy(head, text, strnlen(text, SV_MIN(len, sizeof(head) - 1)));
    sv_escape(shown, sizeof(shown), head);
    return sv_error_set(err, -EINVAL, "principal \"%s%s\": %s", shown,
                        len > strlen(head) ? "…" : "", why);
}
_Static_assert(SV_PRINCIPAL_MAX == 512, "the refusal above says so");

static char *put(char *to, const char *end, const char *s)
{
    return mempcpy(to, s, SV_MIN(strlen(s), (size_t)(end - to)));
}

void sv_principal_text(const struct sv_principal *p, char ret[SV_PRINCIPAL_MAX + 1])
{
    const char *end = ret + SV_PRINCIPAL_MAX; /* never met: the parts were of one text */
    char *to = put(ret, end, p->name);

    to = put(to, end, *p->host ? "/" : "");
    to = put(to, end, p->host);
    to = put(to, end, *p->realm ? "@" : "");
    *put(to, end, p->realm) = 0;
}

/* ---- _HOST ---- */

static bool is_any(const char *host)
{
    return !host || !*host || sv_streq(host, "0.0.0.0") || sv_streq(host, "::");
}

static bool is_address(const char *host)
{
    struct in6_addr ip;

    return inet_pton(AF_INET, host, &ip) == 1 || inet_pton(AF_INET6, host, &ip) == 1;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static int set_host(struct sv_principal *p, const char *configured, const char *host,
                    struct sv_error *err)
{
    char shown[300];

    sv_escape(shown, sizeof(shown), host ? host : "");
    if (is_any(host))
        return sv_error_set(err, -EINVAL, "principal \"%s\": there is no host name for _HOST",
                            configured);
    if (is_address(host))
        return sv_error_set(err, -EINVAL,
                            "principal \"%s\": _HOST cannot become the address %s, which is not "
                            "turned into a name: configure the service's address by its host name, "
                            "or the principal without _HOST",
                            configured, shown);
    /* A host with / or @ in it would be another principal. */
    if (host[strcspn(host, "/@\\")] || refused_character(host, strlen(host)))
        return sv_error_set(err, -EINVAL, "principal \"%s\": _HOST cannot become \"%s\"",
                            configured, shown);
    if (strlen(p->name) + strlen(host) + strlen(p->realm) + 2 > SV_PRINCIPAL_MAX)
        return sv_error_set(err, -EINVAL, "principal \"%s\": longer than %d bytes with the host %s",
                            configured, SV_PRINCIPAL_MAX, shown);
    for (size_t i = 0; i <= strlen(host); i++)
        p->host[i] = lower(host[i]);
    return 0;
}

int sv_principal_for_host(const char *configured, const char *host, const char *own_host,
                          char ret[SV_PRINCIPAL_MAX + 1], struct sv_error *err)
{
    struct sv_principal p;
    int r = sv_principal_parse(configured, strlen(configured), &p, err);

    if (r >= 0 && *p.realm && sv_streq(p.host, SV_PRINCIPAL_HOST))
        r = set_host(&p, configured, is_any(host) ? own_host : host, err);
    if (r < 0)
        return r;
    sv_principal_text(&p, ret);
    return 0;
}
