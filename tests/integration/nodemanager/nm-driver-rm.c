/* nm-driver as a ResourceManager: the ResourceTracker server, which records the NodeManagers'
 * reports and answers as the commands request. */
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "tests/integration/nodemanager/nm-driver.h"
#include "tests/integration/nodemanager/nm-hostile.h"

static void saw(const struct yarn_container_id *id, int state, int exit_code, const char *diag)
{
    char text[YARN_ID_TEXT_MAX];
    struct seen *s = NULL;

    yarn_container_id_text(*id, text);
    HASH_FIND_STR(rm.seen, text, s);
    if (!s) {
        s = calloc(1, sizeof(*s));
        memcpy(s->text, text, sizeof(text));
        s->id = *id;
        HASH_ADD_STR(rm.seen, text, s);
    }
    s->state = state;
    if (state != HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE)
        return;
    if (s->told++ == 0) {
        s->end_us = now_us();
        rm.ended++;
    }
    s->exit_code = exit_code;
    free(s->diagnostics);
    s->diagnostics = strdup(diag ? diag : "");
}

static Hadoop__Yarn__MasterKeyProto *key_message(struct sv_arena *a, struct yarn_master_key *k)
{
    Hadoop__Yarn__MasterKeyProto *m = sv_new(a, Hadoop__Yarn__MasterKeyProto);

    hadoop__yarn__master_key_proto__init(m);
    m->has_key_id = m->has_bytes = true;
    m->key_id = k->key_id;
    m->bytes.data = k->bytes;
    m->bytes.len = k->len;
    return m;
}

static void on_registerNodeManager(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    const Hadoop__Yarn__RegisterNodeManagerRequestProto *q = (const void *)request;
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Yarn__RegisterNodeManagerResponseProto m;
    json_t *containers = json_array(), *apps = json_array();

    (void)u;
    if (yarn_node_id_from(q->node_id, &rm.node) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "no node id");
        return;
    }
    for (size_t i = 0; i < q->n_container_statuses; i++) {
        const Hadoop__Yarn__NMContainerStatusProto *s = q->container_statuses[i];
        struct yarn_container_id id;
        char text[YARN_ID_TEXT_MAX];

        if (yarn_container_id_from(s->container_id, &id) < 0)
            continue;
        saw(&id, (int)s->container_state, s->container_exit_status, s->diagnostics);
        json_array_append_new(
            containers, json_pack("{s:s,s:i,s:i}", "id", yarn_container_id_text(id, text), "state",
                                  (int)s->container_state, "exit", s->container_exit_status));
    }
    for (size_t i = 0; i < q->n_runningapplications; i++) {
        struct yarn_app_id id;
        char text[YARN_ID_TEXT_MAX];

        if (yarn_app_id_from(q->runningapplications[i], &id) < 0)
            continue;
        json_array_append_new(apps, json_string(yarn_app_id_text(id, text)));
        if (id.id > 0 && id.id < 4096 && rm.finished[id.id] && rm.n_finish < 64)
            rm.finish[rm.n_finish++] = id;
    }
    json_decref(rm.registered);
    rm.registered =
        json_pack("{s:o,s:o,s:s,s:i,s:i,s:I,s:i}", "containers", containers, "apps", apps, "host",
                  rm.node.host, "port", rm.node.port, "http_port", q->http_port, "memory",
                  (json_int_t)(q->resource ? q->resource->memory : 0), "vcores",
                  q->resource ? q->resource->virtual_cores : 0);
    rm.registrations++;
    rm.heartbeats_before = rm.heartbeats;
    rm.unregistered = false;
    hadoop__yarn__register_node_manager_response_proto__init(&m);
    m.container_token_master_key = key_message(a, &rm.container_key);
    m.nm_token_master_key = key_message(a, &rm.nm_key);
    m.has_nodeaction = true;
    m.nodeaction = rm.refuse ? HADOOP__YARN__NODE_ACTION_PROTO__SHUTDOWN
                             : HADOOP__YARN__NODE_ACTION_PROTO__NORMAL;
    m.diagnostics_message = rm.refuse ? (char *)(uintptr_t) "Disallowed NodeManager" : NULL;
    m.has_rm_identifier = true;
    m.rm_identifier = rm.id;
    m.rm_version = rm.version;
    m.resource = q->resource;
    labels_registered(q, &m, rm.registered);
    if (rm.registration)
        rm.registration(&m);
    ipc_call_reply(call, &m.base);
}

