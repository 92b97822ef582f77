/* ResourceTrackerService (8031): NodeManagers register, heartbeat and leave.
 *
 * The peer is a NodeManager that has shown the node secret, or whose address root's setting names
 * (node-auth.h), on the machine whose name it claims (node-address.h). Its reports are believed
 * only for containers that were placed on it. */
#include "rm-lite/nodes/resource-tracker-service.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/version.h"
#include "rm-lite/core/log-status.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/core/text.h"
#include "rm-lite/core/version.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/nodes/heartbeat-reply.h"
#include "rm-lite/nodes/node-address.h"
#include "rm-lite/nodes/node-auth.h"
#include "rm-lite/nodes/nodes-list.h"
#include "rm-lite/nodes/overcommit.h"
#include "rm-lite/nodes/topology.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/security/token-renewer.h"
#include "wire/container-use.h"
#include "wire/exit-status.h"
#include "wire/ipc/methods.h"

#define NODE_ACTION(x) HADOOP__YARN__NODE_ACTION_PROTO__##x
#define C_COMPLETE HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE

typedef Hadoop__Yarn__RegisterNodeManagerRequestProto RegisterRequest;
typedef Hadoop__Yarn__RegisterNodeManagerResponseProto RegisterResponse;
typedef Hadoop__Yarn__NodeHeartbeatRequestProto HeartbeatRequest;

/* ----------------------------------------------------------------- registering */

/* The number of its tags; a container that this ResourceManager did not allocate so has none. */
static size_t allocation_tags(const Hadoop__Yarn__NMContainerStatusProto *st)
{
    if (st->n_allocation_tags > RM_TAGS_MAX)
        return 0;
    for (size_t i = 0; i < st->n_allocation_tags; i++)
        if (!*st->allocation_tags[i] || strlen(st->allocation_tags[i]) > RM_TAG_BYTES)
            return 0;
    return st->n_allocation_tags;
}

/* A container from before the start of this ResourceManager, or from before the node was LOST. */
static void recover_container(struct rm *rm, struct rm_node *n,
                              const Hadoop__Yarn__NMContainerStatusProto *st)
{
    struct yarn_container_id id;
    struct rm_res res;
    struct rm_attempt *att;
    struct rm_container *c;
    struct rm_sched_event ev = { .type = RM_SCHED_CONTAINER_RECOVERED };
    struct rm_ev_container_recovered *run = &ev.container_recovered;
    bool complete = st->container_state == C_COMPLETE;
    bool opportunistic = st->executiontype == HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC;

    if (yarn_container_id_from(st->container_id, &id) < 0 || rm_res_from(st->resource, &res) < 0)
        return;
    c = rm_container_find(rm, id);
    att = rm_attempt_find(rm, id.attempt);
    if (c) { /* known: its end is new, or the node has not had its last update */
        if (complete && c->node == n)
            rm_container_post_exit(c, RM_CON_EV_FINISHED, st->container_exit_status,
                                   st->diagnostics);
        else if (c->node == n)
            rm_container_post_size(c, RM_CON_EV_NM_DONE_CHANGE_RESOURCE, res, st->version);
        return;
    }
    if (id.id >> RM_EPOCH_SHIFT == rm->epoch) {
        /* A container of this epoch that is not in the table has ended. Its ApplicationMaster has
         * the status or will get it; a NodeManager that restarted meanwhile must not cause a second
         * report. */
        if (!complete)
            rm_node_cleanup_container(n, id);
        else if (!rm_done_find(rm, id))
            rm_node_pulled(n, id);
        return;
    }
    if (!att || rm_app_is_final(att->app) || rm_attempt_is_final(att)) {
        if (complete)
            rm_node_pulled(n, id);
        else if (!att || !att->app->keep_containers || rm_app_is_final(att->app))
            rm_node_cleanup_container(n, id);
        if (complete || !att || !att->app->keep_containers || rm_app_is_final(att->app))
            return;
    }
    run->container = id;
    run->node = &n->id;
    run->resource = opportunistic ? (struct rm_res){ 0 } : res;
    run->priority = st->priority ? st->priority->priority : 0;
    run->tags = (const char *const *)st->allocation_tags;
    run->n_tags = allocation_tags(st);
    run->is_master = att->has_master && yarn_container_id_cmp(att->master_id, id) == 0;
    if (!complete && (res.mem > RM_RES_MB_MAX || rm_schedule(rm, &ev, NULL) < 0)) {
        rm_node_cleanup_container(n, id);
        return;
    }
    c = rm_container_new(att, n, id, res, run->priority, st->allocation_request_id);
    c->opportunistic = opportunistic;
    rm_container_set_tags(c, run->tags, run->n_tags);
    if (!complete && att != att->app->current && att->app->current->registered)
        c->late = att->app->has_late = true;
    c->version = SV_MAX(st->version, 0);
    if (st->has_creation_time)
        c->created_ms = st->creation_time;
    if (run->is_master) {
        c->is_master = true;
        att->master = c;
    }
    rm_set_add(&att->app->ran_on, n->key);
    rm_log_ran_on(att->app, n->key);
    rm_container_post_recover(c, st->container_state, st->container_exit_status, st->diagnostics);
}

