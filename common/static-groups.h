/* hadoop.user.group.static.mapping.overrides: users whose groups the configuration names, in the
 * place of the name service's. The text is the operator's. */
#ifndef SELVEDGE_COMMON_STATIC_GROUPS_H
#define SELVEDGE_COMMON_STATIC_GROUPS_H

#include "common/base.h"
#include "common/error.h"

struct sv_static_groups;

/* "USER=GROUP,GROUP;USER=;…": a user without groups has none. -EINVAL: another form, or a user
 * twice. */
int sv_static_groups_parse(const char *text, struct sv_static_groups **ret, struct sv_error *err)
    _must_use_;
struct sv_static_groups *sv_static_groups_free(struct sv_static_groups *s);
/* The user's groups, sorted, NULL-terminated; NULL: the name service decides. `ret_primary`: the
 * first that was named, NULL where there is none. */
char *const *sv_static_groups_of(const struct sv_static_groups *s, const char *user,
                                 const char **ret_primary);

#endif
