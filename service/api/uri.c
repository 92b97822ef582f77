/* See uri.h. */
#include "service/api/uri.h"

#include <errno.h>
#include <string.h>

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* NULL: out of memory, or a bad escape. `plus`: a '+' is a blank. */
static const char *decode(struct sv_arena *a, const char *s, size_t n, bool plus)
{
    char *out = sv_arena_alloc(a, n + 1);
    size_t k = 0;

    for (size_t i = 0; out && i < n; i++) {
        int high, low;

        if (s[i] != '%') {
            out[k++] = plus && s[i] == '+' ? ' ' : s[i];
            continue;
        }
        high = n - i > 2 ? digit(s[i + 1]) : -1;
        low = high >= 0 ? digit(s[i + 2]) : -1;
        if (low < 0 || high * 16 + low == 0)
            return NULL;
        out[k++] = (char)(high * 16 + low);
        i += 2;
    }
    return out;
}

static int take_part(struct sv_arena *a, const char *s, size_t n, struct svc_uri *u)
{
    if (n == 0 || u->n_parts == SVC_URI_PARTS_MAX)
        return -EINVAL;
    u->parts[u->n_parts] = decode(a, s, n, false);
    return u->parts[u->n_parts++] ? 0 : -EINVAL;
}

static int take_pair(struct sv_arena *a, const char *s, size_t n, struct svc_uri *u)
{
    const char *equals = memchr(s, '=', n);
    size_t name = equals ? (size_t)(equals - s) : n;
    struct svc_uri_pair *p = &u->pairs[u->n_pairs];

    if (n == 0)
        return 0;
    if (u->n_pairs == SVC_URI_PAIRS_MAX)
        return -EINVAL;
    p->name = decode(a, s, name, true);
    p->value = equals ? decode(a, equals + 1, n - name - 1, true) : "";
    u->n_pairs++;
    return p->name && p->value ? 0 : -EINVAL;
}

int svc_uri_parse(struct sv_arena *a, const char *uri, struct svc_uri *ret)
{
    size_t end = strcspn(uri, "?#");
    const char *query = uri[end] == '?' ? uri + end + 1 : "";
    int r = *uri == '/' ? 0 : -EINVAL;

    *ret = (struct svc_uri){ 0 };
    while (end > 1 && uri[end - 1] == '/') /* as Hadoop: "/services/" is "/services" */
        end--;
    for (size_t i = 1; r == 0 && i < end;) {
        const char *slash = memchr(uri + i, '/', end - i);
        size_t n = slash ? (size_t)(slash - uri) - i : end - i;

        r = take_part(a, uri + i, n, ret);
        i += n + 1;
    }
    while (r == 0 && *query && *query != '#') {
        size_t n = strcspn(query, "&#");

        r = take_pair(a, query, n, ret);
        query += n + (query[n] == '&');
    }
    return r;
}

const char *svc_uri_value(const struct svc_uri *u, const char *name)
{
    for (size_t i = 0; i < u->n_pairs; i++)
        if (strcmp(u->pairs[i].name, name) == 0)
            return u->pairs[i].value;
    return NULL;
}

size_t svc_uri_values(const struct svc_uri *u, const char *name, const char **ret, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < u->n_pairs && n < max; i++)
        if (strcmp(u->pairs[i].name, name) == 0)
            ret[n++] = u->pairs[i].value;
    return n;
}
