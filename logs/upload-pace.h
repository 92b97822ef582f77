/* Bytes a second of an upload (selvedge.nodemanager.log-aggregation.bytes-per-second): the node's
 * rate, shared by the uploads that run. The NodeManager says it in the request, and again over the
 * channel when their number changes. */
#ifndef SELVEDGE_LOGS_UPLOAD_PACE_H
#define SELVEDGE_LOGS_UPLOAD_PACE_H

#include "common/base.h"

struct logs_pace {
    int channel;   /* datagrams of 8 bytes, host order: the new rate */
    uint64_t rate; /* 0: no limit */
    uint64_t sent; /* since `since_ms` */
    int64_t since_ms;
};

/* After n bytes: returns when they are due. */
void logs_pace_wait(struct logs_pace *p, size_t n);

#endif
