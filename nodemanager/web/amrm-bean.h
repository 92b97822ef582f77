/* AMRMProxyMetrics of /jmx, with Hadoop's names. */
#ifndef SELVEDGE_NODEMANAGER_WEB_AMRM_BEAN_H
#define SELVEDGE_NODEMANAGER_WEB_AMRM_BEAN_H

#include <jansson.h>

struct nm_amrm_counters;

/* NULL: no memory. */
json_t *nm_amrm_bean(const char *service, const struct nm_amrm_counters *c, int64_t now_ms);

#endif
