/* See web-queue.h. */
#include "rm-lite/web/rest/web-queue.h"

#include <stdio.h>
#include <string.h>

#include "common/acl.h"
#include "common/web/json-text.h"
#include "rm-lite/web/rest/web-usage.h"

static void set(json_t *o, const char *key, json_t *value)
{
    (void)json_object_set_new(o, key, value); /* no memory: the member is missing, ignoring */
}

static json_t *real(double v)
{
    return json_real(isfinite(v) ? v : 0);
}

/* ---- Capacities ---- */

/* The share of a queue with a weight is in its absolute capacity alone. */
static double capacity(const struct rm_queue_info *q)
{
    return q->mode == RM_MODE_WEIGHT ? 0 : q->capacity;
}

static double normalized_weight(const struct rm_queue_info *q)
{
    return q->mode == RM_MODE_WEIGHT ? q->capacity : 0;
}

/* "40.0%", "1.0w", "2048.0": a double as Java writes it. */
static json_t *vector_value(const struct rm_queue_info *q, int64_t amount)
{
    static const char *const units[] = {
        [RM_MODE_PERCENT] = "%", [RM_MODE_WEIGHT] = "w", [RM_MODE_ABSOLUTE] = ""
    };
    double v = q->mode == RM_MODE_WEIGHT     ? q->weight
               : q->mode == RM_MODE_ABSOLUTE ? (double)amount
                                             : q->capacity * 100;
    char text[64];

    (void)snprintf(text, sizeof(text), "%.15g", v);
    return json_sprintf("%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", units[q->mode]);
}

/* QueueCapacityVectorInfo: the configured capacity, by type of resource. */
static json_t *capacity_vector(const struct rm_queue_info *q)
{
    const struct rm_types *t = rm_types();
    json_t *list = json_array();
    char text[2048] = "[";
    size_t n = 1;

    for (int i = -2; i < t->n; i++) {
        const char *name = i == -2 ? "memory-mb" : i == -1 ? "vcores" : t->names[i];
        json_t *value = vector_value(q, i == -2   ? q->abs_min.mem
                                        : i == -1 ? q->abs_min.vcores
                                                  : q->abs_min.extra[i]);

        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.200s=%s", n > 1 ? "," : "", name,
                              json_string_value(value));
        (void)json_array_append_new(list, json_pack("{s:s, s:o}", "resourceName", name,
                                                    "resourceValue", value)); /* as set */
    }
    return json_pack("{s:s+, s:o}", "configuredCapacityVector", text, "]", "capacityVectorEntries",
                     list);
}

static json_t *capacities(const struct rm_queue_info *q)
{
    json_t *o = json_object();

    set(o, "partitionName", json_string(""));
    set(o, "queueCapacityVectorInfo", capacity_vector(q));
    set(o, "capacity", real(capacity(q) * 100));
    set(o, "usedCapacity", real(q->used_capacity * 100));
    set(o, "maxCapacity", real(q->max_capacity * 100));
    set(o, "absoluteCapacity", real(q->abs_capacity * 100));
    set(o, "absoluteUsedCapacity", real(q->abs_used_capacity * 100));
    set(o, "absoluteMaxCapacity", real(q->abs_max_capacity * 100));
    set(o, "maxAMLimitPercentage", real(q->leaf ? q->am_percent * 100 : 0));
    set(o, "weight", real(q->weight));
    set(o, "normalizedWeight", real(normalized_weight(q)));
    set(o, "configuredMinResource", rm_json_resource(q->abs_min));
    set(o, "configuredMaxResource", rm_json_resource(q->abs_max));
    set(o, "effectiveMinResource", rm_json_resource(q->effective_min));
    set(o, "effectiveMaxResource", rm_json_resource(q->effective_max));
    return json_pack("{s:[o]}", "queueCapacitiesByPartition", o);
}

static json_t *acl(const char *type, const char *list)
{
    _cleanup_free_ char *text = sv_acl_text(list);

    return json_pack("{s:s, s:o}", "accessType", type, "accessControlList", sv_json_text(text));
}

/* Priorities are bounded by yarn.cluster.max-application-priority alone. */
static json_t *acls(const struct rm_queue_info *q)
{
    return json_pack("{s:[o, o, o]}", "queueAcl", acl("ADMINISTER_QUEUE", q->acl_administer),
                     acl("APPLICATION_MAX_PRIORITY", "*"), acl("SUBMIT_APP", q->acl_submit));
}

