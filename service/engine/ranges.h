/* Sets of ports as ranges, and of GPUs as masks. Pure. A list of ranges is sorted and coalesced
 * (apart by a number at least) wherever nothing else is said. */
#ifndef SELVEDGE_SERVICE_ENGINE_RANGES_H
#define SELVEDGE_SERVICE_ENGINE_RANGES_H

#include "common/base.h"

struct svc_range {
    int32_t first, last; /* both belong to it; >= 0 */
};

/* Any list becomes one, in place; returns how many ranges are left. Ranges with last < first are
 * dropped. */
size_t svc_ranges_coalesce(struct svc_range *list, size_t n);
/* Into `ret`, which has room for n_a + n_b ranges and is neither list; return their number. */
size_t svc_ranges_intersect(const struct svc_range *a, size_t n_a, const struct svc_range *b,
                            size_t n_b, struct svc_range *ret);
size_t svc_ranges_subtract(const struct svc_range *a, size_t n_a, const struct svc_range *b,
                           size_t n_b, struct svc_range *ret);
size_t svc_ranges_add(const struct svc_range *a, size_t n_a, const struct svc_range *b, size_t n_b,
                      struct svc_range *ret);
/* All of a are in b. */
bool svc_ranges_fit(const struct svc_range *a, size_t n_a, const struct svc_range *b, size_t n_b);
int64_t svc_ranges_count(const struct svc_range *a, size_t n_a);
int64_t svc_ranges_count_from(const struct svc_range *a, size_t n_a, int32_t min); /* from min on */
/* `count` numbers of a, from a place at or above `min` that `random` chooses, into `ret` (room for
 * n_a ranges). 0: there are not as many at or above min. */
size_t svc_ranges_pick(const struct svc_range *a, size_t n_a, int64_t count, int32_t min,
                       uint64_t random, struct svc_range *ret);

/* The lowest `n` GPUs of a mask; 0: it has fewer. */
uint64_t svc_gpus_lowest(uint64_t mask, int32_t n);
int32_t svc_gpus_count(uint64_t mask);

/* GPUs as a number, and where the node numbers them as a mask. */
struct svc_gpus {
    int32_t n;
    uint64_t mask; /* 0: not numbered */
};
/* Masks decide where both have one, else numbers. */
struct svc_gpus svc_gpus_add(struct svc_gpus a, struct svc_gpus b);
struct svc_gpus svc_gpus_subtract(struct svc_gpus a, struct svc_gpus b); /* not below 0 */

#endif
