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

struct svc_policy {
    const char *name;
    struct svc_counts counts[SVC_N_OUTCOMES];
    bool anonymous; /* a container without a name, of a previous attempt, is given one */
    /* Priority of requests; `located`: for certain hosts. */
    int32_t (*priority)(const struct svc_comp *c, bool located);
    /* The wanted instance to remove next; there is one. */
    struct svc_inst *(*shrink)(struct svc_comp *c);
    bool (*relaunch)(const struct svc_comp *c, enum svc_outcome outcome);
    /* Asks for up to n more containers, fewer where the budget ends or none can be placed. */
    void (*ask)(struct svc_comp *c, int64_t n);
    void (*cancel)(struct svc_comp *c, int64_t n);
    /* May the host be used for one more? A refused allocation counts as rejected. */
    bool (*accepts)(struct svc_comp *c, const struct svc_node *n);
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
};

/* Shared by several policies. */
void svc_ask_open(struct svc_comp *c, int64_t n); /* of the request without hosts */
void svc_cancel_open(struct svc_comp *c, int64_t n);
bool svc_accept_all(struct svc_comp *c, const struct svc_node *n);
bool svc_always_ready(
    const struct svc_comp *c); /* its ready instances are all that it should have */

#endif
