/* Plays everything around a NodeManager: a ResourceManager (ResourceTracker server that knows the
 * master keys) and ApplicationMasters (clients with NMTokens and ContainerTokens it makes). Works
 * with any NodeManager that speaks Hadoop's protocol, ours or Apache's.
 *
 *     nm-driver --port RESOURCE_TRACKER_PORT [--heartbeat MS]
 *
 * One command a line on stdin, one JSON object a line on stdout (tests/integration/nm_driver.py):
 *     registered MS                   waits for a registration newer than the last one asked for
 *     start APP FIRST COUNT USER MEM FAULT COMMAND…
 *     stop|status|signal APP FIRST COUNT [N]
 *     next VCORES EXECUTION_TYPE      of the containers that are started from now on
 *     update APP N USER MEM VCORES VERSION FAULT   updateContainer
 *     exits                           ends that heartbeats have told so far
 *     wait MS COUNT                   until that many containers have ended
 *     keys                            the master keys, which nobody else is to see
 *     finish APP | cleanup APP N | rmsignal APP N COMMAND | resync | shutdown | roll | ack on|off | pause on|off
 *     hostile KIND N                  lies in the answer to the next heartbeat (nm-hostile.h)
 *     bench …                         see bench() */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "tests/integration/nm-hostile.h"
#include "wire/ipc_client.h"
#include "wire/ipc_server.h"
#include "wire/methods.h"
#include "wire/token.h"

#define CLUSTER_TS 1700000000000LL
#define RM_ID 1700000000123LL
#define TOKEN_LIFE_MS 600000

struct seen { /* one container, as heartbeats and registrations tell of it */
    UT_hash_handle hh;
    char text[YARN_ID_TEXT_MAX];
    struct yarn_container_id id;
    int state, exit_code;
    int told;       /* in how many messages it was C_COMPLETE */
    int64_t end_us; /* when that was first */
    char *diagnostics;
    bool acked;
};

static struct {
    sd_event *event;
    struct ipc_server *server;
    uint16_t port;
    int64_t heartbeat_ms;
    struct yarn_master_key nm_key, container_key;
    struct yarn_node_id node;
    int registrations, registrations_asked, heartbeats;
    json_t *registered; /* containers and applications of the last registration */
    struct seen *seen;
    int ended;
    bool ack, resync, shutdown, unregistered, rolled;
    struct yarn_app_id finish[64];
    int n_finish;
    bool finished[4096]; /* by number: told again to a node that registers with it */
    struct yarn_container_id cleanup[64];
    int n_cleanup;
    struct yarn_container_id signal_id;
    int signal_command; /* 0 = none */
    int vcores, execution_type; /* of containers to come */
    int increased; /* containers that heartbeats have told to have grown */
    float cpu;
    char lie[16]; /* kind of the next heartbeat's answer; "" = an honest one */
    int lies;
} rm;

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void die(const char *what, int r)
{
    fprintf(stderr, "nm-driver: %s: %s\n", what, strerror(-r));
    exit(1);
}

/* ---- ResourceTracker ------------------------------------------------------------------------*/

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
        json_array_append_new(containers,
                              json_pack("{s:s,s:i,s:i}", "id", yarn_container_id_text(id, text),
                                        "state", (int)s->container_state, "exit",
                                        s->container_exit_status));
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
    rm.registered = json_pack("{s:o,s:o,s:s,s:i,s:i,s:I,s:i}", "containers", containers, "apps",
                              apps, "host", rm.node.host, "port", rm.node.port, "http_port",
                              q->http_port, "memory",
                              (json_int_t)(q->resource ? q->resource->memory : 0), "vcores",
                              q->resource ? q->resource->virtual_cores : 0);
    rm.registrations++;
    rm.unregistered = false;
    hadoop__yarn__register_node_manager_response_proto__init(&m);
    m.container_token_master_key = key_message(a, &rm.container_key);
    m.nm_token_master_key = key_message(a, &rm.nm_key);
    m.has_nodeaction = true;
    m.nodeaction = HADOOP__YARN__NODE_ACTION_PROTO__NORMAL;
    m.has_rm_identifier = true;
    m.rm_identifier = RM_ID;
    m.rm_version = (char *)(uintptr_t) "3.4.2";
    m.resource = q->resource;
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