/* Masters that this node should have, by the store, and does not report: the earlier
 * ResourceManager ended before the node had their start, and the node refuses it from now on.
 * Without this they would expire after minutes. */
static void end_unstarted_masters(struct rm *rm, const struct rm_node *n)
{
    struct rm_app *app;

    DL_FOREACH (rm->app_list, app) {
        struct rm_attempt *att = app->current;

        if (att && att->state == RM_ATT_ST_LAUNCHED && att->has_master && !att->master &&
            !att->master_done && att->master_id.id >> RM_EPOCH_SHIFT != rm->epoch &&
            att->master_node.port == n->id.port && sv_streq(att->master_node.host, n->id.host))
            rm_attempt_post_master_exit(att, YARN_EXIT_ABORTED,
                                        "The ResourceManager ended before the container was "
                                        "started. ");
    }
}

static void running_apps(struct rm *rm, struct rm_node *n, const RegisterRequest *q)
{
    for (size_t i = 0; i < q->n_runningapplications; i++) {
        struct yarn_app_id id;
        struct rm_app *app;
        char text[YARN_ID_TEXT_MAX];

        if (yarn_app_id_from(q->runningapplications[i], &id) < 0)
            continue;
        app = rm_app_find(rm, id);
        if (!app) {
            rm_node_cleanup_app(n, id);
            continue;
        }
        rm_set_add(&n->apps, yarn_app_id_text(id, text));
        rm_app_post(app, RM_APP_EV_RUNNING_ON_NODE, n->key);
    }
}

/* They are shown alone: this scheduler has no partitions. */
static void note_labels(struct rm_node *n, const Hadoop__Yarn__NodeLabelsProto *labels)
{
    char text[512] = "";
    size_t used = 0;

    for (size_t i = 0; labels && i < labels->n_nodelabels && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "",
                                 labels->nodelabels[i]->name ? labels->nodelabels[i]->name : "");
    text[rm_text_start(text, sizeof(text) - 1)] = '\0';
    rm_set_text(&n->labels, text);
}

static void node_fill(struct rm_node *n, const RegisterRequest *q, struct rm_res total)
{
    char http[300];

    n->http_port = q->http_port;
    (void)snprintf(http, sizeof(http), "%s:%d", n->id.host, q->http_port);
    rm_set_text(&n->http, http);
    rm_set_text(&n->version, q->nm_version ? q->nm_version : "");
    rm_set_text(&n->selvedge, q->selvedge_version ? q->selvedge_version : "");
    n->joined_ms = sv_wall_ms();
    note_labels(n, q->nodelabels);
    n->total = total;
    if (!q->physicalresource || rm_res_from(q->physicalresource, &n->physical) < 0)
        n->physical = (struct rm_res){ 0 };
    n->response_id = 0;
    n->seen_ms = sv_now_ms();
    n->health_ms = sv_wall_ms();
    n->container_key = rm_secrets_announce(n->rm->secrets, RM_SECRET_CONTAINER)->key_id;
    n->nm_key = rm_secrets_announce(n->rm->secrets, RM_SECRET_NM)->key_id;
    free(n->last_response);
    n->last_response = NULL;
}

