/* The AMRMProxy's interceptors, each the last of its chain in Hadoop. */
#ifndef SELVEDGE_NODEMANAGER_FEDERATION_CLASSES_H
#define SELVEDGE_NODEMANAGER_FEDERATION_CLASSES_H

#include "nodemanager/amrmproxy/interceptors.h"

/* FederationInterceptor; federation-interceptor.c. */
extern const struct nm_amrm_interceptor nm_amrm_federation_interceptor;
/* All that there are; NULL ends them. */
extern const struct nm_amrm_interceptor *const nm_amrm_classes[];

#endif
