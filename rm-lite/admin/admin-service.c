/* AdminService (8033): operators refresh queues and nodes. SIMPLE authentication; with
 * yarn.acl.enable only administrators (access.h) are admitted. */
#include "rm-lite/admin/admin-service.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "rm-lite/admin/ha-service.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/nodes/nodes-list.h"
#include "rm-lite/nodes/overcommit.h"
#include "rm-lite/nodes/topology.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/viewer.h"
#include "rm-lite/security/access.h"
#include "rm-lite/security/proxy-users.h"
#include "rm-lite/security/service-access.h"
#include "wire/ipc/methods.h"

/* See access.h. False: the call was refused, or will be handled again later. */
static bool allowed(struct ipc_call *call, const ProtobufCMessage *request, ipc_handler handler,
                    struct rm *rm, const char *operation)
{
    const struct ipc_peer *peer = ipc_call_peer(call);
    struct rm_audit audit = {
        .user = peer->user, .ip = peer->address, .operation = operation, .target = "AdminService"
    };
    int may = rm_may_administer(rm, peer->user);

    if (may == -EAGAIN) {
        rm_groups_wait(rm, call, request, handler);
        return false;
    }
    if (may > 0) {
        rm_audit_ok(&audit);
        return true;
    }
    audit.description = "Unauthorized user";
    rm_audit_fail(&audit);
    ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                  "java.security.AccessControlException: User %s doesn't have permission to call "
                  "'%s'",
                  peer->user ? peer->user : "", operation);
    return false;
}

/* Reads the files again into a separate configuration, over which -D still takes precedence. Keys
 * that are read only at start keep their value. */