static void on_nodeHeartbeat(struct ipc_call *call, const ProtobufCMessage *request, void *u)
{
    const Hadoop__Yarn__NodeHeartbeatRequestProto *q = (const void *)request;
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Yarn__NodeHeartbeatResponseProto m;

    (void)u;
    rm.heartbeats++;
    if (q->node_status)
        rm.increased += (int)q->node_status->n_increased_containers;
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
    if (!rm.resync && !rm.shutdown)
        fill_lists(a, &m);
    rm.resync = false;
    if (rm.lie[0])
        (void)hostile_heartbeat(rm.lie, (size_t)rm.lies, &m);
    rm.lie[0] = '\0';
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

#define ROW(name, request, response) { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method tracker_methods[] = { YARN_RESOURCE_TRACKER_METHODS(ROW) };
static const struct ipc_protocol tracker = {
    .name = YARN_RESOURCE_TRACKER_PROTOCOL,
    .version = 1,
    .methods = tracker_methods,
    .n_methods = SV_ARRAY_LEN(tracker_methods),
};
static const struct ipc_protocol *const protocols[] = { &tracker, NULL };

static void serve(bool on)
{
    struct sv_error err;

    if (!on) {
        rm.server = ipc_server_free(rm.server);
        return;
    }
    if (!rm.server &&
        ipc_server_new(rm.event,
                       &(struct ipc_server_config){ .host = "127.0.0.1", .port = rm.port,
                                                    .allow_simple = true, .protocols = protocols },
                       &rm.server, &err) < 0) {
        fprintf(stderr, "nm-driver: %s\n", err.text);
        exit(1);
    }
}

/* ---- ApplicationMasters ---------------------------------------------------------------------*/

static struct yarn_app_id app_id(int app)
{
    return (struct yarn_app_id){ .cluster_ts = CLUSTER_TS, .id = app };
}

static struct yarn_container_id container_id(int app, int64_t n)
{
    return (struct yarn_container_id){ .attempt = { app_id(app), 1 }, .id = n };
}

static struct am { /* one connection an application */
    UT_hash_handle hh;
    int app;
    bool bad;
    struct ipc_client *client;
} *ams;

/* fault: "nmtoken": signed with a wrong key; "othernode": for another node. */
static struct ipc_client *am_client(int app, const char *user, const char *fault)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_nm_token t = { .attempt = { app_id(app), 1 }, .node = rm.node,
                               .key_id = rm.nm_key.key_id };
    struct yarn_master_key key = rm.nm_key;
    struct yarn_token token = { .kind = YARN_KIND_NM, .service = "" };
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    struct sv_error err;
    struct am *am = NULL;
    bool bad = !strcmp(fault, "nmtoken") || !strcmp(fault, "nmnode");
    int r;

    HASH_FIND_INT(ams, &app, am);
    if (am && !am->bad && !bad)
        return am->client;
    if (am) {
        HASH_DEL(ams, am);
        ipc_client_free(am->client);
        free(am);
    }
    snprintf(t.submitter, sizeof(t.submitter), "%s", user);
    if (!strcmp(fault, "nmtoken"))
        key.bytes[0] ^= 1;
    if (!strcmp(fault, "nmnode"))
        t.node.port++;
    r = yarn_nm_token_encode(a, &t, &token.id, &token.id_len);
    if (r >= 0)
        r = yarn_token_password(YARN_HMAC_SHA1, &key, token.id, token.id_len, password,
                                &token.password_len);
    if (r < 0)
        die("NMToken", r);
    token.password = password;
    am = calloc(1, sizeof(*am));
    am->app = app;
    am->bad = bad;
    r = ipc_client_new(rm.event,
                       &(struct ipc_client_config){
                           .host = rm.node.host,
                           .port = (uint16_t)rm.node.port,
                           .protocol = YARN_CONTAINER_MANAGEMENT_PROTOCOL,
                           .version = 1,
                           .token = &token,
                       },
                       &am->client, &err);
    if (r < 0)
        die(err.text, r);
    HASH_ADD_INT(ams, app, am);
    return am->client;
}

static void forget_clients(void)
{
    struct am *am, *tmp;

    HASH_ITER(hh, ams, am, tmp) {
        HASH_DEL(ams, am);
        ipc_client_free(am->client);
        free(am);
    }
}

