#include "tests/lib/latency.h"

#include <stdlib.h>
#include <time.h>

int64_t now_us(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) < 0)
        abort();
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void sample(struct samples *s, int64_t began_us)
{
    if (!s->v)
        s->v = calloc(SAMPLES_MAX, sizeof(*s->v));
    if (!s->v)
        abort();
    if (s->n < SAMPLES_MAX)
        s->v[s->n++] = (uint32_t)(now_us() - began_us);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

double quantile_ms(struct samples *s, double q)
{
    if (s->n == 0)
        return -1;
    qsort(s->v, s->n, sizeof(*s->v), by_value);
    return s->v[(size_t)((double)(s->n - 1) * q)] / 1000.0;
}
