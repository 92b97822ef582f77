/* hadoop-policy.xml at the Router's port, where hadoop.security.authorization is true. */
#ifndef SELVEDGE_ROUTER_SERVICE_ACCESS_H
#define SELVEDGE_ROUTER_SERVICE_ACCESS_H

#include "router/router.h"
#include "wire/ipc/ipc-server.h"

/* Reads the file. -EINVAL: a list that is none. */
int rtr_service_access_start(struct router *r, struct sv_conf *conf, struct sv_error *err)
    _must_use_;
void rtr_service_access_stop(struct router *r);
/* NULL: whoever is authenticated may call. userdata: struct router. */
ipc_authorization rtr_service_access(const struct router *r);

#endif
