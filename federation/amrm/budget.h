/* Work of one turn of a daemon's loop, counted in rows: a row is an entry of a message's list that
 * is looked at, placed or joined, some microseconds at most. Functions that take a budget stop once
 * it is spent, perhaps a little below, and return FED_MORE: they are called again in a later turn
 * with what is told there unchanged. Whatever the turns, the result is the same. */
#ifndef SELVEDGE_FEDERATION_AMRM_BUDGET_H
#define SELVEDGE_FEDERATION_AMRM_BUDGET_H

#include <stdint.h>

#include "common/base.h"

#define FED_MORE 1
/* Bytes of a row that cost as much as another row. */
#define FED_ROW_BYTES 1024

struct fed_budget {
    int64_t rows; /* that are left; below 0: so many more than it had were taken */
};

#define FED_BUDGET_ALL ((struct fed_budget){ INT64_MAX })

static inline bool fed_spent(const struct fed_budget *b)
{
    return b->rows <= 0;
}

static inline void fed_spend(struct fed_budget *b, size_t rows)
{
    b->rows -= (int64_t)rows;
}

#endif
