/* The engine of a long-running service: keeps the desired number of instances of each component
 * running. A pure library: no I/O, no clock, no random numbers of its own. An input (an event and
 * the time) changes the state and appends operations to an ordered list, which the master carries
 * out. The same inputs and seed give the same operations.
 *
 *   service -> component -> instance ("<component>-<number>", a name that outlives its containers)
 *
 * State machines are tables with the names of Hadoop's services (states.h). What differs between
 * dialects (YARN services, Slider) is a const struct svc_policy (policy.h).
 *
 * No input walks all instances: work on many (a flex, a stop, an upgrade) goes on in turns, the
 * next one by svc_engine_timer() at once. Texts given in are copied, definitions are not. Not
 * thread-safe. Without memory it ends the process: the master's next attempt recovers. Containers
 * of operations and events are the ResourceManager's: the master keeps what it needs of them
 * (tokens, addresses) by their ids. */
#ifndef SELVEDGE_SERVICE_ENGINE_ENGINE_H
#define SELVEDGE_SERVICE_ENGINE_ENGINE_H

#include "service/definition/definition.h"

struct svc_engine;
struct svc_policy;
struct svc_fw_setup;
extern const struct svc_policy svc_yarn_policy, svc_slider_policy;

enum svc_service_state { /* Hadoop's ServiceState */
                         SVC_ACCEPTED = 1,
                         SVC_STARTED,
                         SVC_STABLE,
                         SVC_UPGRADING,
                         SVC_UPGRADING_AUTO_FINALIZE,
                         SVC_EXPRESS_UPGRADING,
                         SVC_CANCEL_UPGRADING,
                         SVC_STOPPED, /* svc_engine_stop(); UNREGISTER follows */
                         SVC_FAILED,
                         SVC_SUCCEEDED,
                         SVC_N_STATES
};
enum svc_component_state {
    SVC_COMPONENT_INIT = 1, /* waits for its dependencies */
    SVC_COMPONENT_FLEXING,
    SVC_COMPONENT_STABLE,
    SVC_COMPONENT_UPGRADING,
    SVC_COMPONENT_CANCEL_UPGRADING,
    SVC_COMPONENT_SUCCEEDED,
    SVC_COMPONENT_FAILED,
    SVC_COMPONENT_N_STATES
};
enum svc_instance_state {
    SVC_INSTANCE_INIT = 1,  /* no container; one is requested, or waits for a dependency */
    SVC_INSTANCE_LAUNCHING, /* LAUNCH was emitted */
    SVC_INSTANCE_STARTED,   /* runs, unready */
    SVC_INSTANCE_READY,
    SVC_INSTANCE_UPGRADING, /* REINITIALIZE was emitted */
    SVC_INSTANCE_CANCEL_UPGRADING,
    SVC_INSTANCE_REINITIALIZED,  /* runs another version, unready */
    SVC_INSTANCE_FAILED_UPGRADE, /* until it is upgraded again or the upgrade is cancelled */
    SVC_INSTANCE_STOPPING,       /* its container is released; completed() follows */
    SVC_INSTANCE_SUCCEEDED,      /* ended, is not launched again */
    SVC_INSTANCE_FAILED,
    SVC_INSTANCE_N_STATES
};

/* ---- Set-up ---- */

#define SVC_REQUEST_UNKNOWN (-1) /* allocationRequestId of a ResourceManager that has none */
#define SVC_LABEL_ANY ""

struct svc_limits {                     /* of the service; default in brackets */
    int64_t failure_window_ms;          /* [6 h] failure counts start anew:
                                           yarn.service.failure-count-reset.window */
    int64_t recovery_ms;                /* [120 s] yarn.service.container-recovery.timeout.ms */
    int64_t stop_wait_ms;               /* [30 s] for containers to end before UNREGISTER */
    int64_t retry_min_ms, retry_max_ms; /* [1 s, 60 s] until a rejected request is retried */
    int64_t lost_ms;                    /* [660 s, more than nodes have to register] after a resync:
                                           a released container counts as ended */
    uint32_t turn;                      /* [1024] instances that one input works on */
    bool rollback_on_failure; /* [no] an upgrade of which an instance fails is cancelled */
};
#define SVC_LIMITS_DEFAULT                                                                         \
    {                                                                                              \
        .failure_window_ms = 21600000, .recovery_ms = 120000, .stop_wait_ms = 30000,               \
        .retry_min_ms = 1000, .retry_max_ms = 60000, .lost_ms = 660000, .turn = 1024               \
    }

