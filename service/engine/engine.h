/* The engine of a long-running service: keeps the desired number of instances of each component
 * running. A pure library: no I/O, no clock, no random numbers of its own. An input (an event and
 * the time) changes the state and appends operations to an ordered list, which the master carries
 * out. The same inputs give the same operations.
 *
 *   service -> component -> instance ("<component>-<number>", a name that outlives its containers)
 *
 * State machines are tables with the names of Hadoop's services (states.h). What differs between
 * dialects (YARN services, Slider, FrameworkLauncher) is a struct svc_policy.
 *
 * Texts given in are copied. Containers of operations and events are those of the
 * ResourceManager. Not thread-safe. */
#ifndef SELVEDGE_SERVICE_ENGINE_ENGINE_H
#define SELVEDGE_SERVICE_ENGINE_ENGINE_H

#include "service/definition/definition.h"

struct svc_engine;
struct svc_policy;
extern const struct svc_policy svc_yarn_policy, svc_slider_policy;

enum svc_service_state { /* Hadoop's ServiceState */
                         SVC_ACCEPTED,
                         SVC_STARTED,
                         SVC_STABLE,
                         SVC_STOPPED,
                         SVC_FAILED,
                         SVC_FLEX,
                         SVC_UPGRADING,
                         SVC_UPGRADING_AUTO_FINALIZE,
                         SVC_EXPRESS_UPGRADING,
                         SVC_SUCCEEDED,
                         SVC_CANCEL_UPGRADING,
};
enum svc_component_state {
    SVC_COMPONENT_INIT,
    SVC_COMPONENT_FLEXING,
    SVC_COMPONENT_STABLE,
    SVC_COMPONENT_NEEDS_UPGRADE,
    SVC_COMPONENT_UPGRADING,
    SVC_COMPONENT_CANCEL_UPGRADING,
    SVC_COMPONENT_SUCCEEDED,
    SVC_COMPONENT_FAILED,
};
enum svc_instance_state {
    SVC_INSTANCE_PENDING,       /* no container; one is requested, or waits for a dependency */
    SVC_INSTANCE_LAUNCHING,     /* start sent */
    SVC_INSTANCE_STARTED,       /* RUNNING_BUT_UNREADY on the wire */
    SVC_INSTANCE_READY,
    SVC_INSTANCE_NEEDS_UPGRADE,
    SVC_INSTANCE_UPGRADING,
    SVC_INSTANCE_REINITIALIZED,
    SVC_INSTANCE_SUCCEEDED,
    SVC_INSTANCE_FAILED,
    SVC_INSTANCE_FAILED_UPGRADE,
};

/* ---- Inputs ---- */

struct svc_allocated {
    struct yarn_container_id container;
    struct yarn_node_id node;
    struct yarn_resource resource;
    int64_t request; /* allocationRequestId of the SVC_OP_ASK that it answers; -1 = unknown */
};
enum svc_kill_reason { SVC_KILL_USER, SVC_KILL_DECOMMISSION, SVC_KILL_UPGRADE };

/* `d` is resolved and is kept by the caller for as long as the engine (or until the next
 * svc_engine_spec() was answered by SVC_OP_DROP_SPEC). `random`: a number of the caller's, seed. */
int svc_engine_new(const struct svc_policy *policy, const struct svc_definition *d, uint64_t seed,
                   struct svc_engine **ret) _must_use_;
struct svc_engine *svc_engine_free(struct svc_engine *e);

/* Times are ms of a clock that never goes back. All append to the list of svc_engine_ops(). */
int svc_engine_start(struct svc_engine *e, int64_t now);
/* Desired count of a component. -ENOENT, -EINVAL (err: path, value, rule). Idempotent. */
int svc_engine_flex(struct svc_engine *e, int64_t now, const char *component, int64_t count,
                    struct sv_error *err) _must_use_;
void svc_engine_allocated(struct svc_engine *e, int64_t now, const struct svc_allocated *c);
void svc_engine_started(struct svc_engine *e, int64_t now, struct yarn_container_id id);
void svc_engine_start_failed(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                             const char *why);
void svc_engine_reinitialized(struct svc_engine *e, int64_t now, struct yarn_container_id id);
/* Result of the readiness check of an instance. */
void svc_engine_ready(struct svc_engine *e, int64_t now, struct yarn_container_id id, bool ready);
void svc_engine_completed(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                          int32_t exit_status, const char *diagnostics);
/* A container of the previous attempt of the master, with the name that it was given then ("" =
 * unknown: it is released). Before svc_engine_start(). */
