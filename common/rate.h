/* Number and average of durations, as Hadoop's MutableRate has them for its ...NumOps and
 * ...AvgTime: the number is of all since the start, the average of the last period in which there
 * were any. Periods are fixed here, and not those of whoever asks. */
#ifndef SELVEDGE_COMMON_RATE_H
#define SELVEDGE_COMMON_RATE_H

#include "common/base.h"

#define SV_RATE_PERIOD_MS 10000

struct sv_rate { /* zeroed: none */
    uint64_t n;
    /* private */
    int64_t period;             /* number of the current one */
    uint64_t period_n, last_n;  /* of the current one; of the one before it */
    double period_sum, average; /* of the current one; of the last one that had any */
};

/* `now_ms`: sv_now_ms(). */
void sv_rate_add(struct sv_rate *r, double value, int64_t now_ms);
/* Average of the last whole period with any; in the first one of those so far. 0: none. */
double sv_rate_average(const struct sv_rate *r, int64_t now_ms);
/* In the last whole period. */
double sv_rate_per_second(const struct sv_rate *r, int64_t now_ms);

#endif
