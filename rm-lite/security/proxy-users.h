/* The proxy users of all servers of this ResourceManager; see wire/ipc/proxy-users.h. */
#ifndef SELVEDGE_RM_LITE_SECURITY_PROXY_USERS_H
#define SELVEDGE_RM_LITE_SECURITY_PROXY_USERS_H

#include "rm-lite/core/context.h"
#include "wire/ipc/proxy-users.h"

/* As ipc_proxy_users_read(); the first one makes rm->proxy_users. */
int rm_proxy_users_read(struct rm *rm, struct sv_conf *conf, struct sv_error *err) _must_use_;
void rm_proxy_users_stop(struct rm *rm);
/* An ipc_impersonation; userdata: struct rm. */
int rm_proxy_users_check(void *userdata, const struct ipc_peer *peer, struct sv_error *err);
/* Groups of a user or hosts are known, for which rm_proxy_users_check() waits. */
void rm_proxy_users_known(struct rm *rm);

#endif