void svc_engine_recovered(struct svc_engine *e, int64_t now, const struct svc_allocated *c,
                          const char *instance);
/* The ResourceManager refused a request (rejected scheduling request). */
void svc_engine_rejected(struct svc_engine *e, int64_t now, int64_t request, const char *why);
void svc_engine_node(struct svc_engine *e, int64_t now, const struct yarn_node_id *node,
                     bool usable);
void svc_engine_timer(struct svc_engine *e, int64_t now, uint64_t timer);
int svc_engine_kill(struct svc_engine *e, int64_t now, const char *instance,
                    enum svc_kill_reason reason) _must_use_;
/* Ends everything; SVC_OP_UNREGISTER follows when all containers are gone. */
void svc_engine_stop(struct svc_engine *e, int64_t now, const char *diagnostics);
/* The ResourceManager restarted: outstanding requests are asked again. */
void svc_engine_resync(struct svc_engine *e, int64_t now);
/* Upgrade to `d` (resolved; another version): instances need the call below, but for express. */
int svc_engine_upgrade(struct svc_engine *e, int64_t now, const struct svc_definition *d,
                       bool auto_finalize, bool express, struct sv_error *err) _must_use_;
int svc_engine_upgrade_instance(struct svc_engine *e, int64_t now, const char *instance,
                                struct sv_error *err) _must_use_;
int svc_engine_cancel_upgrade(struct svc_engine *e, int64_t now, struct sv_error *err) _must_use_;
int svc_engine_finalize(struct svc_engine *e, int64_t now, struct sv_error *err) _must_use_;

/* ---- Operations ---- */

enum svc_op_type {
    SVC_OP_ASK,     /* request, component: one container; SchedulingRequest where placement says */
    SVC_OP_CANCEL,  /* request, component: take back an ASK that was not answered */
    SVC_OP_RELEASE, /* container: never started, or not wanted any more */
    SVC_OP_LAUNCH,  /* container, instance, component */
    SVC_OP_STOP,    /* container: stop it on its node, then release */
    SVC_OP_REINITIALIZE, /* container, instance, component: launch context of the new version */
    SVC_OP_CHECK,        /* container, instance: begin its readiness checks */
    SVC_OP_BLACKLIST,    /* node, on */
    SVC_OP_TIMER,        /* timer, at: svc_engine_timer() is called then */
    SVC_OP_PERSIST,      /* the definition's counts or version changed: store them */
    SVC_OP_STATE,        /* a state changed: registry records, progress */
    SVC_OP_UNREGISTER,   /* final, text */
};
struct svc_op {
    enum svc_op_type type;
    int64_t request;
    struct yarn_container_id container;
    const struct svc_component *component;
    const char *instance; /* the engine's, until the next input */
    struct yarn_node_id node;
    bool on;
    uint64_t timer;
    int64_t at;
    bool success; /* UNREGISTER */
    char text[256];
};
/* The operations since the last call, in order; valid until the next input. */
const struct svc_op *svc_engine_ops(struct svc_engine *e, size_t *ret_n);

/* ---- Views ---- */

struct svc_instance_view {
    const char *name; /* "<component>-<number>" */
    const struct svc_component *component;
    enum svc_instance_state state;
    bool has_container;
    struct yarn_container_id container;
    struct yarn_node_id node;
    int64_t launched_at;
    int32_t restarts;
    const char *diagnostics;
};
struct svc_component_view {
    const struct svc_component *component;
    enum svc_component_state state;
    int64_t desired, requested, live, ready, failed, succeeded, started_total;
};
enum svc_service_state svc_engine_state(const struct svc_engine *e);
size_t svc_engine_components(const struct svc_engine *e);
void svc_engine_component(const struct svc_engine *e, size_t i, struct svc_component_view *ret);
size_t svc_engine_instances(const struct svc_engine *e, size_t component);
void svc_engine_instance(const struct svc_engine *e, size_t component, size_t i,
                         struct svc_instance_view *ret);
const char *svc_service_state_name(enum svc_service_state s);
const char *svc_component_state_wire(enum svc_component_state s);
const char *svc_instance_state_wire(enum svc_instance_state s);

#endif
