/* Landlock, as far as the running kernel supports it: denies access to files outside of allowed
 * directories, TCP, and signals and abstract sockets to processes outside. Each kernel enforces the
 * rights of its own ABI version. */
#ifndef SELVEDGE_COMMON_LANDLOCK_H
#define SELVEDGE_COMMON_LANDLOCK_H

#include <linux/landlock.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base.h"

/* ABI versions of the bits; linux/landlock.h of Debian 12 ends at version 1. */
#define SV_LANDLOCK_REFER (1ull << 13)    /* 2 */
#define SV_LANDLOCK_TRUNCATE (1ull << 14) /* 3 */

/* The kernel's ABI version; 0: no Landlock. */
int sv_landlock_version(void);

struct sv_landlock {
    int fd;
    uint64_t files; /* file rights that this kernel supports: denied unless allowed */
};

/* Creates a ruleset that denies everything; `tcp` exempts TCP. The caller closes ret->fd. Requires
 * sv_landlock_version() > 0. */
int sv_landlock_new(bool tcp, struct sv_landlock *ret) _must_use_;
/* Allows `access` below the open directory; rights that the kernel does not support are masked
 * out. */
int sv_landlock_allow(const struct sv_landlock *l, int dir, uint64_t access) _must_use_;
/* Restricts the calling thread and its future children permanently; sets no_new_privs. */
int sv_landlock_enter(const struct sv_landlock *l) _must_use_;

#endif