/* A ContainerToken with whatever is to be wrong with it. */
static Hadoop__Common__TokenProto *container_token(struct sv_arena *a, int app, int64_t n,
                                                   const char *user, struct yarn_resource resource,
                                                   int version, const char *fault)
{
    struct yarn_container_token t = {
        .container = container_id(!strcmp(fault, "otherapp") ? app + 1000 : app, n),
        .resource = resource,
        .version = version,
        .expiry_ms = sv_wall_ms() + (!strcmp(fault, "expired") ? -1000 : TOKEN_LIFE_MS),
        .key_id = rm.container_key.key_id + (!strcmp(fault, "keyid") ? 77 : 0),
        .rm_identifier = RM_ID + !strcmp(fault, "oldrm"),
        .creation_ms = sv_wall_ms(),
        .container_type = 2,
        .execution_type = rm.execution_type,
        .allocation_request_id = -1,
    };
    struct yarn_master_key key = rm.container_key;
    struct yarn_node_id node = rm.node;
    struct yarn_token token = { .kind = YARN_KIND_CONTAINER, .service = "" };
    uint8_t *password = sv_arena_alloc(a, YARN_TOKEN_PASSWORD_MAX);
    int r;

    if (!strcmp(fault, "wrongkey"))
        key.bytes[3] ^= 0x40;
    if (!strcmp(fault, "othernode"))
        node.port ^= 1;
    yarn_node_id_text(&node, t.nm_addr);
    snprintf(t.submitter, sizeof(t.submitter), "%s", user);
    r = yarn_container_token_encode(a, &t, &token.id, &token.id_len);
    if (r >= 0)
        r = yarn_token_password(YARN_HMAC_SHA1, &key, token.id, token.id_len, password,
                                &token.password_len);
    if (r < 0)
        die("ContainerToken", r);
    token.password = password;
    if (!strcmp(fault, "truncated"))
        token.id_len -= 3;
    if (!strcmp(fault, "shortpassword"))
        token.password_len--;
    return yarn_token_to(a, &token);
}

static Hadoop__Yarn__StartContainerRequestProto *start_request(struct sv_arena *a, int app,
                                                               int64_t n, const char *user,
                                                               int64_t mem, const char *fault,
                                                               const char *command)
{
    Hadoop__Yarn__StartContainerRequestProto *q =
        sv_new(a, Hadoop__Yarn__StartContainerRequestProto);
    Hadoop__Yarn__ContainerLaunchContextProto *clc =
        sv_new(a, Hadoop__Yarn__ContainerLaunchContextProto);

    hadoop__yarn__start_container_request_proto__init(q);
    hadoop__yarn__container_launch_context_proto__init(clc);
    q->container_launch_context = clc;
    q->container_token =
        container_token(a, app, n, user, (struct yarn_resource){ mem, rm.vcores }, 0, fault);
    clc->n_command = 1;
    clc->command = sv_newn(a, char *, 1);
    clc->command[0] = sv_arena_strdup(a, command);
    (void)hostile_context(a, fault, clc);
    if (!strcmp(fault, "auxservice")) {
        clc->n_service_data = 1;
        clc->service_data = sv_newn(a, Hadoop__Yarn__StringBytesMapProto *, 1);
        clc->service_data[0] = sv_new(a, Hadoop__Yarn__StringBytesMapProto);
        hadoop__yarn__string_bytes_map_proto__init(clc->service_data[0]);
        clc->service_data[0]->key = (char *)(uintptr_t) "no_such_service";
    }
    return q;
}

static json_t *failures(size_t n, Hadoop__Yarn__ContainerExceptionMapProto **rows)
{
    json_t *j = json_object();

    for (size_t i = 0; i < n; i++) {
        struct yarn_container_id id;
        char text[YARN_ID_TEXT_MAX] = "?";

        if (yarn_container_id_from(rows[i]->container_id, &id) == 0)
            yarn_container_id_text(id, text);
        json_object_set_new(j, text,
                            json_pack("{s:s?,s:s?}", "class", rows[i]->exception->class_name,
                                      "message", rows[i]->exception->message));
    }
    return j;
}

