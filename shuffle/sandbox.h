/* What the server gives up before it reads from the network: everything but reading files below the
 * local directories and serving its sockets. */
#ifndef SELVEDGE_SHUFFLE_SANDBOX_H
#define SELVEDGE_SHUFFLE_SANDBOX_H

#include "shuffle/map-output.h"
#include "shuffle/tls.h"

/* Before the threads: no capabilities, no dumps, no new privileges; Landlock, where the kernel has
 * it: reads below the local directories and those of TLS's keys (`tls` may be NULL) alone, no new
 * TCP connections. */
int shf_sandbox_files(const struct shf_local_dirs *dirs, const struct shf_tls *tls,
                      struct sv_error *err) _must_use_;
/* After the threads have started, for all of them: a list of system calls without any that create
 * files, processes or sockets. */
int shf_sandbox_calls(struct sv_error *err) _must_use_;

#endif
