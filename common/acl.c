/* See acl.h. Linear in the length of the list; only sv_acl_text() allocates. */
#include "common/acl.h"

#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\f\v"

bool sv_acl_allows_all(const char *acl)
{
    acl += strspn(acl, BLANKS);
    return *acl == '*' && !acl[1 + strspn(acl + 1, BLANKS)];
}

/* Finds the next name of a comma-separated list, trimmed. False at `end`. */
static bool next_part(const char **p, const char *end, const char **ret, size_t *ret_len)
{
    const char *part = *p, *stop;

    if (part >= end)
        return false;
    stop = memchr(part, ',', (size_t)(end - part));
    if (!stop)
        stop = end;
    *p = stop + 1;
    while (part < stop && strchr(BLANKS, *part))
        part++;
    while (stop > part && strchr(BLANKS, stop[-1]))
        stop--;
    *ret = part;
    *ret_len = (size_t)(stop - part);
    return true;
}

bool sv_acl_allows(const char *acl, const char *user)
{
    const char *p = acl, *end = acl + strcspn(acl, " "), *part;
    size_t len, user_len = strlen(user);

    if (!user_len)
        return false;
    if (sv_acl_allows_all(acl))
        return true;
    while (next_part(&p, end, &part, &len))
        if (len == user_len && memcmp(part, user, len) == 0)
            return true;
    return false;
}

bool sv_acl_names_groups(const char *acl)
{
    const char *blank = strchr(acl, ' ');

    return blank && !sv_acl_allows_all(acl) && blank[strspn(blank, BLANKS ",")];
}

/* As strcmp(), for `len` bytes without a NUL. */
static int compare(const char *part, size_t len, const char *name)
{
    int r = strncmp(part, name, len);

    return r ? r : name[len] ? -1 : 0;
}

static bool contains(char *const *names, size_t n, const char *part, size_t len)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = low + (n - low) / 2;
        int r = compare(part, len, names[middle]);

        if (r == 0)
            return true;
        if (r < 0)
            n = middle;
        else
            low = middle + 1;
    }
    return false;
}

bool sv_acl_allows_groups(const char *acl, char *const *groups, size_t n)
{
    const char *p = strchr(acl, ' '), *end = acl + strlen(acl), *part;
    size_t len;

    while (p && next_part(&p, end, &part, &len))
        if (len && contains(groups, n, part, len))
            return true;
    return false;
}

static char *put_names(char *to, const char *p, const char *end)
{
    const char *start = to, *part;
    size_t len;

    while (next_part(&p, end, &part, &len)) {
        if (len == 0)
            continue;
        if (to > start)
            *to++ = ',';
        to = mempcpy(to, part, len);
    }
    return to;
}

char *sv_acl_text(const char *acl)
{
    const char *blank = acl + strcspn(acl, " ");
    char *text, *p;

    if (sv_acl_allows_all(acl))
        return strdup("*");
    text = malloc(strlen(acl) + 2); /* a blank and NUL more at most */
    if (!text)
        return NULL;
    p = put_names(text, acl, blank);
    *p++ = ' ';
    p = put_names(p, blank, blank + strlen(blank));
    *p = 0;
    return text;
}