static bool node_busy(const struct rm_node *n)
{
    return n->containers != NULL;
}

static void node_join(struct rm *rm, const RegisterRequest *q, const struct yarn_node_id *id,
                      struct rm_res total, const char *rack)
{
    struct rm_node *n = rm_node_find(rm, id), *old;
    char key[300];
    bool healthy = !q->nodestatus || !q->nodestatus->nodehealthstatus ||
                   q->nodestatus->nodehealthstatus->is_node_healthy;

    yarn_node_id_text(id, key);
    if (n && !node_busy(n) && q->n_container_statuses == 0 &&
        n->state != RM_NODE_ST_DECOMMISSIONING) {
        /* No container runs there: the node starts from NEW. */
        rm_node_post(n, RM_NODE_EV_REBOOTING);
        sv_dispatcher_run(rm->dispatcher);
        n = NULL;
    }
    old = rm_node_find_inactive(rm, key);
    if (old) {
        HASH_DEL(rm->inactive_nodes, old);
        rm_node_free(old);
    }
    if (n) {
        bool resized = !rm_res_equal(n->total, total);

        node_fill(n, q, total);
        if (resized)
            rm_node_post(n, RM_NODE_EV_RESOURCE_UPDATE);
        rm_node_post(n, RM_NODE_EV_RECONNECTED);
        rm_node_post_health(n, RM_NODE_EV_STATUS_UPDATE, healthy);
    } else {
        n = rm_node_new(rm, id);
        node_fill(n, q, total);
        rm_set_text(&n->rack, rack);
        rm_node_post_health(n, RM_NODE_EV_STARTED, healthy);
    }
    sv_dispatcher_run(rm->dispatcher); /* containers are recovered on a node that has joined */
    for (size_t i = 0; i < q->n_container_statuses; i++)
        recover_container(rm, n, q->container_statuses[i]);
    if (rm->epoch > 0)
        end_unstarted_masters(rm, n);
    running_apps(rm, n, q);
    rm_log_reports(rm, n, q->log_aggregation_reports_for_apps,
                   q->n_log_aggregation_reports_for_apps);
    rm_request_pass(rm);
}

/* Containers, or applications, that a registration may report: each is taken over in the handler of
 * the call, within 10 ms. A node runs some hundreds. */
#define REPORTED_MAX 16384

static const char *refuse(struct rm *rm, const RegisterRequest *q, const struct yarn_node_id *id,
                          struct rm_res total, struct sv_arena *a)
{
    size_t reported = SV_MAX(q->n_container_statuses, q->n_runningapplications);
    struct rm_res min = rm_sched_min_allocation(rm->sched);
    const char *minimum = rm->conf.minimum_nm_version;
    char key[300];

    if (strcmp(minimum, "NONE") != 0) {
        if (strcmp(minimum, "EqualToRM") == 0)
            minimum = RM_HADOOP_VERSION;
        if (rm_version_cmp(q->nm_version ? q->nm_version : "", minimum) < 0)
            return sv_arena_printf(a,
                                   "Disallowed NodeManager Version %s, is less than the minimum "
                                   "version %s sending SHUTDOWN signal to NodeManager.",
                                   q->nm_version ? q->nm_version : "null", minimum);
    }
    if (reported > REPORTED_MAX)
        return sv_arena_printf(a,
                               "NodeManager from  %s reports %zu containers or applications, more "
                               "than %d: Sending SHUTDOWN signal to the NodeManager. End some, or "
                               "start it with an empty state store",
                               id->host, reported, REPORTED_MAX);
    yarn_node_id_text(id, key);
    if (!rm_nodes_list_allows(rm, id->host) && !rm_nodes_list_drains(rm, key))
        return sv_arena_printf(a,
                               "Disallowed NodeManager from  %s, Sending SHUTDOWN signal to the "
                               "NodeManager.",
                               id->host);
    if (total.mem > RM_RES_MB_MAX)
        return sv_arena_printf(a,
                               "NodeManager from  %s claims <memory:%lld> MB, more than %lld: "
                               "Sending SHUTDOWN signal to the NodeManager. Check its "
                               "yarn.nodemanager.resource.memory-mb",
                               id->host, (long long)total.mem, (long long)RM_RES_MB_MAX);
    if (total.mem < min.mem || total.vcores < min.vcores)
        return sv_arena_printf(a,
                               "NodeManager from  %s doesn't satisfy minimum allocations, "
                               "Sending SHUTDOWN signal to the NodeManager. Node capabilities are "
                               "<memory:%lld, vCores:%lld>; minimums are %lld mb and %lld vcores",
                               id->host, (long long)total.mem, (long long)total.vcores,
                               (long long)min.mem, (long long)min.vcores);
    return NULL;
}

