/* Shared by the launching programs of bench-launch: they stay resident and take one command per
 * line from bench-launch, so that the contestants can alternate. "one N" = N launches one after the
 * other; answered by one line of microseconds each, then "cpu USEC" (their own and that of their
 * children) and "done". */
#ifndef SELVEDGE_TESTS_BENCH_COMMAND_H
#define SELVEDGE_TESTS_BENCH_COMMAND_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static inline int64_t now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static inline int64_t cpu_us(void)
{
    int64_t sum = 0;
    static const int who[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
    for (int i = 0; i < 2; i++) {
        struct rusage r;
        (void)getrusage((__rusage_who_t)who[i], &r);
        sum += (int64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 + r.ru_utime.tv_usec +
               r.ru_stime.tv_usec;
    }
    return sum;
}

/* Reads a line "WORD [A [B]]"; false at the end of the input. */
static inline bool next_command(char word[16], long *a, long *b)
{
    char line[128];
    *a = *b = 0;
    if (!fgets(line, sizeof(line), stdin))
        return false;
    size_t n = strcspn(line, " \n");
    n = n < 15 ? n : 15;
    memcpy(word, line, n);
    word[n] = '\0';
    char *at = line + n;
    *a = strtol(at, &at, 10);
    *b = strtol(at, &at, 10);
    return true;
}

/* Runs `launch` for each "one N" until the input ends; it returns 0 on success. */
static inline int serve_commands(int (*launch)(void *), void *argument)
{
    char word[16];
    long count, unused;
    while (next_command(word, &count, &unused)) {
        int64_t cpu = cpu_us();
        for (long i = 0; i < count; i++) {
            int64_t start = now_us();
            if (launch(argument) != 0)
                return 1;
            (void)printf("%lld\n", (long long)(now_us() - start));
        }
        (void)printf("cpu %lld\ndone\n", (long long)(cpu_us() - cpu));
        (void)fflush(stdout);
    }
    return 0;
}

#endif
