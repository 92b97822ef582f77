/* Proxy users of this Router (wire/ipc/proxy-users.h): a caller that may act for another one is
 * that one for policies and members, which the Router calls as itself in that name. */
#ifndef SELVEDGE_ROUTER_PROXY_USERS_H
#define SELVEDGE_ROUTER_PROXY_USERS_H

#include "router/router.h"

struct ipc_peer;

/* Reads the rows; r->conf has the keys of users' groups. */
int rtr_proxy_users_start(struct router *r, struct sv_conf *conf, struct sv_error *err) _must_use_;
void rtr_proxy_users_stop(struct router *r);
/* An ipc_impersonation; userdata: struct router. */
int rtr_proxy_users_check(void *userdata, const struct ipc_peer *peer, struct sv_error *err);

#endif
