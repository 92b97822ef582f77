/* Backoff with jitter; see backoff.h. */
#include "wire/ipc/backoff.h"

#include <sys/random.h>

int64_t ipc_backoff_ms(int64_t first_ms, int64_t max_ms, unsigned n, uint64_t noise)
{
    int64_t wait = SV_MAX(first_ms, 1);
    for (unsigned i = 0; i < n && wait < max_ms; i++)
        wait = wait > INT64_MAX / 2 ? INT64_MAX : wait * 2;
    wait = SV_MAX(SV_MIN(wait, max_ms), 1);
    return wait - (int64_t)(noise % (uint64_t)(wait / 2 + 1));
}

uint64_t ipc_backoff_noise(void)
{
    static uint64_t poor;
    uint64_t noise = 0;
    if (getrandom(&noise, sizeof(noise), GRND_NONBLOCK) != sizeof(noise))
        noise = ++poor * 0x9e3779b97f4a7c15; /* early boot: weak randomness is better than none */
    return noise;
}
