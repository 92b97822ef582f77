/* Similarity of two names, for "did you mean" in messages about keys, commands and options. */
#ifndef SELVEDGE_COMMON_EDIT_DISTANCE_H
#define SELVEDGE_COMMON_EDIT_DISTANCE_H

#include <stddef.h>

#define SV_EDIT_NAME_MAX 128 /* compared bytes of a name; the rest is ignored */

/* How many insertions, deletions, replacements and exchanges of two neighbours turn `a` into `b`,
 * in bytes (optimal string alignment distance). */
size_t sv_edit_distance(const char *a, const char *b);

#endif
