/* Auxiliary services (AuxServices): the table of the configured services, and their events of
 * applications and containers. A failure of a service is logged and has no other effect: no
 * function reports it to a container. Every function accepts NULL (no services). */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_SERVICES_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_SERVICES_H

#include "common/base.h"
#include "common/error.h"
#include "wire/ipc/methods.h"

struct nm_app;
struct nm_aux;
struct nm_aux_metrics;
struct nm_container;
struct nm_context;
struct sv_listen_fds;

/* Reads the configuration; `held`: systemd sockets, or NULL. Logs a warning for a service that this
 * node cannot run. */
int nm_aux_new(struct nm_context *ctx, const struct sv_listen_fds *held, struct nm_aux **ret,
               struct sv_error *err) _must_use_;
/* Ends the services; waits a moment for their exit. */
struct nm_aux *nm_aux_free(struct nm_aux *x);
/* Restores the service data of live applications; starts the services. */
int nm_aux_start(struct nm_aux *x, struct sv_error *err) _must_use_;
/* True while a service is neither ready nor late: the node registers later, so that the first
 * container finds the metadata. */
bool nm_aux_starting(const struct nm_aux *x);

/* Checks the service data of a launch context before it has any effect: each service is configured
 * here, and the data is not too long. -ENOENT (err has Hadoop's words), -EMSGSIZE. */
int nm_aux_check(const struct nm_aux *x, const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                 const char *container, struct sv_error *err) _must_use_;
/* Sends CONTAINER_INIT to all services, after APPLICATION_INIT to those for which the launch
 * context has new data. */
void nm_aux_container_init(struct nm_aux *x, struct nm_container *c);
void nm_aux_container_stop(struct nm_aux *x, struct nm_container *c);
void nm_aux_app_stop(struct nm_aux *x, const struct nm_app *a);
void nm_aux_dirs_changed(struct nm_aux *x);

/* The services, 0 … n - 1. */
struct nm_aux_info {
    const char *name;
    const uint8_t *metadata; /* NULL: none */
    size_t metadata_len;
    int64_t ready_since_ms; /* wall clock; 0: not ready */
    unsigned restarts;
    const struct nm_aux_metrics *metrics;
};
size_t nm_aux_count(const struct nm_aux *x);
void nm_aux_info(const struct nm_aux *x, size_t i, struct nm_aux_info *ret);

#endif
