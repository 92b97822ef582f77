/* The Router's web port (8089): /metrics, without access lists, as that of the other daemons. */
#ifndef SELVEDGE_ROUTER_ROUTER_WEB_H
#define SELVEDGE_ROUTER_ROUTER_WEB_H

#include "common/error.h"

struct router;

/* Without a host in the configuration there is no port: 0. */
int rtr_web_start(struct router *r, struct sv_error *err) _must_use_;
void rtr_web_stop(struct router *r);

#endif
