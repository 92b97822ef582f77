/* The node of a cluster with Kerberos: its login, kept for as long as the daemon runs, and what an
 * operator is told of it. */
#ifndef SELVEDGE_NODEMANAGER_SECURE_H
#define SELVEDGE_NODEMANAGER_SECURE_H

#include "common/base.h"
#include "common/error.h"

struct nm_context;
struct nm_updater;

/* Zeroed: without Kerberos. Must not move. */
struct nm_secure {
    struct nm_context *ctx;
    struct nm_updater *const *updater; /* NULL in it: not there */
    bool had_ticket;
};

/* Sets ctx->kerberos if the configuration says kerberos: starts selvedge-gss and the login, and
 * waits for neither. -EINVAL: a configuration that cannot work. */
int nm_secure_start(struct nm_secure *s, struct nm_context *ctx, struct nm_updater *const *updater,
                    struct sv_error *err) _must_use_;
/* All users of ctx->kerberos must be gone. */
void nm_secure_stop(struct nm_secure *s);

#endif
