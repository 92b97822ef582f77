/* The length of one turn of a walk over applications, nodes or containers: a walk that a peer
 * causes stops after it and goes on in the loop's next turn. By work, which tests count, and by
 * time, for entries that are larger than usual. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_TURN_H
#define SELVEDGE_RM_LITE_REQUESTS_TURN_H

#include "common/clock.h"

#define RM_TURN_MS 5     /* after which no further object is looked at */
#define RM_TURN_MAKES 32 /* entries made of objects, about half a millisecond */
#define RM_TURN_LOOKS 16 /* objects looked at and left out that cost as much as one made */

struct rm_turn {
    int64_t until_ms; /* monotonic */
    unsigned work;
};

static inline struct rm_turn rm_turn_begin(void)
{
    return (struct rm_turn){ .until_ms = sv_now_ms() + RM_TURN_MS };
}

/* Counts one object, of which an entry was made or not. */
static inline void rm_turn_count(struct rm_turn *t, bool made)
{
    t->work += made ? RM_TURN_LOOKS : 1;
}

static inline bool rm_turn_is_over(const struct rm_turn *t)
{
    return t->work >= RM_TURN_MAKES * RM_TURN_LOOKS || sv_now_ms() >= t->until_ms;
}

#endif
