/* Drops privileges before reading from the network: afterwards the server can only read files below
 * the local directories and serve its sockets. */
#ifndef SELVEDGE_SHUFFLE_SANDBOX_H
#define SELVEDGE_SHUFFLE_SANDBOX_H

#include "common/tls/tls.h"
#include "shuffle/map-output.h"

/* Call before starting threads. No capabilities, no core dumps, no new privileges; Landlock, if the
 * kernel has it: reads only below the local directories and those of TLS's keys (`tls` may be
 * NULL), no new TCP connections. */
int shf_sandbox_files(const struct shf_local_dirs *dirs, const struct sv_tls *tls,
                      struct sv_error *err) _must_use_;
/* Call after starting the threads; applies to all of them: a list of system calls without any that
 * create files, processes or sockets, and of socket options those that are used, with
 * `tls_in_kernel` those of kernel TLS. */
int shf_sandbox_calls(bool tls_in_kernel, struct sv_error *err) _must_use_;

#endif
