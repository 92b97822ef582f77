/* Draws by weight, and the kernel's random numbers. Reads no outside input. */
#include "federation/policy/random.h"

#include <sys/random.h>

#include "common/clock.h"

/* Before the kernel has gathered entropy, or without it: the time, which is random enough to spread
 * applications. */
static uint32_t bits(void)
{
    uint32_t v;

    if (getrandom(&v, sizeof(v), GRND_NONBLOCK) != (ssize_t)sizeof(v))
        v = (uint32_t)sv_wall_ms() * 2654435761u;
    return v;
}

static float kernel_unit(void *userdata)
{
    (void)userdata;
    return (float)(bits() >> 8) / 16777216.0f;
}

static size_t kernel_below(void *userdata, size_t n)
{
    (void)userdata;
    return (size_t)(((uint64_t)bits() * n) >> 32);
}

const struct fed_random fed_random_kernel = { kernel_unit, kernel_below, NULL };

size_t fed_random_weighted(const struct fed_random *random, const float *weights, size_t n)
{
    float total = 0, point;
    size_t last = n;

    for (size_t i = 0; i < n; i++)
        if (weights[i] > 0)
            total += weights[i];
    if (!(total > 0))
        return n;
    point = random->unit(random->userdata) * total;
    for (size_t i = 0; i < n; i++) {
        if (!(weights[i] > 0))
            continue;
        if (point <= weights[i])
            return i;
        point -= weights[i];
        last = i; /* rounding may leave a little behind the last one */
    }
    return last;
}