static json_t *ids(size_t n, Hadoop__Yarn__ContainerIdProto **rows)
{
    json_t *j = json_array();

    for (size_t i = 0; i < n; i++) {
        struct yarn_container_id id;
        char text[YARN_ID_TEXT_MAX];

        if (yarn_container_id_from(rows[i], &id) == 0)
            json_array_append_new(j, json_string(yarn_container_id_text(id, text)));
    }
    return j;
}

/* A call, or the exception that it ended in as JSON in *ret_failed. */
static const void *call(struct ipc_client *c, const char *method, const ProtobufCMessage *q,
                        const ProtobufCMessageDescriptor *response, struct sv_arena *a,
                        json_t **ret_failed)
{
    ProtobufCMessage *m = NULL;
    struct sv_error err = { 0 };
    const char *class = NULL;
    int r = ipc_client_call_sync(c, method, q, response, a, &m, &class, &err);

    if (r >= 0)
        return m;
    *ret_failed = json_pack("{s:i,s:s?,s:s}", "error", r, "class", class, "message", err.text);
    return NULL;
}

static json_t *do_start(int app, int64_t first, int count, const char *user, int64_t mem,
                        const char *fault, const char *command)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__StartContainersRequestProto q;
    const Hadoop__Yarn__StartContainersResponseProto *m;
    json_t *failed = NULL;

    hadoop__yarn__start_containers_request_proto__init(&q);
    q.start_container_request =
        sv_newn(a, Hadoop__Yarn__StartContainerRequestProto *, 2 * (size_t)count);
    for (int i = 0; i < count; i++) {
        Hadoop__Yarn__StartContainerRequestProto *one =
            start_request(a, app, first + i, user, mem, fault, command);
        q.start_container_request[q.n_start_container_request++] = one;
        if (!strcmp(fault, "twice"))
            q.start_container_request[q.n_start_container_request++] = one;
    }
    m = call(am_client(app, user, fault), "startContainers", &q.base,
             &hadoop__yarn__start_containers_response_proto__descriptor, a, &failed);
    if (!m)
        return failed;
    return json_pack("{s:o,s:o}", "ok", ids(m->n_succeeded_requests, m->succeeded_requests),
                     "failed", failures(m->n_failed_requests, m->failed_requests));
}

/* The master keys that the NodeManager has been given, as hexadecimal text. */
static json_t *do_keys(void)
{
    const struct yarn_master_key *keys[] = { &rm.nm_key, &rm.container_key };
    char text[2][2 * YARN_MASTER_KEY_MAX + 1];

    for (size_t k = 0; k < SV_ARRAY_LEN(keys); k++)
        for (size_t i = 0; i < keys[k]->len; i++)
            snprintf(text[k] + 2 * i, 3, "%02x", keys[k]->bytes[i]);
    return json_pack("{s:[s,s]}", "keys", text[0], text[1]);
}

static json_t *do_stop(int app, int other, int64_t first, int count)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__StopContainersRequestProto q;
    const Hadoop__Yarn__StopContainersResponseProto *m;
    json_t *failed = NULL;

    hadoop__yarn__stop_containers_request_proto__init(&q);
    q.container_id = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, (size_t)count);
    for (int i = 0; i < count; i++)
        q.container_id[q.n_container_id++] =
            yarn_container_id_to(a, container_id(other, first + i));
    m = call(am_client(app, "?", ""), "stopContainers", &q.base,
             &hadoop__yarn__stop_containers_response_proto__descriptor, a, &failed);
    if (!m)
        return failed;
    return json_pack("{s:o,s:o}", "ok", ids(m->n_succeeded_requests, m->succeeded_requests),
                     "failed", failures(m->n_failed_requests, m->failed_requests));
}

