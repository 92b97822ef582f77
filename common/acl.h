/* Hadoop's access control lists: "user1,user2 group1,group2". The first blank ends the users; "*"
 * alone is everybody, " " nobody. A list may come from whoever submits an application: hostile. */
#ifndef SELVEDGE_COMMON_ACL_H
#define SELVEDGE_COMMON_ACL_H

#include "common/base.h"

/* Of an application's list: it is compared for each request of a page. */
#define SV_ACL_MAX ((size_t)16 << 10)

bool sv_acl_allows_all(const char *acl);
/* By name or as everybody; user-groups.h has the function that asks for groups besides. */
bool sv_acl_allows(const char *acl, const char *user);
bool sv_acl_names_groups(const char *acl);
/* By one of `n` groups, sorted as strcmp does. */
bool sv_acl_allows_groups(const char *acl, char *const *groups, size_t n);

#endif
