/* The peers of rm-hostile.c: calls, nodes, the process whose heartbeats are measured, masters. */
#ifndef SELVEDGE_TESTS_INTEGRATION_RM_HOSTILE_PEERS_H
#define SELVEDGE_TESTS_INTEGRATION_RM_HOSTILE_PEERS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

#define NODES 4
#define PORT_OTHERS 21000
#define PAUSE_MS 5 /* between two heartbeats of the others */
#define PATIENCE_MS 300000
#define SAMPLES_MAX 1000000

typedef Hadoop__Yarn__AllocateRequestProto AllocateRequest;
typedef Hadoop__Yarn__AllocateResponseProto AllocateResponse;
typedef Hadoop__Yarn__ResourceRequestProto Row;

static struct {
    sd_event *event;
    uint16_t client_port, tracker_port, am_port;
    int failed;
} g;

static void check(bool good, const char *fmt, ...) _printf_(2, 3);
static void check(bool good, const char *fmt, ...)
{
    va_list ap;

    printf("%s ", good ? "ok" : "FAIL");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    (void)fflush(stdout);
    g.failed += !good;
}

static _Noreturn void die(const char *what, const struct sv_error *err)
{
    printf("FAIL %s: %s\n", what, err ? err->text : "");
    exit(EXIT_FAILURE);
}

static struct ipc_client *open_client(uint16_t port, const char *protocol, const char *user,
                                      const struct yarn_token *token)
{
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = port,
                                     .protocol = protocol,
                                     .version = 1,
                                     .user = user,
                                     .token = token,
                                     .idle_ms = -1,
                                     .call_ms = PATIENCE_MS };
    struct sv_error err = { 0 };
    struct ipc_client *c;

    if (ipc_client_new(g.event, &cfg, &c, &err) < 0)
        die("connection", &err);
    return c;
}

/* The answer, or NULL with the reason in err. */
static const void *call(struct sv_arena *a, struct ipc_client *c, const char *method,
                        const ProtobufCMessage *q, const ProtobufCMessageDescriptor *d,
                        struct sv_error *err)
{
    ProtobufCMessage *m = NULL;

    *err = (struct sv_error){ 0 };
    return ipc_client_call_sync(c, method, q, d, a, &m, NULL, err) < 0 ? NULL : m;
}

static const void *must(struct sv_arena *a, struct ipc_client *c, const char *method,
                        const ProtobufCMessage *q, const ProtobufCMessageDescriptor *d)
{
    struct sv_error err;
    const void *m = call(a, c, method, q, d, &err);

    if (!m)
        die(method, &err);
    return m;
}

static int64_t now_us(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) < 0)
        die("clock", NULL);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* -------------------------------------------------------------------- nodes */

struct node {
    struct yarn_node_id id;
    struct ipc_client *rm;
    int32_t response_id;
};

static const Hadoop__Yarn__RegisterNodeManagerResponseProto *
register_with(struct sv_arena *a, struct node *n, int64_t memory,
              Hadoop__Yarn__NMContainerStatusProto **statuses, size_t n_statuses,
              struct sv_error *err)
{
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;

    q.node_id = yarn_node_id_to(a, &n->id);
    q.has_http_port = true;
    q.http_port = 8042;
    q.resource = yarn_resource_to(a, (struct yarn_resource){ memory, 64 });
    q.nm_version = (char *)(uintptr_t) "3.4.2";
    q.container_statuses = statuses;
    q.n_container_statuses = n_statuses;
    return call(a, n->rm, "registerNodeManager", &q.base,
                &hadoop__yarn__register_node_manager_response_proto__descriptor, err);
}

static void join(struct node *n, int port)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__RegisterNodeManagerResponseProto *m;
    struct sv_error err;

    (void)snprintf(n->id.host, sizeof(n->id.host), "127.0.0.1");
    n->id.port = port;
    n->response_id = 0;
    n->rm = open_client(g.tracker_port, YARN_RESOURCE_TRACKER_PROTOCOL, "yarn", NULL);
    m = register_with(a, n, 65536, NULL, 0, &err);
    if (!m || m->nodeaction != HADOOP__YARN__NODE_ACTION_PROTO__NORMAL)
        die("registerNodeManager", &err);
}

static const Hadoop__Yarn__NodeHeartbeatResponseProto *
beat_with(struct sv_arena *a, struct node *n, Hadoop__Yarn__ContainerStatusProto **statuses,
          size_t n_statuses, struct sv_error *err)
{
    Hadoop__Yarn__NodeHeartbeatRequestProto q = HADOOP__YARN__NODE_HEARTBEAT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeStatusProto st = HADOOP__YARN__NODE_STATUS_PROTO__INIT;
    const Hadoop__Yarn__NodeHeartbeatResponseProto *m;

    st.node_id = yarn_node_id_to(a, &n->id);
    st.has_response_id = true;
    st.response_id = n->response_id;
    st.containersstatuses = statuses;
    st.n_containersstatuses = n_statuses;
    q.node_status = &st;
    m = call(a, n->rm, "nodeHeartbeat", &q.base,
             &hadoop__yarn__node_heartbeat_response_proto__descriptor, err);
    if (m)
        n->response_id = m->response_id;
    return m;
}

static bool beat(struct node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err;
    const Hadoop__Yarn__NodeHeartbeatResponseProto *m = beat_with(a, n, NULL, 0, &err);

    return m && (!m->has_nodeaction || m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__NORMAL);
}

