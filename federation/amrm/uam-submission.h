/* The submission of an unmanaged master to a secondary sub-cluster: the application's own id, and
 * what the store kept of its submission context. */
#ifndef SELVEDGE_FEDERATION_AMRM_UAM_SUBMISSION_H
#define SELVEDGE_FEDERATION_AMRM_UAM_SUBMISSION_H

#include "common/arena.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ids.h"

struct fed_uam_application {
    struct yarn_app_id id;
    const char *home;  /* id of its sub-cluster, for the name */
    const char *queue; /* of the home's answer to the registration; NULL or "": "default" */
    const Hadoop__Yarn__ApplicationSubmissionContextProto *context; /* NULL: the store has none */
};

/* Points into what is given. NULL: out of memory. */
Hadoop__Yarn__SubmitApplicationRequestProto *
fed_uam_submission(struct sv_arena *a, const struct fed_uam_application *app);

#endif
