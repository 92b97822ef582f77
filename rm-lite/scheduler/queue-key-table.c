/* See queue-key-table.h. docs/operate/capacity-scheduler.md lists the rows; test-queue-keys
 * compares. */
#include "rm-lite/scheduler/queue-key-table.h"

#include <string.h>

#include "common/edit-distance.h"
#include "common/str.h"

#define LABELS "there are no node labels"
#define MAPPING "write queue-mappings instead"
#define AUTO "queues are those of the file"
#define LOOP "one thread allocates on heartbeats and on asks"
#define PLAN "there are no reservations in time"

static const struct rm_queue_key keys[] = {
    /* scheduler-wide keys */
    { "resource-calculator", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "maximum-applications", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "global-queue-max-application", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "maximum-am-resource-percent", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "minimum-user-limit-percent", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "user-limit-factor", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "node-locality-delay", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "rack-locality-additional-delay", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "rack-locality-full-reset", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "reservations-continue-look-all-nodes", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "per-node-heartbeat.maximum-offswitch-assignments", false, NULL, RM_QUEUE_KEY_HONOURED,
      NULL },
    { "per-node-heartbeat.multiple-assignments-enabled", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "per-node-heartbeat.maximum-container-assignments", false, NULL, RM_QUEUE_KEY_HONOURED,
      NULL },
    { "max-parallel-apps", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "user.max-parallel-apps", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "user.", false, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_INT, NULL,
      "USER.max-parallel-apps: applications of this user that run at a time" },
    { "legacy-queue-mode.enabled", false, "true", RM_QUEUE_KEY_REFUSED,
      "the children of a queue have capacities of one kind" },
    { "queue-mappings", false, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_LIST, NULL,
      "u:USER:QUEUE and g:GROUP:QUEUE: where applications go that name no queue" },
    { "queue-mappings-override.enable", false, NULL, RM_QUEUE_KEY_HONOURED, NULL },
    { "mapping-rule-format", false, "legacy", RM_QUEUE_KEY_REFUSED, MAPPING },
    { "mapping-rule-json", false, "", RM_QUEUE_KEY_REFUSED, MAPPING },
    { "mapping-rule-json-file", false, "", RM_QUEUE_KEY_REFUSED, MAPPING },
    { "workflow-priority-mappings", false, "", RM_QUEUE_KEY_IGNORED,
      "applications have the priority that they name" },
    { "workflow-priority-mappings-override.enable", false, "false", RM_QUEUE_KEY_IGNORED,
      "applications have the priority that they name" },
    { "schedule-asynchronously.", false, NULL, RM_QUEUE_KEY_NO_MEANING, LOOP },
    { "application.fail-fast", false, "false", RM_QUEUE_KEY_NO_MEANING,
      "an application whose queue is gone after a restart fails alone" },
    { "user-metrics.enable", false, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_BOOL, "false",
      "metrics of each user of each queue, besides the queues' own" },
    { "queue.auto.refresh.monitoring-interval", false, NULL, RM_QUEUE_KEY_NO_MEANING,
      "the file is read at the start and by refreshQueues" },
    { "lazy-preemption-enabled", false, "false", RM_QUEUE_KEY_IGNORED,
      "a container is killed when its time is over, whether its room is used or not" },
    { "skip-allocate-on-nodes-with-reserved-containers", false, NULL, RM_QUEUE_KEY_NO_MEANING,
      LOOP },
    { "ordering-policy.priority-utilization.", false, NULL, RM_QUEUE_KEY_NO_MEANING,
      "containers are preempted for guarantees, not for priorities of queues" },
    { "multi-node-placement-enabled", false, "false", RM_QUEUE_KEY_IGNORED,
      "nodes are taken in the order of their heartbeats" },
    { "multi-node-sorting.", false, NULL, RM_QUEUE_KEY_IGNORED,
      "nodes are taken in the order of their heartbeats" },
    { "auto-queue-creation-v2.queue-expiration-time", false, NULL, RM_QUEUE_KEY_NO_MEANING, AUTO },
    /* keys of one queue */
    { "queues", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_LIST, NULL,
      "the queues below this one; by default root has \"default\"" },
    { "capacity", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_STRING, NULL,
      "share of the parent queue: percent, a weight such as 2w, or [memory=MB,vcores=N]" },
    { "maximum-capacity", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_STRING, "100",
      "most that it takes of the parent queue: percent, or [memory=MB,vcores=N]" },
    { "allow-zero-capacity-sum", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_BOOL, "false",
      "all queues below it may have the capacity 0" },
    { "state", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_STRING, NULL,
      "RUNNING or STOPPED; by default the parent queue's" },
    { "priority", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_INT, "0",
      "larger first, where the parent queue's ordering-policy is priority-utilization" },
    { "ordering-policy", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_STRING, NULL,
      "of queues: utilization, priority-utilization; of applications: fifo, fair" },
    { "minimum-user-limit-percent", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_FLOAT, NULL,
      "percent of the queue that each of several users is sure of; by default the scheduler's "
      "key" },
    { "user-limit-factor", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_FLOAT, NULL,
      "multiple of the queue's capacity that one user may take, -1 = no limit; by default the "
      "scheduler's key" },
    { "maximum-am-resource-percent", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_FLOAT, NULL,
      "part of the queue for ApplicationMasters; by default the scheduler's key" },
    { "maximum-applications", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_INT, NULL,
      "applications, pending and running; by default the queue's part of the scheduler's key" },
    { "maximum-allocation-mb", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_INT, NULL,
      "largest container, MB; by default yarn.scheduler.maximum-allocation-mb" },
    { "maximum-allocation-vcores", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_INT, NULL,
      "largest container, virtual cores; by default yarn.scheduler.maximum-allocation-vcores" },
    { "default-application-priority", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_INT, "0",
      "of applications that name no priority" },
    { "acl_submit_applications", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_STRING, NULL,
      "users, then groups, that may submit; by default nobody, at the root everybody (*)" },
    { "acl_administer_queue", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_STRING, NULL,
      "users, then groups, that may change its applications; by default nobody, at the root "
      "everybody (*)" },
    { "acl_application_max_priority", true, "*", RM_QUEUE_KEY_IGNORED,
      "yarn.cluster.max-application-priority alone bounds priorities" },
    { "acl_administer_reservations", true, NULL, RM_QUEUE_KEY_NO_MEANING, PLAN },
    { "acl_list_reservations", true, NULL, RM_QUEUE_KEY_NO_MEANING, PLAN },
    { "acl_submit_reservations", true, NULL, RM_QUEUE_KEY_NO_MEANING, PLAN },
    { "maximum-allocation", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_STRING, NULL,
      "largest container: memory-mb=MB,vcores=N and other resource types" },
    { "min-resource", true, NULL, RM_QUEUE_KEY_REFUSED, "write capacity=[memory=...,vcores=...]" },
    { "max-resource", true, NULL, RM_QUEUE_KEY_REFUSED,
      "write maximum-capacity=[memory=...,vcores=...]" },
    { "max-parallel-apps", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_INT, NULL,
      "applications that run at a time; by default the scheduler's key" },
    { "user-settings.", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_FLOAT, NULL,
      "USER.weight: multiplies what this user may take of the queue" },
    { "ordering-policy.fair.enable-size-based-weight", true, NULL, RM_QUEUE_KEY_HONOURED, NULL,
      SV_CONF_BOOL, "false", "with fair: larger applications weigh more" },
    { "ordering-policy.", true, NULL, RM_QUEUE_KEY_NO_MEANING, LABELS },
    { "accessible-node-labels", true, "*|", RM_QUEUE_KEY_NO_MEANING, LABELS },
    { "accessible-node-labels.", true, NULL, RM_QUEUE_KEY_NO_MEANING, LABELS },
    { "default-node-label-expression", true, "", RM_QUEUE_KEY_IGNORED, LABELS },
    { "maximum-application-lifetime", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_INT, NULL,
      "seconds until an application is ended, 0 and less = none; by default the parent queue's" },
    { "default-application-lifetime", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_INT, NULL,
      "seconds, for applications that name no lifetime; by default the parent queue's" },
    { "disable_preemption", true, NULL, RM_QUEUE_KEY_HONOURED, NULL, SV_CONF_BOOL, NULL,
      "no container of it is preempted for other queues; by default the parent queue's" },
    { "intra-queue-preemption.disable_preemption", true, NULL, RM_QUEUE_KEY_HONOURED, NULL,
      SV_CONF_BOOL, NULL,
      "none is preempted for its own applications; by default the parent queue's" },
    { "auto-create-child-queue.enabled", true, "false", RM_QUEUE_KEY_REFUSED, AUTO },
    { "auto-create-child-queue.", true, NULL, RM_QUEUE_KEY_NO_MEANING, AUTO },
    { "auto-queue-creation-v2.enabled", true, "false", RM_QUEUE_KEY_REFUSED, AUTO },
    { "auto-queue-creation-v2.", true, NULL, RM_QUEUE_KEY_NO_MEANING, AUTO },
    { "leaf-queue-template.", true, NULL, RM_QUEUE_KEY_NO_MEANING, AUTO },
    { "multi-node-sorting.policy", true, NULL, RM_QUEUE_KEY_IGNORED,
      "nodes are taken in the order of their heartbeats" },
    { "reservable", true, "false", RM_QUEUE_KEY_REFUSED, PLAN },
    { "reservation-", true, NULL, RM_QUEUE_KEY_NO_MEANING, PLAN },
    { "show-reservations-as-queues", true, "false", RM_QUEUE_KEY_NO_MEANING, PLAN },
    { "average-capacity", true, NULL, RM_QUEUE_KEY_NO_MEANING, PLAN },
    { "instantaneous-max-capacity", true, NULL, RM_QUEUE_KEY_NO_MEANING, PLAN },
};

