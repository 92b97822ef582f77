/* Definitions that the engine refers to, and the change from one to the next. */
#ifndef SELVEDGE_SERVICE_ENGINE_VERSIONS_H
#define SELVEDGE_SERVICE_ENGINE_VERSIONS_H

#include "service/engine/model.h"

void svc_hold_definition(struct svc_engine *e, const struct svc_definition *d);
/* Emits DROP for those into which no component points. */
void svc_drop_definitions(struct svc_engine *e);

/* The component runs the upgrade's version, or is on its way there or back. */
static inline bool svc_is_affected(const struct svc_comp *c)
{
    return c->spec[!c->version].component;
}
/* It does not upgrade and is settled; or waits for its dependencies, and nothing of it runs. */
static inline bool svc_is_settled(const struct svc_comp *c)
{
    return !c->upgrading && (c->ok || c->state == SVC_COMPONENT_INIT);
}
/* All components are settled. */
bool svc_upgrade_is_done(const struct svc_engine *e);
/* The upgrade's definition becomes the service's, or, where it was cancelled, is forgotten. */
void svc_end_upgrade(struct svc_engine *e, bool cancelled);

#endif
