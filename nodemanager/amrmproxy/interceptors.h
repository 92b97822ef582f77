/* An interceptor by its Java class. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_INTERCEPTORS_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_INTERCEPTORS_H

#include "nodemanager/amrmproxy/pipeline.h"

extern const struct nm_amrm_interceptor nm_amrm_pass_through; /* pass-through.c */

#define NM_AMRM_PIPELINE_KEY "yarn.nodemanager.amrmproxy.interceptor-class.pipeline"

/* The interceptor of the key's list out of `all`, which NULL ends; its keys are checked. -EINVAL:
 * an unknown class, or one behind the last. */
int nm_amrm_interceptor_of(struct sv_conf *c, const struct nm_amrm_interceptor *const *all,
                           const struct nm_amrm_interceptor **ret, struct sv_error *err) _must_use_;

#endif