static void register_shut_down(struct ipc_call *call, RegisterResponse *resp, const char *why)
{
    sv_log_notice("%s", why);
    resp->nodeaction = NODE_ACTION(SHUTDOWN);
    resp->diagnostics_message = (char *)(uintptr_t)why;
    ipc_call_reply(call, &resp->base);
}

static const char *foreign_host(struct sv_arena *a, const struct yarn_node_id *id,
                                const struct ipc_call *call)
{
    return sv_arena_printf(a,
                           "Disallowed NodeManager from  %s, Sending SHUTDOWN signal to the "
                           "NodeManager. It connects from %s, and %s is not the name of that "
                           "address (selvedge.rm.registration.ip-hostname-check)",
                           id->host, ipc_call_peer(call)->address, id->host);
}

/* The peer may speak for the node. `status`: see rm_node_address_done; 0: `rack` is the
 * node's. */
static void register_node(int status, const char *rack, struct rm *rm, struct ipc_call *call,
                          const ProtobufCMessage *request)
{
    SV_DISPATCH_BATCH(rm->dispatcher);
    const RegisterRequest *q = (const RegisterRequest *)request;
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    RegisterResponse resp = HADOOP__YARN__REGISTER_NODE_MANAGER_RESPONSE_PROTO__INIT;
    struct yarn_node_id id;
    struct rm_res res;
    const char *why;

    if (!a) {
        rm_answer_no_memory(call);
        return;
    }
    if (yarn_node_id_from(q->node_id, &id) < 0 || rm_res_from(q->resource, &res) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                      "registerNodeManager: the request has no node id or resource");
        return;
    }
    resp.has_nodeaction = true;
    resp.rm_version = (char *)(uintptr_t)RM_HADOOP_VERSION;
    if (q->selvedge_version)
        resp.selvedge_version = (char *)(uintptr_t)SV_VERSION;
    resp.has_rm_identifier = true;
    resp.rm_identifier = rm->started_ms;
    resp.has_selvedge_takes_earlier = resp.selvedge_takes_earlier = true;
    if (status < 0 && status != -EACCES) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION,
                      "registerNodeManager: the address of %s cannot be found: %s", id.host,
                      strerror(-status));
        return;
    }
    why = status < 0 ? foreign_host(a, &id, call) : refuse(rm, q, &id, res, a);
    if (why) {
        register_shut_down(call, &resp, why);
        return;
    }
    resp.nodeaction = NODE_ACTION(NORMAL);
    resp.container_token_master_key =
        rm_master_key_to(a, rm_secrets_announce(rm->secrets, RM_SECRET_CONTAINER));
    resp.nm_token_master_key = rm_master_key_to(a, rm_secrets_announce(rm->secrets, RM_SECRET_NM));
    if (!resp.container_token_master_key || !resp.nm_token_master_key) {
        rm_answer_no_memory(call);
        return;
    }
    node_join(rm, q, &id, res, rack);
    rm_node_find(rm, &id)->peer = ipc_call_peer(call)->ip;
    rm_nodes_list_joined(rm, rm_node_find(rm, &id));
    sv_log_info("node %s:%d (httpPort: %d) registered with capability: <memory:%lld, vCores:%lld>, "
                "version %s, rack %s",
                id.host, id.port, q->http_port, (long long)res.mem, (long long)res.vcores,
                q->nm_version ? q->nm_version : "unknown", rm_node_find(rm, &id)->rack);
    ipc_call_reply(call, &resp.base);
}