static int fresh_conf(struct rm *rm, struct sv_conf **ret, struct sv_error *err)
{
    struct sv_conf *c = sv_conf_new();
    int r;

    if (!c)
        return -ENOMEM;
    r = sv_conf_copy_overrides(c, rm->xml);
    if (r >= 0)
        r = sv_conf_load_hadoop(c, sv_conf_dir(rm->xml), err);
    if (r >= 0)
        r = rm_conf_load_scheduler(c, sv_conf_dir(c), err);
    if (r < 0) {
        sv_conf_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

static void on_refreshQueues(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);
    Hadoop__Yarn__RefreshQueuesResponseProto resp =
        HADOOP__YARN__REFRESH_QUEUES_RESPONSE_PROTO__INIT;
    struct rm_sched_event ev = { .type = RM_SCHED_RECONFIGURED };
    struct sv_error err = { 0 };
    int r;

    if (!allowed(call, request, on_refreshQueues, rm, "refreshQueues"))
        return;
    r = fresh_conf(rm, &ev.reconfigured.conf, &err);
    if (r >= 0)
        r = rm_schedule(rm, &ev, &err);
    if (r >= 0)
        rm_log_queue_keys(rm, ev.reconfigured.conf);
    sv_conf_free(ev.reconfigured.conf);
    if (r < 0) {
        sv_log_warning("refreshQueues: %s; keeping the old queues", err.text);
        rm_answer_io_error(call, "Failed to re-init queues : %s", err.text);
        return;
    }
    rm_request_pass(rm);
    ipc_call_reply(call, &resp.base);
}

static void on_refreshAdminAcls(struct ipc_call *call, const ProtobufCMessage *request,
                                void *userdata)
{
    Hadoop__Yarn__RefreshAdminAclsResponseProto resp =
        HADOOP__YARN__REFRESH_ADMIN_ACLS_RESPONSE_PROTO__INIT;
    struct sv_conf *conf = NULL;
    struct sv_error err = { 0 };
    struct rm *rm = userdata;
    int r;

    if (!allowed(call, request, on_refreshAdminAcls, rm, "refreshAdminAcls"))
        return;
    r = fresh_conf(rm, &conf, &err);
    if (r >= 0)
        r = rm_access_refresh(rm, conf, &err);
    sv_conf_free(conf);
    if (r < 0)
        rm_answer_io_error(call, "%s", err.text);
    else
        ipc_call_reply(call, &resp.base);
}

static void on_refreshNodes(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    const Hadoop__Yarn__RefreshNodesRequestProto *q =
        (const Hadoop__Yarn__RefreshNodesRequestProto *)request;
    Hadoop__Yarn__RefreshNodesResponseProto resp = HADOOP__YARN__REFRESH_NODES_RESPONSE_PROTO__INIT;
    bool graceful = q->decommissiontype == HADOOP__YARN__DECOMMISSION_TYPE_PROTO__GRACEFUL;
    int64_t timeout = rm->conf.decommission_timeout_ms;
    struct sv_error err = { 0 };

    if (!allowed(call, request, on_refreshNodes, rm, "refreshNodes"))
        return;
    if (q->has_decommissiontimeout)
        timeout = q->decommissiontimeout < 0 ? -1 : (int64_t)q->decommissiontimeout * 1000;
    if (rm_nodes_list_read(rm, &err) < 0 || rm_topology_refresh(rm, &err) < 0) {
        rm_answer_io_error(call, "%s", err.text);
        return;
    }
    rm_nodes_list_apply(rm, graceful, timeout);
    ipc_call_reply(call, &resp.base);
}

/* Parses a row: returns the node and its new size; NULL with the reason. */
static struct rm_node *resized(struct rm *rm, const Hadoop__Yarn__NodeResourceMapProto *row,
                               struct rm_res *ret, struct sv_error *err)
{
    const Hadoop__Yarn__ResourceOptionProto *option = row->resource_option;
    struct yarn_node_id id;
    struct rm_node *n;
    char text[300];

    if (yarn_node_id_from(row->node_id, &id) < 0 || !option ||
        rm_res_from(option->resource, ret) < 0 || ret->mem < 0 || ret->vcores < 0 ||
        ret->mem > RM_RES_MB_MAX) {
        (void)sv_error_set(err, -EINVAL, "updateNodeResource: a node or its resource is malformed");
        return NULL;
    }
    n = rm_node_find(rm, &id);
    if (!n)
        (void)sv_error_set(err, -ENOENT,
                           "Resource update get failed on all nodes due to change resource on an "
                           "unrecognized node: %s",
                           yarn_node_id_text(&id, text));
    return n;
}

/* Applies all rows or none. */
static void on_updateNodeResource(struct ipc_call *call, const ProtobufCMessage *request,
                                  void *userdata)
{
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);
    const Hadoop__Yarn__UpdateNodeResourceRequestProto *q =
        (const Hadoop__Yarn__UpdateNodeResourceRequestProto *)request;
    Hadoop__Yarn__UpdateNodeResourceResponseProto resp =
        HADOOP__YARN__UPDATE_NODE_RESOURCE_RESPONSE_PROTO__INIT;
    struct sv_error err = { 0 };
    struct rm_res r;

    if (!allowed(call, request, on_updateNodeResource, rm, "updateNodeResource"))
        return;
    for (size_t i = 0; i < q->n_node_resource_map; i++)
        if (!resized(rm, q->node_resource_map[i], &r, &err)) {
            ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s", err.text);
            return;
        }
    for (size_t i = 0; i < q->n_node_resource_map; i++) {
        const Hadoop__Yarn__ResourceOptionProto *option = q->node_resource_map[i]->resource_option;
        struct rm_node *n = resized(rm, q->node_resource_map[i], &r, &err);

        rm_overcommit_resize(n, r,
                             option->has_over_commit_timeout ? option->over_commit_timeout : -1);
    }
    rm_request_pass(rm);
    ipc_call_reply(call, &resp.base);
}

static void on_refreshClusterMaxPriority(struct ipc_call *call, const ProtobufCMessage *request,
                                         void *userdata)
{
    Hadoop__Yarn__RefreshClusterMaxPriorityResponseProto resp =
        HADOOP__YARN__REFRESH_CLUSTER_MAX_PRIORITY_RESPONSE_PROTO__INIT;
    struct sv_conf *conf = NULL;
    struct sv_error err = { 0 };
    struct rm *rm = userdata;
    int r;

    if (!allowed(call, request, on_refreshClusterMaxPriority, rm, "refreshClusterMaxPriority"))
        return;
    r = fresh_conf(rm, &conf, &err);
    if (r >= 0)
        r = rm_conf_max_priority(conf, &rm->conf.max_priority, &err);
    sv_conf_free(conf);
    if (r < 0)
        rm_answer_io_error(call, "%s", err.text);
    else
        ipc_call_reply(call, &resp.base);
}

