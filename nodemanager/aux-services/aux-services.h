/* Auxiliary services (AuxServices): the table of what the configuration names, and the events of
 * applications and containers for it. A failure of a service is logged and has no other effect:
 * nothing here returns it to a container. Every function accepts NULL (no services). */
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

/* Reads the configuration; `held`: sockets of systemd, or NULL. A service that this node cannot run
 * is warned of. */
int nm_aux_new(struct nm_context *ctx, const struct sv_listen_fds *held, struct nm_aux **ret,
               struct sv_error *err) _must_use_;
/* Ends the services and waits a moment for them. */
struct nm_aux *nm_aux_free(struct nm_aux *x);
/* Reads back what live applications have given to services; starts these. */
int nm_aux_start(struct nm_aux *x, struct sv_error *err) _must_use_;
/* A service is neither ready nor too late: the node is not registered yet, so that the first
 * container finds the metadata. */
bool nm_aux_starting(const struct nm_aux *x);

/* The service data of a launch context, before anything is done with it: each service is one of
 * this node, and the data is not too long. -ENOENT (err has Hadoop's words), -EMSGSIZE. */
int nm_aux_check(const struct nm_aux *x, const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                 const char *container, struct sv_error *err) _must_use_;
/* CONTAINER_INIT for all services, after APPLICATION_INIT for those that its launch context names
 * with data that is new. */
void nm_aux_container_init(struct nm_aux *x, struct nm_container *c);
void nm_aux_container_stop(struct nm_aux *x, struct nm_container *c);
void nm_aux_app_stop(struct nm_aux *x, const struct nm_app *a);
void nm_aux_dirs_changed(struct nm_aux *x);

/* The services, 0 … n - 1. */
struct nm_aux_info {
    const char *name;
    const uint8_t *metadata; /* NULL: none */
    size_t metadata_len;
    int64_t ready_since_ms; /* wall clock; 0: it is not ready */
    unsigned restarts;
    const struct nm_aux_metrics *metrics;
};
size_t nm_aux_count(const struct nm_aux *x);
void nm_aux_info(const struct nm_aux *x, size_t i, struct nm_aux_info *ret);

#endif
