/* Ends: of containers, with what they count as, and of the service. */
#ifndef SELVEDGE_SERVICE_ENGINE_ENDS_H
#define SELVEDGE_SERVICE_ENGINE_ENDS_H

#include "service/engine/model.h"

/* The instance's container ended, or will never be heard of again. */
void svc_container_ended(struct svc_inst *i, int32_t exit_status, const char *diagnostics);
/* Its container could not be started. */
void svc_start_failed(struct svc_inst *i, const char *why);
/* Gives a container back that no instance has use for, by RELEASE or STOP; `c` may be NULL. */
struct svc_container *svc_release_surplus(struct svc_engine *e, struct svc_comp *c,
                                          const struct svc_allocated *allocated,
                                          enum svc_op_type how);
uint64_t svc_random(struct svc_engine *e); /* by the seed */
/* The service ends with this event (enum svc_service_event); no effect if it does already. */
void svc_end(struct svc_engine *e, int event, const char *why);

#endif
