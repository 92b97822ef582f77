/* Usage of ended applications, summed by user or by queue. Bounded: RM_SUMS_GROUPS groups; what
 * belongs to further ones is one more sum. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_HISTORY_SUMS_H
#define SELVEDGE_RM_LITE_WEB_REST_HISTORY_SUMS_H

#include "rm-lite/core/app-usage.h"
#include "rm-lite/scheduler/hash.h"

#define RM_SUMS_GROUPS 10000

struct rm_past_app;

struct rm_sum {
    char *name; /* of the user or queue; NULL: of all beyond RM_SUMS_GROUPS */
    int64_t apps, succeeded, failed, killed;
    int64_t hidden; /* of `apps`: those whose usage the viewer may not see, which is not summed */
    int64_t memory_s, vcore_s; /* MB·s, vcore·s */
    struct {
        char *type;
        int64_t s;
    } other[RM_RES_EXTRA];
    UT_hash_handle hh;
};

struct rm_sums {
    struct rm_sum *groups; /* by name */
    struct rm_sum rest;
};

/* Adds to the sum of `name`; -ENOMEM. */
int rm_sums_add(struct rm_sums *s, const char *name, const struct rm_past_app *past, bool sees)
    _must_use_;
/* Takes one sum out, which rm_sum_free() frees; NULL: none is left. */
struct rm_sum *rm_sums_take(struct rm_sums *s);
void rm_sum_free(struct rm_sum *sum);
void rm_sums_free(struct rm_sums *s);

#endif