static void fill_lists(struct sv_arena *a, Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    size_t n = HASH_COUNT(rm.seen);

    m->containers_to_be_removed_from_nm = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n + 1);
    for (struct seen *s = rm.seen; s && rm.ack; s = s->hh.next) {
        if (!s->told || s->acked)
            continue;
        s->acked = true;
        m->containers_to_be_removed_from_nm[m->n_containers_to_be_removed_from_nm++] =
            yarn_container_id_to(a, s->id);
    }
    m->applications_to_cleanup = sv_newn(a, Hadoop__Yarn__ApplicationIdProto *, 64);
    for (int i = 0; i < rm.n_finish; i++)
        m->applications_to_cleanup[m->n_applications_to_cleanup++] =
            yarn_app_id_to(a, rm.finish[i]);
    rm.n_finish = 0;
    m->containers_to_cleanup = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, 64);
    for (int i = 0; i < rm.n_cleanup; i++)
        m->containers_to_cleanup[m->n_containers_to_cleanup++] =
            yarn_container_id_to(a, rm.cleanup[i]);
    rm.n_cleanup = 0;
    if (rm.signal_command) {
        Hadoop__Yarn__SignalContainerRequestProto *q =
            sv_new(a, Hadoop__Yarn__SignalContainerRequestProto);

        hadoop__yarn__signal_container_request_proto__init(q);
        q->container_id = yarn_container_id_to(a, rm.signal_id);
        q->command = (Hadoop__Yarn__SignalContainerCommandProto)rm.signal_command;
        m->containers_to_signal = sv_newn(a, Hadoop__Yarn__SignalContainerRequestProto *, 1);
        m->containers_to_signal[m->n_containers_to_signal++] = q;
        rm.signal_command = 0;
    }
}

static void add_renewed(struct sv_arena *a, const Hadoop__Yarn__NodeHeartbeatRequestProto *q,
                        Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    m->has_tokensequenceno = true;
    m->tokensequenceno = rm.renewals;
    if (q->tokensequenceno == rm.renewals)
        return;
    m->system_credentials_for_apps =
        sv_newn(a, Hadoop__Yarn__SystemCredentialsForAppsProto *, rm.n_renewed + 1);
    for (size_t i = 0; i < rm.n_renewed; i++) {
        Hadoop__Yarn__SystemCredentialsForAppsProto *row =
            sv_new(a, Hadoop__Yarn__SystemCredentialsForAppsProto);

        hadoop__yarn__system_credentials_for_apps_proto__init(row);
        row->appid = yarn_app_id_to(a, app_id(rm.renewed[i].app));
        row->has_credentialsforapp = true;
        row->credentialsforapp = (ProtobufCBinaryData){ rm.renewed[i].n, rm.renewed[i].bytes };
        m->system_credentials_for_apps[m->n_system_credentials_for_apps++] = row;
    }
}

static void add_update(struct sv_arena *a, Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    const struct driver_update *q = &rm.update;
    Hadoop__Yarn__ContainerProto *c = sv_new(a, Hadoop__Yarn__ContainerProto);

    if (!q->app)
        return;
    hadoop__yarn__container_proto__init(c);
    c->id = yarn_container_id_to(a, container_id(q->app, q->n));
    c->container_token = am_container_token(a, q->app, q->n, q->user, q->resource, q->version, "");
    m->containers_to_update = sv_newn(a, Hadoop__Yarn__ContainerProto *, 1);
    m->containers_to_update[m->n_containers_to_update++] = c;
    rm.update.app = 0;
}

static void add_queue_limit(struct sv_arena *a, Hadoop__Yarn__NodeHeartbeatResponseProto *m)
{
    Hadoop__Yarn__ContainerQueuingLimitProto *q =
        sv_new(a, Hadoop__Yarn__ContainerQueuingLimitProto);

    if (rm.queue_limit < -1)
        return;
    hadoop__yarn__container_queuing_limit_proto__init(q);
    q->has_max_queue_length = q->has_max_queue_wait_time_in_ms = true;
    q->max_queue_length = rm.queue_limit;
    q->max_queue_wait_time_in_ms = -1;
    m->container_queuing_limit = q;
}