static void on_rack(const char *rack, struct rm *rm, struct ipc_call *call,
                    const ProtobufCMessage *request)
{
    register_node(rack ? 0 : -ECANCELED, rack, rm, call, request);
}

static void on_address(int status, struct rm *rm, struct ipc_call *call,
                       const ProtobufCMessage *request)
{
    const RegisterRequest *q = (const RegisterRequest *)request;

    if (status < 0)
        register_node(status, NULL, rm, call, request);
    else
        rm_topology_find(rm, call, request, q->node_id->host, on_rack);
}

static void on_registerNodeManager(struct ipc_call *call, const ProtobufCMessage *request,
                                   void *userdata)
{
    const RegisterRequest *q = (const RegisterRequest *)request;
    struct rm *rm = userdata;
    struct yarn_node_id id;

    if (yarn_node_id_from(q->node_id, &id) < 0)
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "registerNodeManager: the request has no node id");
    else if (rm_node_auth_allows(rm, call, id.host))
        rm_node_address_check(rm, call, request, id.host, on_address);
}

/* ------------------------------------------------------------------ heartbeats */

static void utilisation(struct rm_node *n, const Hadoop__Yarn__NodeStatusProto *st)
{
    if (st->containers_utilization) {
        n->used_pmem = st->containers_utilization->pmem;
        n->used_vmem = st->containers_utilization->vmem;
        n->used_cpu = st->containers_utilization->cpu;
    }
    if (st->node_utilization) {
        n->node_pmem = st->node_utilization->pmem;
        n->node_vmem = st->node_utilization->vmem;
        n->node_cpu = st->node_utilization->cpu;
    }
}

/* A node before Hadoop 3 has no sub-states: what it reports runs. */
static void note_alive(struct rm_container *c, const Hadoop__Yarn__ContainerStatusProto *st)
{
    rm_container_note_alive(c, !st->has_container_sub_state ||
                                   st->container_sub_state !=
                                       HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_SCHEDULED);
    for (size_t i = 0; i < st->n_container_attributes; i++)
        if (sv_streq(st->container_attributes[i]->key, YARN_USE_KEY) &&
            st->container_attributes[i]->value)
            rm_container_note_use(c, st->container_attributes[i]->value);
}

static void container_status(struct rm *rm, struct rm_node *n,
                             const Hadoop__Yarn__ContainerStatusProto *st)
{
    struct yarn_container_id id;
    struct rm_container *c;
    struct rm_app *app;

    if (yarn_container_id_from(st->container_id, &id) < 0)
        return;
    c = rm_container_find(rm, id);
    app = rm_app_find(rm, id.attempt.app);
    if (!app || rm_app_is_final(app)) {
        /* The master was being launched when the application ended: the node did not know the
         * application at the time of the cleanup. */
        rm_node_cleanup_app(n, id.attempt.app);
    } else if (st->state != C_COMPLETE) {
        rm_set_add(&n->apps, app->id_str);
        rm_set_add(&app->ran_on, n->key);
        rm_log_ran_on(app, n->key);
    }
    if (c && c->node == n) {
        if (st->state != C_COMPLETE)
            note_alive(c, st);
        if (st->state == C_COMPLETE)
            rm_container_post_exit(c, RM_CON_EV_FINISHED, st->exit_status, st->diagnostics);
        else if (c->state == RM_CON_ST_ACQUIRED)
            rm_container_post(c, RM_CON_EV_LAUNCHED);
        return;
    }
    if (st->state != C_COMPLETE) { /* no such container (any more): end it */
        rm_node_cleanup_container(n, id);
        return;
    }
    /* Its end is known: pending for the ApplicationMaster, or never to be pulled. */
    if (!rm_done_find(rm, id))
        rm_node_pulled(n, id);
}

