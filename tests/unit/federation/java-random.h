/* java.util.Random, so that tests replay the draws of recorded Java code: two generators of one
 * seed, as tests/interop/java/reference/FederationPolicies.java seeds the two that Hadoop has. */
#ifndef SELVEDGE_TESTS_FEDERATION_JAVA_RANDOM_H
#define SELVEDGE_TESTS_FEDERATION_JAVA_RANDOM_H

#include "federation/policy/random.h"

struct java_random {
    uint64_t unit, below; /* states of 48 bits */
};

static inline uint32_t java_next(uint64_t *state, int bits)
{
    *state = (*state * 0x5DEECE66Dull + 0xB) & ((1ull << 48) - 1);
    return (uint32_t)(*state >> (48 - bits));
}

static inline float java_unit(void *userdata)
{
    struct java_random *r = userdata;

    return (float)java_next(&r->unit, 24) / 16777216.0f;
}

/* Random.nextInt(bound). */
static inline size_t java_below(void *userdata, size_t n)
{
    struct java_random *r = userdata;
    int32_t bound = (int32_t)n, bits = (int32_t)java_next(&r->below, 31), value;

    if ((bound & -bound) == bound)
        return (size_t)(((int64_t)bound * bits) >> 31);
    for (;; bits = (int32_t)java_next(&r->below, 31)) {
        value = bits % bound;
        if ((int64_t)bits - value + (bound - 1) <= INT32_MAX)
            return (size_t)value;
    }
}

static inline struct java_random java_random(uint64_t seed)
{
    uint64_t state = (seed ^ 0x5DEECE66Dull) & ((1ull << 48) - 1);

    return (struct java_random){ state, state };
}

#define JAVA_RANDOM(state) ((struct fed_random){ java_unit, java_below, (state) })

#endif