static void on_checkForDecommissioningNodes(struct ipc_call *call, const ProtobufCMessage *request,
                                            void *userdata)
{
    struct rm *rm = userdata;
    Hadoop__Yarn__CheckForDecommissioningNodesResponseProto resp =
        HADOOP__YARN__CHECK_FOR_DECOMMISSIONING_NODES_RESPONSE_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();

    (void)request;
    if (!a) {
        rm_answer_no_memory(call);
        return;
    }
    resp.decommissioningnodes =
        sv_newn(a, Hadoop__Yarn__NodeIdProto *, SV_MAX(HASH_COUNT(rm->nodes), 1u));
    for (struct rm_node *n = rm->nodes; n && resp.decommissioningnodes; n = n->hh.next)
        if (n->state == RM_NODE_ST_DECOMMISSIONING) {
            Hadoop__Yarn__NodeIdProto *m = yarn_node_id_to(a, &n->id);

            if (m)
                resp.decommissioningnodes[resp.n_decommissioningnodes++] = m;
        }
    ipc_call_reply(call, &resp.base);
}

static void on_getGroupsForUser(struct ipc_call *call, const ProtobufCMessage *request,
                                void *userdata)
{
    struct rm *rm = userdata;
    const Hadoop__Yarn__GetGroupsForUserRequestProto *q =
        (const Hadoop__Yarn__GetGroupsForUserRequestProto *)request;
    Hadoop__Yarn__GetGroupsForUserResponseProto resp =
        HADOOP__YARN__GET_GROUPS_FOR_USER_RESPONSE_PROTO__INIT;
    char *const *names;

    if (sv_groups_of(rm->groups, q->user, &names) == -EAGAIN) {
        rm_groups_wait(rm, call, request, on_getGroupsForUser);
        return;
    }
    resp.groups = (char **)(uintptr_t)names; /* only packed */
    resp.n_groups = sv_strv_len(names);
    ipc_call_reply(call, &resp.base);
}

static void on_refreshUserToGroupsMappings(struct ipc_call *call, const ProtobufCMessage *request,
                                           void *userdata)
{
    struct rm *rm = userdata;
    Hadoop__Yarn__RefreshUserToGroupsMappingsResponseProto resp =
        HADOOP__YARN__REFRESH_USER_TO_GROUPS_MAPPINGS_RESPONSE_PROTO__INIT;

    if (!allowed(call, request, on_refreshUserToGroupsMappings, rm, "refreshUserToGroupsMappings"))
        return;
    sv_groups_forget(rm->groups);
    ipc_call_reply(call, &resp.base);
}

static void on_refreshSuperUserGroupsConfiguration(struct ipc_call *call,
                                                   const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    Hadoop__Yarn__RefreshSuperUserGroupsConfigurationResponseProto resp =
        HADOOP__YARN__REFRESH_SUPER_USER_GROUPS_CONFIGURATION_RESPONSE_PROTO__INIT;
    struct sv_conf *conf = NULL;
    struct sv_error err = { 0 };
    int r;

    if (!allowed(call, request, on_refreshSuperUserGroupsConfiguration, rm,
                 "refreshSuperUserGroupsConfiguration"))
        return;
    r = fresh_conf(rm, &conf, &err);
    if (r >= 0)
        r = rm_proxy_users_read(rm, conf, &err);
    sv_conf_free(conf);
    if (r < 0)
        rm_answer_io_error(call, "%s", err.text);
    else
        ipc_call_reply(call, &resp.base);
}

static void on_refreshServiceAcls(struct ipc_call *call, const ProtobufCMessage *request,
                                  void *userdata)
{
    struct rm *rm = userdata;
    Hadoop__Yarn__RefreshServiceAclsResponseProto resp =
        HADOOP__YARN__REFRESH_SERVICE_ACLS_RESPONSE_PROTO__INIT;
    struct sv_error err = { 0 };

    if (!rm->conf.authorization) {
        rm_answer_io_error(call, "Service Authorization (hadoop.security.authorization) not "
                                 "enabled.");
        return;
    }
    if (!allowed(call, request, on_refreshServiceAcls, rm, "refreshServiceAcls"))
        return;
    if (rm_service_access_read(rm, &err) < 0)
        rm_answer_io_error(call, "%s", err.text);
    else
        ipc_call_reply(call, &resp.base);
}

