/* Consequences of changed components: instances made and removed until their number is the
 * desired one, requests for those without a container, states, dependents, the service's end. */
#ifndef SELVEDGE_SERVICE_ENGINE_SETTLE_H
#define SELVEDGE_SERVICE_ENGINE_SETTLE_H

#include "service/engine/model.h"

void svc_begin(struct svc_engine *e, int64_t now); /* of each input */
void svc_settle(struct svc_engine *e);             /* its end */
/* Ends the service if all its components have ended, or a dominant one. */
void svc_check_end(struct svc_engine *e);

#endif
