/* ApplicationMaster side of the library; see client.h for what holds everywhere.
 *
 *   cli_am  registers, requests containers, starts, changes and stops them, finishes
 *           (ApplicationMasterProtocol and ContainerManagementProtocol)
 *
 * Requests are kept and sent with the next heartbeat; what a heartbeat costs depends on what has
 * changed, not on the number of containers. After a restart of the ResourceManager the library
 * registers again and sends all open requests, releases and the blacklist once more. */
#ifndef SELVEDGE_CLIENT_LIB_AM_H
#define SELVEDGE_CLIENT_LIB_AM_H

#include <systemd/sd-event.h>

#include "client/lib/launch.h"
#include "client/lib/placement.h"
#include "common/base.h"
#include "common/error.h"
#include "wire/ids.h"

struct cli_am;

enum cli_final { CLI_FINAL_UNDEFINED, CLI_FINAL_SUCCEEDED, CLI_FINAL_FAILED, CLI_FINAL_KILLED };
enum cli_execution { CLI_GUARANTEED = 1, CLI_OPPORTUNISTIC = 2 }; /* YARN's numbers */
enum cli_signal {                                                 /* YARN's numbers */
                  CLI_SIGNAL_THREAD_DUMP = 1,
                  CLI_SIGNAL_TERM,
                  CLI_SIGNAL_KILL,
};

#define CLI_NO_REQUEST_ID (-1) /* allocationRequestId of requests that have none */

/* ---- Reports of the ResourceManager ---- */

struct cli_allocation { /* a container held until it completes or is released */
    struct yarn_container_id id;
    struct yarn_node_id node;
    const char *http_address;
    struct yarn_resource resource;
    int32_t priority;
    int64_t request_id; /* of the request that it answers; CLI_NO_REQUEST_ID: none */
    const char *const *tags;
    size_t n_tags;
    enum cli_execution execution;
    int32_t version; /* of its resource and execution type: each update adds one */
};

struct cli_registration {         /* texts are never NULL */
    struct yarn_resource maximum; /* of one container; all 0: no known limit */
    const char *queue;
    /* The application's lists: "user,user group,group"; NULL: none given. */
    const char *view_acl, *modify_acl;
    /* Verifies the tokens of this program's clients; len 0: a cluster without security. */
    const uint8_t *client_key;
    size_t client_key_len;
};

enum cli_rejection_reason {                          /* YARN's numbers */
                            CLI_COULD_NOT_PLACE = 1, /* no node meets the constraint */
                            CLI_COULD_NOT_SCHEDULE,  /* the chosen node had no room */
};
struct cli_rejection {
    int64_t request_id;
    int32_t priority;
    int32_t count; /* containers that will not be allocated */
    enum cli_rejection_reason reason;
};

enum cli_node_change { CLI_NODE_USABLE, CLI_NODE_UNUSABLE, CLI_NODE_DECOMMISSIONING };
struct cli_node_update { /* texts are never NULL */
    struct yarn_node_id id;
    enum cli_node_change change;
    const char *http_address, *rack;
    const char *state; /* "RUNNING", "LOST", "DECOMMISSIONING", … */
    const char *health_report;
    struct yarn_resource capability;
};

enum cli_update { /* YARN's numbers */
                  CLI_INCREASE,
                  CLI_DECREASE,
                  CLI_PROMOTE, /* OPPORTUNISTIC to GUARANTEED */
                  CLI_DEMOTE,
};