/* Members that the root has too, at the end of both. */
static void put_kind(json_t *o, const struct rm_queue_info *q)
{
    static const char *const modes[] = { [RM_MODE_PERCENT] = "percentage",
                                         [RM_MODE_WEIGHT] = "weight",
                                         [RM_MODE_ABSOLUTE] = "absolute" };

    set(o, "mode", json_string(modes[q->mode]));
    set(o, "queueType", json_string(q->leaf ? "leaf" : "parent"));
    set(o, "creationMethod", json_string("static"));
    set(o, "autoCreationEligibility", json_string("off"));
    set(o, "autoQueueTemplateProperties", json_object());
    set(o, "autoQueueParentTemplateProperties", json_object());
    set(o, "autoQueueLeafTemplateProperties", json_object());
}

/* ---- A leaf and its users ---- */

struct users {
    json_t *list;
    struct rm_res am_limit; /* of the first one */
};

static void add_user(const struct rm_queue_user *u, void *userdata)
{
    struct users *to = userdata;
    struct rm_res none = { 0 };
    json_t *o = json_object(), *use = json_object();

    if (json_array_size(to->list) == 0)
        to->am_limit = u->am_limit;
    set(o, "username", sv_json_text(u->name));
    set(o, "resourcesUsed", rm_json_resource(u->used));
    set(o, "numPendingApplications", json_integer(u->pending_apps));
    set(o, "numActiveApplications", json_integer(u->active_apps));
    set(o, "AMResourceUsed", rm_json_resource(u->am_used));
    set(o, "userResourceLimit", rm_json_resource(u->limit));
    set(use, "partitionName", json_string(""));
    set(use, "used", rm_json_resource(u->used));
    set(use, "reserved", rm_json_resource(none)); /* Hadoop counts neither of the two by user */
    set(use, "pending", rm_json_resource(none));
    set(use, "amUsed", rm_json_resource(u->am_used));
    set(use, "amLimit", rm_json_resource(u->am_limit));
    set(use, "userAmLimit", rm_json_resource(none));
    set(o, "resources", json_pack("{s:[o]}", "resourceUsagesByPartition", use));
    set(o, "userWeight", real(u->weight));
    set(o, "isActive", json_boolean(u->asking));
    (void)json_array_append_new(to->list, o); /* as set */
}

static void put_leaf(json_t *o, struct rm_json_queues *w, const struct rm_queue_info *q)
{
    struct users users = { .list = json_array(), .am_limit = q->am_limit };

    w->users +=
        rm_sched_queue_users(w->rm->sched, q->path, RM_JSON_USERS_MAX - w->users, add_user, &users);
    set(o, "numActiveApplications", json_integer(q->active_apps));
    set(o, "numPendingApplications", json_integer(q->pending_apps));
    set(o, "numContainers", json_integer(q->containers));
    set(o, "maxApplications", json_integer(q->max_apps));
    set(o, "maxApplicationsPerUser", json_integer(q->max_apps_per_user));
    set(o, "userLimit", real(q->user_limit));
    if (json_array_size(users.list) > 0)
        set(o, "users", json_pack("{s:O}", "user", users.list));
    else
        set(o, "users", json_object());
    json_decref(users.list);
    set(o, "userLimitFactor", real(q->user_limit_factor));
    set(o, "configuredMaxAMResourceLimit", real(q->am_percent));
    set(o, "AMResourceLimit", rm_json_resource(q->am_limit));
    set(o, "usedAMResource", rm_json_resource(q->am_used));
    set(o, "userAMResourceLimit", rm_json_resource(users.am_limit));
    set(o, "preemptionDisabled", json_boolean(q->preemption_disabled));
    set(o, "intraQueuePreemptionDisabled", json_boolean(q->inside_disabled));
    set(o, "defaultPriority", json_integer(q->default_app_priority));
    set(o, "isAutoCreatedLeafQueue", json_false());
    set(o, "maxApplicationLifetime", json_integer(q->max_lifetime_s > 0 ? q->max_lifetime_s : -1));
    set(o, "defaultApplicationLifetime",
        json_integer(q->default_lifetime_s > 0 ? q->default_lifetime_s : -1));
}

/* ---- A queue ---- */

