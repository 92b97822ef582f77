/* The ResourceManager's view of this node (NodeStatusUpdater): registration, heartbeats, their
 * contents in both directions, and retries while the ResourceManager is unavailable, during which
 * containers continue. The ResourceManager is trusted with containers, not with memory: its lists
 * are bounded by the frame, its ids are checked. */
#ifndef SELVEDGE_NODEMANAGER_RM_NODE_STATUS_UPDATER_H
#define SELVEDGE_NODEMANAGER_RM_NODE_STATUS_UPDATER_H

#include "common/base.h"
#include "common/error.h"

struct nm_app;
struct nm_container;
struct nm_context;
struct nm_describer;
struct nm_finished;
struct nm_limits;
struct nm_log_aggregation;
struct nm_monitor;
struct nm_scheduler;
struct nm_updater;
struct yarn_container_token;

enum nm_updater_end {                /* reason for the daemon to end */
                      NM_END_FAILED, /* no ResourceManager for too long, or a fatal error here */
                      NM_END_DECOMMISSIONED, /* SHUTDOWN in the answer to a heartbeat */
                      NM_END_REFUSED,        /* SHUTDOWN in the answer to a registration */
};

struct nm_updater_config {
    struct nm_context *ctx;
    struct nm_limits *limits;
    struct nm_monitor *monitor;
    struct nm_scheduler *scheduler;
    struct nm_finished *finished;
    struct nm_log_aggregation *aggregation;
    struct nm_describer *labels[2]; /* by enum nm_described; NULL = none */
    /* A registration has succeeded. */
    void (*registered)(void *userdata);
    void (*stop)(const char *why, enum nm_updater_end end, void *userdata);
    void *userdata;
};

int nm_updater_new(const struct nm_updater_config *config, struct nm_updater **ret,
                   struct sv_error *err) _must_use_;
struct nm_updater *nm_updater_free(struct nm_updater *u);
/* Sends the registration, with Kerberos when there is a ticket; retries by itself. */
void nm_updater_start(struct nm_updater *u);
/* The state of ctx->kerberos has changed. */
void nm_updater_login_changed(struct nm_updater *u);
/* Unregisters the node from the ResourceManager, then calls `done` (also on failure). */
void nm_updater_unregister(struct nm_updater *u, void (*done)(void *userdata), void *userdata);

/* A container is DONE: records it as recently stopped, reports it by an immediate heartbeat. */
void nm_updater_container_done(struct nm_updater *u, struct nm_container *c);
/* The application has ended, so the ends of its containers will not be acknowledged: removes
 * delivered ones. */
void nm_updater_app_finished(struct nm_updater *u, const struct nm_app *a);

/* The resources of the node have changed, which only a registration tells: the next request is one.
 * Containers go on; the ResourceManager's side is that of a node that reconnects. */
void nm_updater_register_again(struct nm_updater *u);
bool nm_updater_registered(const struct nm_updater *u);
/* Whether a container may start by this token: its ResourceManager is that of today, or that of
 * today takes it over (earlier.h). An ApplicationMaster of an earlier one has been replaced. */
bool nm_updater_accepts(const struct nm_updater *u, const struct yarn_container_token *t);
/* "host:port" of the ResourceManager in use. */
const char *nm_updater_rm_address(const struct nm_updater *u, char *buf, size_t size);
int64_t nm_updater_last_heartbeat_ms(const struct nm_updater *u); /* wall clock; 0 = none yet */

#endif
