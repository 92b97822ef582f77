/* Chance as an argument: policies draw from it and nothing else, so that a test replays Java's
 * generator and compares the choices. */
#ifndef SELVEDGE_FEDERATION_POLICY_RANDOM_H
#define SELVEDGE_FEDERATION_POLICY_RANDOM_H

#include "common/base.h"

struct fed_random {
    float (*unit)(void *userdata);             /* in [0, 1) */
    size_t (*below)(void *userdata, size_t n); /* 0 to n - 1; n > 0 */
    void *userdata;
};

/* The kernel's generator, for daemons. */
extern const struct fed_random fed_random_kernel;

/* An index, each as often as its weight says; weights of 0 and below are never drawn. Returns n if
 * none is positive. */
size_t fed_random_weighted(const struct fed_random *random, const float *weights, size_t n);

#endif