static json_t *usages(const struct rm_queue_info *q)
{
    json_t *o = json_object();

    set(o, "partitionName", json_string(""));
    set(o, "used", rm_json_resource(q->used));
    set(o, "reserved", rm_json_resource(q->reserved));
    set(o, "pending", rm_json_resource(q->pending));
    if (q->leaf) {
        set(o, "amUsed", rm_json_resource(q->am_used));
        set(o, "amLimit", rm_json_resource(q->am_limit));
        set(o, "userAmLimit", rm_json_resource(q->user_am_limit));
    }
    return json_pack("{s:[o]}", "resourceUsagesByPartition", o);
}

static void put_amounts(json_t *o, const struct rm *rm, const struct rm_queue_info *q)
{
    const struct rm_queue_counters *c = rm_queue_counters_find(rm, q->path, NULL);

    set(o, "resourcesUsed", rm_json_resource(q->used));
    set(o, "hideReservationQueues", json_false());
    set(o, "nodeLabels", json_pack("[s]", "*"));
    set(o, "allocatedContainers", json_integer(q->containers));
    set(o, "reservedContainers", json_integer(c->live.reserved_containers));
    set(o, "pendingContainers", json_integer(c->live.pending_containers));
    set(o, "capacities", capacities(q));
    set(o, "resources", usages(q));
    set(o, "minEffectiveCapacity", rm_json_resource(q->effective_min));
    set(o, "maxEffectiveCapacity", rm_json_resource(q->effective_max));
    set(o, "maximumAllocation", rm_json_resource(q->max_allocation));
    set(o, "queueAcls", acls(q));
    set(o, "queuePriority", json_integer(q->priority));
    set(o, "orderingPolicyInfo", json_string(q->ordering));
    set(o, "autoCreateChildQueueEnabled", json_false());
    set(o, "leafQueueTemplate", json_object());
}

json_t *rm_json_queue(struct rm_json_queues *w, const struct rm_queue_info *q, json_t *children)
{
    static const char *const states[] = { "", "STOPPED", "RUNNING", "DRAINING" };
    json_t *o = json_object();

    if (q->leaf)
        set(o, w->type, json_string("capacitySchedulerLeafQueueInfo"));
    set(o, "queuePath", sv_json_text(q->path));
    set(o, "capacity", real(capacity(q) * 100));
    set(o, "usedCapacity", real(q->used_capacity * 100));
    set(o, "maxCapacity", real(q->max_capacity * 100));
    set(o, "absoluteCapacity", real(q->abs_capacity * 100));
    set(o, "absoluteMaxCapacity", real(q->abs_max_capacity * 100));
    set(o, "absoluteUsedCapacity", real(q->abs_used_capacity * 100));
    set(o, "weight", real(q->weight));
    set(o, "normalizedWeight", real(normalized_weight(q)));
    set(o, "numApplications", json_integer(q->active_apps + q->pending_apps));
    set(o, "maxParallelApps", json_integer(q->max_parallel_apps));
    set(o, "queueName", sv_json_text(q->name));
    set(o, "isAbsoluteResource", json_boolean(q->mode == RM_MODE_ABSOLUTE));
    set(o, "state", json_string(states[q->state]));
    if (children)
        set(o, "queues", json_pack("{s:o}", "queue", children));
    put_amounts(o, w->rm, q);
    put_kind(o, q);
    if (q->leaf)
        put_leaf(o, w, q);
    return o;
}

json_t *rm_json_root_queue(struct rm_json_queues *w, const struct rm_queue_info *q,
                           json_t *children)
{
    json_t *o = json_object();

    set(o, w->type, json_string("capacityScheduler"));
    set(o, "capacity", real(q->capacity * 100));
    set(o, "usedCapacity", real(q->used_capacity * 100));
    set(o, "maxCapacity", real(q->max_capacity * 100));
    set(o, "weight", real(q->weight));
    set(o, "normalizedWeight", real(normalized_weight(q)));
    set(o, "queueCapacityVectorInfo", capacity_vector(q));
    set(o, "queueName", sv_json_text(q->name));
    set(o, "queuePath", sv_json_text(q->path));
    set(o, "maxParallelApps", json_integer(q->max_parallel_apps));
    set(o, "isAbsoluteResource", json_boolean(q->mode == RM_MODE_ABSOLUTE));
    set(o, "queues", json_pack("{s:o}", "queue", children));
    set(o, "capacities", capacities(q));
    set(o, "maximumAllocation", rm_json_resource(q->max_allocation));
    set(o, "queueAcls", acls(q));
    set(o, "queuePriority", json_integer(q->priority));
    set(o, "orderingPolicyInfo", json_string(q->ordering));
    put_kind(o, q);
    return o;
}
