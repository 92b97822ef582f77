/* Waiting times between attempts to reach a server: doubling with jitter, so that a thousand nodes
 * do not come back to a restarted ResourceManager in the same millisecond. No clock inside. */
#ifndef SELVEDGE_WIRE_BACKOFF_H
#define SELVEDGE_WIRE_BACKOFF_H

#include "common/base.h"

/* The wait after `n` earlier ones: in the upper half of min(max_ms, first_ms << n), chosen by
 * `noise`; at least 1. */
int64_t ipc_backoff_ms(int64_t first_ms, int64_t max_ms, unsigned n, uint64_t noise);
/* A random number for it. */
uint64_t ipc_backoff_noise(void);

#endif