/* Event callbacks of an ApplicationMaster. Any may be NULL. */
struct cli_am_ops {
    /* Once. The containers of earlier attempts that still run were reported before, by
     * `recovered`. */
    void (*registered)(struct cli_am *am, const struct cli_registration *r, void *userdata);
    /* A container of an earlier attempt: it counts as started, and everything but cli_am_start()
     * can be done with it. Also long after the registration, when its node comes back. Without
     * this callback such containers are ignored. */
    void (*recovered)(struct cli_am *am, const struct cli_allocation *c, void *userdata);
    void (*allocated)(struct cli_am *am, const struct cli_allocation *c, void *userdata);
    /* A scheduling request was given up by the ResourceManager; the library does not send it
     * again. */
    void (*rejected)(struct cli_am *am, const struct cli_rejection *r, void *userdata);
    /* The node accepted the container (status 0) or rejected it. */
    void (*started)(struct cli_am *am, struct yarn_container_id id, int status,
                    const struct sv_error *err, void *userdata);
    /* The end of cli_am_update(): `c` is the container as it is now, and status 0, or an error: of
     * the ResourceManager (nothing changed, -EREMOTEIO) or of the node. */
    void (*updated)(struct cli_am *am, const struct cli_allocation *c, enum cli_update type,
                    int status, const struct sv_error *err, void *userdata);
    /* exit_status: the process' own, 128 + signal, or YARN's negative ones (-100 = lost). Once a
     * container; with a callback `recovered` also for those of earlier attempts that ended before
     * they were handed back. */
    void (*completed)(struct cli_am *am, struct yarn_container_id id, int32_t exit_status,
                      const char *diagnostics, void *userdata);
    void (*node)(struct cli_am *am, const struct cli_node_update *n, void *userdata);
    /* The ResourceManager had restarted or changed: this attempt is registered again, and all open
     * requests go with the next heartbeat. Nothing needs to be requested again. */
    void (*resynced)(struct cli_am *am, void *userdata);
    /* The ResourceManager wants the container back: it is killed after the cluster's time for that,
     * unless other containers of the same size are released (`strict` false). Once a container,
     * and once more if the request becomes strict. */
    void (*preempted)(struct cli_am *am, struct yarn_container_id id, bool strict, void *userdata);
    void (*finished)(struct cli_am *am, void *userdata); /* unregistered: the program may end */
    /* The ResourceManager ended this attempt, or was unreachable for selvedge.am.connect.max-wait
     * (15 min). */
    void (*lost)(struct cli_am *am, const struct sv_error *err, void *userdata);
};

/* ---- Life ---- */

struct cli_server {
    const char *host;
    uint16_t port;
};
#define CLI_SERVERS_MAX 16

struct cli_am_config {
    const struct cli_server *schedulers; /* yarn.resourcemanager.scheduler.address, one per */
    size_t n_schedulers;                 /* ResourceManager; copied */
    int64_t heartbeat_ms;                /* 0 = 200; sooner when a request is pending */
    int64_t max_wait_ms;                 /* 0 = 15 minutes; -1 = for ever */
    const char *tokens_file;             /* NULL = $HADOOP_TOKEN_FILE_LOCATION */
    const struct cli_am_ops *ops;
    void *userdata;
};

/* Reads the AMRMToken from the credentials file. */
int cli_am_new(sd_event *event, const struct cli_am_config *cfg, struct cli_am **ret,
               struct sv_error *err) _must_use_;
struct cli_am *cli_am_free(struct cli_am *am);
struct yarn_attempt_id cli_am_attempt(const struct cli_am *am); /* of the token */
/* The job's tokens, for launches of its containers: all but the AMRMToken; NULL: none. */
const uint8_t *cli_am_tokens(const struct cli_am *am, size_t *ret_len);

/* Constraint of all scheduling requests with these tags that bring none of their own. */
struct cli_tagged_constraint {
    const char *const *tags;
    size_t n_tags;
    const struct cli_constraint *constraint;
};
/* For the registration: copied, before cli_am_register(), -EALREADY after it. -EINVAL: see
 * cli_constraint_check(). */
int cli_am_constraints(struct cli_am *am, const struct cli_tagged_constraint *list, size_t n,
                       struct sv_error *err) _must_use_;
/* `host` and `port`: address for the program's clients, port -1 = none. tracking_url may be "".
 * Heartbeats start automatically. */