/* The process whose heartbeats are measured, until the other end of the pipe is closed. */
static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static _Noreturn void others(int go, int result)
{
    uint32_t *us = calloc(SAMPLES_MAX, sizeof(*us));
    struct node nodes[NODES] = { 0 };
    bool good = us != NULL;
    struct pollfd end = { .fd = go };
    char text[200];
    size_t n = 0;

    if (sd_event_new(&g.event) < 0)
        die("event loop", NULL);
    for (int i = 0; i < NODES; i++)
        join(&nodes[i], PORT_OTHERS + i);
    if (write(result, "r", 1) != 1)
        die("pipe", NULL);
    while (good && n < SAMPLES_MAX && poll(&end, 1, PAUSE_MS) == 0) { /* it is not closed */
        int64_t began = now_us();

        good = beat(&nodes[n % NODES]);
        us[n++] = (uint32_t)(now_us() - began);
    }
    if (n == 0)
        die("heartbeats of the others", NULL);
    qsort(us, n, sizeof(*us), by_value);
    (void)snprintf(text, sizeof(text), "%d %zu %.1f %.1f %.1f", good, n, us[n / 2] / 1e3,
                   us[n * 99 / 100] / 1e3, us[n - 1] / 1e3);
    exit(write(result, text, strlen(text)) > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ------------------------------------------------------------------ masters */

struct master {
    struct ipc_client *rm;
    struct yarn_app_id app;
    uint8_t id[1024], password[64];
    struct yarn_token token;
    int32_t response_id;
    struct yarn_container_id got;
};

static void submit(struct ipc_client *c, struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetNewApplicationRequestProto nq =
        HADOOP__YARN__GET_NEW_APPLICATION_REQUEST_PROTO__INIT;
    Hadoop__Yarn__SubmitApplicationRequestProto q =
        HADOOP__YARN__SUBMIT_APPLICATION_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ApplicationSubmissionContextProto ctx =
        HADOOP__YARN__APPLICATION_SUBMISSION_CONTEXT_PROTO__INIT;
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    const Hadoop__Yarn__GetNewApplicationResponseProto *resp =
        must(a, c, "getNewApplication", &nq.base,
             &hadoop__yarn__get_new_application_response_proto__descriptor);

    if (yarn_app_id_from(resp->application_id, &m->app) < 0)
        die("getNewApplication: no id", NULL);
    ctx.application_id = resp->application_id;
    ctx.queue = (char *)(uintptr_t) "default";
    ctx.am_container_spec = &clc;
    ctx.resource = yarn_resource_to(a, (struct yarn_resource){ 1024, 1 });
    ctx.has_unmanaged_am = ctx.unmanaged_am = true;
    q.application_submission_context = &ctx;
    (void)must(a, c, "submitApplication", &q.base,
               &hadoop__yarn__submit_application_response_proto__descriptor);
}

/* The token of an unmanaged master is in its application's report. */
static bool take_token(struct ipc_client *c, struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetApplicationReportRequestProto q =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__GetApplicationReportResponseProto *resp;
    const Hadoop__Common__TokenProto *t;

    q.application_id = yarn_app_id_to(a, m->app);
    resp = must(a, c, "getApplicationReport", &q.base,
                &hadoop__yarn__get_application_report_response_proto__descriptor);
    t = resp->application_report->am_rm_token;
    if (!t || t->identifier.len > sizeof(m->id) || t->password.len > sizeof(m->password))
        return false;
    memcpy(m->id, t->identifier.data, t->identifier.len);
    memcpy(m->password, t->password.data, t->password.len);
    m->token = (struct yarn_token){ m->id,           t->identifier.len, m->password,
                                    t->password.len, YARN_KIND_AMRM,    "" };
    return true;
}

static const void *register_master(struct sv_arena *a, struct ipc_client *c, struct sv_error *err)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    q.host = (char *)(uintptr_t) "127.0.0.1";
    q.has_rpc_port = true;
    q.rpc_port = 4711;
    return call(a, c, "registerApplicationMaster", &q.base,
                &hadoop__yarn__register_application_master_response_proto__descriptor, err);
}

static void start_master(struct ipc_client *c, struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    int64_t end = now_us() + PATIENCE_MS * INT64_C(1000);
    struct sv_error err;

    submit(c, m);
    while (!take_token(c, m) && now_us() < end)
        (void)sd_event_run(g.event, 10000); /* until it is accepted, ignoring */
    m->rm = open_client(g.am_port, YARN_APPLICATION_MASTER_PROTOCOL, NULL, &m->token);
    if (!register_master(a, m->rm, &err))
        die("registerApplicationMaster", &err);
}

static Row *row(struct sv_arena *a, const char *name, int64_t memory, int32_t vcores, int32_t count)
{
    Row *m = sv_new(a, Row);

    hadoop__yarn__resource_request_proto__init(m);
    m->resource_name = (char *)(uintptr_t)name;
    m->capability = sv_new(a, Hadoop__Yarn__ResourceProto);
    hadoop__yarn__resource_proto__init(m->capability);
    m->capability->has_memory = m->capability->has_virtual_cores = true;
    m->capability->memory = memory;
    m->capability->virtual_cores = vcores;
    m->has_num_containers = true;
    m->num_containers = count;
    return m;
}

/* The answer, or NULL with the reason. */
static const AllocateResponse *allocate(struct sv_arena *a, struct master *m, AllocateRequest *q,
                                        struct sv_error *err)
{
    const AllocateResponse *resp;

    q->has_response_id = true;
    q->response_id = m->response_id;
    resp = call(a, m->rm, "allocate", &q->base, &hadoop__yarn__allocate_response_proto__descriptor,
                err);
    if (resp)
        m->response_id = resp->response_id;
    return resp;
}

static const AllocateResponse *ask(struct sv_arena *a, struct master *m, Row **rows, size_t n,
                                   struct sv_error *err)
{
    AllocateRequest q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;

    q.ask = rows;
    q.n_ask = n;
    return allocate(a, m, &q, err);
}

#endif
