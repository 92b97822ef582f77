/* Administration of the cluster and modification of applications. Without yarn.acl.enable everybody
 * is admitted, except that names in yarn.admin.acl always restrict administration, as in Hadoop.
 * Lists that admit everybody count only for submission and viewing: they are no reason to let
 * everybody kill others' applications. Without Kerberos user names are claims of clients.
 */
#ifndef SELVEDGE_RM_LITE_SECURITY_ACCESS_H
#define SELVEDGE_RM_LITE_SECURITY_ACCESS_H

#include "common/error.h"
#include "rm-lite/core/context.h"

/* 1 or 0; -EAGAIN: the user's groups are being looked up, retry when they are known. */
/* Admits root (without Kerberos), the daemon's account, and members of yarn.admin.acl. */
int rm_may_administer(struct rm *rm, const char *user) _must_use_;
/* Admits the owner, members of its MODIFY_APP list, administrators of a queue above it, and
 * administrators. */
int rm_may_modify(struct rm *rm, const struct rm_app *app, const char *user) _must_use_;
/* Reloads yarn.admin.acl from the files. */
int rm_access_refresh(struct rm *rm, struct sv_conf *fresh, struct sv_error *err) _must_use_;

#endif
