/* See base64url.h. */
#include "federation/store/base64url.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

/* Replaces the two characters that differ. */
static void translate(char *s, size_t n, const char from[2], const char to[2])
{
    for (size_t i = 0; i < n; i++)
        if (s[i] == from[0] || s[i] == from[1])
            s[i] = to[s[i] == from[1]];
}

char *fed_base64url_encode(struct sv_arena *a, const void *p, size_t n)
{
    char *standard = NULL, *s = NULL;

    if (sv_base64_encode(p, n, &standard) == 0)
        s = sv_arena_strdup(a, standard);
    if (s)
        translate(s, strlen(s), "+/", "-_");
    if (standard)
        explicit_bzero(standard, strlen(standard));
    free(standard);
    return s;
}

int fed_base64url_decode(struct sv_arena *a, const char *s, size_t len, size_t max,
                         const uint8_t **ret, size_t *ret_len)
{
    size_t padded = (len + 3) / 4 * 4, n;
    char *standard;
    uint8_t *p = NULL;
    int r;

    if (len > (max + 2) / 3 * 4 || memchr(s, '+', len) || memchr(s, '/', len))
        return -EINVAL;
    standard = sv_arena_alloc(a, padded + 1);
    if (!standard)
        return -ENOMEM;
    memcpy(standard, s, len);
    memset(standard + len, '=', padded - len);
    translate(standard, len, "-_", "+/");
    r = sv_base64_decode(standard, padded, max, &p, &n);
    if (r < 0)
        return r == -ENOMEM ? r : -EINVAL;
    *ret = sv_arena_memdup(a, p, n);
    *ret_len = n;
    explicit_bzero(p, n);
    free(p);
    return *ret ? 0 : -ENOMEM;
}
