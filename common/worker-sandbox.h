/* Privileges dropped by a worker of container-localizer, inside the sandbox that the setuid helper
 * created (mounts, seccomp): a hostile archive that takes over the parser can write into one
 * unfinished entry of the cache and do nothing else. */
#ifndef SELVEDGE_COMMON_WORKER_SANDBOX_H
#define SELVEDGE_COMMON_WORKER_SANDBOX_H

#include "common/base.h"
#include "common/error.h"

/* At the start of the program: no core dumps, not traceable by other processes of the user. */
int sv_sandbox_program(struct sv_error *err) _must_use_;
/* Before fetching: writes only beneath `target` (Landlock), limits on memory and file size, killed
 * when the parent dies. */
int sv_sandbox_fetch(int target, uint64_t max_bytes, pid_t parent, struct sv_error *err) _must_use_;
/* As sv_sandbox_fetch(), for log-uploader: writes beneath several directories. */
int sv_sandbox_upload(const int *targets, size_t n, uint64_t max_bytes, pid_t parent,
                      struct sv_error *err) _must_use_;
/* Before unpacking: opens only beneath `target`, no network, no signals to other processes
 * (Landlock), only the system calls for unpacking (seccomp). */
int sv_sandbox_unpack(int target, struct sv_error *err) _must_use_;

#endif
