/* Series of Prometheus of selvedge-services: requests, and the process. */
#ifndef SELVEDGE_SERVICE_SERVER_SERIES_H
#define SELVEDGE_SERVICE_SERVER_SERIES_H

#include "common/buf.h"
#include "service/server/flight.h"

int svc_series(const struct svc_flights *all, struct sv_buf *out) _must_use_;

#endif
