/* Called at the beginning of every function of a program that tests/delays/cc has made. One in
 * ONE_IN is late, by up to MOST_MS: long enough for another process to do what is never seen to
 * come first.
 *
 * No system call and no libc: it runs in the helper too, behind every filter. It keeps its
 * processor, as one does that has been given to somebody else. */
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

/* A counter that every process may read; a millisecond of it, roughly. */
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

static uint64_t dice; /* of several threads, too: any value will do */

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
