/* Latencies that a test program measures, and their quantiles. */
#ifndef SELVEDGE_TESTS_LIB_LATENCY_H
#define SELVEDGE_TESTS_LIB_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLES_MAX 4000000

struct samples { /* microseconds; zeroed at first */
    uint32_t *v;
    size_t n;
};

int64_t now_us(void); /* CLOCK_MONOTONIC */
void sample(struct samples *s, int64_t began_us);
double quantile_ms(struct samples *s, double q); /* 0 to 1; -1 without samples */

#endif
