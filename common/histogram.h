/* Durations by length, as Prometheus has histograms: how many took at most 5 ms, 10 ms, … 60 s, and
 * longer. */
#ifndef SELVEDGE_COMMON_HISTOGRAM_H
#define SELVEDGE_COMMON_HISTOGRAM_H

#include "common/buf.h"

#define SV_HISTOGRAM_BOUNDS 14

struct sv_histogram {                    /* zeroed: none */
    uint64_t n[SV_HISTOGRAM_BOUNDS + 1]; /* the last: longer than every bound */
    uint64_t sum_ms;
};

void sv_histogram_add(struct sv_histogram *h, int64_t ms); /* below 0 counts as 0 */
/* Writes NAME_bucket{le="…"}, NAME_sum and NAME_count, in seconds. */
int sv_histogram_put(const struct sv_histogram *h, const char *name, struct sv_buf *out) _must_use_;

#endif
