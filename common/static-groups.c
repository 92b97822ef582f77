/* See static-groups.h. */
#include "common/static-groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/str.h"

#define KEY "hadoop.user.group.static.mapping.overrides"

struct user {
    UT_hash_handle hh;
    char *name, **groups;
    const char *primary; /* one of the groups */
};

struct sv_static_groups {
    struct user *users;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void user_free(struct user *u)
{
    sv_strv_free(u->groups);
    free(u->name);
    free(u);
}

/* One "USER=GROUP,GROUP". */
static int add(struct sv_static_groups *s, const char *text, struct sv_error *err)
{
    _cleanup_strv_ char **parts = NULL;
    const char *eq = strchr(text, '=');
    struct user *u = calloc(1, sizeof(*u)), *same = NULL;
    int r = u ? sv_strv_split(text, '=', &parts) : -ENOMEM;

    if (r >= 0 && eq && sv_strv_len(parts) >= 1 && eq != text && !strchr(eq + 1, '=')) {
        u->name = strdup(parts[0]);
        r = u->name ? sv_strv_split(eq + 1, ',', &u->groups) : -ENOMEM;
        if (r >= 0)
            HASH_FIND_STR(s->users, u->name, same);
    } else if (r >= 0)
        r = -EINVAL;
    if (r < 0 || same) {
        if (u)
            user_free(u);
        return r == -ENOMEM ? sv_error_errno(err, r, KEY)
                            : sv_error_set(err, -EINVAL,
                                           KEY ": \"%.64s\" is not USER=GROUP,GROUP, with each "
                                               "user once",
                                           text);
    }
    u->primary = u->groups[0];
    qsort(u->groups, sv_strv_len(u->groups), sizeof(*u->groups), by_name);
    HASH_ADD_KEYPTR(hh, s->users, u->name, strlen(u->name), u);
    return 0;
}

int sv_static_groups_parse(const char *text, struct sv_static_groups **ret, struct sv_error *err)
{
    struct sv_static_groups *s = calloc(1, sizeof(*s));
    _cleanup_strv_ char **users = NULL;
    int r = s ? sv_strv_split(text ? text : "", ';', &users) : -ENOMEM;

    if (r < 0)
        (void)sv_error_errno(err, r, KEY);
    for (char **u = users; r >= 0 && u && *u; u++)
        r = add(s, *u, err);
    if (r < 0) {
        sv_static_groups_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct sv_static_groups *sv_static_groups_free(struct sv_static_groups *s)
{
    struct user *u, *tmp;

    if (!s)
        return NULL;
    HASH_ITER (hh, s->users, u, tmp) {
        HASH_DEL(s->users, u);
        user_free(u);
    }
    free(s);
    return NULL;
}

char *const *sv_static_groups_of(const struct sv_static_groups *s, const char *user,
                                 const char **ret_primary)
{
    struct user *u = NULL;

    if (s)
        HASH_FIND_STR(s->users, user, u);
    if (!u)
        return NULL;
    *ret_primary = u->primary;
    return u->groups;
}
