/* Selection of the containers whose logs are uploaded (ContainerLogAggregationPolicy). Pure. */
#ifndef SELVEDGE_NODEMANAGER_LOGS_LOG_POLICY_H
#define SELVEDGE_NODEMANAGER_LOGS_LOG_POLICY_H

#include "common/base.h"

enum nm_log_policy {
    NM_LOGS_ALL = 1,
    NM_LOGS_NONE,
    NM_LOGS_AM,
    NM_LOGS_AM_OR_FAILED,
    NM_LOGS_FAILED_OR_KILLED,
    NM_LOGS_FAILED,
    NM_LOGS_SAMPLE,
    NM_LOGS_LIMIT_SIZE, /* all but those killed for the size of their logs */
};

/* For NM_LOGS_SAMPLE: successful tasks after the first `min` count by one in `step`; 0: none. The
 * ApplicationMaster and failed containers always count. */
struct nm_log_sample {
    int64_t step, min;
};

/* Parses the name of Hadoop's class, with or without its package. -EINVAL. */
int nm_log_policy_parse(const char *class_name, enum nm_log_policy *ret) _must_use_;
/* "SR:0.2,MIN:20", in any order; these are the defaults of missing or malformed values. *ret is
 * always set; -EINVAL: a value was malformed. */
int nm_log_sample_parse(const char *parameters, struct nm_log_sample *ret) _must_use_;
/* `number`: the container's in its application, from 1. */
bool nm_log_policy_wants(enum nm_log_policy p, struct nm_log_sample sample, bool is_am,
                         int64_t number, int exit_code);

#endif
