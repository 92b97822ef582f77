/* Reports of client/lib as both kinds of masters take them. Pure. */
#ifndef SELVEDGE_SERVICE_AM_FACTS_REPORTS_H
#define SELVEDGE_SERVICE_AM_FACTS_REPORTS_H

#include "client/lib/client.h"
#include "service/engine/engine.h"

/* A container that the ResourceManager gave, for the engine. Its texts are those of `c`. */
struct svc_allocated svc_allocated_of(const struct cli_allocation *c);
/* Why a container was not started: the words of `err` where there are any, else those of `status`,
 * an -errno. Valid as long as `err`, and until the next strerror(). */
const char *svc_why_not_started(int status, const struct sv_error *err);

#endif
