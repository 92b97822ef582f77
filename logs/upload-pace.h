/* Rate limit of an upload (selvedge.nodemanager.log-aggregation.bytes-per-second): the node's rate
 * divided by the number of running uploads. The NodeManager sends it in the request, and an update
 * over the channel whenever that number changes. */
#ifndef SELVEDGE_LOGS_UPLOAD_PACE_H
#define SELVEDGE_LOGS_UPLOAD_PACE_H

#include "common/base.h"

struct logs_pace {
    int channel;   /* datagrams of 8 bytes, host order: the new rate */
    uint64_t rate; /* 0: no limit */
    uint64_t sent; /* since since_ms */
    int64_t since_ms;
};

/* Accounts n bytes and waits until they are due. */
void logs_pace_wait(struct logs_pace *p, size_t n);

#endif