enum { /* Slider's yarn.component.placement.policy */
       SVC_PLACEMENT_STRICT = 1,
       SVC_PLACEMENT_ANYWHERE = 2,
       SVC_PLACEMENT_ANTI_AFFINITY = 4,
};
struct svc_options {           /* of a component; default in brackets */
    int64_t failure_threshold; /* [10, Slider 5] more failures in a window end the service; < 0 off
                                  (Slider: <= 0) */
    int64_t node_threshold;    /* [3] more failures on a node blacklist it; < 0 = off */
    int32_t health_percent;    /* [-1 = off] of ready instances; replaces failure_threshold */
    int64_t health_window_ms;  /* [600 s] below health_percent for longer ends the service */
    int64_t health_delay_ms;   /* [600 s] after the start */
    bool dominant;             /* [no] its end is the service's:
                                  yarn.service.container-state-report-as-service-state */
    /* Slider's alone */
    int32_t priority;      /* [0: its place in the order of dependencies] yarn.role.priority */
    uint32_t placement;    /* [0] SVC_PLACEMENT_… */
    int64_t escalate_ms;   /* [30 s] until a request for certain hosts is relaxed */
    int64_t short_life_ms; /* [60 s] a container that lived shorter failed to start */
    const char *label;     /* [SVC_LABEL_ANY] lives as long as the definition */
};
#define SVC_OPTIONS_DEFAULT                                                                        \
    {                                                                                              \
        .failure_threshold = 10, .node_threshold = 3, .health_percent = -1,                        \
        .health_window_ms = 600000, .health_delay_ms = 600000, .escalate_ms = 30000,               \
        .short_life_ms = 60000, .label = SVC_LABEL_ANY                                             \
    }

struct svc_setup {
    const struct svc_policy *policy;
    const struct svc_definition *definition; /* resolved; lives until SVC_OP_DROP names it */
    const struct svc_options
        *options; /* one a component, in the definition's order; NULL: defaults */
    struct svc_limits limits;
    uint64_t seed;
    const struct svc_fw_setup *framework; /* svc_framework_policy's (framework.h) */
};
/* -EINVAL: a dependency that is unknown or a cycle, a count out of range (err). */
int svc_engine_new(const struct svc_setup *setup, struct svc_engine **ret, struct sv_error *err)
    _must_use_;
struct svc_engine *svc_engine_free(struct svc_engine *e);
static inline void svc_engine_freep(struct svc_engine **e)
{
    *e = svc_engine_free(*e);
}

/* ---- Inputs ----
 * Times are ms of a clock that never goes back. Events of containers that the engine does not know
 * (any more) have no effect. */

struct svc_allocated {
    struct yarn_container_id container;
    struct yarn_node_id node;
    int64_t request;  /* allocationRequestId of the SVC_OP_ASK that it answers, or _UNKNOWN */
    int32_t priority; /* of the SVC_OP_ASK; finds the component where request is unknown; -1 */
    bool target;      /* recovered: it runs the version of the upgrade that goes on */
    bool refused;     /* the master has no use for it, as its node lacks ports: another is asked
                         for */
};

/* Before svc_engine_start(): a container that the ResourceManager kept from the master's previous
 * attempt, with the name that it was given then. "" (unknown): YARN's policy releases it, Slider's
 * gives it a name: hand over those with names first. After the start too: what arrives late is
 * adopted or released. */
void svc_engine_recovered(struct svc_engine *e, int64_t now, const struct svc_allocated *c,
                          const char *instance);
/* Before svc_engine_start(): a record says that the container had this name; the ResourceManager
 * did not hand it back yet. The instance waits limits.recovery_ms for it. */
void svc_engine_expected(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                         const char *instance);
/* The container of such an instance has ended: it is not waited for any longer. */
void svc_engine_unexpected(struct svc_engine *e, int64_t now, const char *instance);
/* Registered: the definition's counts are pursued from now on. */
void svc_engine_start(struct svc_engine *e, int64_t now);

/* Desired count of a component. Idempotent. -ENOENT: no such component. -EINVAL: out of range.
 * -EBUSY: an upgrade goes on, or the service ends. */
int svc_engine_flex(struct svc_engine *e, int64_t now, const char *component, int64_t count,
                    struct sv_error *err) _must_use_;
/* Slider's PUT of the desired resources: components of `d` get its counts and specifications, new
 * ones are added, missing ones get 0. All or nothing. */
int svc_engine_spec(struct svc_engine *e, int64_t now, const struct svc_definition *d,
                    const struct svc_options *options, struct sv_error *err) _must_use_;
