/* The fields of a recorded event. See record-fields.h. */
#include "rm-lite/scheduler/record-fields.h"

#define AT(member) offsetof(struct rm_sched_event, member)
#define ROW(event, name, kind, member, ...)                                                        \
    {                                                                                              \
        RM_SCHED_##event, name, RM_FIELD_##kind, AT(member), __VA_ARGS__                           \
    }
#define NEEDED .needed = true
#define MAY_LACK .needed = false

const struct rm_record_field rm_record_fields[] = {
    ROW(NODE_ADDED, "node", NODE, node_added.node, NEEDED),
    ROW(NODE_ADDED, "rack", NAME, node_added.rack, MAY_LACK),
    ROW(NODE_ADDED, "total", RES, node_added.total, MAY_LACK),
    ROW(NODE_REMOVED, "node", NODE, node_removed.node, NEEDED),
    ROW(NODE_RESIZED, "node", NODE, node_resized.node, NEEDED),
    ROW(NODE_RESIZED, "total", RES, node_resized.total, MAY_LACK),
    ROW(NODE_SCHEDULABLE, "node", NODE, node_schedulable.node, NEEDED),
    ROW(NODE_SCHEDULABLE, "flag", BOOL, node_schedulable.schedulable, MAY_LACK),
    ROW(NODE_HEARTBEAT, "node", NODE, node_heartbeat.node, NEEDED),
    ROW(PASS, "window", I64, pass.window_ms, MAY_LACK),
    ROW(PASS, "max", SIZE, pass.max_decisions, MAY_LACK),
    ROW(APP_ADDED, "total", RES, app_added.am_resource, MAY_LACK),
    ROW(APP_ADDED, "app", APP, app_added.app, NEEDED),
    ROW(APP_ADDED, "user", NAME, app_added.user, NEEDED),
    ROW(APP_ADDED, "queue", NAME, app_added.queue, NEEDED),
    ROW(APP_ADDED, "priority", I32, app_added.priority, MAY_LACK, .smallest = INT32_MIN),
    ROW(APP_ADDED, "flag", BOOL, app_added.recovered, MAY_LACK),
    ROW(APP_REMOVED, "app", APP, app_removed.app, NEEDED),
    ROW(ATTEMPT_ADDED, "app", APP, attempt_added.app, NEEDED),
    ROW(ATTEMPT_ADDED, "attempt", I32, attempt_added.attempt, NEEDED, .smallest = 1),
    ROW(ATTEMPT_REMOVED, "app", APP, attempt_removed.app, NEEDED),
    ROW(ATTEMPT_REMOVED, "flag", BOOL, attempt_removed.keep_containers, MAY_LACK),
    ROW(ASK, "app", APP, ask.app, NEEDED),
    ROW(ASK, "attempts", I32, ask.attempts, MAY_LACK),
    ROW(CONSTRAINTS, "app", APP, constraints.app, NEEDED),
    ROW(CONTAINER_DONE, "container", CONTAINER, container_done.container, NEEDED),
    ROW(CONTAINER_DONE, "flag", BOOL, container_done.put_ask_back, MAY_LACK),
    ROW(CONTAINER_RECOVERED, "node", NODE, container_recovered.node, NEEDED),
    ROW(CONTAINER_RECOVERED, "total", RES, container_recovered.resource, MAY_LACK),
    ROW(CONTAINER_RECOVERED, "priority", I32, container_recovered.priority, MAY_LACK,
        .smallest = INT32_MIN),
    ROW(CONTAINER_RECOVERED, "container", CONTAINER, container_recovered.container, NEEDED),
    ROW(CONTAINER_RECOVERED, "flag", BOOL, container_recovered.is_master, MAY_LACK),
    ROW(CONTAINER_UPDATE, "container", CONTAINER, container_update.container, NEEDED),
    ROW(CONTAINER_UPDATE, "total", RES, container_update.resource, MAY_LACK),
    ROW(APP_PRIORITY, "app", APP, app_priority.app, NEEDED),
    ROW(APP_PRIORITY, "priority", I32, app_priority.priority, MAY_LACK, .smallest = INT32_MIN),
    ROW(APP_MOVED, "app", APP, app_moved.app, NEEDED),
    ROW(APP_MOVED, "queue", NAME, app_moved.queue, NEEDED),
    { .name = NULL },
};
