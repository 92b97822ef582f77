/* Waiting times with jitter; see backoff.h. Called by whoever retries, such as the NodeManager. */
#include "wire/backoff.h"

#include <sys/random.h>

int64_t ipc_backoff_next(struct ipc_backoff *b)
{
    uint64_t noise = 0;
    int64_t wait = SV_MAX(b->first_ms, 1);
    for (unsigned i = 0; i < b->failures && wait < b->max_ms; i++)
        wait = wait > INT64_MAX / 2 ? INT64_MAX : wait * 2;
    wait = SV_MAX(SV_MIN(wait, b->max_ms), 1);
    if (b->failures < 64)
        b->failures++;
    if (getrandom(&noise, sizeof noise, GRND_NONBLOCK) != sizeof noise)
        noise = (uintptr_t)b; /* early boot: a poor spread is better than none */
    return wait - (int64_t)(noise % (uint64_t)(wait / 2 + 1));
}

void ipc_backoff_reset(struct ipc_backoff *b)
{
    b->failures = 0;
}
