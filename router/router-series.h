/* The Router's series of Prometheus: members, calls to them, RPC by method, the process. */
#ifndef SELVEDGE_ROUTER_ROUTER_SERIES_H
#define SELVEDGE_ROUTER_ROUTER_SERIES_H

#include "common/buf.h"

struct router;

int rtr_series(const struct router *r, struct sv_buf *out) _must_use_;

#endif
