/* Outstanding requests: what was asked of the ResourceManager and not answered yet. */
#ifndef SELVEDGE_SERVICE_ENGINE_REQUESTS_H
#define SELVEDGE_SERVICE_ENGINE_REQUESTS_H

#include "service/engine/model.h"

/* A request without containers yet; svc_request_set() asks for some. id 0: a new one. */
struct svc_request *svc_request_new(struct svc_comp *c, int64_t id);
struct svc_request *svc_request_find(const struct svc_engine *e, int64_t id);
/* Asks for `count` containers in all. */
void svc_request_set(struct svc_request *r, int64_t count);
/* `count` of them were allocated or rejected: nothing is emitted. */
void svc_request_subtract(struct svc_request *r, int64_t count);
void svc_request_free(struct svc_request *r); /* count must be 0 */
/* After a resync: emits outstanding requests again, as many as the budget allows; true: all. */
bool svc_requests_tell(struct svc_engine *e);
void svc_requests_free(struct svc_engine *e);

#endif
