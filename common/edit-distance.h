/* How alike two names are: for "did you mean" in messages about keys, commands and options. */
#ifndef SELVEDGE_COMMON_EDIT_DISTANCE_H
#define SELVEDGE_COMMON_EDIT_DISTANCE_H

#include <stddef.h>

#define SV_EDIT_NAME_MAX 128 /* bytes of a name that are compared; the rest is ignored */

/* Levenshtein's distance in bytes: insertions, deletions and replacements that make `b` of `a`. */
size_t sv_edit_distance(const char *a, const char *b);

#endif