/* A master has used the token of an increase. */
static void container_increased(struct rm *rm, struct rm_node *n,
                                const Hadoop__Yarn__ContainerProto *m)
{
    struct yarn_container_id id;
    struct rm_container *c;
    struct rm_res has;

    if (yarn_container_id_from(m->id, &id) < 0 || rm_res_from(m->resource, &has) < 0)
        return;
    c = rm_container_find(rm, id);
    if (c && c->node == n)
        rm_container_post_size(c, RM_CON_EV_NM_DONE_CHANGE_RESOURCE, has, m->version);
}

static void status_update(struct rm *rm, struct rm_node *n, const Hadoop__Yarn__NodeStatusProto *st)
{
    bool healthy = true;
    struct rm_sched_event beat = { .type = RM_SCHED_NODE_HEARTBEAT,
                                   .node_heartbeat = { .node = &n->id } };

    if (st->nodehealthstatus) {
        healthy = st->nodehealthstatus->is_node_healthy;
        if (!sv_streq(n->health, st->nodehealthstatus->health_report))
            rm_set_text(&n->health, st->nodehealthstatus->health_report);
        n->health_ms = st->nodehealthstatus->last_health_report_time;
    }
    utilisation(n, st);
    for (size_t i = 0; i < st->n_containersstatuses; i++)
        container_status(rm, n, st->containersstatuses[i]);
    for (size_t i = 0; i < st->n_increased_containers; i++)
        container_increased(rm, n, st->increased_containers[i]);
    rm_node_post_health(n, RM_NODE_EV_STATUS_UPDATE, healthy);
    sv_dispatcher_run(rm->dispatcher); /* ended containers are free for the allocation below */
    rm_overcommit_beat(n);
    if (n->in_sched && n->state == RM_NODE_ST_RUNNING && sv_now_ms() >= rm->hold_until_ms)
        (void)rm_schedule(rm, &beat, NULL); /* present, ignoring */
    sv_dispatcher_run(rm->dispatcher);      /* the answer has the node's state and lists after it */
}

/* Containers that began after the node's registration, and that an earlier ResourceManager had
 * allocated. */
static void earlier_containers(struct rm *rm, struct rm_node *n, const HeartbeatRequest *q)
{
    for (size_t i = 0; i < SV_MIN(q->n_selvedge_earlier_containers, (size_t)REPORTED_MAX); i++)
        recover_container(rm, n, q->selvedge_earlier_containers[i]);
    if (q->n_selvedge_earlier_containers > 0) {
        sv_log_info("node %s: %zu containers of an earlier ResourceManager have begun", n->key,
                    q->n_selvedge_earlier_containers);
        sv_dispatcher_run(rm->dispatcher); /* before their states, which follow */
    }
}

static bool is_elsewhere(const struct rm *rm, const struct rm_node *n, const struct ipc_call *call)
{
    return rm->conf.check_node_address && !rm_node_address_same(&n->peer, &ipc_call_peer(call)->ip);
}

static void disallowed(struct ipc_call *call, const struct yarn_node_id *id, struct sv_arena *a)
{
    rm_heartbeat_refuse(call, NODE_ACTION(SHUTDOWN),
                        sv_arena_printf(a, "Disallowed NodeManager nodeId: %s:%d hostname: %s",
                                        id->host, id->port, id->host));
}

/* Whether the node may not heartbeat as it is: it is told so. `n` is NULL where it is not known. */
static bool refuse_heartbeat(struct ipc_call *call, struct rm *rm, struct rm_node *n,
                             const struct yarn_node_id *id, struct sv_arena *a)
{
    if (n && is_elsewhere(rm, n, call)) { /* registers again and is verified again */
        rm_heartbeat_refuse(
            call, NODE_ACTION(RESYNC),
            sv_arena_printf(a, "Node %s:%d registered from another address", id->host, id->port));
        return true;
    }
    if (!rm_nodes_list_allows(rm, id->host) && !(n && n->state == RM_NODE_ST_DECOMMISSIONING)) {
        if (n)
            rm_node_post(n, RM_NODE_EV_DECOMMISSION);
        disallowed(call, id, a);
        return true;
    }
    if (n)
        return false;
    rm_heartbeat_refuse(call, NODE_ACTION(RESYNC),
                        sv_arena_printf(a, "Node not found resyncing %s:%d", id->host, id->port));
    return true;
}

