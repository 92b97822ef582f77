/* See retry.h. */
#include "service/engine/retry.h"

#define CONFLICTS_MAX 6 /* from here on delays are of the whole range */

static void add(int32_t *n)
{
    *n += *n < INT32_MAX;
}

static int32_t *counter_of(struct svc_fw_retries *c, enum svc_fw_type type)
{
    switch (type) {
    case SVC_FW_SUCCEEDED:
        return &c->succeeded;
    case SVC_FW_TRANSIENT_NORMAL:
        return &c->transient_normal;
    case SVC_FW_TRANSIENT_CONFLICT:
        return &c->transient_conflict;
    case SVC_FW_NON_TRANSIENT:
        return &c->non_transient;
    default:
        return &c->unknown;
    }
}

static bool is_normal_retry(const struct svc_fw_retry_policy *p, enum svc_fw_type type,
                            int32_t retried)
{
    if (p->max_retries == SVC_FW_RETRY_ALWAYS)
        return true;
    if (type == SVC_FW_SUCCEEDED)
        return false;
    return p->max_retries == SVC_FW_RETRY_FAILED || retried < p->max_retries;
}

enum svc_fw_decision svc_fw_decide(const struct svc_fw_retry_policy *p, enum svc_fw_type type,
                                   const struct svc_fw_retries *counts, struct svc_fw_retries *ret)
{
    struct svc_fw_retries next = *counts;
    enum svc_fw_decision decision = SVC_FW_RETRY;

    add(counter_of(&next, type));
    if (p->fancy && type == SVC_FW_TRANSIENT_CONFLICT)
        decision = SVC_FW_RETRY_LATER;
    else if (p->fancy && type == SVC_FW_NON_TRANSIENT)
        decision = SVC_FW_END;
    else if (p->fancy && type == SVC_FW_TRANSIENT_NORMAL)
        decision = SVC_FW_RETRY;
    else if (is_normal_retry(p, type, counts->retried))
        add(&next.retried);
    else
        decision = SVC_FW_END;
    *ret = decision == SVC_FW_END ? *counts : next;
    return decision;
}

int64_t svc_fw_backoff_s(int32_t conflicts, int64_t min, int64_t max, uint64_t random)
{
    int64_t n = SV_MAX(SV_MIN(conflicts, CONFLICTS_MAX), 0);
    uint64_t range = max > min ? (uint64_t)(max - min) * (uint64_t)n / CONFLICTS_MAX : 0;

    return min + (int64_t)(random % (range + 1));
}
