/* The wire component facing a real Hadoop, driven by tests/interop/test-wire and
 * cases/registration.py.
 *
 *   wire-peer serve [PROTECTION]...
 *
 * Serves ApplicationClientProtocol (SIMPLE) and, once for each hadoop.rpc.protection,
 * ContainerManagementProtocol (TOKEN, NMTokens under the test's master key) on free ports, prints
 * "ready CLIENT-PORT TOKEN-PORT...", and ends at the end of its standard input.
 *
 *   wire-peer statuses PORT PASSWORD-BYTE [PROTECTION [N]]
 *
 * Calls getContainerStatuses for N containers, by default 1, at a Hadoop server, with an NMToken
 * whose password's first byte is exclusive-ored with PASSWORD-BYTE; prints "ok" or "CLASS:
 * message".
 *
 *   wire-peer register PORT
 *
 * Registers a node with a Hadoop ResourceManager, heartbeats three times, unregisters. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/ids.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"
#include "wire/sasl/qop.h"
#include "wire/token/token.h"

static const struct yarn_master_key key = { .key_id = 77,
                                            .len = 8,
                                            .bytes = { 1, 2, 3, 4, 5, 6, 7, 0x88 } };

/* ---- Server ---- */

static void on_metrics(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)request, (void)userdata;
    Hadoop__Yarn__GetClusterMetricsResponseProto out =
        HADOOP__YARN__GET_CLUSTER_METRICS_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__YarnClusterMetricsProto m = HADOOP__YARN__YARN_CLUSTER_METRICS_PROTO__INIT;
    m.has_num_node_managers = 1;
    m.num_node_managers = (int32_t)strlen(ipc_call_peer(call)->user);
    out.cluster_metrics = &m;
    ipc_call_reply(call, &out.base);
}

static void on_report(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    const Hadoop__Yarn__GetApplicationReportRequestProto *m = (const void *)request;
    struct yarn_app_id id;
    char text[YARN_ID_TEXT_MAX];
    if (yarn_app_id_from(m->application_id, &id) < 0)
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "malformed application id");
    else
        ipc_call_fail(call, JAVA_APP_NOT_FOUND, "Application with id '%s' doesn't exist in RM.",
                      yarn_app_id_text(id, text));
}

static void on_statuses(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    const Hadoop__Yarn__GetContainerStatusesRequestProto *m = (const void *)request;
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Yarn__GetContainerStatusesResponseProto out =
        HADOOP__YARN__GET_CONTAINER_STATUSES_RESPONSE_PROTO__INIT;
    out.n_status = m->n_container_id;
    out.status = sv_newn(a, Hadoop__Yarn__ContainerStatusProto *, m->n_container_id);
    for (size_t i = 0; i < m->n_container_id; i++) {
        out.status[i] = sv_new(a, Hadoop__Yarn__ContainerStatusProto);
        hadoop__yarn__container_status_proto__init(out.status[i]);
        out.status[i]->container_id = m->container_id[i];
        out.status[i]->has_state = 1;
        out.status[i]->state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
        out.status[i]->diagnostics = (char *)(uintptr_t)ipc_call_peer(call)->user;
    }
    ipc_call_reply(call, &out.base);
}

static void on_stop(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    const Hadoop__Yarn__StopContainersRequestProto *m = (const void *)request;
    struct yarn_container_id id;
    char text[YARN_ID_TEXT_MAX];
    if (m->n_container_id == 0 || yarn_container_id_from(m->container_id[0], &id) < 0)
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "malformed container id");
    else
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "Container %s is not handled by this NodeManager",
                      yarn_container_id_text(id, text));
}

static int verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64], size_t *ret_len,
                  char ret_user[256], const char **ret_class, struct sv_error *err, void *userdata)
{
    (void)ret_class, (void)userdata;
    struct yarn_nm_token t;
    int r = yarn_nm_token_decode(id, id_len, &t, err);
    if (r < 0)
        return r;
    if (t.key_id != key.key_id)
        return sv_error_set(err, -EACCES,
                            "Given NMToken for application : %d seems to have been "
                            "generated illegally.",
                            t.attempt.app.id);
    yarn_attempt_id_text(t.attempt, ret_user);
    return yarn_token_password(YARN_HMAC_SHA1, &key, id, id_len, ret_password, ret_len);
}

