/* Retry policies of the FrameworkLauncher: what follows the end of a task's container, or of a
 * framework's application. Pure. */
#ifndef SELVEDGE_SERVICE_ENGINE_RETRY_H
#define SELVEDGE_SERVICE_ENGINE_RETRY_H

#include "service/framework/descriptor.h"

enum svc_fw_decision {
    SVC_FW_END,         /* the counters stay: those of the last attempt are not counted */
    SVC_FW_RETRY,       /* at once */
    SVC_FW_RETRY_LATER, /* a framework after svc_fw_backoff_s(); a task at once */
};
/* `ret`: the counters after it; may be `counts`. */
enum svc_fw_decision svc_fw_decide(const struct svc_fw_retry_policy *p, enum svc_fw_type type,
                                   const struct svc_fw_retries *counts, struct svc_fw_retries *ret);
/* Seconds from min (600) to max (3600), more the more conflicts there were: `conflicts` is the
 * count of transient conflicts before this one, `random` any number. */
int64_t svc_fw_backoff_s(int32_t conflicts, int64_t min, int64_t max, uint64_t random);

#endif
