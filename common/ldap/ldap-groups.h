/* Groups of users from LDAP servers, as Hadoop's LdapGroupsMapping finds them: the source of a
 * struct sv_groups (user-groups.h), whose threads ask. Hostile: users' names, and what servers
 * answer, which is bounded. */
#ifndef SELVEDGE_COMMON_LDAP_LDAP_GROUPS_H
#define SELVEDGE_COMMON_LDAP_LDAP_GROUPS_H

#include "common/conf.h"
#include "common/user-groups.h"

/* The source that hadoop.security.group.mapping names: LdapGroupsMapping, or *ret zeroed for the
 * machine's own, where nothing is loaded. The keys are read, and the library is loaded; no server
 * is asked. Give it to sv_groups_new(), which keeps a reference of its own, and then unref it. */
int sv_ldap_groups_source(struct sv_conf *c, struct sv_groups_source *ret, struct sv_error *err)
    _must_use_;

#endif
