/* Who may administer the cluster and change applications, with yarn.acl.enable; without it
 * everybody may. Lists that admit everybody count for submitting and viewing alone: what everybody
 * may do is no reason to let everybody end others' applications. Users are those whom clients say
 * they are. */
#ifndef SELVEDGE_RM_LITE_SECURITY_ACCESS_H
#define SELVEDGE_RM_LITE_SECURITY_ACCESS_H

#include "common/error.h"
#include "rm-lite/core/context.h"

/* 1 or 0; -EAGAIN: the user's groups are being looked up, ask again when they are known. */
/* root, the daemon's account, and whom yarn.admin.acl names. */
int rm_may_administer(struct rm *rm, const char *user) _must_use_;
/* The owner, whom its MODIFY_APP list admits, whom a queue above it names as administrator, and
 * administrators. */
int rm_may_modify(struct rm *rm, const struct rm_app *app, const char *user) _must_use_;
/* yarn.admin.acl as it is in the files now. */
int rm_access_refresh(struct rm *rm, struct sv_conf *fresh, struct sv_error *err) _must_use_;

#endif
