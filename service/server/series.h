/* Series of Prometheus of selvedge-services: requests, and the process. */
#ifndef SELVEDGE_SERVICE_SERVER_SERIES_H
#define SELVEDGE_SERVICE_SERVER_SERIES_H

#include "common/buf.h"
#include "service/server/flight.h"

struct svc_frameworks;

/* `frameworks` NULL: this is no FrameworkLauncher. */
int svc_series(const struct svc_flights *all, const struct svc_frameworks *frameworks,
               struct sv_buf *out) _must_use_;

#endif
