/* See log-policy.h. */
#include "nodemanager/logs/log-policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
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
    { "SampleContainer", NM_LOGS_SAMPLE },
    { "LimitSizeContainer", NM_LOGS_LIMIT_SIZE },
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
    return -EINVAL;
}

/* "0.25" is one in 4; "0.3" one in 3, as for Hadoop. */
static int parse_rate(const char *text, int64_t *ret_step)
{
    char *end = NULL;
    double rate = strtod(text, &end);

    if (end == text || *end || !(rate >= 0 && rate <= 1))
        return -EINVAL;
    *ret_step = rate > 1e-9 ? (int64_t)(1 / rate + 1e-6) : 0;
    return 0;
}

int nm_log_sample_parse(const char *parameters, struct nm_log_sample *ret)
{
    _cleanup_strv_ char **words = NULL;
    struct nm_log_sample s = { 5, 20 };
    int r = sv_strv_split(parameters, ',', &words), bad = 0;
    uint64_t min;

    for (char **w = words; r >= 0 && *w; w++) {
        if (sv_has_prefix(*w, "SR:"))
            bad |= parse_rate(*w + 3, &s.step);
        else if (sv_has_prefix(*w, "MIN:") && sv_parse_u64(*w + 4, 0, INT32_MAX, &min) == 0)
            s.min = (int64_t)min;
        else
            bad = 1;
    }
    *ret = s;
    return r < 0 ? r : bad ? -EINVAL : 0;
}

/* True if killed: by the node's manager or a signal, for Hadoop TERM and KILL. */
static bool was_killed(int exit_code)
{
    return exit_code == YARN_EXIT_FORCE_KILLED || exit_code == YARN_EXIT_TERMINATED;
}

static bool in_sample(struct nm_log_sample s, bool is_am, int64_t number, int exit_code)
{
    return is_am || exit_code != 0 || number < s.min + 2 || (s.step > 0 && number % s.step == 0);
}

bool nm_log_policy_wants(enum nm_log_policy p, struct nm_log_sample sample, bool is_am,
                         int64_t number, int exit_code)
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
    case NM_LOGS_SAMPLE:
        return in_sample(sample, is_am, number, exit_code);
    case NM_LOGS_LIMIT_SIZE:
        return exit_code != YARN_EXIT_KILLED_FOR_EXCESS_LOGS;
    case NM_LOGS_ALL:
        break;
    }
    return true;
}
