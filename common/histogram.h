/* Durations by length, as Prometheus has histograms: how many took at most 0.5 ms, 1 ms, … one
 * hour, and longer. */
#ifndef SELVEDGE_COMMON_HISTOGRAM_H
#define SELVEDGE_COMMON_HISTOGRAM_H

#include "common/buf.h"

#define SV_HISTOGRAM_BOUNDS 19

struct sv_histogram {                    /* zeroed: none */
    uint64_t n[SV_HISTOGRAM_BOUNDS + 1]; /* the last: longer than every bound */
    uint64_t sum_us;
};

/* Below 0 counts as 0. */
void sv_histogram_add(struct sv_histogram *h, int64_t ms);
void sv_histogram_add_us(struct sv_histogram *h, int64_t us);
uint64_t sv_histogram_count(const struct sv_histogram *h);
/* Writes NAME_bucket{LABELS,le="…"}, NAME_sum and NAME_count, in seconds. `labels`: "" or
 * `a="b",c="d"`, escaped. */
int sv_histogram_put(const struct sv_histogram *h, const char *name, const char *labels,
                     struct sv_buf *out) _must_use_;

#endif
