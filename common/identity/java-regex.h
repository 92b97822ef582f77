/* Java's regular expressions of keys, by PCRE2: Matcher.matches() and Matcher.find(). Trusted: the
 * expression, an operator's. Hostile: the text that it is compared with; the work for it is counted
 * and bounded. */
#ifndef SELVEDGE_COMMON_IDENTITY_JAVA_REGEX_H
#define SELVEDGE_COMMON_IDENTITY_JAVA_REGEX_H

#include "common/base.h"
#include "common/error.h"

#define SV_JAVA_REGEX_MAX 4096     /* bytes of an expression */
#define SV_JAVA_REGEX_GROUPS 9     /* groups with a number */
#define SV_JAVA_REGEX_STEPS 100000 /* for one decision, all its comparisons together: 1 to 3 ms */

struct sv_java_regex;

/* The steps of one decision so far; begins as { 0 }. */
struct sv_java_work {
    unsigned steps;
};

/* One position of the text for each end of the whole match and of each group; SIZE_MAX: the group
 * took no part. */
struct sv_java_match {
    size_t start[SV_JAVA_REGEX_GROUPS + 1], end[SV_JAVA_REGEX_GROUPS + 1];
};

/* `whole`: the expression must match all of the text. -EINVAL: not one, or one that Java and PCRE2
 * read differently. */
int sv_java_regex_new(const char *text, size_t len, bool whole, struct sv_java_regex **ret,
                      struct sv_error *err) _must_use_;
struct sv_java_regex *sv_java_regex_free(struct sv_java_regex *x);
static inline void sv_java_regex_freep(struct sv_java_regex **x)
{
    *x = sv_java_regex_free(*x);
}
unsigned sv_java_regex_groups(const struct sv_java_regex *x);
/* Finds the first match that begins at `from` or behind it. 1 or 0; -E2BIG: the work is used up;
 * -EINVAL: the text has characters that are not ASCII, and the expression ignores case or has \b;
 * or no UTF-8. `ret` may be NULL. */
int sv_java_regex_find(struct sv_java_regex *x, const char *text, size_t len, size_t from,
                       struct sv_java_work *work, struct sv_java_match *ret) _must_use_;

#endif
