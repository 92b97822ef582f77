/* Monotonic and wall clock; tests can freeze both. */
#include "common/clock.h"

#include <time.h>

static bool frozen;
static int64_t frozen_now, frozen_wall;

static int64_t read_us(clockid_t id)
{
    struct timespec ts = { 0 };

    (void)clock_gettime(id, &ts); /* cannot fail for these two clocks on Linux, ignoring */
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int64_t read_ms(clockid_t id)
{
    return read_us(id) / 1000;
}

int64_t sv_now_us(void)
{
    return frozen ? frozen_now * 1000 : read_us(CLOCK_BOOTTIME);
}

int64_t sv_now_ms(void)
{
    return frozen ? frozen_now : read_ms(CLOCK_BOOTTIME);
}

int64_t sv_wall_ms(void)
{
    return frozen ? frozen_wall : read_ms(CLOCK_REALTIME);
}

void sv_clock_set_test(int64_t now_ms, int64_t wall_ms)
{
    frozen = true;
    frozen_now = now_ms;
    frozen_wall = wall_ms;
}

void sv_clock_reset(void)
{
    frozen = false;
}
