/* See web-off.h. Hostile: paths and bodies. */
#include "rm-lite/web/rest/web-off.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/rest/web-reply.h"
#include "rm-lite/web/rest/web-usage.h"

#define UNUSED(...)                                                                                \
    (void)(const void *[])                                                                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* ---- The scheduler ---- */

RM_OFF(scheduler_logs)
{
    UNUSED(rm, req, rest);
    return rm_web_bad_request(ret, "the scheduler has no log of its own: the daemon's is the "
                                   "journal's, and selvedge.rm.record keeps its decisions");
}

RM_OFF(read_conf)
{
    UNUSED(rm, rest);
    if (sv_has_suffix(req->path, "/format"))
        return rm_web_text(ret, 400,
                           "Scheduler Configuration format only supported by MutableConfScheduler");
    if (sv_has_suffix(req->path, "/version"))
        return rm_web_text(ret, 400,
                           "Configuration Version only supported by MutableConfScheduler.");
    return rm_web_text(ret, 400,
                       "This API only supports to retrieve scheduler configuration from a "
                       "mutable-conf scheduler, underneath scheduler CapacityScheduler is not an "
                       "instance of MutableConfScheduler");
}

RM_OFF(change_conf)
{
    UNUSED(rm, rest);
    return rm_web_text(ret, 400,
                       sv_has_suffix(req->path, "/validate")
                           ? "Configuration change validation only supported by "
                             "MutableConfScheduler."
                           : "Configuration change only supported by mutable configuration store.");
}

/* ---- Labels ---- */

RM_OFF(labels)
{
    UNUSED(rm, req, rest);
    return rm_web_tree(ret, 200, "nodeLabelsInfo", json_object());
}

/* Values as texts: Hadoop's JSON provider has no rules for NodeLabelsInfo. */
static json_t *as_texts(json_t *value)
{
    const char *key;
    char number[32];
    json_t *member;
    size_t i;

    if (json_is_object(value) && json_object_size(value) == 0)
        return json_null();
    json_object_foreach(value, key, member)(void)
        json_object_set_new(value, key, as_texts(member)); /* no memory: as it was */
    json_array_foreach(value, i, member)(void)
        json_array_set_new(value, i, as_texts(member)); /* as above */
    if (json_is_boolean(value))
        return json_string(json_is_true(value) ? "true" : "false");
    if (!json_is_integer(value))
        return json_incref(value);
    (void)snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
    return json_string(number);
}

/* Without labels there is one partition of all nodes. */
RM_OFF(all_labels)
{
    json_t *one = json_pack("{s:s, s:b, s:{s:o}, s:i}", "name", "<DEFAULT_PARTITION>",
                            "exclusivity", 1, "partitionInfo", "resourceAvailable",
                            rm_json_resource(rm_sched_cluster(rm->sched)), "activeNMs",
                            (int)rm_active_nodes(rm));
    json_t *texts = one ? as_texts(one) : NULL;

    UNUSED(req, rest);
    json_decref(one);
    return rm_web_tree(ret, 200, "nodeLabelsInfo", json_pack("{s:o}", "nodeLabelInfo", texts));
}

RM_OFF(nodes_to_labels)
{
    UNUSED(rm, req, rest);
    return rm_web_tree(ret, 200, "nodeToLabelsInfo", json_pack("{s:n}", "nodeToLabels"));
}

RM_OFF(labels_to_nodes)
{
    UNUSED(rm, req, rest);
    return rm_web_tree(ret, 200, "labelsToNodesInfo", json_pack("{s:n}", "labelsToNodes"));
}

RM_OFF(change_labels)
{
    UNUSED(rm, req, rest);
    return rm_web_bad_request(ret, "Node-label-based scheduling is disabled. Please check "
                                   "yarn.node-labels.enabled");
}

/* ---- Reservations ---- */

RM_OFF(reservation)
{
    UNUSED(rm, req, rest);
    return rm_web_bad_request(ret, "Reservations are not supported by selvedge-rm");
}
