/* ContainerManagementProtocol for ApplicationMasters (ContainerManagerImpl). Every caller is
 * authenticated by an NMToken and still hostile: this file authorizes each request, with the
 * exception classes and words of Hadoop's NodeManager. */
#ifndef SELVEDGE_NODEMANAGER_AM_CONTAINER_MANAGER_H
#define SELVEDGE_NODEMANAGER_AM_CONTAINER_MANAGER_H

#include "wire/ipc/ipc-server.h"

struct nm_amrm;
struct nm_assignments;
struct nm_aux;
struct nm_call_turns;
struct nm_localization;
struct nm_log_aggregation;
struct nm_context;
struct nm_scheduler;
struct nm_updater;

struct nm_am {
    struct nm_context *ctx;
    struct nm_assignments *assignments;
    struct nm_scheduler *scheduler;
    const struct nm_updater *updater;
    const struct nm_aux *aux; /* NULL: no auxiliary services */
    struct nm_amrm *amrm;     /* NULL: no AMRMProxy */
    struct nm_log_aggregation *aggregation;
    struct nm_localization *localization;
    struct nm_call_turns *turns;
};

/* The protocol table; userdata of the handlers is the struct nm_am. */
extern const struct ipc_protocol nm_container_management;

/* An ipc_authorization by hadoop-policy.xml; for a configuration with a policy. */
int nm_cm_authorize_peer(void *userdata, const struct ipc_peer *peer, const char *protocol,
                         struct sv_error *err);

#endif
