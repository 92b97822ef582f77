/* State machine of containers (ContainerImpl): the table and its actions. The table runs the
 * machine, prints its graph and drives the test that walks every edge. */
#ifndef SELVEDGE_NODEMANAGER_FSM_CONTAINER_FSM_H
#define SELVEDGE_NODEMANAGER_FSM_CONTAINER_FSM_H

#include "common/dispatcher.h"
#include "common/fsm.h"

struct nm_assignments;
struct nm_aux;
struct nm_deletion;
struct nm_launcher;
struct nm_localization;
struct nm_log_aggregation;
struct nm_scheduler;
struct nm_updater;

/* The services that its actions use. */
struct nm_container_services {
    struct nm_localization *localization;
    struct nm_deletion *deletion;
    struct nm_assignments *assignments;
    struct nm_scheduler *scheduler;
    struct nm_launcher *launcher;
    struct nm_aux *aux; /* NULL: none */
    struct nm_log_aggregation *aggregation;
    struct nm_updater *updater; /* NULL: the daemon ends */
};

/* The sv_event_handler of NM_MACHINE_CONTAINER; userdata is a struct nm_container_services. */
void nm_container_handle(const struct sv_event *event, void *userdata);
const struct sv_fsm *nm_container_fsm(void);

#endif
