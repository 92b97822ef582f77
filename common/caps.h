/* Capabilities of this process, by libcap. A daemon needs none: it drops those it was started with
 * before it reads any input that is not root's. A setuid program that it executes gets its own. */
#ifndef SELVEDGE_COMMON_CAPS_H
#define SELVEDGE_COMMON_CAPS_H

#include <stddef.h>
#include <sys/capability.h>

#include "common/base.h"

#define SV_CAPS_TEXT_MAX 1024 /* all names, comma-separated */

/* Clears the effective, permitted, inheritable and ambient sets. The bounding set is unchanged: it
 * limits setuid programs. `ret_had` (SV_CAPS_TEXT_MAX bytes, or NULL) gets the names that were
 * permitted, "" for none. 0, -errno. */
int sv_caps_drop_all(char *ret_had) _must_use_;
/* Lists which of the `n` capabilities in `wanted` the bounding set lacks, as
 * "cap_chown,cap_setuid", in SV_CAPS_TEXT_MAX bytes; returns their number. */
size_t sv_caps_unbounded(const cap_value_t *wanted, size_t n, char *ret);

#endif
