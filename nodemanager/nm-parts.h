/* The daemon's components and state. For main.c and nm*.c only. */
#ifndef SELVEDGE_NODEMANAGER_NM_PARTS_H
#define SELVEDGE_NODEMANAGER_NM_PARTS_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "nodemanager/am/container-manager.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/context.h"
#include "nodemanager/fsm/application-fsm.h"
#include "nodemanager/fsm/container-fsm.h"
#include "nodemanager/secure.h"
#include "nodemanager/web/nm-web.h"
#include "nodemanager/web/web-server.h"

struct ipc_server;
struct nm_bus;
struct nm_amrm;
struct nm_amrm_server;
struct nm_assignments;
struct nm_aux;
struct nm_deletion;
struct nm_describer;
struct nm_elastic;
struct nm_finished;
struct nm_gpu_watch;
struct nm_launcher;
struct nm_limits;
struct nm_localization;
struct nm_log_aggregation;
struct nm_log_handler;
struct nm_mcs;
struct nm_monitor;
struct nm_numa;
struct nm_scheduler;
struct nm_updater;
struct sv_listen_fds;

struct nm {
    sd_event *event;
    struct nm_conf conf; /* const after the load */
    struct nm_context ctx;
    struct nm_secure secure;

    struct nm_limits *limits;
    struct nm_assignments *assignments;
    struct nm_scheduler *scheduler;
    struct nm_gpu_watch *gpu_watch; /* NULL = off */
    struct nm_numa *numa;           /* NULL = off */
    struct nm_mcs *mcs;             /* NULL = off */
    struct nm_monitor *monitor;
    struct nm_elastic *elastic; /* NULL = off */
    struct nm_deletion *deletion;
    struct nm_localization *localization;
    struct nm_log_handler *logs;
    struct nm_log_aggregation *aggregation;
    struct nm_finished *finished;
    struct nm_aux *aux;
    struct nm_launcher *launcher;
    struct nm_describer *labels[2]; /* by enum nm_described; NULL = none */
    struct nm_updater *updater;
    struct nm_amrm *amrm; /* NULL = off */
    struct ipc_server *rpc;
    struct nm_amrm_server *amrm_server; /* NULL = off */
    struct nm_web_server server;
    struct sv_listen_fds *held_ports; /* held by systemd; NULL = none. Owned by main.c */
    struct nm_bus *bus;               /* NULL = off */

    /* Shared by the state machines, the RPC methods and the web pages. */
    struct nm_container_services container_services;
    struct nm_app_services app_services;
    struct nm_am am;
    struct sv_groups *groups; /* groups of users, for the web pages */
    struct nm_web web;
    unsigned web_lists, web_sends; /* for `web` */

    bool ready;          /* registered, and the service manager notified */
    bool unwanted;       /* refused by the ResourceManager: containers are ended */
    bool decommissioned; /* ordered by a heartbeat: also removes the state store */
    bool leave_running;  /* stop without ending containers */
    int exit_status;     /* of the process */
    sd_event_source *stop_timer, *clear_timer;
    int64_t stop_deadline_ms;
};

/* Exit status for errors that another start would not cure: RestartPreventExitStatus= of the unit.
 * 0 is a stop ordered by an operator or the ResourceManager, 1 everything else, which is
 * retried. */
#define NM_EXIT_REFUSED 3       /* by the ResourceManager, at the registration */
#define NM_EXIT_CONFIGURATION 4 /* a file, a key, or a unit that contradicts it */
#define NM_EXIT_HELPER 5        /* container-executor is not usable as it is installed */

#endif
