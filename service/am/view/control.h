/* Requests of clients, whatever way they come: RPC (client-am.h) and REST (rest.h)
 * call the functions of this table, which the master fills. Each is checked before it is accepted
 * and runs at once: no call blocks. */
#ifndef SELVEDGE_SERVICE_AM_VIEW_CONTROL_H
#define SELVEDGE_SERVICE_AM_VIEW_CONTROL_H

#include "service/engine/engine.h"

#define SVC_FLEX_MAX SVC_COMPONENTS_MAX

#define SVC_LATER 1

struct ipc_call;

struct svc_flex { /* the desired count of a component */
    const char *component;
    int64_t count;
};

enum svc_access { SVC_VIEW, SVC_MODIFY };

/* Every function returns 0, or -errno and a text: -ENOENT: no such component or instance;
 * -EINVAL: the value breaks a rule; -EBUSY: not in this state; -ESHUTDOWN: the service is being
 * stopped. */
struct svc_control_ops {
    /* All or nothing. A component may be named once. The same counts again change nothing.
     * `store`: with the definition, too; else the caller has done that. */
    int (*flex)(void *master, const struct svc_flex *list, size_t n, bool store,
                struct sv_error *err);
    int (*stop)(void *master, const char *diagnostics, struct sv_error *err);
    /* Instances by name: stopped, and never started again. */
    int (*decommission)(void *master, char *const *names, size_t n, struct sv_error *err);
    /* Kills one container; it is replaced. */
    int (*kill)(void *master, struct yarn_container_id id, struct sv_error *err);
    /* Begins an upgrade to the stored definition of that version, which is read first: SVC_LATER,
     * and the master ends the call. */
    int (*upgrade)(void *master, const char *version, bool auto_finalize, bool express,
                   struct ipc_call *call, struct sv_error *err);
    int (*upgrade_containers)(void *master, char *const *ids, size_t n, struct sv_error *err);
    int (*cancel_upgrade)(void *master, struct sv_error *err);
    int (*finalize_upgrade)(void *master, struct sv_error *err);
    /* Whether `user`, authenticated or claimed, may do so: the service's user and those of its
     * ACLs. */
    bool (*may)(void *master, const char *user, enum svc_access access);
};

struct svc_control {
    const struct svc_control_ops *ops;
    void *master;
};

#endif
