/* See web-queue.h. */
#include "rm-lite/web/rest/web-queue.h"

#include "rm-lite/web/rest/web-usage.h"

static void set(json_t *o, const char *key, json_t *value)
{
    (void)json_object_set_new(o, key, value); /* no memory: the member is missing, ignoring */
}

static json_t *real(double v)
{
    return json_real(isfinite(v) ? v : 0);
}

static json_t *capacities(const struct rm_queue_info *q)
{
    json_t *o = json_object();

    set(o, "partitionName", json_string(""));
    set(o, "capacity", real(q->capacity * 100));
    set(o, "usedCapacity", real(q->used_capacity * 100));
    set(o, "maxCapacity", real(q->max_capacity * 100));
    set(o, "absoluteCapacity", real(q->abs_capacity * 100));
    set(o, "absoluteUsedCapacity", real(q->abs_used_capacity * 100));
    set(o, "absoluteMaxCapacity", real(q->abs_max_capacity * 100));
    set(o, "maxAMLimitPercentage", real(q->am_percent * 100));
    set(o, "weight", real(q->weight));
    set(o, "effectiveMinResource", rm_json_resource(q->effective_min));
    set(o, "effectiveMaxResource", rm_json_resource(q->effective_max));
    return json_pack("{s:[o]}", "queueCapacitiesByPartition", o);
}

static json_t *usages(const struct rm_queue_info *q)
{
    json_t *o = json_object();

    set(o, "partitionName", json_string(""));
    set(o, "used", rm_json_resource(q->used));
    set(o, "reserved", rm_json_resource(q->reserved));
    set(o, "pending", rm_json_resource(q->pending));
    set(o, "amUsed", rm_json_resource(q->am_used));
    set(o, "amLimit", rm_json_resource(q->am_limit));
    return json_pack("{s:[o]}", "resourceUsagesByPartition", o);
}

void rm_json_queue(json_t *o, const struct rm_queue_info *q, const struct rm_queue_counters *c)
{
    set(o, "queueType", json_string(q->leaf ? "leaf" : "parent"));
    set(o, "creationMethod", json_string("static")); /* applications create no queues */
    set(o, "autoCreateChildQueueEnabled", json_false());
    set(o, "autoCreationEligibility", json_string("off"));
    set(o, "isAutoCreatedLeafQueue", json_false());
    set(o, "hideReservationQueues", json_false());
    set(o, "nodeLabels", json_pack("[s]", "*"));
    set(o, "queuePriority", json_integer(q->priority));
    set(o, "maxParallelApps", json_integer(q->max_parallel_apps));
    set(o, "maximumAllocation", rm_json_resource(q->max_allocation));
    set(o, "minEffectiveCapacity", rm_json_resource(q->effective_min));
    set(o, "maxEffectiveCapacity", rm_json_resource(q->effective_max));
    set(o, "capacities", capacities(q));
    set(o, "resources", usages(q));
    set(o, "preemptionDisabled", json_boolean(q->preemption_disabled));
    set(o, "intraQueuePreemptionDisabled", json_boolean(q->inside_disabled));
    set(o, "defaultApplicationLifetime",
        json_integer(q->default_lifetime_s > 0 ? q->default_lifetime_s : -1));
    set(o, "maxApplicationLifetime", json_integer(q->max_lifetime_s > 0 ? q->max_lifetime_s : -1));
    set(o, "pendingContainers", json_integer(c->live.pending_containers));
    set(o, "reservedContainers", json_integer(c->live.reserved_containers));
    if (q->leaf)
        set(o, "configuredMaxAMResourceLimit", real(q->am_percent));
}
