/* Which containers' logs are uploaded (ContainerLogAggregationPolicy). Pure. */
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
};

/* By the name of Hadoop's class, with or without its package. -EOPNOTSUPP: Hadoop has it, this
 * version does not (SampleContainer…, LimitSizeContainer…); -EINVAL. */
int nm_log_policy_parse(const char *class_name, enum nm_log_policy *ret) _must_use_;
bool nm_log_policy_wants(enum nm_log_policy p, bool is_am, int exit_code);

#endif