/* Ends the container of an instance, which is then treated as after an exit, but for thresholds.
 * -ENOENT: no such instance. -ESRCH: it has no container. */
int svc_engine_kill(struct svc_engine *e, int64_t now, const char *instance, struct sv_error *err)
    _must_use_;
/* Removes the instance, lowers its component's count by one, and never uses the name again.
 * Idempotent. -ENOENT: the name was never used. */
int svc_engine_decommission(struct svc_engine *e, int64_t now, const char *instance,
                            struct sv_error *err) _must_use_;
/* Ends everything; SVC_OP_UNREGISTER follows when the containers are gone or stop_wait_ms passed.
 * No effect on a service that ends already. */
void svc_engine_stop(struct svc_engine *e, int64_t now, const char *diagnostics);

void svc_engine_allocated(struct svc_engine *e, int64_t now, const struct svc_allocated *c);
void svc_engine_started(struct svc_engine *e, int64_t now, struct yarn_container_id id);
void svc_engine_start_failed(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                             const char *why);
void svc_engine_reinitialized(struct svc_engine *e, int64_t now, struct yarn_container_id id);
/* The node refused REINITIALIZE or did not answer; the container may run on. */
void svc_engine_reinit_failed(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                              const char *why);
/* Result of the readiness check of an instance. */
void svc_engine_ready(struct svc_engine *e, int64_t now, struct yarn_container_id id, bool ready);
/* exit_status: YARN's (wire/exit-status.h). */
void svc_engine_completed(struct svc_engine *e, int64_t now, struct yarn_container_id id,
                          int32_t exit_status, const char *diagnostics);
/* The ResourceManager refused `count` containers of a request (rejected scheduling request); 0 =
 * all. They are asked for again after a while. */
void svc_engine_rejected(struct svc_engine *e, int64_t now, int64_t request, int64_t count,
                         const char *why);
void svc_engine_node(struct svc_engine *e, int64_t now, const struct yarn_node_id *node,
                     bool usable);
/* True while the last SVC_OP_BLACKLIST of the host is or was `on`. */
bool svc_engine_blacklists(const struct svc_engine *e, const char *host);
/* The ResourceManager restarted and forgot: asks, releases and the blacklist are emitted again. */
void svc_engine_resync(struct svc_engine *e, int64_t now);
/* Due at svc_engine_due(); earlier calls do no harm. */
void svc_engine_timer(struct svc_engine *e, int64_t now);

/* Upgrade to `d` (resolved, of another version). Components whose artifact, launch command or
 * configuration differ need it; their instances follow by svc_engine_upgrade_instance(), or by
 * themselves, component after component, with `express` (which finalizes itself too). -EINVAL: a
 * change that upgrades do not support (err names it). -EBUSY: the service is neither STARTED nor
 * STABLE. After a restart of the master in the middle of an upgrade: call it again after
 * svc_engine_start(); every instance recovered before counts as not upgraded, until
 * svc_engine_upgraded(). */
int svc_engine_upgrade(struct svc_engine *e, int64_t now, const struct svc_definition *d,
                       const struct svc_options *options, bool auto_finalize, bool express,
                       struct sv_error *err) _must_use_;
/* The recovered instance runs the new version already: the attempt before upgraded it. Its checks
 * begin anew. No effect where it has no container, or no upgrade goes on. */
void svc_engine_upgraded(struct svc_engine *e, int64_t now, const char *instance);
/* -ENOENT, -EALREADY: it runs the new version; -EBUSY: no upgrade goes on; -EAGAIN: it has no
 * running container (it will start with the new version). */
int svc_engine_upgrade_instance(struct svc_engine *e, int64_t now, const char *instance,
                                struct sv_error *err) _must_use_;
int svc_engine_upgrade_component(struct svc_engine *e, int64_t now, const char *component,
                                 struct sv_error *err) _must_use_;
/* Instances of the new version go back, component after component; ends as STABLE. */
int svc_engine_cancel_upgrade(struct svc_engine *e, int64_t now, struct sv_error *err) _must_use_;
/* -EBUSY: an instance has the old version or is not ready (err names its component). */
int svc_engine_finalize(struct svc_engine *e, int64_t now, struct sv_error *err) _must_use_;

/* ---- Operations ---- */

