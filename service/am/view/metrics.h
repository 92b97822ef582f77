/* Counters of the service in Prometheus' text format. */
#ifndef SELVEDGE_SERVICE_AM_VIEW_METRICS_H
#define SELVEDGE_SERVICE_AM_VIEW_METRICS_H

#include "common/buf.h"
#include "service/engine/engine.h"

int svc_metrics_print(const struct svc_engine *e, const char *service, struct sv_buf *out)
    _must_use_;

#endif
