/* Time. Internal time is monotonic milliseconds; wall time is only for output to peers and people.
 * Tests replace both with sv_clock_set_test. */
#ifndef SELVEDGE_COMMON_CLOCK_H
#define SELVEDGE_COMMON_CLOCK_H

#include "common/base.h"

int64_t sv_now_ms(void);  /* CLOCK_BOOTTIME, milliseconds */
int64_t sv_now_us(void);  /* the same in microseconds, for short durations */
int64_t sv_wall_ms(void); /* CLOCK_REALTIME, milliseconds since 1970 (Hadoop's timestamps) */
void sv_clock_set_test(int64_t now_ms, int64_t wall_ms); /* both frozen until reset */
void sv_clock_reset(void);

#endif
