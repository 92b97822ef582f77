/* Whole containers by weight; see shares.h. Weights are at most 1e9 (federation/policy/weights.h)
 * or shares of memory, both finite. */
#include "federation/amrm/shares.h"

#include <errno.h>

/* Arithmetic in float, as Java's: 10 by 0.7 and 0.3 is 7 and 3, while in double it is less than 7.
 * A float holds counts above 2^24 only roughly: never more than what is left. */
static int32_t whole_part(int32_t count, float weight, float total, int32_t left)
{
    float part = (float)count * weight / total;

    if (!(part > 0))
        return 0;
    return part >= (float)left ? left : (int32_t)part;
}

int fed_shares(int32_t count, const float *weights, size_t n, const struct fed_random *random,
               int32_t *ret)
{
    float total = 0;
    int32_t left = count;

    for (size_t i = 0; i < n; i++)
        if (weights[i] > 0)
            total += weights[i];
    if (!(total > 0))
        return -ERANGE;
    for (size_t i = 0; i < n; i++) {
        ret[i] = weights[i] > 0 ? whole_part(count, weights[i], total, left) : 0;
        left -= ret[i];
    }
    /* More than n where a large count was rounded down: the n-fold part in one step. */
    if (left > (int32_t)n) {
        size_t i = fed_random_weighted(random, weights, n);

        ret[i] += left - (int32_t)n;
        left = (int32_t)n;
    }
    for (; left > 0; left--)
        ret[fed_random_weighted(random, weights, n)]++;
    return 0;
}
