/* See scheduler-keys.h. The values are the operator's. */
#include "rm-lite/scheduler/scheduler-keys.h"

#include <stdint.h>

#define CS "yarn.scheduler.capacity."
#define MONITOR "yarn.resourcemanager.scheduler.monitor."
#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."
#define INSIDE PREEMPTION "intra-queue-preemption."
#define POLICY                                                                                     \
    "org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity."                              \
    "ProportionalCapacityPreemptionPolicy"

const struct sv_conf_key rm_key_calc = {
    CS "resource-calculator",
    SV_CONF_STRING,
    "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
    0,
    0,
    0,
    "class of the resource calculator: DominantResourceCalculator or DefaultResourceCalculator"
};
const struct sv_conf_key rm_key_max_apps = {
    CS "maximum-applications",
    SV_CONF_INT,
    "10000",
    1,
    INT32_MAX,
    0,
    "applications, pending and running, in the whole system"
};
const struct sv_conf_key rm_key_queue_max_apps = {
    CS "global-queue-max-application",
    SV_CONF_INT,
    "-1",
    -1,
    INT32_MAX,
    0,
    "applications of each queue without a maximum of its own; -1 = by its capacity"
};
const struct sv_conf_key rm_key_am_percent = {
    CS "maximum-am-resource-percent",
    SV_CONF_FLOAT,
    "0.1",
    0,
    0,
    0,
    "part of a queue's capacity that ApplicationMasters may use"
};
const struct sv_conf_key rm_key_parallel = {
    CS "max-parallel-apps",
    SV_CONF_INT,
    "2147483647",
    0,
    INT32_MAX,
    0,
    "running applications of a queue without a limit of its own"
};
const struct sv_conf_key rm_key_user_parallel = {
    CS "user.max-parallel-apps",
    SV_CONF_INT,
    "2147483647",
    0,
    INT32_MAX,
    0,
    "running applications of a user without a limit of his own"
};
const struct sv_conf_key rm_key_override = {
    CS "queue-mappings-override.enable",
    SV_CONF_BOOL,
    "false",
    0,
    0,
    0,
    "queue-mappings also for applications that name a queue"
};
const struct sv_conf_key rm_key_offswitch = {
    CS "per-node-heartbeat.maximum-offswitch-assignments",     SV_CONF_INT, "1", 1, INT32_MAX, 0,
    "off-switch containers given on one node in one heartbeat"
};
const struct sv_conf_key rm_key_multiple = {
    CS "per-node-heartbeat.multiple-assignments-enabled",  SV_CONF_BOOL, "true", 0, 0, 0,
    "more than one container on one node in one heartbeat"
};
const struct sv_conf_key rm_key_assignments = {
    CS "per-node-heartbeat.maximum-container-assignments",
    SV_CONF_INT,
    "100",
    -1,
    INT32_MAX,
    0,
    "containers given on one node in one heartbeat; -1 = no limit"
};
const struct sv_conf_key rm_key_node_delay = {
    CS "node-locality-delay",
    SV_CONF_INT,
    "40",
    -1,
    INT32_MAX,
    0,
    "opportunities missed before a rack-local container is taken; -1 = none"
};
const struct sv_conf_key rm_key_rack_delay = {
    CS "rack-locality-additional-delay",
    SV_CONF_INT,
    "-1",
    -1,
    INT32_MAX,
    0,
    "further opportunities missed before an off-switch container is taken; -1 = by the ask's size"
};
const struct sv_conf_key rm_key_rack_reset = {
    CS "rack-locality-full-reset",
    SV_CONF_BOOL,
    "true",
    0,
    0,
    0,
    "a rack-local assignment resets the missed opportunities"
};
const struct sv_conf_key rm_key_look = {
    CS "reservations-continue-look-all-nodes",
    SV_CONF_BOOL,
    "true",
    0,
    0,
    0,
    "a node with room is taken in exchange for a reserved one"
};
const struct sv_conf_key rm_key_min_mb = {
    "yarn.scheduler.minimum-allocation-mb",        SV_CONF_INT, "1024", 0, INT32_MAX, 0,
    "smallest container, MB; others are multiples"
};
const struct sv_conf_key rm_key_max_mb = { "yarn.scheduler.maximum-allocation-mb",
                                           SV_CONF_INT,
                                           "8192",
                                           1,
                                           INT32_MAX,
                                           0,
                                           "largest container, MB" };
