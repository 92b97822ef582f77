/* The keys of preemption between queues: yarn.resourcemanager.scheduler.monitor.* and
 * yarn.resourcemanager.monitor.capacity.preemption.*. Called by queue-conf.c. */
#include "rm-lite/scheduler-impl.h"

#include <errno.h>

#include "common/str.h"

#define MONITOR "yarn.resourcemanager.scheduler.monitor."
#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."
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
    PREEMPTION "intra-queue-preemption.enabled", SV_CONF_BOOL, "false", 0, 0, 0, "inside of queues"
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
    const struct sv_conf_key *keys[] = { &key_intra, &key_balance };
    const char *policies;
    int r = sv_conf_string(c, &key_policies, &policies, err);

    if (r < 0)
        return r;
    if (!sv_streq(policies, POLICY))
        return sv_error_set(err, -EOPNOTSUPP, "%s=%.200s is not supported: the policy is " POLICY,
                            key_policies.name, policies);
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++) {
        bool on;

        r = sv_conf_bool(c, keys[i], &on, err);
        if (r < 0)
            return r;
        if (on)
            return sv_error_set(
                err, -EOPNOTSUPP,
                "%s=true is not supported: containers are preempted for queues below "
                "their guarantee alone; set it to false",
                keys[i]->name);
    }
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
    if (p.enabled && (r = check_unsupported(c, err)) < 0)
        return r;
    p.enabled = p.enabled && !observe;
    *ret = p;
    return 0;
}
