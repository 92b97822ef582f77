/* Regular expressions of jobs and operators, which may be hostile. */
#ifndef SELVEDGE_COMMON_PATTERN_H
#define SELVEDGE_COMMON_PATTERN_H

#include "common/base.h"
#include "common/error.h"

#define SV_PATTERN_MAX 512 /* bytes without the NUL */

struct sv_pattern;
/* java.util.regex's common subset (groups, classes, quantifiers,
 * alternatives, (?:…), lazy quantifiers), matched against the whole path without backtracking and
 * with limits on memory and steps. -EINVAL: unsupported, or longer than SV_PATTERN_MAX bytes. */
int sv_pattern_new(const char *text, struct sv_pattern **ret, struct sv_error *err) _must_use_;
struct sv_pattern *sv_pattern_free(struct sv_pattern *p);
static inline void sv_pattern_freep(struct sv_pattern **p)
{
    *p = sv_pattern_free(*p);
}
/* 1, 0, or -EFBIG when a limit was reached. */
int sv_pattern_match(struct sv_pattern *p, const char *path) _must_use_;

#endif
