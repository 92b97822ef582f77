/* The manager: owns every component of the daemon and the queue of internal events. One thread, one
 * sd-event loop; nothing in this room blocks on it. */
#ifndef SELVEDGE_NODEMANAGER_NM_H
#define SELVEDGE_NODEMANAGER_NM_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "nodemanager/conf.h"
#include "wire/ids.h"

/* The Hadoop release whose behaviour this daemon follows; told to the ResourceManager, which may
 * be set to refuse older nodes. */
#define NM_HADOOP_VERSION "3.4.2"
#define NM_VERSION "0.1.0"

struct cg_root;
struct exe;
struct ipc_server;
struct nm_app;
struct nm_assignments;
struct nm_container;
struct nm_deletion;
struct nm_dirs;
struct nm_elastic;
struct nm_event;
struct nm_finished;
struct nm_limits;
struct nm_localization;
struct nm_log_handler;
struct nm_mcs;
struct nm_mount_watch;
struct nm_monitor;
struct nm_numa;
struct nm_secrets;
struct nm_store;
struct nm_updater;
struct sv_http;

struct nm {
    sd_event *event;
    struct nm_conf conf;
    struct yarn_node_id node_id; /* as in tokens and in the registration */
    char node_id_text[264];
    int64_t start_ms; /* wall clock */

    struct nm_store *store;
    struct nm_secrets *secrets;
    struct nm_dirs *dirs;
    struct cg_root *cgroups;
    struct nm_limits *limits;
    struct nm_assignments *assignments;
    struct exe *exe;
    struct nm_mount_watch *mounts;
    struct nm_localization *localization;
    struct nm_deletion *deletion;
    struct nm_log_handler *logs;
    struct nm_monitor *monitor;
    struct nm_elastic *elastic; /* NULL = off */
    struct nm_numa *numa;       /* NULL = off */
    struct nm_mcs *mcs;         /* NULL = off */
    struct nm_updater *updater;
    struct nm_finished *finished;
    struct ipc_server *rpc;
    struct sv_http *http;

    struct nm_app *apps;             /* uthash by text */
    struct nm_container *containers; /* uthash by text */

    bool decommissioned; /* the ResourceManager does not want this node: nothing is left running */
    bool stopping;       /* no new containers */
    bool leave_running;  /* a stop that containers survive */
    int exit_status;     /* of the process */
    sd_event_source *stop_timer, *clear_timer, *reach_timer;
    int64_t stop_deadline_ms;
    uint32_t addresses;  /* of the private network, for containers; 0: not known yet, or no such
                            network */
    char unhealthy[512]; /* a fault of the node's set-up that the helper told; "" = none */

    struct nm_event *queue; /* see nm_post_* */
    bool draining;
    struct nm_container *dead_containers; /* freed when the queue is empty */
    struct nm_app *dead_apps;
    struct nm_app_init *app_inits; /* asked of the helper; utlist */
    struct nm_launch_term *terms;  /* the same */
};

/* Starts every component in order, recovers, opens RPC and web last. */
int nm_start(struct nm *nm, struct sv_error *err) _must_use_;
/* Begins the clean end: no new containers, then kills them or leaves them (work-preserving), then
 * leaves the loop. A second call leaves it at once. */
void nm_stop(struct nm *nm, const char *why, int exit_status);
void nm_free(struct nm *nm);
/* The first registration is through: now the node is ready (sd_notify). */
void nm_registered(struct nm *nm);
/* SignalContainerCommandProto → Linux signal; 0 for unknown ones. */
int nm_signal_of_command(int command);
/* A fault of the node's set-up, found by the helper: shown to the ResourceManager until restart;
 * that its socket cannot be reached, until it can. */
void nm_set_unhealthy(struct nm *nm, const char *why);

/* The event queue of the state machines: an event posted while another runs waits for its turn, so
 * no transition is ever entered from inside another. `text` is copied. */
void nm_post_container(struct nm_container *c, int event, int code, const char *text);
void nm_post_app(struct nm_app *a, int event, const char *text);

#endif
