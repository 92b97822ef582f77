/* Differences between the dialects of services. Functions ask and cancel by requests.h, change no
 * instance, and mark no component. */
#ifndef SELVEDGE_SERVICE_ENGINE_POLICY_H
#define SELVEDGE_SERVICE_ENGINE_POLICY_H

#include "service/engine/model.h"

enum svc_outcome { /* of a container's end, by its exit status */
                   SVC_OUT_SUCCESS,
                   SVC_OUT_KILLED, /* released, or ended by design of the cluster */
                   SVC_OUT_PREEMPTED,
                   SVC_OUT_NODE,   /* the node's disks */
                   SVC_OUT_LIMITS, /* more memory than its limit */
                   SVC_OUT_FAILED,
                   SVC_N_OUTCOMES
};
enum svc_outcome svc_outcome_of(int32_t exit_status);

struct svc_counts { /* what an outcome counts as */
    bool failed;    /* in failed_total */
    bool recently;  /* towards the component's threshold */
    bool on_node;   /* towards the node's */
};

enum svc_hold {                    /* why a container is asked for again later */
                SVC_HOLD_REFUSED,  /* what was allocated is of no use */
                SVC_HOLD_REJECTED, /* the ResourceManager or the master can not place it */
};

struct svc_policy {
    const char *name;
    struct svc_counts counts[SVC_N_OUTCOMES];
    bool anonymous; /* a container without a name, of a previous attempt, is given one */
    /* Priority of requests; `located`: for certain hosts. */
    int32_t (*priority)(const struct svc_comp *c, bool located);
    /* The wanted instance to remove next; there is one. */
    struct svc_inst *(*shrink)(struct svc_comp *c);
    /* The instance's container ended: is there to be another one? May change the outcome. */
    bool (*relaunch)(struct svc_inst *i, int32_t exit_status, enum svc_outcome *outcome);
    /* Asks for up to n more containers, fewer where the budget ends or none can be placed. */
    void (*ask)(struct svc_comp *c, int64_t n);
    void (*cancel)(struct svc_comp *c, int64_t n);
    /* May the host be used for one more? */
    bool (*accepts)(struct svc_comp *c, const struct svc_node *n);
    /* `count` containers are to be asked for again after a while; `i`: of this instance alone. */
    void (*hold)(struct svc_comp *c, struct svc_inst *i, int64_t count, enum svc_hold why);
    /* The instance's container ended; it lived too shortly to be a start. */
    void (*ended)(struct svc_inst *i, struct svc_entry *n, bool short_lived);
    /* The host was asked for and not given. */
    void (*unused)(struct svc_comp *c, struct svc_entry *n);
    void (*node_usable)(struct svc_comp *c); /* a host became usable */
    void (*escalate)(struct svc_request *r); /* its time is over */
    bool (*too_many_failures)(const struct svc_comp *c);
    bool (*is_long_lived)(const struct svc_comp *c); /* its instances are not to end */
    bool (*is_complete)(const struct svc_comp *c);   /* all its instances ended for good */
    bool (*is_ready)(const struct svc_comp *c);      /* for those that depend on it */
    void (*check_end)(struct svc_engine *e);         /* nothing is left to do: does it end? */
    /* At its end the service unregisters at once: the ResourceManager ends its containers. */
    bool ends_at_once;
    /* A container of the attempt before that is no instance's runs: STOP, not RELEASE. */
    bool stops_strangers;
    /* Policies with objects of their own have these; NULL: none. */
    void (*setup)(struct svc_engine *e, const struct svc_setup *setup);
    void (*free)(struct svc_engine *e);
    struct svc_request *(*match)(const struct svc_engine *e, const struct svc_allocated *a);
    bool (*may_launch)(struct svc_inst *i); /* false: the policy emits its LAUNCH later */
    /* Its list changed; -1: it is new, it is removed. */
    void (*moved)(struct svc_inst *i, int from, int to);
    void (*due)(struct svc_engine *e, struct svc_timer *t);
    /* Another number of containers of instances is on the host. */
    void (*populated)(struct svc_engine *e, struct svc_node *n);
};

/* Shared by several policies. */
void svc_ask_open(struct svc_comp *c, int64_t n); /* of the request without hosts */
void svc_cancel_open(struct svc_comp *c, int64_t n);
void svc_hold_back(struct svc_comp *c, struct svc_inst *i, int64_t count, enum svc_hold why);
bool svc_accept_all(struct svc_comp *c, const struct svc_node *n);
bool svc_always_ready(
    const struct svc_comp *c); /* its ready instances are all that it should have */

#endif