/* Whether the node does not have the last answer: it gets it again, or registers again. */
static bool out_of_step(struct ipc_call *call, struct rm_node *n, int32_t response_id,
                        struct sv_arena *a)
{
    const char *text;

    if ((int64_t)response_id + 1 == n->response_id && n->last_response) {
        rm_heartbeat_repeat(call, n);
        return true;
    }
    if ((int64_t)response_id + 1 >= n->response_id)
        return false;
    text = sv_arena_printf(a, "Too far behind rm response id:%d nm response id:%d", n->response_id,
                           response_id);
    rm_node_post(n, RM_NODE_EV_REBOOTING);
    rm_heartbeat_refuse(call, NODE_ACTION(RESYNC), text);
    return true;
}

/* Applications that have ended, whose logs the node still writes with their tokens. */
static void keep_tokens(struct rm *rm, const Hadoop__Yarn__NodeStatusProto *st)
{
    struct yarn_app_id app;

    for (size_t i = 0; rm->renewer && i < st->n_keep_alive_applications; i++)
        if (yarn_app_id_from(st->keep_alive_applications[i], &app) == 0)
            rm_token_renewer_keep_alive(rm, app);
}

static void on_nodeHeartbeat(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);
    const HeartbeatRequest *q = (const HeartbeatRequest *)request;
    const Hadoop__Yarn__NodeStatusProto *st = q->node_status;
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    struct yarn_node_id id;
    struct rm_node *n;

    if (!a) {
        rm_answer_no_memory(call);
        return;
    }
    if (!st || yarn_node_id_from(st->node_id, &id) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "nodeHeartbeat: the request has no node id");
        return;
    }
    if (!rm_node_auth_allows(rm, call, id.host))
        return;
    n = rm_node_find(rm, &id);
    if (refuse_heartbeat(call, rm, n, &id, a))
        return;
    n->seen_ms = sv_now_ms();
    if (out_of_step(call, n, st->response_id, a))
        return;
    if (q->last_known_container_token_master_key)
        n->container_key = q->last_known_container_token_master_key->key_id;
    if (q->last_known_nm_token_master_key)
        n->nm_key = q->last_known_nm_token_master_key->key_id;
    n->token_sequence = q->tokensequenceno;
    rm_log_reports(rm, n, q->log_aggregation_reports_for_apps,
                   q->n_log_aggregation_reports_for_apps);
    keep_tokens(rm, st);
    earlier_containers(rm, n, q);
    status_update(rm, n, st);
    if (rm_node_is_active(n))
        rm_heartbeat_reply(call, n, st->response_id, a);
    else /* decommissioned by this heartbeat */
        disallowed(call, &id, a);
}

static void on_unRegisterNodeManager(struct ipc_call *call, const ProtobufCMessage *request,
                                     void *userdata)
{
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);
    const Hadoop__Yarn__UnRegisterNodeManagerRequestProto *q =
        (const Hadoop__Yarn__UnRegisterNodeManagerRequestProto *)request;
    Hadoop__Yarn__UnRegisterNodeManagerResponseProto resp =
        HADOOP__YARN__UN_REGISTER_NODE_MANAGER_RESPONSE_PROTO__INIT;
    struct yarn_node_id id;
    struct rm_node *n;

    if (yarn_node_id_from(q->node_id, &id) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "unRegisterNodeManager: no node id");
        return;
    }
    if (!rm_node_auth_allows(rm, call, id.host))
        return;
    n = rm_node_find(rm, &id);
    if (n && !is_elsewhere(rm, n, call)) {
        sv_log_info("Node with node id : %s has shutdown, hence unregistering the node.", n->key);
        rm_node_post(n, RM_NODE_EV_SHUTDOWN);
    } else {
        sv_log_info("Node not found, ignoring the unregister from node id : %s:%d", id.host,
                    id.port);
    }
    ipc_call_reply(call, &resp.base);
}

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_RESOURCE_TRACKER_METHODS(ROW) };
static const struct ipc_protocol protocol = {
    .name = YARN_RESOURCE_TRACKER_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
};
const struct ipc_protocol *const rm_tracker_protocols[] = { &protocol, NULL };