static void saw_opportunistic(const Hadoop__Yarn__OpportunisticContainersStatusProto *s)
{
    json_decref(rm.opportunistic);
    rm.opportunistic =
        s ? json_pack("{s:i,s:I,s:i,s:i,s:i,s:i,s:i}", "running", s->running_opport_containers,
                      "memory", (json_int_t)s->opport_memory_used, "vcores", s->opport_cores_used,
                      "queued", s->queued_opport_containers, "length", s->wait_queue_length, "wait",
                      s->estimated_queue_wait_time, "capacity", s->opport_queue_capacity)
          : NULL;
}

static void on_nodeHeartbeat(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    const Hadoop__Yarn__NodeHeartbeatRequestProto *q = (const void *)request;
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Yarn__NodeHeartbeatResponseProto m;

    (void)u;
    rm.heartbeats++;
    rm.heartbeat_bytes = protobuf_c_message_get_packed_size(request);
    if (q->node_status) {
        rm.increased += (int)q->node_status->n_increased_containers;
        saw_opportunistic(q->node_status->opportunistic_containers_status);
    }
    for (size_t i = 0; q->node_status && i < q->node_status->n_containersstatuses; i++) {
        const Hadoop__Yarn__ContainerStatusProto *s = q->node_status->containersstatuses[i];
        struct yarn_container_id id;

        if (yarn_container_id_from(s->container_id, &id) == 0)
            saw(&id, (int)s->state, s->exit_status, s->diagnostics);
    }
    hadoop__yarn__node_heartbeat_response_proto__init(&m);
    m.has_response_id = true;
    m.response_id = q->node_status ? q->node_status->response_id + 1 : 0;
    m.has_nextheartbeatinterval = true;
    m.nextheartbeatinterval = rm.heartbeat_ms;
    m.has_nodeaction = true;
    m.nodeaction = rm.shutdown ? HADOOP__YARN__NODE_ACTION_PROTO__SHUTDOWN
                   : rm.resync ? HADOOP__YARN__NODE_ACTION_PROTO__RESYNC
                               : HADOOP__YARN__NODE_ACTION_PROTO__NORMAL;
    if (rm.rolled) {
        m.container_token_master_key = key_message(a, &rm.container_key);
        m.nm_token_master_key = key_message(a, &rm.nm_key);
        rm.rolled = false;
    }
    add_renewed(a, q, &m);
    labels_heartbeat(q, &m);
    if (!rm.resync && !rm.shutdown) {
        fill_lists(a, &m);
        add_update(a, &m);
        add_queue_limit(a, &m);
    }
    rm.resync = false;
    if (rm.lie[0])
        (void)hostile_heartbeat(rm.lie, (size_t)rm.lies, &m);
    rm.lie[0] = '\0';
    if (rm.heartbeat && m.nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__NORMAL)
        rm.heartbeat(&m);
    ipc_call_reply(call, &m.base);
}

static void on_unRegisterNodeManager(struct ipc_call *call, const ProtobufCMessage *request,
                                     void *u)
{
    Hadoop__Yarn__UnRegisterNodeManagerResponseProto m;

    (void)request;
    (void)u;
    rm.unregistered = true;
    hadoop__yarn__un_register_node_manager_response_proto__init(&m);
    ipc_call_reply(call, &m.base);
}

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method tracker_methods[] = { YARN_RESOURCE_TRACKER_METHODS(ROW) };
static const struct ipc_protocol tracker = {
    .name = YARN_RESOURCE_TRACKER_PROTOCOL,
    .version = 1,
    .methods = tracker_methods,
    .n_methods = SV_ARRAY_LEN(tracker_methods),
};
static const struct ipc_protocol *const protocols[] = { &tracker, NULL };

void rm_serve(bool on)
{
    struct sv_error err;

    if (!on) {
        rm.server = ipc_server_free(rm.server);
        return;
    }
    if (!rm.server && ipc_server_new(rm.event,
                                     &(struct ipc_server_config){ .host = "127.0.0.1",
                                                                  .port = rm.port,
                                                                  .allow_simple = true,
                                                                  .protocols = protocols },
                                     &rm.server, &err) < 0) {
        fprintf(stderr, "nm-driver: %s\n", err.text);
        exit(1);
    }
}