static json_t *do_status(int app, int other, int64_t first, int count)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetContainerStatusesRequestProto q;
    const Hadoop__Yarn__GetContainerStatusesResponseProto *m;
    json_t *failed = NULL, *list = json_object();

    hadoop__yarn__get_container_statuses_request_proto__init(&q);
    q.container_id = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, (size_t)count);
    for (int i = 0; i < count; i++)
        q.container_id[q.n_container_id++] =
            yarn_container_id_to(a, container_id(other, first + i));
    m = call(am_client(app, "?", ""), "getContainerStatuses", &q.base,
             &hadoop__yarn__get_container_statuses_response_proto__descriptor, a, &failed);
    if (!m) {
        json_decref(list);
        return failed;
    }
    for (size_t i = 0; i < m->n_status; i++) {
        struct yarn_container_id id;
        char text[YARN_ID_TEXT_MAX];

        if (yarn_container_id_from(m->status[i]->container_id, &id) == 0)
            json_object_set_new(list, yarn_container_id_text(id, text),
                                json_pack("{s:i,s:i,s:i,s:s?}", "state", (int)m->status[i]->state,
                                          "sub", (int)m->status[i]->container_sub_state, "exit",
                                          m->status[i]->exit_status, "diagnostics",
                                          m->status[i]->diagnostics));
    }
    return json_pack("{s:o,s:o}", "status", list, "failed",
                     failures(m->n_failed_requests, m->failed_requests));
}

static json_t *do_update(int app, int64_t n, const char *user, struct yarn_resource resource,
                         int version, const char *fault)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Common__TokenProto *token =
        container_token(a, app, n, user, resource, version, fault);
    const Hadoop__Yarn__ContainerUpdateResponseProto *m;
    Hadoop__Yarn__ContainerUpdateRequestProto q;
    json_t *failed = NULL;

    hadoop__yarn__container_update_request_proto__init(&q);
    q.n_update_container_token = 1;
    q.update_container_token = &token;
    m = call(am_client(app, "?", ""), "updateContainer", &q.base,
             &hadoop__yarn__container_update_response_proto__descriptor, a, &failed);
    if (!m)
        return failed;
    return json_pack("{s:o,s:o}", "ok", ids(m->n_succeeded_requests, m->succeeded_requests),
                     "failed", failures(m->n_failed_requests, m->failed_requests));
}

static json_t *do_signal(int app, int other, int64_t n, int command)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__SignalContainerRequestProto q;
    json_t *failed = NULL;

    hadoop__yarn__signal_container_request_proto__init(&q);
    q.container_id = yarn_container_id_to(a, container_id(other, n));
    q.command = (Hadoop__Yarn__SignalContainerCommandProto)command;
    if (!call(am_client(app, "?", ""), "signalToContainer", &q.base,
              &hadoop__yarn__signal_container_response_proto__descriptor, a, &failed))
        return failed;
    return json_object();
}

/* ---- commands -------------------------------------------------------------------------------*/

static bool run_until(bool (*done)(int64_t), int64_t arg, int64_t ms)
{
    int64_t end = now_us() + ms * 1000;

    while (!done(arg)) {
        int64_t left = end - now_us();

        if (left <= 0)
            return false;
        if (sd_event_run(rm.event, (uint64_t)SV_MIN(left, 50000)) < 0)
            return false;
    }
    return true;
}

static bool has_registered(int64_t arg)
{
    (void)arg;
    return rm.registrations > rm.registrations_asked;
}
static bool has_ended(int64_t count)
{
    return rm.ended >= count;
}
static bool has_beaten(int64_t count)
{
    return rm.heartbeats >= count;
}

