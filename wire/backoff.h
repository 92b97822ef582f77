/* Waiting times between attempts to reach a server: doubling with jitter, so that a thousand nodes do
 * not come back to a restarted ResourceManager in the same millisecond. Plain data; no clock inside. */
#ifndef SELVEDGE_WIRE_BACKOFF_H
#define SELVEDGE_WIRE_BACKOFF_H

#include "common/base.h"

struct ipc_backoff {
    int64_t first_ms; /* of the first wait; > 0 */
    int64_t max_ms;   /* of any wait; >= first_ms */
    unsigned failures; /* since the last reset */
};

/* The next wait: random in the upper half of min(max_ms, first_ms << failures). */
int64_t ipc_backoff_next(struct ipc_backoff *b);
void ipc_backoff_reset(struct ipc_backoff *b); /* after a success */

#endif
