/* See tokens.h. */
#include "service/definition/tokens.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/str.h"

struct token {
    UT_hash_handle hh;
    char *value;
    char name[];
};
struct svc_tokens {
    const struct svc_tokens *base;
    struct token *set;
};

struct svc_tokens *svc_tokens_new(const struct svc_tokens *base)
{
    struct svc_tokens *t = calloc(1, sizeof *t);

    if (t)
        t->base = base;
    return t;
}

struct svc_tokens *svc_tokens_free(struct svc_tokens *t)
{
    struct token *e, *next;

    if (!t)
        return NULL;
    HASH_ITER (hh, t->set, e, next) {
        HASH_DEL(t->set, e);
        free(e->value);
        free(e);
    }
    free(t);
    return NULL;
}

static bool name_valid(const char *s, size_t n)
{
    if (!n || n > SVC_TOKEN_NAME_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] >= 127 || strchr("${}", s[i]))
            return false;
    return true;
}

static const struct token *find(const struct svc_tokens *t, const char *name, size_t n)
{
    struct token *e = NULL;

    for (; t && !e; t = t->base)
        HASH_FIND(hh, t->set, name, n, e);
    return e;
}

int svc_tokens_set(struct svc_tokens *t, const char *name, const char *value)
{
    size_t n = strlen(name);
    char *copy = strdup(value);
    struct token *e = NULL;

    if (!copy)
        return -ENOMEM;
    HASH_FIND(hh, t->set, name, n, e);
    if (!e) {
        int r = !name_valid(name, n) ? -EINVAL : HASH_COUNT(t->set) >= SVC_TOKENS_MAX ? -E2BIG : 0;

        e = r < 0 ? NULL : calloc(1, sizeof *e + n + 1);
        if (!e) {
            free(copy);
            return r < 0 ? r : -ENOMEM;
        }
        memcpy(e->name, name, n + 1);
        HASH_ADD_KEYPTR(hh, t->set, e->name, n, e);
    }
    free(e->value);
    e->value = copy;
    return 0;
}

static int set_peer(struct svc_tokens *t, const char *name, const char *suffix, const char *value)
{
    char token[SVC_TOKEN_NAME_MAX + 1];
    int n = snprintf(token, sizeof token, "%s%s", name, suffix);

    if (n < 0 || (size_t)n >= sizeof token)
        return -EINVAL;
    for (char *p = token; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return svc_tokens_set(t, token, value);
}

int svc_tokens_set_peer(struct svc_tokens *t, const char *name, const char *host, const char *ip)
{
    int r = host ? set_peer(t, name, "_HOST", host) : 0;

    return r < 0 || !ip ? r : set_peer(t, name, "_IP", ip);
}

const char *svc_tokens_get(const struct svc_tokens *t, const char *name)
{
    const struct token *e = find(t, name, strlen(name));

    return e ? e->value : NULL;
}

/* The token that begins at the "${" of `s`, or NULL; its length with the braces. */
static const struct token *token_at(const struct svc_tokens *t, const char *s, size_t n,
                                    size_t *ret_len)
{
    size_t most = n - 2 < SVC_TOKEN_NAME_MAX + 1 ? n - 2 : SVC_TOKEN_NAME_MAX + 1;
    const char *end = memchr(s + 2, '}', most);

    if (!end)
        return NULL;
    *ret_len = (size_t)(end - s) + 1;
    return find(t, s + 2, *ret_len - 3);
}

int svc_tokens_replace(const struct svc_tokens *t, const char *text, size_t n, struct sv_buf *out)
{
    size_t from = 0, len;
    int r;

    for (size_t i = 0; i + 2 < n; i++) {
        const struct token *e;

        if (text[i] != '$' || text[i + 1] != '{')
            continue;
        e = token_at(t, text + i, n - i, &len);
        if (!e)
            continue;
        r = sv_buf_put(out, text + from, i - from);
        if (r == 0)
            r = sv_buf_put_str(out, e->value);
        if (r < 0)
            return r;
        from = i + len;
        i = from - 1;
    }
    return sv_buf_put(out, text + from, n - from);
}

int svc_tokens_text(const struct svc_tokens *t, const char *text, size_t max, char **ret)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(max + 1);
    int r = svc_tokens_replace(t, text, strlen(text), &out);

    if (r == 0)
        r = sv_buf_put_u8(&out, 0);
    if (r < 0)
        return r;
    *ret = (char *)out.data;
    out.data = NULL;
    return 0;
}