enum svc_op_type {
    /* request, priority, component, count: the number of containers that the request asks for in
     * all, as YARN counts them: it replaces what an earlier ASK of the request said. hosts, relax,
     * label. A SchedulingRequest where the service's constraints demand one. Containers that the
     * engine was given are subtracted already; it emits no ASK for each. */
    SVC_OP_ASK,
    SVC_OP_CANCEL,       /* request, priority, component: count is 0 now */
    SVC_OP_RELEASE,      /* container, host, port: never started as far as the engine knows */
    SVC_OP_LAUNCH,       /* container, host, port, instance, component (the version to start) */
    SVC_OP_STOP,         /* container, host, port, instance: stop it on its node and release it */
    SVC_OP_REINITIALIZE, /* container, host, port, instance, component (the version to run) */
    SVC_OP_CHECK,      /* container, host, port, instance, component: begin its readiness checks */
    SVC_OP_BLACKLIST,  /* host, on */
    SVC_OP_TIMER,      /* at: call svc_engine_timer() then; replaces the timer before */
    SVC_OP_PERSIST,    /* component, count; instance (or NULL) was decommissioned: store them */
    SVC_OP_FINALIZE,   /* definition, with the counts of the views, becomes the stored one; NULL
                          after a cancelled upgrade: the stored one stays. text: version to drop */
    SVC_OP_DROP,       /* definition: the engine does not refer to it any more */
    SVC_OP_STATE,      /* a state changed: of the instance, else the component, else the service */
    SVC_OP_UNREGISTER, /* success, text; nothing follows. State: STOPPED, FAILED, SUCCEEDED */
};
/* Pointers are the engine's and live until the next input. */
struct svc_op {
    enum svc_op_type type;
    const struct svc_component *component;
    const struct svc_definition *definition;
    const char *instance; /* NULL = none */
    struct yarn_container_id container;
    const char *host; /* of the container, or to blacklist */
    int32_t port;
    int64_t request, count;
    int32_t priority;
    const char *const *hosts; /* sorted; none = any */
    size_t n_hosts;
    bool relax;        /* other hosts will do */
    const char *label; /* "" = the queue's default */
    bool on, success;
    int64_t at;
    const char *text;
};
/* The operations of the inputs since the last call, in order; valid until the next input. */
const struct svc_op *svc_engine_ops(struct svc_engine *e, size_t *ret_n);
/* When svc_engine_timer() is due; INT64_MAX = never. */
int64_t svc_engine_due(const struct svc_engine *e);

/* ---- Views ---- */

struct svc_instance_view {
    const char *name;                      /* until the next input, like the other texts */
    const struct svc_component *component; /* of its version */
    enum svc_instance_state state;
    bool has_container, outdated; /* it needs the upgrade that goes on */
    struct yarn_container_id container;
    const char *host; /* "" = none */
    int32_t port;
    int64_t created_at, started_at; /* its container was allocated, was started */
    int64_t launches;               /* of all its containers */
    int32_t last_exit;
    const char *placement;   /* Slider's: "Open", "Placed", "Escalated", "Unallocated" */
    const char *diagnostics; /* of its last container's end */
};
struct svc_component_view {
    const struct svc_component *component;
    enum svc_component_state state;
    int64_t desired, instances, pending, requested, live, releasing, ready, needs_upgrade;
    int64_t succeeded, failed; /* instances that ended for good */
    /* of all containers since the start of the master */
    int64_t started_total, start_failed_total, completed_total, failed_total, requested_total;
    int64_t failed_recently, node_failed, preempted, limits_exceeded, surplus;
    int64_t anti_affine_pending;
    bool anti_affine_outstanding;
    const char *reason; /* of its last failure */
};
enum svc_service_state svc_engine_state(const struct svc_engine *e);
const char *svc_engine_diagnostics(const struct svc_engine *e);
const struct svc_definition *
svc_engine_target(const struct svc_engine *e); /* of an upgrade; NULL */
int64_t svc_engine_unknown_completed(const struct svc_engine *e);
size_t svc_engine_components(const struct svc_engine *e);
void svc_engine_component(const struct svc_engine *e, size_t i, struct svc_component_view *ret);
/* Walks a component's instances by number: *cursor = 0 first; false at the end. */
bool svc_engine_instance(const struct svc_engine *e, size_t component, size_t *cursor,
                         struct svc_instance_view *ret);
int svc_engine_find(const struct svc_engine *e, const char *instance, struct svc_instance_view *ret)
    _must_use_; /* -ENOENT */
int svc_engine_find_container(const struct svc_engine *e, struct yarn_container_id id,
                              struct svc_instance_view *ret) _must_use_;
/* Texts of Hadoop's JSON. */
const char *svc_service_state_text(enum svc_service_state s);
const char *svc_component_state_text(const struct svc_component_view *v); /* ComponentState */
/* ContainerState; "" = it has no container and did not end. */
const char *svc_instance_state_text(const struct svc_instance_view *v);

#endif
