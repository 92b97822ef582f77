/* The ResourceManager of a cluster with Kerberos: its login, kept for as long as the daemon runs,
 * and how its servers take tickets. */
#ifndef SELVEDGE_RM_LITE_SECURE_H
#define SELVEDGE_RM_LITE_SECURE_H

#include "common/error.h"
#include "rm-lite/core/context.h"

struct ipc_acceptor;
struct sgss_client;

/* Starts selvedge-gss, the login and the renewal of jobs' tokens if the configuration says
 * kerberos, and waits for none. -EINVAL: a configuration that cannot work. */
int rm_secure_start(struct rm *rm, struct sv_error *err) _must_use_;
/* All servers and the renewal must be gone. */
void rm_secure_stop(struct rm *rm);
/* Both are NULL without Kerberos. */
const struct ipc_acceptor *rm_secure_acceptor(const struct rm *rm);
struct sgss_client *rm_secure_client(const struct rm *rm);

#endif
