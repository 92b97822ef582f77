/* Landlock, as far as every kernel knows it: no access to files but below directories that are
 * allowed, no TCP, no signal and no abstract socket to the outside. Each kernel enforces the rights
 * of its own version. */
#ifndef SELVEDGE_COMMON_LANDLOCK_H
#define SELVEDGE_COMMON_LANDLOCK_H

#include <linux/landlock.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base.h"

/* linux/landlock.h of Debian 12 ends at version 1; these bits are from the kernel's documentation.
 */
#define SV_LANDLOCK_REFER (1ull << 13)    /* 2 */
#define SV_LANDLOCK_TRUNCATE (1ull << 14) /* 3 */

/* The kernel's version; 0: it has no Landlock. */
int sv_landlock_version(void);

struct sv_landlock {
    int fd;
    uint64_t files; /* rights on files that this kernel knows: denied unless allowed */
};

/* A set of rules that denies everything; with `tcp` TCP stays free. The caller closes ret->fd. Only
 * where sv_landlock_version() is not 0. */
int sv_landlock_new(bool tcp, struct sv_landlock *ret) _must_use_;
/* Allows `access` below the open directory; rights that the kernel does not know are left out. */
int sv_landlock_allow(const struct sv_landlock *l, int dir, uint64_t access) _must_use_;
/* Of the calling thread and its children, for ever; sets no_new_privs. */
int sv_landlock_enter(const struct sv_landlock *l) _must_use_;

#endif
