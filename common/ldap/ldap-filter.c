/* See ldap-filter.h. */
#include "common/ldap/ldap-filter.h"

#include <errno.h>
#include <string.h>

/* Everything but ASCII that has no meaning; a server compares the bytes that are meant. */
static bool is_plain(unsigned char c)
{
    return c > ' ' && c < 0x7f && !strchr("*()\\", c);
}

static int put_value(struct sv_buf *b, const char *value)
{
    static const char digits[] = "0123456789abcdef";
    int r = 0;

    for (const unsigned char *p = (const unsigned char *)value; *p && r >= 0; p++) {
        const char escaped[3] = { '\\', digits[*p >> 4], digits[*p & 15] };

        r = is_plain(*p) ? sv_buf_put_u8(b, *p) : sv_buf_put(b, escaped, sizeof(escaped));
    }
    return r;
}

int sv_ldap_filter_put(struct sv_buf *b, const char *pattern, const char *value)
{
    const char *at;
    int r = 0;

    for (; r >= 0 && (at = strstr(pattern, "{0}")); pattern = at + strlen("{0}")) {
        r = sv_buf_put(b, pattern, (size_t)(at - pattern));
        if (r >= 0)
            r = put_value(b, value);
    }
    return r < 0 ? r : sv_buf_put(b, pattern, strlen(pattern));
}

int sv_ldap_filter_equals(struct sv_buf *b, const char *attribute, const char *value)
{
    int r = sv_buf_put_u8(b, '(');

    if (r >= 0)
        r = sv_buf_put(b, attribute, strlen(attribute));
    if (r >= 0)
        r = sv_buf_put_u8(b, '=');
    if (r >= 0)
        r = put_value(b, value);
    return r < 0 ? r : sv_buf_put_u8(b, ')');
}

bool sv_ldap_filter_valid(const char *pattern, bool with_value)
{
    int depth = 0;

    if (*pattern != '(' || (with_value && !strstr(pattern, "{0}")))
        return false;
    for (const char *p = pattern; *p; p++) {
        depth += *p == '(';
        depth -= *p == ')';
        if (depth < 0 || (depth == 0 && p[1]))
            return false;
    }
    return depth == 0;
}