int cli_am_register(struct cli_am *am, const char *host, int32_t port, const char *tracking_url)
    _must_use_;
/* Takes effect with the next heartbeat. */
int cli_am_tracking_url(struct cli_am *am, const char *tracking_url) _must_use_;
void cli_am_progress(struct cli_am *am, float progress);
int cli_am_finish(struct cli_am *am, enum cli_final final, const char *diagnostics) _must_use_;

/* ---- Requests for containers ---- */

struct cli_locality { /* a host, or a rack */
    const char *host; /* NULL: anywhere in the rack */
    const char *rack; /* NULL, with a host: "/default-rack". The rack must be the host's own */
};

/* `count` containers beyond those already allocated. (priority, request_id) is the name of a
 * request: another one of that name replaces it, with count 0 it ends. The count goes down with
 * each allocation. More may be allocated: release the surplus. */
struct cli_ask {
    int64_t request_id; /* reported with its containers; CLI_NO_REQUEST_ID: none */
    int32_t priority;
    struct yarn_resource resource;
    int32_t count;
    const struct cli_locality *places; /* wanted hosts and racks; none: anywhere */
    size_t n_places;
    bool strict;                  /* nowhere else (relaxLocality false) */
    const char *label;            /* node label expression, not with places; NULL: the queue's */
    enum cli_execution execution; /* 0: CLI_GUARANTEED */
    bool enforce;                 /* of that execution type and no other */
};
/* -EINVAL: err says what breaks which rule. */
int cli_am_ask(struct cli_am *am, const struct cli_ask *ask, struct sv_error *err) _must_use_;

/* A scheduling request. A later one of the same name may differ in `count` alone (Hadoop's rule).
 * The ResourceManager needs a placement constraint handler, else it refuses with an exception and
 * the attempt ends (`lost`). */
struct cli_scheduling_request {
    int64_t request_id;
    int32_t priority;
    struct yarn_resource resource;
    int32_t count;
    const char *const *tags; /* of its containers */
    size_t n_tags;
    const struct cli_constraint *constraint; /* NULL: by cli_am_constraints(), or none */
    enum cli_execution execution;            /* 0: CLI_GUARANTEED */
    bool enforce;
};
int cli_am_schedule(struct cli_am *am, const struct cli_scheduling_request *q, struct sv_error *err)
    _must_use_;
/* Before the first request: the ResourceManager's handler is placement-processor, which adds the
 * count of a scheduling request to what it works on already, and takes nothing back. The library
 * sends what is missing there; a lowered count waits for allocations and rejections, of which the
 * program releases the surplus. */
void cli_am_adds(struct cli_am *am);
/* Takes a request of either kind back; -ENOENT: none of that name is open. */
int cli_am_cancel(struct cli_am *am, int32_t priority, int64_t request_id) _must_use_;
/* cli_am_ask() of the simplest request: no id, anywhere. */
int cli_am_want(struct cli_am *am, int32_t priority, struct yarn_resource resource, int32_t count)
    _must_use_;
/* Containers still to be allocated for the request; 0: there is none of that name. */
int32_t cli_am_open(const struct cli_am *am, int32_t priority, int64_t request_id);
/* No (no more) new containers on the node; asks alone know it. */
int cli_am_blacklist(struct cli_am *am, const char *host, bool on) _must_use_;
/* Free capacity of the queue and nodes of the cluster, as of the last heartbeat. */
struct yarn_resource cli_am_headroom(const struct cli_am *am);
int32_t cli_am_cluster_nodes(const struct cli_am *am);

/* ---- Containers ----
 *
 * -ENOENT: not held by this attempt (never allocated, completed or released). */

/* NULL: not held. Valid until the loop runs again. */
const struct cli_allocation *cli_am_container(struct cli_am *am, struct yarn_container_id id);
int cli_am_release(struct cli_am *am, struct yarn_container_id id);
/* For a container reported by `allocated`; -EALREADY: while one start has not failed. The result is
 * reported by `started`. */
