/* Globs of keys, as Hadoop's GlobPattern reads them: * ? [a-z] [!a-z] {one,two} and a backslash
 * before a character that stands for itself. Trusted: the glob. Hostile: the text. */
#ifndef SELVEDGE_COMMON_IDENTITY_GLOB_H
#define SELVEDGE_COMMON_IDENTITY_GLOB_H

#include "common/base.h"
#include "common/error.h"

#define SV_GLOB_MAX 512 /* bytes */

/* Whether the glob matches all of the text: 1 or 0. -EINVAL: no glob; -E2BIG: too much work. */
int sv_glob_match(const char *glob, const char *text, struct sv_error *err) _must_use_;

#endif
