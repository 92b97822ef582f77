/* Figures of tests/bench/rm-load.c: latencies, and resource usage of a process. */
#ifndef SELVEDGE_TESTS_BENCH_LOAD_FIGURES_H
#define SELVEDGE_TESTS_BENCH_LOAD_FIGURES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base.h"
#include "common/error.h"

#define SAMPLES_MAX 4000000

struct samples { /* microseconds */
    uint32_t *v;
    size_t n;
};

static inline _Noreturn void die(const char *what, const struct sv_error *err)
{
    (void)fprintf(stderr, "rm-load: %s: %s\n", what, err ? err->text : "");
    exit(EXIT_FAILURE);
}

static inline int64_t now_us(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) < 0)
        die("clock", NULL);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static inline void sample(struct samples *s, int64_t began_us)
{
    if (!s->v)
        s->v = calloc(SAMPLES_MAX, sizeof(*s->v));
    if (!s->v)
        die("memory", NULL);
    if (s->n < SAMPLES_MAX)
        s->v[s->n++] = (uint32_t)(now_us() - began_us);
}

static inline int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static inline double quantile_ms(struct samples *s, double q)
{
    if (s->n == 0)
        return -1;
    qsort(s->v, s->n, sizeof(*s->v), by_value);
    return s->v[(size_t)((double)(s->n - 1) * q)] / 1000.0;
}

static inline double cpu_s(int pid)
{
    unsigned long user, system;
    char path[64], text[1024], *p;
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    f = fopen(path, "re");
    if (!f || !fgets(text, sizeof(text), f))
        die(path, NULL);
    (void)fclose(f);
    p = strrchr(text, ')');
    if (!p ||
        sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        die(path, NULL);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static inline long rss_kib(int pid)
{
    char path[64], line[256];
    long kib = -1;
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (f)
        (void)fclose(f);
    return kib;
}

#endif
