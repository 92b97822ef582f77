/* Components of a definition as objects of the engine, in the order of their dependencies. */
#ifndef SELVEDGE_SERVICE_ENGINE_COMPONENTS_H
#define SELVEDGE_SERVICE_ENGINE_COMPONENTS_H

#include "service/engine/model.h"

/* Checks counts, names, dependencies and the retired numbers; -EINVAL. */
int svc_components_check(const struct svc_definition *d, struct sv_error *err) _must_use_;
/* Adds the components that the engine lacks; dependencies come first in e->order. The definition
 * was checked. */
void svc_components_add(struct svc_engine *e, const struct svc_definition *d,
                        const struct svc_options *options);
struct svc_options svc_options_at(const struct svc_options *options, size_t i);
void svc_components_free(struct svc_engine *e);

#endif
