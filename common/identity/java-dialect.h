/* Regular expressions that mean the same in Java and in PCRE2. Hadoop's keys hold Java's; where the
 * two read a text differently (classes within classes, \Q…\E, back references, verbs …) it is
 * refused, so that a rule never admits whom Java would not. Pure. */
#ifndef SELVEDGE_COMMON_IDENTITY_JAVA_DIALECT_H
#define SELVEDGE_COMMON_IDENTITY_JAVA_DIALECT_H

#include "common/base.h"
#include "common/error.h"

struct sv_java_dialect {
    /* The expression ignores case or has \b: the two agree on texts of ASCII alone. */
    bool ascii_only;
};

/* -EINVAL: the error names the byte, from 1, and what differs. */
int sv_java_dialect_check(const char *text, size_t len, struct sv_java_dialect *ret,
                          struct sv_error *err) _must_use_;

#endif
