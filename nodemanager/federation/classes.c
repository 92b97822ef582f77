/* See classes.h. */
#include "nodemanager/federation/classes.h"

#include <stddef.h>

const struct nm_amrm_interceptor *const nm_amrm_classes[] = {
    &nm_amrm_pass_through,
    &nm_amrm_federation_interceptor,
    NULL,
};
