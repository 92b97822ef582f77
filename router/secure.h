/* The Router of a federation with Kerberos: its login, kept for as long as the daemon runs, how its
 * port takes tickets, and how it calls members. */
#ifndef SELVEDGE_ROUTER_SECURE_H
#define SELVEDGE_ROUTER_SECURE_H

#include "common/error.h"
#include "router/router.h"

struct ipc_acceptor;
struct ipc_kerberos;
struct sv_series;

/* Starts selvedge-gss and the login if the configuration says kerberos, and waits for neither.
 * -EINVAL: a configuration that cannot work. */
int rtr_secure_start(struct router *r, struct sv_error *err) _must_use_;
/* The port and all connections to members must be gone. */
void rtr_secure_stop(struct router *r);
/* Both are NULL without Kerberos. */
const struct ipc_acceptor *rtr_secure_acceptor(const struct router *r);
const struct ipc_kerberos *rtr_secure_members(const struct router *r);
void rtr_secure_series(const struct router *r, struct sv_series *s);

#endif