static json_t *do_exits(void)
{
    json_t *j = json_object();

    for (struct seen *s = rm.seen; s; s = s->hh.next) {
        json_t *row = json_pack("{s:i,s:i,s:i}", "state", s->state, "exit", s->exit_code, "told",
                                s->told);

        json_object_set_new(row, "diagnostics",
                            json_string(s->diagnostics ? s->diagnostics : "") ?: json_null());
        json_object_set_new(j, s->text, row);
    }
    return json_pack("{s:o,s:i,s:i}", "exits", j, "ended", rm.ended, "heartbeats", rm.heartbeats);
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* bench latency APP FIRST COUNT USER: one container after the other; microseconds from the call to
 * the sub-state RUNNING (or beyond), asked by getContainerStatuses without a pause. */
static json_t *bench_latency(int app, int64_t first, int count, const char *user)
{
    int64_t *us = calloc((size_t)count, sizeof(*us));
    int n = 0;

    for (int i = 0; i < count; i++) {
        int64_t t0 = now_us(), until = t0 + 30000000;
        bool running = false;
        json_t *j = do_start(app, first + i, 1, user, 64, "", "sleep 0.05");
        bool ok = json_array_size(json_object_get(j, "ok")) == 1;

        json_decref(j);
        while (ok && !running && now_us() < until) {
            const char *key;
            json_t *row;

            j = do_status(app, app, first + i, 1);
            json_object_foreach(json_object_get(j, "status"), key, row)
                running = json_integer_value(json_object_get(row, "sub")) >= 2;
            if (json_object_size(json_object_get(j, "failed")) > 0)
                running = true; /* over and acknowledged already */
            json_decref(j);
        }
        if (running)
            us[n++] = now_us() - t0;
        run_until(has_ended, rm.ended + 1, 10000);
    }
    qsort(us, (size_t)n, sizeof(*us), compare_i64);
    json_t *r = n ? json_pack("{s:i,s:I,s:I,s:I,s:I}", "n", n, "min", (json_int_t)us[0], "p50",
                              (json_int_t)us[n / 2], "p90", (json_int_t)us[n * 9 / 10], "max",
                              (json_int_t)us[n - 1])
                  : json_pack("{s:i}", "n", 0);
    free(us);
    return r;
}

/* bench rate APP FIRST COUNT BATCH USER: COUNT containers of `true`, BATCH a call; until the last
 * end has arrived in a heartbeat. */
static json_t *bench_rate(int app, int64_t first, int count, int batch, const char *user)
{
    int64_t t0 = now_us();
    int target = rm.ended + count, started = 0;
    bool all;

    for (int i = 0; i < count; i += batch) {
        json_t *j = do_start(app, first + i, SV_MIN(batch, count - i), user, 64, "", "true");

        started += (int)json_array_size(json_object_get(j, "ok"));
        if (json_object_get(j, "error"))
            return j;
        json_decref(j);
    }
    all = run_until(has_ended, target, 600000);
    return json_pack("{s:i,s:b,s:I}", "started", started, "all", all, "us",
                     (json_int_t)(now_us() - t0));
}

static json_t *on_off(const char *line, const char *word, bool *what)
{
    *what = !strcmp(line + strlen(word), " on");
    return json_object();
}

static json_t *command(char *line)
{
    int app, other, count, n, at = 0, batch, vcores;
    long long first, mem, ms;
    char user[65], fault[33];

    if (sscanf(line, "registered %lld", &ms) == 1) {
        bool ok = run_until(has_registered, 0, ms);

        if (!ok)
            return json_pack("{s:b}", "timeout", 1);
        rm.registrations_asked = rm.registrations;
        forget_clients();
        return json_incref(rm.registered);
    }
    if (sscanf(line, "start %d %lld %d %64s %lld %32s %n", &app, &first, &count, user, &mem, fault,
               &at) == 6 && at)
        return do_start(app, first, count, user, mem, strcmp(fault, "-") ? fault : "", line + at);
    if (sscanf(line, "stop %d %d %lld %d", &app, &other, &first, &count) == 4)
        return do_stop(app, other, first, count);
    if (sscanf(line, "status %d %d %lld %d", &app, &other, &first, &count) == 4)
        return do_status(app, other, first, count);
    if (sscanf(line, "signal %d %d %lld %d", &app, &other, &first, &n) == 4)
        return do_signal(app, other, first, n);
    if (sscanf(line, "next %d %d", &rm.vcores, &rm.execution_type) == 2)
        return json_object();
    if (sscanf(line, "update %d %lld %64s %lld %d %d %32s", &app, &first, user, &mem, &vcores, &n,
               fault) == 7)
        return do_update(app, first, user, (struct yarn_resource){ mem, vcores }, n,
                         strcmp(fault, "-") ? fault : "");
    if (!strcmp(line, "increased"))
        return json_pack("{s:i}", "increased", rm.increased);
    if (!strcmp(line, "exits"))
        return do_exits();
    if (sscanf(line, "wait %lld %d", &ms, &n) == 2)
        return json_pack("{s:b,s:i}", "reached", run_until(has_ended, n, ms), "ended", rm.ended);
    if (sscanf(line, "beats %lld %d", &ms, &n) == 2)
        return json_pack("{s:b}", "reached", run_until(has_beaten, rm.heartbeats + n, ms));
    if (sscanf(line, "finish %d", &app) == 1 && rm.n_finish < 64 && app > 0 && app < 4096) {
        rm.finished[app] = true;
        rm.finish[rm.n_finish++] = app_id(app);
        return json_object();
    }
    if (sscanf(line, "cleanup %d %lld", &app, &first) == 2 && rm.n_cleanup < 64) {
        rm.cleanup[rm.n_cleanup++] = container_id(app, first);
        return json_object();
    }
    if (sscanf(line, "rmsignal %d %lld %d", &app, &first, &n) == 3) {
        rm.signal_id = container_id(app, first);
        rm.signal_command = n;
        return json_object();
    }
    if (sscanf(line, "bench latency %d %lld %d %64s", &app, &first, &count, user) == 4)
        return bench_latency(app, first, count, user);
    if (sscanf(line, "bench rate %d %lld %d %d %64s", &app, &first, &count, &batch, user) == 5)
        return bench_rate(app, first, count, batch, user);
    if (!strcmp(line, "roll")) {
        if (yarn_master_key_generate(rm.nm_key.key_id + 1, 8, &rm.nm_key) < 0 ||
            yarn_master_key_generate(rm.container_key.key_id + 1, 8, &rm.container_key) < 0)
            return json_pack("{s:s}", "error", "key");
        rm.rolled = true;
        forget_clients();
        return json_object();
    }
    if (sscanf(line, "hostile %15s %d", rm.lie, &rm.lies) == 2)
        return json_object();
    if (!strcmp(line, "keys"))
        return do_keys();
    if (sv_has_prefix(line, "ack "))
        return on_off(line, "ack", &rm.ack);
    if (sv_has_prefix(line, "pause ")) {
        bool on;
        json_t *j = on_off(line, "pause", &on);

        serve(!on);
        return j;
    }
    if (!strcmp(line, "resync"))
        rm.resync = true;
    else if (!strcmp(line, "shutdown"))
        rm.shutdown = true;
    else if (!strcmp(line, "unregistered"))
        return json_pack("{s:b}", "unregistered", rm.unregistered);
    else
        return json_pack("{s:s}", "error", "unknown command");
    return json_object();
}

static char in[1 << 20];
static size_t in_len;
static bool in_closed;

static int on_stdin(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    ssize_t n = in_len < sizeof(in) ? read(fd, in + in_len, sizeof(in) - in_len) : -1;

    (void)events;
    (void)userdata;
    if (n > 0) {
        in_len += (size_t)n;
        return 0;
    }
    in_closed = true;
    return sd_event_source_set_enabled(s, SD_EVENT_OFF);
}

/* Commands run outside of callbacks, because they run the loop themselves. */
static void run_commands(void)
{
    static char line[sizeof(in)];
    char *end;

    while ((end = memchr(in, '\n', in_len))) {
        size_t used = (size_t)(end - in) + 1;
        json_t *j;

        memcpy(line, in, used - 1);
        line[used - 1] = 0;
        memmove(in, in + used, in_len - used);
        in_len -= used;
        j = command(line);
        if (!j || json_dumpf(j, stdout, JSON_COMPACT) < 0)
            fputs("{\"error\":\"no JSON\"}", stdout);
        fputc('\n', stdout);
        fflush(stdout);
        json_decref(j);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "port", required_argument, NULL, 'p' },
        { "heartbeat", required_argument, NULL, 'b' },
        { NULL, 0, NULL, 0 },
    };
    uint64_t v;
    int o, r;

    rm.heartbeat_ms = 1000;
    rm.ack = true;
    rm.vcores = rm.execution_type = 1;
    while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if ((o != 'p' && o != 'b') || sv_parse_u64(optarg, 1, 65535, &v) < 0)
            return 2;
        if (o == 'p')
            rm.port = (uint16_t)v;
        else
            rm.heartbeat_ms = (int64_t)v;
    }
    signal(SIGPIPE, SIG_IGN);
    sv_log_init("nm-driver");
    r = sd_event_default(&rm.event);
    if (r >= 0)
        r = yarn_master_key_generate(1, 8, &rm.nm_key);
    if (r >= 0)
        r = yarn_master_key_generate(1, 8, &rm.container_key);
    if (r >= 0)
        r = sd_event_add_io(rm.event, NULL, STDIN_FILENO, EPOLLIN, on_stdin, NULL);
    if (r < 0)
        die("start", r);
    serve(true);
    while (!in_closed && sd_event_run(rm.event, UINT64_MAX) >= 0)
        run_commands();
    return 0;
}
