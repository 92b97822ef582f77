/* The keys of preemption between queues and inside of them:
 * yarn.resourcemanager.scheduler.monitor.* and
 * yarn.resourcemanager.monitor.capacity.preemption.*. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>
#include <strings.h>

#include "common/str.h"
#include "rm-lite/scheduler/scheduler-keys.h"

#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."
#define INSIDE PREEMPTION "intra-queue-preemption."
#define POLICY                                                                                     \
    "org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity."                              \
    "ProportionalCapacityPreemptionPolicy"

/* Refuses settings that would select other victims than the operator expects. */
static int check_unsupported(struct sv_conf *c, struct sv_error *err)
{
    const char *policies;
    bool balance;
    int r;

    if ((r = sv_conf_string(c, &rm_key_preempt_policies, &policies, err)) < 0 ||
        (r = sv_conf_bool(c, &rm_key_preempt_balance, &balance, err)) < 0)
        return r;
    if (!sv_streq(policies, POLICY))
        return sv_error_set(err, -EOPNOTSUPP, "%s=%.200s is not supported: the policy is " POLICY,
                            rm_key_preempt_policies.name, policies);
    if (balance)
        return sv_error_set(err, -EOPNOTSUPP,
                            "%s=true is not supported: containers are preempted for queues below "
                            "their guarantee alone; set it to false",
                            rm_key_preempt_balance.name);
    return 0;
}

static int parse_inside(struct sv_conf *c, struct rm_preempt_settings *p, struct sv_error *err)
{
    const char *order;
    int r;

    if ((r = sv_conf_bool(c, &rm_key_preempt_intra, &p->inside, err)) < 0 ||
        (r = sv_conf_float(c, &rm_key_preempt_inside_from, &p->inside_from, err)) < 0 ||
        (r = sv_conf_float(c, &rm_key_preempt_inside_most, &p->inside_at_most, err)) < 0 ||
        (r = sv_conf_string(c, &rm_key_preempt_inside_order, &order, err)) < 0)
        return r;
    p->priority_first = strcasecmp(order, "priority_first") == 0;
    if (!p->priority_first && strcasecmp(order, "userlimit_first") != 0)
        return sv_error_set(err, -EINVAL, "%s=%.100s is neither userlimit_first nor priority_first",
                            rm_key_preempt_inside_order.name, order);
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

    if ((r = sv_conf_bool(c, &rm_key_preempt_enable, &p.enabled, err)) < 0 ||
        (r = sv_conf_bool(c, &rm_key_preempt_observe, &observe, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_preempt_interval, &p.interval_ms, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_preempt_wait, &p.wait_ms, err)) < 0 ||
        (r = sv_conf_float(c, &rm_key_preempt_round, &p.per_round, err)) < 0 ||
        (r = sv_conf_float(c, &rm_key_preempt_over, &p.ignored_over, err)) < 0 ||
        (r = sv_conf_float(c, &rm_key_preempt_factor, &p.factor, err)) < 0)
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