static const struct ipc_method client_methods[] = {
    { "getClusterMetrics", &hadoop__yarn__get_cluster_metrics_request_proto__descriptor,
      &hadoop__yarn__get_cluster_metrics_response_proto__descriptor, on_metrics },
    { "getApplicationReport", &hadoop__yarn__get_application_report_request_proto__descriptor,
      &hadoop__yarn__get_application_report_response_proto__descriptor, on_report },
};
static const struct ipc_method nm_methods[] = {
    { "getContainerStatuses", &hadoop__yarn__get_container_statuses_request_proto__descriptor,
      &hadoop__yarn__get_container_statuses_response_proto__descriptor, on_statuses },
    { "stopContainers", &hadoop__yarn__stop_containers_request_proto__descriptor,
      &hadoop__yarn__stop_containers_response_proto__descriptor, on_stop },
};
static const struct ipc_protocol client_protocol = { YARN_APPLICATION_CLIENT_PROTOCOL, 1,
                                                     client_methods, SV_ARRAY_LEN(client_methods) };
static const struct ipc_protocol nm_protocol = { YARN_CONTAINER_MANAGEMENT_PROTOCOL, 1, nm_methods,
                                                 SV_ARRAY_LEN(nm_methods) };

static int on_stdin(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)fd, (void)revents, (void)userdata;
    return sd_event_exit(sd_event_source_get_event(src), 0);
}

#define SERVERS_MAX 8

static int serve(sd_event *event, char **protections, int n)
{
    static const struct ipc_protocol *const client_list[] = { &client_protocol, NULL };
    static const struct ipc_protocol *const nm_list[] = { &nm_protocol, NULL };
    struct ipc_server *servers[SERVERS_MAX + 2] = { NULL };
    struct sv_error err = { 0 };
    int r = ipc_server_new(
        event, &(struct ipc_server_config){ .allow_simple = true, .protocols = client_list },
        &servers[0], &err);
    for (int i = 0; r >= 0 && i < SV_MIN(SV_MAX(n, 1), SERVERS_MAX); i++) {
        struct ipc_server_config cfg = { .verify_token = verify, .protocols = nm_list };
        if (i < n)
            r = ipc_qop_parse(protections[i], &cfg.qop_mask, &err);
        if (r >= 0)
            r = ipc_server_new(event, &cfg, &servers[i + 1], &err);
    }
    if (r < 0 || sd_event_add_io(event, NULL, 0, EPOLLIN | EPOLLHUP, on_stdin, NULL) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("ready");
    for (int i = 0; servers[i]; i++)
        printf(" %u", ipc_server_port(servers[i]));
    printf("\n");
    fflush(stdout);
    r = sd_event_loop(event);
    for (int i = 0; servers[i]; i++)
        ipc_server_free(servers[i]);
    return r < 0;
}

/* ---- Client ---- */

static ProtobufCMessage *call(struct ipc_client *c, const char *method,
                              const ProtobufCMessage *request,
                              const ProtobufCMessageDescriptor *response, struct sv_arena *a)
{
    ProtobufCMessage *ret = NULL;
    const char *java_class;
    struct sv_error err = { 0 };
    if (ipc_client_call_sync(c, method, request, response, a, &ret, &java_class, &err) < 0) {
        printf("%s: %s\n", java_class ? java_class : strerror(-err.code), err.text);
        return NULL;
    }
    return ret;
}

static const struct yarn_attempt_id attempt = { .app = { .cluster_ts = 1700000000123, .id = 42 },
                                                .attempt = 3 };

static int statuses(sd_event *event, uint16_t port, uint8_t flip, const char *protection, size_t n)
{
    struct sv_arena *a = sv_arena_new(0);
    struct yarn_nm_token nm = { .attempt = attempt,
                                .submitter = "alice",
                                .key_id = key.key_id,
                                .node = { .host = "127.0.0.1", .port = port } };
    struct yarn_token t = { .kind = YARN_KIND_NM, .service = "" };
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    struct ipc_client *c;
    if (yarn_nm_token_encode(a, &nm, &t.id, &t.id_len) < 0 ||
        yarn_token_password(YARN_HMAC_SHA1, &key, t.id, t.id_len, password, &t.password_len) < 0)
        return 1;
    password[0] ^= flip;
    t.password = password;
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = port,
                                     .version = 1,
                                     .token = &t,
                                     .protocol = YARN_CONTAINER_MANAGEMENT_PROTOCOL };
    if (ipc_qop_parse(protection, &cfg.qop_mask, NULL) < 0)
        return 1;
    if (ipc_client_new(event, &cfg, &c, NULL) < 0)
        return 1;
    Hadoop__Yarn__GetContainerStatusesRequestProto m =
        HADOOP__YARN__GET_CONTAINER_STATUSES_REQUEST_PROTO__INIT;
    m.container_id = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n);
    for (; m.n_container_id < n; m.n_container_id++)
        m.container_id[m.n_container_id] = yarn_container_id_to(
            a,
            (struct yarn_container_id){ .attempt = attempt, .id = 7 + (int64_t)m.n_container_id });
    ProtobufCMessage *ret =
        call(c, "getContainerStatuses", &m.base,
             &hadoop__yarn__get_container_statuses_response_proto__descriptor, a);
    if (ret) {
        Hadoop__Yarn__GetContainerStatusesResponseProto *out = (void *)ret;
        printf("ok %zu %s\n", out->n_status, out->n_status ? out->status[0]->diagnostics : "");
    }
    ipc_client_free(c);
    sv_arena_free(a);
    return ret ? 0 : 1;
}

