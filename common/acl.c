/* See acl.h. Allocates nothing; linear in the length of the list. */
#include "common/acl.h"

#include <string.h>

#define BLANKS " \t\r\n\f\v"

bool sv_acl_allows_all(const char *acl)
{
    acl += strspn(acl, BLANKS);
    return *acl == '*' && !acl[1 + strspn(acl + 1, BLANKS)];
}

static bool is_user(const char *part, size_t len, const char *user, size_t user_len)
{
    size_t blanks = strspn(part, BLANKS);

    if (blanks > len)
        return false;
    part += blanks;
    len -= blanks;
    while (len > 0 && strchr(BLANKS, part[len - 1]))
        len--;
    return len == user_len && memcmp(part, user, len) == 0;
}

bool sv_acl_allows(const char *acl, const char *user)
{
    const char *end = acl + strcspn(acl, " ");
    size_t user_len = strlen(user);

    if (!user_len)
        return false;
    if (sv_acl_allows_all(acl))
        return true;
    for (const char *p = acl; p < end;) {
        size_t len = strcspn(p, ", "); /* both are at or before `end` */

        if (is_user(p, len, user, user_len))
            return true;
        p += len + 1;
    }
    return false;
}

bool sv_acl_names_groups(const char *acl)
{
    const char *blank = strchr(acl, ' ');

    return blank && !sv_acl_allows_all(acl) && blank[strspn(blank, BLANKS ",")];
}
