/* The keys of preemption between queues and inside of them:
 * yarn.resourcemanager.scheduler.monitor.* and yarn.resourcemanager.monitor.capacity.preemption.*.
 * Called by queue-conf.c. */
#include "rm-lite/scheduler-impl.h"

#include <errno.h>
#include <strings.h>

#include "common/str.h"

#define MONITOR "yarn.resourcemanager.scheduler.monitor."
#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."
#define INSIDE PREEMPTION "intra-queue-preemption."
#define POLICY                                                                                     \
    "org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity."                              \
    "ProportionalCapacityPreemptionPolicy"

static const struct sv_conf_key key_enable = {
    MONITOR "enable",
    SV_CONF_BOOL,
    "false",
    0,
    0,
    0,
    "preempt containers of queues above their guarantee"
};
static const struct sv_conf_key key_policies = {
    MONITOR "policies",
    SV_CONF_STRING,
    POLICY,
    0,
    0,
    0,
    "class of the policy: ProportionalCapacityPreemptionPolicy"
};
static const struct sv_conf_key key_observe = {
    PREEMPTION "observe_only", SV_CONF_BOOL, "false", 0, 0, 0, "preempt nothing"
};
static const struct sv_conf_key key_interval = {
    PREEMPTION "monitoring_interval", SV_CONF_INT, "3000", 1, INT32_MAX, 0,
    "milliseconds between two rounds"
};
static const struct sv_conf_key key_wait = {
    PREEMPTION "max_wait_before_kill",
    SV_CONF_INT,
    "15000",
    0,
    INT32_MAX,
    0,
    "milliseconds from the message to the ApplicationMaster to the kill"
};
static const struct sv_conf_key key_round = {
    PREEMPTION "total_preemption_per_round", SV_CONF_FLOAT, "0.1", 0, 0, 0,
    "part of the cluster, in one round"
};
static const struct sv_conf_key key_over = { PREEMPTION "max_ignored_over_capacity",
                                             SV_CONF_FLOAT,
                                             "0.1",
                                             0,
                                             0,
                                             0,
                                             "part of its guarantee that a queue may be above it" };
static const struct sv_conf_key key_factor = {
    PREEMPTION "natural_termination_factor", SV_CONF_FLOAT, "0.2", 0, 0, 0,
    "part of what is too much, in one round"
};
static const struct sv_conf_key key_intra = {
    INSIDE "enabled", SV_CONF_BOOL, "false", 0, 0, 0, "also between the applications of a queue"
};
static const struct sv_conf_key key_inside_from = {
    INSIDE "minimum-threshold",
    SV_CONF_FLOAT,
    "0.5",
    0,
    0,
    0,
    "part of its guarantee that a queue uses before its applications give to each other"
};
static const struct sv_conf_key key_inside_most = {
    INSIDE "max-allowable-limit",
    SV_CONF_FLOAT,
    "0.2",
    0,
    0,
    0,
    "part of a queue's guarantee that goes in one round"
};
static const struct sv_conf_key key_inside_order = {
    INSIDE "preemption-order-policy",   SV_CONF_STRING, "userlimit_first", 0, 0, 0,
    "userlimit_first or priority_first"
};
static const struct sv_conf_key key_balance = {
    PREEMPTION "preemption-to-balance-queue-after-satisfied.enabled",
    SV_CONF_BOOL,
    "false",
    0,
    0,
    0,
    "between queues above their guarantees"
};

/* What would choose other containers than the operator expects is refused. */
static int check_unsupported(struct sv_conf *c, struct sv_error *err)
{
    const char *policies;
    bool balance;
    int r;

    if ((r = sv_conf_string(c, &key_policies, &policies, err)) < 0 ||
        (r = sv_conf_bool(c, &key_balance, &balance, err)) < 0)
        return r;
    if (!sv_streq(policies, POLICY))
        return sv_error_set(err, -EOPNOTSUPP, "%s=%.200s is not supported: the policy is " POLICY,
                            key_policies.name, policies);
    if (balance)
        return sv_error_set(err, -EOPNOTSUPP,
                            "%s=true is not supported: containers are preempted for queues below "
                            "their guarantee alone; set it to false",
                            key_balance.name);
    return 0;
}

static int parse_inside(struct sv_conf *c, struct rm_preempt_settings *p, struct sv_error *err)
{
    const char *order;
    int r;

    if ((r = sv_conf_bool(c, &key_intra, &p->inside, err)) < 0 ||
        (r = sv_conf_float(c, &key_inside_from, &p->inside_from, err)) < 0 ||
        (r = sv_conf_float(c, &key_inside_most, &p->inside_at_most, err)) < 0 ||
        (r = sv_conf_string(c, &key_inside_order, &order, err)) < 0)
        return r;
    p->priority_first = strcasecmp(order, "priority_first") == 0;
    if (!p->priority_first && strcasecmp(order, "userlimit_first") != 0)
        return sv_error_set(err, -EINVAL, "%s=%.100s is neither userlimit_first nor priority_first",
                            key_inside_order.name, order);
    if (!(p->inside_from >= 0) || !(p->inside_at_most >= 0 && p->inside_at_most <= 1))
        return sv_error_set(err, -EINVAL,
                            INSIDE "max-allowable-limit lies between 0 and 1, minimum-threshold is "
                                   "not below 0");
    return 0;
}

int rm_preempt_parse(struct sv_conf *c, struct rm_preempt_settings *ret, struct sv_error *err)
{
    struct rm_preempt_settings p = { 0 };
    bool observe;
    int r;

    if ((r = sv_conf_bool(c, &key_enable, &p.enabled, err)) < 0 ||
        (r = sv_conf_bool(c, &key_observe, &observe, err)) < 0 ||
        (r = sv_conf_int(c, &key_interval, &p.interval_ms, err)) < 0 ||
        (r = sv_conf_int(c, &key_wait, &p.wait_ms, err)) < 0 ||
        (r = sv_conf_float(c, &key_round, &p.per_round, err)) < 0 ||
        (r = sv_conf_float(c, &key_over, &p.ignored_over, err)) < 0 ||
        (r = sv_conf_float(c, &key_factor, &p.factor, err)) < 0)
        return r;
    if (!(p.per_round >= 0 && p.per_round <= 1) || !(p.factor >= 0 && p.factor <= 1) ||
        !(p.ignored_over >= 0))
        return sv_error_set(err, -EINVAL,
                            PREEMPTION
                            "total_preemption_per_round and natural_termination_factor lie "
                            "between 0 and 1, max_ignored_over_capacity is not below 0");
    if (p.enabled && ((r = check_unsupported(c, err)) < 0 || (r = parse_inside(c, &p, err)) < 0))
        return r;
    p.enabled = p.enabled && !observe;
    *ret = p;
    return 0;
}
