/* What a worker of container-localizer gives up by itself, inside the sandbox that the setuid
 * helper has made (mounts, seccomp): a hostile archive that takes over the parser finds a process
 * that can write into one unfinished entry of the cache and do nothing else. */
#ifndef SELVEDGE_LOCALIZER_SANDBOX_H
#define SELVEDGE_LOCALIZER_SANDBOX_H

#include "common/base.h"
#include "common/error.h"

/* At the start of the program: no core dumps, not readable by others of the same user. */
int loc_sandbox_program(struct sv_error *err) _must_use_;
/* Before fetching: writing only beneath `target` (Landlock), limits on memory and file size, ends
 * with its parent. */
int loc_sandbox_fetch(int target, uint64_t max_bytes, pid_t parent, struct sv_error *err)
    _must_use_;
/* Before unpacking: nothing outside `target` can be opened, no network, no signals to others
 * (Landlock), and only the system calls that unpacking needs (seccomp). */
int loc_sandbox_unpack(int target, struct sv_error *err) _must_use_;
/* Landlock's version that the kernel offers, 0 = none: then the helper's mounts hold alone. */
int loc_sandbox_landlock(void);

#endif
