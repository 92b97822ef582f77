/* See path.h. */
#include "registry/path.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CONTAINER "container"

int reg_user(const char *user, char ret[REG_NAME_MAX + 1])
{
    size_t n = strcspn(user, "@/");
    char text[REG_NAME_MAX + 1];

    if (n == 0 || n > REG_NAME_MAX)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)user[i];

        if (c <= ' ' || c >= 0x7f)
            return -EINVAL;
        text[i] = c == '_' ? '-' : (char)tolower(c);
    }
    memcpy(ret, text, n);
    ret[n] = '\0';
    return 0;
}

static bool is_part(const char *s)
{
    return *s && strlen(s) <= REG_NAME_MAX && !strchr(s, '/') && strcmp(s, ".") != 0 &&
           strcmp(s, "..") != 0;
}

int reg_service_path(const char *user, const char *class, const char *name,
                     char ret[REG_PATH_MAX + 1])
{
    char home[REG_NAME_MAX + 1];
    int r = reg_user(user, home);

    if (r < 0 || !is_part(home) || !is_part(class) || !is_part(name))
        return -EINVAL;
    r = snprintf(ret, REG_PATH_MAX + 1, "/users/%s/services/%s/%s", home, class, name);
    return r > REG_PATH_MAX ? -ENAMETOOLONG : 0;
}

int reg_encode_id(const char *id, char ret[REG_NAME_MAX + 1])
{
    size_t n = 0;

    while (*id) {
        bool word = strncmp(id, CONTAINER, strlen(CONTAINER)) == 0;

        if (n + 3 > REG_NAME_MAX)
            return -ENAMETOOLONG;
        if (word) {
            memcpy(ret + n, "ctr", 3);
            n += 3;
        } else {
            ret[n++] = *id == '_' ? '-' : *id;
        }
        id += word ? strlen(CONTAINER) : 1;
    }
    ret[n] = '\0';
    return 0;
}

int reg_component_path(const char *service, const char *id, char ret[REG_PATH_MAX + 1])
{
    char name[REG_NAME_MAX + 1] = "";
    int r = id ? reg_encode_id(id, name) : 0;

    if (r == 0 && id && !is_part(name))
        r = -EINVAL;
    if (r < 0)
        return r;
    r = snprintf(ret, REG_PATH_MAX + 1, id ? "%s/components/%s" : "%s/components%s", service, name);
    return r > REG_PATH_MAX ? -ENAMETOOLONG : 0;
}