/* The lists generate the handlers and their part of docs/compat.md: refreshes of caches that this
 * ResourceManager does not have, features that are off, and what a Router alone does, to which
 * Apache's ResourceManager refers as well, a member or not. */
#define NO_LABELS "Node-label-based scheduling is disabled. Please check yarn.node-labels.enabled"
#define OF_ROUTER "a Router's; selvedge federation does it"
#define IDLE_METHODS(X)                                                                            \
    X(refreshNodesResources, RefreshNodesResourcesResponseProto,                                   \
      HADOOP__YARN__REFRESH_NODES_RESOURCES_RESPONSE_PROTO__INIT,                                  \
      "dynamic-resources.xml is not read")
#define OFF_METHODS(X)                                                                             \
    X(addToClusterNodeLabels, NO_LABELS)                                                           \
    X(removeFromClusterNodeLabels, NO_LABELS)                                                      \
    X(replaceLabelsOnNodes, NO_LABELS)                                                             \
    X(mapAttributesToNodes, "Node attributes are not supported by selvedge-rm")
/* Hadoop's words say another name of the last one. */
#define ROUTER_METHODS(X)                                                                          \
    X(deregisterSubCluster, "deregisterSubCluster to set the subCluster(s) state to SC_LOST,",     \
      "deregisterSubCluster to set")                                                               \
    X(saveFederationQueuePolicy, "saveFederationQueuePolicy.",                                     \
      "saveFederationQueuePolicy to set Policy")                                                   \
    X(batchSaveFederationQueuePolicies, "batchSaveFederationQueuePolicies.",                       \
      "batchSaveFederationQueuePolicies to set Policies")                                          \
    X(listFederationQueuePolicies, "listFederationQueuePolicies.",                                 \
      "listFederationQueuePolicies to list Policies")                                              \
    X(deleteFederationApplication, "deleteFederationApplication.",                                 \
      "deleteFederationApplication to delete Application")                                         \
    X(getFederationSubClusters, "getFederationSubClusters.",                                       \
      "getFederationSubClusters to get SubClusters")                                               \
    X(deleteFederationPoliciesByQueues, "deleteFederationQueuePoliciesByQueues.",                  \
      "deleteFederationQueuePoliciesByQueues to delete Policies")

#define IDLE(name, type, INIT, why)                                                                \
    static void on_##name(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)  \
    {                                                                                              \
        Hadoop__Yarn__##type resp = INIT;                                                          \
        if (allowed(call, request, on_##name, userdata, #name))                                    \
            ipc_call_reply(call, &resp.base);                                                      \
    }
#define OFF(name, text)                                                                            \
    static void on_##name(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)  \
    {                                                                                              \
        (void)request;                                                                             \
        (void)userdata;                                                                            \
        rm_answer_io_error(call, "%s", text);                                                      \
    }
#define REFER(name, refused, instead)                                                              \
    static void on_##name(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)  \
    {                                                                                              \
        (void)request;                                                                             \
        (void)userdata;                                                                            \
        ipc_call_fail(call, JAVA_YARN_EXCEPTION,                                                   \
                      "It is not allowed to call the RM's " refused                                \
                      " Please call Router's " instead ".");                                       \
    }
#define IDLE_ROW(name, type, INIT, why) { #name, false, why },
#define OFF_ROW(name, text) { #name, true, text },
#define REFER_ROW(name, refused, instead) { #name, true, OF_ROUTER },

IDLE_METHODS(IDLE)
OFF_METHODS(OFF)
ROUTER_METHODS(REFER)
static const struct ipc_method_off off[] = { IDLE_METHODS(IDLE_ROW) OFF_METHODS(OFF_ROW)
                                                 ROUTER_METHODS(REFER_ROW){ 0 } };

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_ADMIN_METHODS(ROW) };
static const struct ipc_protocol protocol = {
    .name = YARN_ADMIN_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
    .off = off,
};
const struct ipc_protocol *const rm_admin_protocols[] = { &protocol, &rm_ha_protocol, NULL };