const struct sv_conf_key rm_key_min_vc = {
    "yarn.scheduler.minimum-allocation-vcores", SV_CONF_INT, "1", 0, INT32_MAX, 0,
    "smallest container, virtual cores"
};
const struct sv_conf_key rm_key_max_vc = {
    "yarn.scheduler.maximum-allocation-vcores", SV_CONF_INT, "4", 1, INT32_MAX, 0,
    "largest container, virtual cores"
};
const struct sv_conf_key rm_key_user_limit = {
    CS "minimum-user-limit-percent",
    SV_CONF_FLOAT,
    "100",
    0,
    0,
    0,
    "percent of a queue that each of several users is sure of"
};
const struct sv_conf_key rm_key_user_factor = {
    CS "user-limit-factor",
    SV_CONF_FLOAT,
    "1",
    0,
    0,
    0,
    "multiple of a queue's capacity that one user may take; -1 = no limit"
};
const struct sv_conf_key rm_key_preempt_enable = {
    MONITOR "enable",
    SV_CONF_BOOL,
    "false",
    0,
    0,
    0,
    "preempt containers of queues above their guarantee"
};
const struct sv_conf_key rm_key_preempt_policies = {
    MONITOR "policies",
    SV_CONF_STRING,
    POLICY,
    0,
    0,
    0,
    "class of the policy: ProportionalCapacityPreemptionPolicy"
};
const struct sv_conf_key rm_key_preempt_observe = {
    PREEMPTION "observe_only", SV_CONF_BOOL, "false", 0, 0, 0, "preempt nothing"
};
const struct sv_conf_key rm_key_preempt_interval = {
    PREEMPTION "monitoring_interval", SV_CONF_INT, "3000", 1, INT32_MAX, 0,
    "milliseconds between two rounds"
};
const struct sv_conf_key rm_key_preempt_wait = {
    PREEMPTION "max_wait_before_kill",
    SV_CONF_INT,
    "15000",
    0,
    INT32_MAX,
    0,
    "milliseconds from the message to the ApplicationMaster to the kill"
};
const struct sv_conf_key rm_key_preempt_round = {
    PREEMPTION "total_preemption_per_round", SV_CONF_FLOAT, "0.1", 0, 0, 0,
    "part of the cluster, in one round"
};
const struct sv_conf_key rm_key_preempt_over = {
    PREEMPTION "max_ignored_over_capacity",
    SV_CONF_FLOAT,
    "0.1",
    0,
    0,
    0,
    "part of its guarantee that a queue may be above it"
};
const struct sv_conf_key rm_key_preempt_factor = {
    PREEMPTION "natural_termination_factor",    SV_CONF_FLOAT, "0.2", 0, 0, 0,
    "part of the excess reclaimed in one round"
};
const struct sv_conf_key rm_key_preempt_intra = {
    INSIDE "enabled", SV_CONF_BOOL, "false", 0, 0, 0, "also between the applications of a queue"
};
const struct sv_conf_key rm_key_preempt_inside_from = {
    INSIDE "minimum-threshold",
    SV_CONF_FLOAT,
    "0.5",
    0,
    0,
    0,
    "part of its guarantee that a queue uses before its applications give to each other"
};
const struct sv_conf_key rm_key_preempt_inside_most = {
    INSIDE "max-allowable-limit",
    SV_CONF_FLOAT,
    "0.2",
    0,
    0,
    0,
    "part of a queue's guarantee reclaimed in one round"
};
const struct sv_conf_key rm_key_preempt_inside_order = {
    INSIDE "preemption-order-policy",   SV_CONF_STRING, "userlimit_first", 0, 0, 0,
    "userlimit_first or priority_first"
};
const struct sv_conf_key rm_key_preempt_balance = {
    PREEMPTION "preemption-to-balance-queue-after-satisfied.enabled",
    SV_CONF_BOOL,
    "false",
    0,
    0,
    0,
    "between queues above their guarantees"
};

const struct sv_conf_key *rm_scheduler_key(size_t i)
{
    static const struct sv_conf_key *const all[] = { &rm_key_calc,
                                                     &rm_key_max_apps,
                                                     &rm_key_queue_max_apps,
                                                     &rm_key_am_percent,
                                                     &rm_key_parallel,
                                                     &rm_key_user_parallel,
                                                     &rm_key_override,
                                                     &rm_key_offswitch,
                                                     &rm_key_multiple,
                                                     &rm_key_assignments,
                                                     &rm_key_node_delay,
                                                     &rm_key_rack_delay,
                                                     &rm_key_rack_reset,
                                                     &rm_key_look,
                                                     &rm_key_min_mb,
                                                     &rm_key_max_mb,
                                                     &rm_key_min_vc,
                                                     &rm_key_max_vc,
                                                     &rm_key_user_limit,
                                                     &rm_key_user_factor,
                                                     &rm_key_preempt_enable,
                                                     &rm_key_preempt_policies,
                                                     &rm_key_preempt_observe,
                                                     &rm_key_preempt_interval,
                                                     &rm_key_preempt_wait,
                                                     &rm_key_preempt_round,
                                                     &rm_key_preempt_over,
                                                     &rm_key_preempt_factor,
                                                     &rm_key_preempt_intra,
                                                     &rm_key_preempt_inside_from,
                                                     &rm_key_preempt_inside_most,
                                                     &rm_key_preempt_inside_order,
                                                     &rm_key_preempt_balance };

    return i < SV_ARRAY_LEN(all) ? all[i] : NULL;
}
