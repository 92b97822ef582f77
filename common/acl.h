/* Hadoop's access control lists: "user1,user2 group1,group2". The first blank ends the users; "*"
 * alone admits everybody, " " nobody. Hostile: lists that the submitter of an application chose. */
#ifndef SELVEDGE_COMMON_ACL_H
#define SELVEDGE_COMMON_ACL_H

#include "common/base.h"

/* Limit for an application's list, which is compared on each page request. */
#define SV_ACL_MAX ((size_t)16 << 10)

bool sv_acl_allows_all(const char *acl);
/* True if the list admits `user` by name or admits everybody. For groups as well, see
 * user-groups.h. */
bool sv_acl_allows(const char *acl, const char *user);
bool sv_acl_names_groups(const char *acl);
/* True if the list admits one of `n` groups, sorted by strcmp(). */
bool sv_acl_allows_groups(const char *acl, char *const *groups, size_t n);
/* The list as Hadoop shows it: "*", or users and groups without blanks around names, with the blank
 * between them. To be freed; NULL: no memory. */
char *sv_acl_text(const char *acl) _must_use_;

#endif
