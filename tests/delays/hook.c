/* Delay injection: called at the entry of every function of a program compiled by
 * tests/delays/cc. One call in ONE_IN waits for up to MOST_MS, so that another process can win a
 * race that it never wins otherwise.
 *
 * No system call and no libc: it runs in the setuid helper too, behind every seccomp filter. It
 * spins instead of sleeping. */
#include <stdint.h>

#ifndef ONE_IN
#define ONE_IN 1000
#endif
#ifndef MOST_MS
#define MOST_MS 50
#endif

#define HOOK __attribute__((no_instrument_function, visibility("hidden")))
HOOK void __cyg_profile_func_enter(void *function, void *caller);
HOOK void __cyg_profile_func_exit(void *function, void *caller);

/* A counter that every process may read; about a millisecond of it. */
#if defined(__x86_64__)
#define MILLISECOND 2500000u
HOOK static inline uint64_t counter(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define MILLISECOND 100000u
HOOK static inline uint64_t counter(void)
{
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
}
#endif

static uint64_t dice; /* shared by threads without a lock: any value will do */

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)function;
    (void)caller;
    uint64_t d =
        (dice ^ counter()) | 1; /* xorshift; another number in each process and at each call */
    d ^= d << 13;
    d ^= d >> 7;
    d ^= d << 17;
    dice = d;
    if ((d >> 20) % ONE_IN)
        return;
    const uint64_t most = (d >> 33) % (MOST_MS * (uint64_t)MILLISECOND), start = counter();
    while (counter() - start < most)
        ;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}
