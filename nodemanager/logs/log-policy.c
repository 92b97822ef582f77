/* See log-policy.h. */
#include "nodemanager/logs/log-policy.h"

#include <errno.h>
#include <string.h>

#include "wire/exit-status.h"

#define SUFFIX "LogAggregationPolicy"

static const struct {
    const char *name;
    enum nm_log_policy policy;
} policies[] = {
    { "AllContainer", NM_LOGS_ALL },
    { "NoneContainer", NM_LOGS_NONE },
    { "AMOnly", NM_LOGS_AM },
    { "AMOrFailedContainer", NM_LOGS_AM_OR_FAILED },
    { "FailedOrKilledContainer", NM_LOGS_FAILED_OR_KILLED },
    { "FailedContainer", NM_LOGS_FAILED },
};

static bool is(const char *name, const char *wanted)
{
    size_t n = strlen(wanted);

    return strncmp(name, wanted, n) == 0 && strcmp(name + n, SUFFIX) == 0;
}

int nm_log_policy_parse(const char *class_name, enum nm_log_policy *ret)
{
    const char *dot = strrchr(class_name, '.');
    const char *name = dot ? dot + 1 : class_name;

    for (size_t i = 0; i < SV_ARRAY_LEN(policies); i++)
        if (is(name, policies[i].name)) {
            *ret = policies[i].policy;
            return 0;
        }
    return is(name, "SampleContainer") || is(name, "LimitSizeContainer") ? -EOPNOTSUPP : -EINVAL;
}

/* Killed: by the node's manager or a signal, for Hadoop TERM and KILL. */
static bool was_killed(int exit_code)
{
    return exit_code == YARN_EXIT_FORCE_KILLED || exit_code == YARN_EXIT_TERMINATED;
}

bool nm_log_policy_wants(enum nm_log_policy p, bool is_am, int exit_code)
{
    switch (p) {
    case NM_LOGS_NONE:
        return false;
    case NM_LOGS_AM:
        return is_am;
    case NM_LOGS_AM_OR_FAILED:
        return is_am || (exit_code != 0 && !was_killed(exit_code));
    case NM_LOGS_FAILED_OR_KILLED:
        return exit_code != 0;
    case NM_LOGS_FAILED:
        return exit_code != 0 && !was_killed(exit_code);
    case NM_LOGS_ALL:
        break;
    }
    return true;
}
