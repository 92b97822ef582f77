/* Exponential backoff with jitter between attempts to reach a server, so that a thousand nodes do
 * not reconnect to a restarted ResourceManager in the same millisecond. Reads no clock. */
#ifndef SELVEDGE_WIRE_IPC_BACKOFF_H
#define SELVEDGE_WIRE_IPC_BACKOFF_H

#include "common/base.h"

/* The wait before retry `n` (from 0): in the upper half of min(max_ms, first_ms << n), chosen by
 * `noise`; at least 1. */
int64_t ipc_backoff_ms(int64_t first_ms, int64_t max_ms, unsigned n, uint64_t noise);
/* A random number for `noise`. */
uint64_t ipc_backoff_noise(void);

#endif
