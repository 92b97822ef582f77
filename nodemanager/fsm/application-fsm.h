/* State machine of applications (ApplicationImpl): the table and its actions. */
#ifndef SELVEDGE_NODEMANAGER_FSM_APPLICATION_FSM_H
#define SELVEDGE_NODEMANAGER_FSM_APPLICATION_FSM_H

#include "common/dispatcher.h"
#include "common/fsm.h"

struct nm_amrm;
struct nm_app_init;
struct nm_aux;
struct nm_context;
struct nm_deletion;
struct nm_localization;
struct nm_log_aggregation;
struct nm_mcs;
struct nm_updater;

/* The services that its actions use. */
struct nm_app_services {
    struct nm_localization *localization;
    struct nm_deletion *deletion;
    struct nm_log_aggregation *aggregation;
    struct nm_mcs *mcs;         /* NULL = off */
    struct nm_aux *aux;         /* NULL: none */
    struct nm_amrm *amrm;       /* NULL: off */
    struct nm_updater *updater; /* NULL: the daemon ends */
    struct nm_app_init *inits;  /* requests to the helper without an answer yet; utlist */
};

/* The sv_event_handler of NM_MACHINE_APP; userdata is a struct nm_app_services. */
void nm_app_handle(const struct sv_event *event, void *userdata);
/* Marks the running applications' files in a local directory as lost. */
void nm_apps_lose_dir(struct nm_context *ctx, int index);
/* A directory is usable again: creates the running applications' directories in it. */
void nm_apps_make_dirs(struct nm_context *ctx, struct nm_app_services *services);
/* Frees the requests that will get no answer: after exe_free. */
void nm_app_free_inits(struct nm_app_services *services);
const struct sv_fsm *nm_app_fsm(void);

#endif
