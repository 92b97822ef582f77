/* Our own series of /metrics, beside Hadoop's: in base units, with help. */
#ifndef SELVEDGE_RM_LITE_WEB_WEB_SERIES_H
#define SELVEDGE_RM_LITE_WEB_WEB_SERIES_H

#include "common/buf.h"
#include "rm-lite/core/context.h"

/* Queues that have series of their own; those of others are missing. */
#define RM_SERIES_QUEUES 1000

/* Call it after rm_queue_counters_gather(). */
int rm_web_series(struct rm *rm, struct sv_buf *out) _must_use_;

#endif