static int heartbeats(struct ipc_client *c, struct sv_arena *a, Hadoop__Yarn__NodeIdProto *node,
                      const Hadoop__Yarn__RegisterNodeManagerResponseProto *reg)
{
    int32_t response_id = 0;
    for (int i = 0; i < 3; i++) {
        Hadoop__Yarn__NodeHeartbeatRequestProto m =
            HADOOP__YARN__NODE_HEARTBEAT_REQUEST_PROTO__INIT;
        Hadoop__Yarn__NodeStatusProto status = HADOOP__YARN__NODE_STATUS_PROTO__INIT;
        Hadoop__Yarn__NodeHealthStatusProto health = HADOOP__YARN__NODE_HEALTH_STATUS_PROTO__INIT;
        health.has_is_node_healthy = 1;
        health.is_node_healthy = 1;
        status.node_id = node;
        status.has_response_id = 1;
        status.response_id = response_id;
        status.nodehealthstatus = &health;
        m.node_status = &status;
        m.last_known_container_token_master_key = reg->container_token_master_key;
        m.last_known_nm_token_master_key = reg->nm_token_master_key;
        Hadoop__Yarn__NodeHeartbeatResponseProto *out =
            (void *)call(c, "nodeHeartbeat", &m.base,
                         &hadoop__yarn__node_heartbeat_response_proto__descriptor, a);
        if (!out)
            return 1;
        printf("heartbeat %d action %d\n", out->response_id, (int)out->nodeaction);
        response_id = out->response_id;
    }
    return 0;
}

static int registration(sd_event *event, uint16_t port)
{
    struct sv_arena *a = sv_arena_new(0);
    struct yarn_node_id id = { .host = "localhost", .port = 45454 };
    struct ipc_client_config cfg = {
        .host = "127.0.0.1", .port = port, .version = 1, .protocol = YARN_RESOURCE_TRACKER_PROTOCOL
    };
    struct ipc_client *c;
    Hadoop__Yarn__RegisterNodeManagerRequestProto m =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    if (ipc_client_new(event, &cfg, &c, NULL) < 0)
        return 1;
    m.node_id = yarn_node_id_to(a, &id);
    m.has_http_port = 1;
    m.http_port = 45455;
    m.resource = yarn_resource_to(a, (struct yarn_resource){ .memory_mb = 4096, .vcores = 4 });
    m.nm_version = (char *)"3.4.2";
    Hadoop__Yarn__RegisterNodeManagerResponseProto *reg =
        (void *)call(c, "registerNodeManager", &m.base,
                     &hadoop__yarn__register_node_manager_response_proto__descriptor, a);
    int r = 1;
    if (reg) {
        printf("registered action %d key %zu bytes\n", (int)reg->nodeaction,
               reg->container_token_master_key ? reg->container_token_master_key->bytes.len : 0);
        r = heartbeats(c, a, m.node_id, reg);
        Hadoop__Yarn__UnRegisterNodeManagerRequestProto un =
            HADOOP__YARN__UN_REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
        un.node_id = m.node_id;
        if (r == 0 && call(c, "unRegisterNodeManager", &un.base,
                           &hadoop__yarn__un_register_node_manager_response_proto__descriptor, a))
            printf("unregistered\n");
        else
            r = 1;
    }
    ipc_client_free(c);
    sv_arena_free(a);
    return r;
}

int main(int argc, char **argv)
{
    sd_event *event = NULL;
    if (sd_event_default(&event) < 0)
        return 1;
    int r = 2;
    if (argc >= 2 && strcmp(argv[1], "serve") == 0)
        r = serve(event, argv + 2, argc - 2);
    else if (argc >= 4 && argc <= 6 && strcmp(argv[1], "statuses") == 0)
        r = statuses(event, (uint16_t)strtoul(argv[2], NULL, 10),
                     (uint8_t)strtoul(argv[3], NULL, 10), argc > 4 ? argv[4] : "authentication",
                     argc > 5 ? strtoul(argv[5], NULL, 10) : 1);
    else if (argc == 3 && strcmp(argv[1], "register") == 0)
        r = registration(event, (uint16_t)strtoul(argv[2], NULL, 10));
    else
        fprintf(stderr, "usage: see the top of wire-peer.c\n");
    sd_event_unref(event);
    return r;
}
