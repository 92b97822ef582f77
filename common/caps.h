/* Capabilities of this process, by libcap. A daemon of ours needs none: what it was started with is
 * taken away before it reads anything that is not root's. What it executes setuid gets its own. */
#ifndef SELVEDGE_COMMON_CAPS_H
#define SELVEDGE_COMMON_CAPS_H

#include <stddef.h>
#include <sys/capability.h>

#include "common/base.h"

#define SV_CAPS_TEXT_MAX 1024 /* every name that there is, with commas */

/* Clears the effective, permitted, inheritable and ambient sets. The bounding set stays: it limits
 * what is executed setuid. `ret_had` (SV_CAPS_TEXT_MAX bytes, or NULL) gets what was permitted, ""
 * for nothing. 0, -errno. */
int sv_caps_drop_all(char *ret_had) _must_use_;
/* Those of the `n` in `wanted` that the bounding set lacks, as "cap_chown,cap_setuid" in
 * SV_CAPS_TEXT_MAX bytes; how many. */
size_t sv_caps_unbounded(const cap_value_t *wanted, size_t n, char *ret);

#endif
