/* Shared by several policies: outcomes of exits, and requests that any host satisfies. */
#include "service/engine/policy.h"
#include "service/engine/requests.h"
#include "wire/exit-status.h"

/* Hadoop's Apps.shouldCountTowardsNodeBlacklisting() and Slider's ContainerOutcome agree on these
 * groups. */
enum svc_outcome svc_outcome_of(int32_t exit_status)
{
    switch (exit_status) {
    case YARN_EXIT_SUCCESS:
        return SVC_OUT_SUCCESS;
    case YARN_EXIT_ABORTED:
    case YARN_EXIT_KILLED_BY_APPMASTER:
    case YARN_EXIT_KILLED_BY_RESOURCEMANAGER:
    case YARN_EXIT_KILLED_AFTER_APP_COMPLETION:
    case YARN_EXIT_KILLED_BY_CONTAINER_SCHEDULER:
        return SVC_OUT_KILLED;
    case YARN_EXIT_PREEMPTED:
        return SVC_OUT_PREEMPTED;
    case YARN_EXIT_DISKS_FAILED:
        return SVC_OUT_NODE;
    case YARN_EXIT_KILLED_EXCEEDED_VMEM:
    case YARN_EXIT_KILLED_EXCEEDED_PMEM:
        return SVC_OUT_LIMITS;
    default:
        return SVC_OUT_FAILED;
    }
}

/* One request a component, whose id is the component's: Apache's masters do so too, and the
 * ResourceManager's scheduler has one key for it however many instances there are. */
void svc_ask_open(struct svc_comp *c, int64_t n)
{
    if (!c->request)
        c->request = svc_request_new(c, (int64_t)c->index + 1);
    svc_request_set(c->request, c->request->count + n);
}

void svc_cancel_open(struct svc_comp *c, int64_t n)
{
    if (c->request && n > 0)
        svc_request_set(c->request, c->request->count - SV_MIN(n, c->request->count));
    if (c->request && !c->request->count)
        svc_request_free(c->request);
}

bool svc_accept_all(struct svc_comp *c, const struct svc_node *n)
{
    (void)c;
    (void)n;
    return true;
}

bool svc_always_ready(const struct svc_comp *c)
{
    return c->ready >= c->target;
}