const struct rm_queue_key *rm_queue_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

const struct rm_queue_key *rm_queue_key_find(const char *name, bool of_queue)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++) {
        size_t n = strlen(keys[i].name);
        bool whole = keys[i].name[n - 1] != '.' && keys[i].name[n - 1] != '-';

        if (keys[i].of_queue == of_queue &&
            (whole ? sv_streq(keys[i].name, name) : strncmp(keys[i].name, name, n) == 0))
            return &keys[i];
    }
    return NULL;
}

/* Accepts an edit distance of two letters in ten, three at most. */
const char *rm_queue_key_nearest(const char *name, bool of_queue)
{
    size_t best = SV_MIN(strlen(name) / 5, (size_t)3) + 1;
    const char *hit = NULL;

    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++) {
        size_t d;

        if (keys[i].of_queue != of_queue || keys[i].name[strlen(keys[i].name) - 1] == '.')
            continue;
        d = sv_edit_distance(name, keys[i].name);
        if (d < best) {
            best = d;
            hit = keys[i].name;
        }
    }
    return hit;
}

size_t rm_queue_key_path(const char *name)
{
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
        if (rm_queue_key_find(dot + 1, true))
            return (size_t)(dot - name);
    return 0;
}

const char *rm_queue_key_word(enum rm_queue_key_use use)
{
    static const char *const words[] = { [RM_QUEUE_KEY_HONOURED] = "honoured",
                                         [RM_QUEUE_KEY_NO_MEANING] = "without meaning here",
                                         [RM_QUEUE_KEY_IGNORED] = "ignored",
                                         [RM_QUEUE_KEY_REFUSED] = "refused" };

    return words[use];
}
