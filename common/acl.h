/* Hadoop's access control lists: "user1,user2 group1,group2". The first blank ends the users; "*"
 * alone is everybody, " " nobody. A list may come from whoever submits an application: hostile. */
#ifndef SELVEDGE_COMMON_ACL_H
#define SELVEDGE_COMMON_ACL_H

#include "common/base.h"

/* Of an application's list: it is compared for each request of a page. */
#define SV_ACL_MAX ((size_t)16 << 10)

bool sv_acl_allows_all(const char *acl);
/* By name or as everybody. Groups do not count: their members are known only to a name service,
 * whose answers a daemon's loop cannot wait for. */
bool sv_acl_allows(const char *acl, const char *user);
bool sv_acl_names_groups(const char *acl);

#endif
