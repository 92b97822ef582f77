/* Differences between two versions of a service. Reads definitions that were parsed and resolved.
 */
#ifndef SELVEDGE_SERVICE_ENGINE_DEFINITION_DIFF_H
#define SELVEDGE_SERVICE_ENGINE_DEFINITION_DIFF_H

#include "service/definition/definition.h"

/* 0: `to` may follow `from` by an upgrade. -EINVAL: it changes what an upgrade cannot change, which
 * is what Hadoop's UpgradeComponentsFinder refuses. */
int svc_upgrade_is_supported(const struct svc_definition *from, const struct svc_definition *to,
                             struct sv_error *err) _must_use_;
/* Artifact, launch command or configuration differ. */
bool svc_component_needs_upgrade(const struct svc_component *from, const struct svc_component *to);
const struct svc_component *svc_component_in(const struct svc_definition *d, const char *name,
                                             size_t *ret_i);

#endif