int cli_am_start(struct cli_am *am, struct yarn_container_id id, const struct cli_launch *launch)
    _must_use_;
/* The node kills the container; `completed` reports the end. */
int cli_am_stop(struct cli_am *am, struct yarn_container_id id) _must_use_;
/* Another resource (INCREASE, DECREASE) or execution type (PROMOTE, DEMOTE) for a container; the
 * library also tells its node. `updated` reports the end. -EALREADY: an update of it is open. */
int cli_am_update(struct cli_am *am, struct yarn_container_id id, enum cli_update type,
                  struct yarn_resource resource) _must_use_;

/* In every callback below: status 0, or -errno and the reason; -EREMOTEIO: the node's exception.
 * -ECANCELED: the master was freed. The container may have ended in between. */
typedef void (*cli_container_fn)(struct cli_am *am, struct yarn_container_id id, int status,
                                 const struct sv_error *err, void *userdata);

/* Runs the container's process anew with another launch. With `auto_commit` the old one is
 * forgotten at once; else until cli_am_commit(), the node returns to it if the new one fails, or on
 * cli_am_rollback(). Success: the node has accepted; cli_am_status() shows the rest. */
int cli_am_reinitialize(struct cli_am *am, struct yarn_container_id id,
                        const struct cli_launch *launch, bool auto_commit, cli_container_fn fn,
                        void *userdata) _must_use_;
int cli_am_commit(struct cli_am *am, struct yarn_container_id id, cli_container_fn fn,
                  void *userdata) _must_use_;
int cli_am_rollback(struct cli_am *am, struct yarn_container_id id, cli_container_fn fn,
                    void *userdata) _must_use_;
int cli_am_restart(struct cli_am *am, struct yarn_container_id id, cli_container_fn fn,
                   void *userdata) _must_use_;
/* Fetches further files into a running container. */
int cli_am_localize(struct cli_am *am, struct yarn_container_id id,
                    const struct cli_resource *resources, size_t n, cli_container_fn fn,
                    void *userdata) _must_use_;
int cli_am_signal(struct cli_am *am, struct yarn_container_id id, enum cli_signal signal,
                  cli_container_fn fn, void *userdata) _must_use_;

struct cli_container_status {      /* texts are never NULL; "" = not known, or not yet */
    const char *state, *sub_state; /* "NEW", "RUNNING", "COMPLETE"; "SCHEDULED", "PAUSED", … */
    int32_t exit_status;           /* -1000: still runs */
    const char *diagnostics;
    const char *host;  /* the container's own name in the network */
    const char *ips;   /* "10.0.0.1,10.0.0.2" */
    const char *ports; /* exposed ports, JSON by the container's port */
    struct yarn_resource resource;
};
typedef void (*cli_status_fn)(struct cli_am *am, struct yarn_container_id id, int status,
                              const struct cli_container_status *s, const struct sv_error *err,
                              void *userdata);
/* For a container that was started. */
int cli_am_status(struct cli_am *am, struct yarn_container_id id, cli_status_fn fn, void *userdata)
    _must_use_;

/* A file of a container: its link's name, "PENDING", "COMPLETED" or "FAILED", and why it failed. */
struct cli_localized {
    const char *key, *state, *diagnostics;
    bool pending;
};
typedef void (*cli_localized_fn)(struct cli_am *am, struct yarn_container_id id, int status,
                                 const struct cli_localized *list, size_t n,
                                 const struct sv_error *err, void *userdata);
/* For a container that was started. Hadoop's nodes know it from 3.3 on. */
int cli_am_localized(struct cli_am *am, struct yarn_container_id id, cli_localized_fn fn,
                     void *userdata) _must_use_;

/* Number of repeated (and ignored) container completions: 0 on a correct cluster. */
int32_t cli_am_repeated(const struct cli_am *am);

#endif
