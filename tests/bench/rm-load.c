/* Load generator of `make bench-load`: nodes, each on a connection of its own, and unmanaged
 * ApplicationMasters, in one loop. Works with any ResourceManager that speaks Hadoop's protocol.
 *
 *     rm-load CLIENT_PORT TRACKER_PORT AM_PORT PID NODES MASTERS IDLE_MS ALLOCATE_MS
 *     rm-load CLIENT_PORT TRACKER_PORT AM_PORT PID NODES MASTERS restart
 *
 * First every node registers. For IDLE_MS nodes without containers heartbeat, WINDOW at a time, as
 * fast as they are answered. For ALLOCATE_MS each master asks for ASK containers, takes what comes,
 * gives it back and asks again, while each node heartbeats once a second: as many asks as masters
 * are always under way, so that their latency is mostly the others'. Then as long asks come on a
 * clock, one each PACE_US, whoever answers: the ResourceManager's own latency. A line of JSON: both
 * counts a CPU second of process PID (the ResourceManager), and latencies in milliseconds.
 *
 * "restart": every master gets containers, then "ready" is printed, and a line of standard input
 * has the time at which the ResourceManager was started again, in microseconds of CLOCK_MONOTONIC.
 * All nodes and masters register anew and ask: the seconds from that time until the first
 * container, and until each master has one. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "tests/bench/load-figures.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

#define WINDOW 64
#define ASK 10
#define PAUSE_US 10000          /* of a master that got nothing */
#define PATIENT_PAUSE_US 500000 /* the same where a thousand wait for a restart */
#define TICK_US 10000
#define PACE_US 5000
#define PATIENCE_MS 120000
#define PORT_FIRST 10000

typedef Hadoop__Yarn__AllocateResponseProto AllocateResponse;

struct node {
    struct ipc_client *rm;
    struct yarn_node_id id;
    int32_t response_id;
    bool busy;
    int64_t sent_us;
};

struct master {
    struct ipc_client *rm;
    struct yarn_app_id app;
    uint8_t id[1024], password[64];
    struct yarn_token token;
    int32_t response_id, waits; /* containers that were asked for and have not come */
    int64_t asked_us;
    bool again;  /* the next request asks */
    bool rests;  /* it has what it asked for: waits for its turn on the clock */
    bool served; /* it has got a container */
    struct yarn_container_id got[ASK * 4];
    size_t n_got;
    sd_event_source *pause;
};

static struct {
    sd_event *event;
    uint16_t client_port, tracker_port, am_port;
    int pid;
    struct node *nodes;
    size_t n_nodes, next;
    struct master *masters;
    size_t n_masters, open;
    struct yarn_master_key container_key, nm_key;
    bool closed_loop, stopping, restart, paced;
    size_t turn; /* of the masters, on the clock */
    size_t n_served;
    int64_t first_us, last_us; /* of masters' first containers */
    int64_t beats, containers;
    struct samples beat_us, ask_us;
} g;

/* ---- Calls ---- */

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

static const void *must(struct sv_arena *a, struct ipc_client *c, const char *method,
                        const ProtobufCMessage *q, const ProtobufCMessageDescriptor *d)
{
    struct sv_error err = { 0 };
    ProtobufCMessage *m;

    if (ipc_client_call_sync(c, method, q, d, a, &m, NULL, &err) < 0)
        die(method, &err);
    return m;
}

static void run_for(int64_t ms)
{
    int64_t end = now_us() + ms * 1000;

    while (now_us() < end)
        if (sd_event_run(g.event, TICK_US) < 0)
            die("event loop", NULL);
}

/* ---- Nodes ---- */

static void take_key(const Hadoop__Yarn__MasterKeyProto *m, struct yarn_master_key *k)
{
    if (m && m->bytes.len <= sizeof(k->bytes))
        k->key_id = m->key_id;
}

static void beat(struct node *n);

static void on_registered(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    const Hadoop__Yarn__RegisterNodeManagerResponseProto *m =
        (const Hadoop__Yarn__RegisterNodeManagerResponseProto *)r->response;
    struct node *n = userdata;

    if (r->status < 0)
        die("registerNodeManager", err);
    if (m->nodeaction != HADOOP__YARN__NODE_ACTION_PROTO__NORMAL)
        die("registerNodeManager: refused", NULL);
    take_key(m->container_token_master_key, &g.container_key);
    take_key(m->nm_token_master_key, &g.nm_key);
    g.open--;
    beat(n);
}

static void register_node(struct node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;

    n->rm = open_client(g.tracker_port, YARN_RESOURCE_TRACKER_PROTOCOL, "yarn", NULL);
    q.node_id = yarn_node_id_to(a, &n->id);
    q.has_http_port = true;
    q.http_port = 8042;
    q.resource = yarn_resource_to(a, (struct yarn_resource){ 65536, 64 });
    q.nm_version = (char *)(uintptr_t) "3.4.2";
    if (ipc_client_call(n->rm, "registerNodeManager", &q.base,
                        &hadoop__yarn__register_node_manager_response_proto__descriptor, 0,
                        on_registered, n) < 0)
        die("registerNodeManager", NULL);
    g.open++;
}

/* The next one that waits for no answer. */
static void beat_next(void)
{
    for (size_t i = 0; i < g.n_nodes; i++) {
        struct node *n = &g.nodes[g.next++ % g.n_nodes];

        if (!n->busy) {
            beat(n);
            return;
        }
    }
}

static void on_beat(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    const Hadoop__Yarn__NodeHeartbeatResponseProto *m =
        (const Hadoop__Yarn__NodeHeartbeatResponseProto *)r->response;
    struct node *n = userdata;

    if (r->status < 0)
        die("nodeHeartbeat", err);
    if (m->has_nodeaction && m->nodeaction != HADOOP__YARN__NODE_ACTION_PROTO__NORMAL)
        die("nodeHeartbeat: to register again", NULL);
    n->response_id = m->response_id;
    n->busy = false;
    g.open--;
    g.beats++;
    sample(&g.beat_us, n->sent_us);
    if (g.closed_loop && !g.stopping)
        beat_next();
}

static void beat(struct node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__NodeHeartbeatRequestProto q = HADOOP__YARN__NODE_HEARTBEAT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeStatusProto st = HADOOP__YARN__NODE_STATUS_PROTO__INIT;
    Hadoop__Yarn__NodeHealthStatusProto health = HADOOP__YARN__NODE_HEALTH_STATUS_PROTO__INIT;
    Hadoop__Yarn__MasterKeyProto ck = HADOOP__YARN__MASTER_KEY_PROTO__INIT, nk = ck;

    health.has_is_node_healthy = health.is_node_healthy = true;
    st.node_id = yarn_node_id_to(a, &n->id);
    st.has_response_id = true;
    st.response_id = n->response_id;
    st.nodehealthstatus = &health;
    ck.has_key_id = nk.has_key_id = true;
    ck.key_id = g.container_key.key_id;
    nk.key_id = g.nm_key.key_id;
    q.last_known_container_token_master_key = &ck;
    q.last_known_nm_token_master_key = &nk;
    q.node_status = &st;
    n->busy = true;
    n->sent_us = now_us();
    g.open++;
    if (ipc_client_call(n->rm, "nodeHeartbeat", &q.base,
                        &hadoop__yarn__node_heartbeat_response_proto__descriptor, 0, on_beat,
                        n) < 0)
        die("nodeHeartbeat", NULL);
}

/* Each node once a second. */
static int on_tick(sd_event_source *s, uint64_t usec, void *userdata)
{
    static double due;

    (void)userdata;
    due += (double)g.n_nodes * TICK_US / 1e6;
    for (; due >= 1; due--)
        beat_next();
    (void)sd_event_source_set_time(s, usec + TICK_US);
    return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static sd_event_source *tick_nodes(void)
{
    sd_event_source *tick = NULL;

    if (sd_event_add_time_relative(g.event, &tick, CLOCK_MONOTONIC, 0, 1, on_tick, NULL) < 0)
        die("timer", NULL);
    return tick;
}

static void add_nodes(void)
{
    g.nodes = calloc(g.n_nodes, sizeof(*g.nodes));
    if (!g.nodes)
        die("memory", NULL);
    for (size_t i = 0; i < g.n_nodes; i++) {
        (void)snprintf(g.nodes[i].id.host, sizeof(g.nodes[i].id.host), "127.0.0.1");
        g.nodes[i].id.port = (int32_t)(PORT_FIRST + i);
        register_node(&g.nodes[i]);
        while (g.open >= WINDOW)
            if (sd_event_run(g.event, UINT64_MAX) < 0)
                die("event loop", NULL);
    }
}

static void drain(void)
{
    g.stopping = true;
    while (g.open > 0)
        if (sd_event_run(g.event, UINT64_MAX) < 0)
            die("event loop", NULL);
    g.stopping = false;
}

/* ---- Masters ---- */

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
    ctx.application_name = (char *)(uintptr_t) "rm-load";
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

static void register_master(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    m->rm = open_client(g.am_port, YARN_APPLICATION_MASTER_PROTOCOL, NULL, &m->token);
    q.host = (char *)(uintptr_t) "127.0.0.1";
    q.has_rpc_port = true;
    q.rpc_port = 4711;
    q.tracking_url = (char *)(uintptr_t) "";
    (void)must(a, m->rm, "registerApplicationMaster", &q.base,
               &hadoop__yarn__register_application_master_response_proto__descriptor);
}

static void add_masters(void)
{
    struct ipc_client *c =
        open_client(g.client_port, YARN_APPLICATION_CLIENT_PROTOCOL, "ann", NULL);
    int64_t end = now_us() + PATIENCE_MS * INT64_C(1000);

    g.masters = calloc(g.n_masters, sizeof(*g.masters));
    if (!g.masters)
        die("memory", NULL);
    for (size_t i = 0; i < g.n_masters; i++)
        submit(c, &g.masters[i]);
    for (size_t i = 0; i < g.n_masters; i++) {
        while (!take_token(c, &g.masters[i])) {
            if (now_us() > end)
                die("no AMRMToken in an application's report", NULL);
            run_for(20);
        }
        register_master(&g.masters[i]);
    }
    ipc_client_free(c);
}

static void allocate(struct master *m);

static int on_pause(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    if (!g.stopping)
        allocate(userdata);
    return 0;
}

static void take_containers(struct master *m, const AllocateResponse *resp)
{
    for (size_t i = 0; i < resp->n_allocated_containers && m->n_got < SV_ARRAY_LEN(m->got); i++)
        if (yarn_container_id_from(resp->allocated_containers[i]->id, &m->got[m->n_got]) >= 0)
            m->n_got++;
    g.containers += (int64_t)resp->n_allocated_containers;
    m->waits -= (int32_t)resp->n_allocated_containers;
    if (resp->n_allocated_containers > 0)
        sample(&g.ask_us, m->asked_us);
    if (resp->n_allocated_containers > 0 && !m->served) {
        m->served = true;
        g.last_us = now_us();
        if (g.n_served++ == 0)
            g.first_us = g.last_us;
    }
}

static void on_allocated(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    const AllocateResponse *resp = (const AllocateResponse *)r->response;
    struct master *m = userdata;
    uint64_t pause = g.restart ? PATIENT_PAUSE_US : PAUSE_US;
    int e = 0;

    if (r->status < 0)
        die("allocate", err);
    g.open--;
    m->response_id = resp->response_id;
    take_containers(m, resp);
    m->again = m->waits <= 0;
    m->rests = g.paced && m->again;
    if (g.stopping || (g.restart && m->served) || m->rests)
        return;
    if (m->n_got > 0 || m->again) {
        allocate(m);
        return;
    }
    if (!m->pause)
        e = sd_event_add_time_relative(g.event, &m->pause, CLOCK_MONOTONIC, pause, 1, on_pause, m);
    else if ((e = sd_event_source_set_time_relative(m->pause, pause)) >= 0)
        e = sd_event_source_set_enabled(m->pause, SD_EVENT_ONESHOT);
    if (e < 0)
        die("timer", NULL);
}

static Hadoop__Yarn__ResourceRequestProto *any_node(struct sv_arena *a)
{
    Hadoop__Yarn__ResourceRequestProto *m = sv_new(a, Hadoop__Yarn__ResourceRequestProto);

    hadoop__yarn__resource_request_proto__init(m);
    m->priority = sv_new(a, Hadoop__Yarn__PriorityProto);
    hadoop__yarn__priority_proto__init(m->priority);
    m->priority->has_priority = true;
    m->priority->priority = 1;
    m->resource_name = (char *)(uintptr_t) "*";
    m->capability = yarn_resource_to(a, (struct yarn_resource){ 1024, 1 });
    m->has_num_containers = true;
    m->num_containers = ASK;
    return m;
}

static void allocate(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ResourceRequestProto *ask;

    q.has_response_id = q.has_progress = true;
    q.response_id = m->response_id;
    q.release = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, m->n_got + 1);
    for (size_t i = 0; i < m->n_got; i++)
        q.release[q.n_release++] = yarn_container_id_to(a, m->got[i]);
    m->n_got = 0;
    if (m->again) {
        ask = any_node(a);
        q.ask = &ask;
        q.n_ask = 1;
        m->waits = ASK;
        m->asked_us = now_us();
        m->again = false;
    }
    g.open++;
    if (ipc_client_call(m->rm, "allocate", &q.base,
                        &hadoop__yarn__allocate_response_proto__descriptor, 0, on_allocated, m) < 0)
        die("allocate", NULL);
}

/* ---- Phases ---- */

static double idle(int64_t ms)
{
    double cpu;

    g.beats = 0;
    g.beat_us.n = 0;
    g.closed_loop = true;
    cpu = cpu_s(g.pid);
    for (size_t i = 0; i < SV_MIN((size_t)WINDOW, g.n_nodes); i++)
        beat_next();
    run_for(ms);
    cpu = cpu_s(g.pid) - cpu;
    drain();
    g.closed_loop = false;
    return (double)g.beats / SV_MAX(cpu, 0.01);
}

static double allocations(int64_t ms)
{
    sd_event_source *tick = tick_nodes();
    double cpu;

    add_masters();
    run_for(1500); /* each node has room that the ResourceManager knows of */
    g.containers = 0;
    g.beat_us.n = 0;
    cpu = cpu_s(g.pid);
    for (size_t i = 0; i < g.n_masters; i++) {
        g.masters[i].again = true;
        allocate(&g.masters[i]);
    }
    run_for(ms);
    cpu = cpu_s(g.pid) - cpu;
    sd_event_source_disable_unref(tick);
    drain();
    return (double)g.containers / SV_MAX(cpu, 0.01);
}

static int on_pace(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct master *m = &g.masters[g.turn++ % g.n_masters];

    (void)userdata;
    if (m->rests) {
        m->rests = false;
        allocate(m);
    }
    (void)sd_event_source_set_time(s, usec + PACE_US);
    return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

/* The masters of allocations(), which have got all that they asked for. */
static void paced(int64_t ms)
{
    sd_event_source *tick = tick_nodes(), *pace = NULL;

    g.ask_us.n = g.beat_us.n = 0;
    g.paced = true;
    for (size_t i = 0; i < g.n_masters; i++)
        g.masters[i].rests = g.masters[i].again;
    if (sd_event_add_time_relative(g.event, &pace, CLOCK_MONOTONIC, 0, 1, on_pace, NULL) < 0)
        die("timer", NULL);
    run_for(ms);
    sd_event_source_disable_unref(pace);
    sd_event_source_disable_unref(tick);
    drain();
}

/* ---- Restart ---- */

static void ask_all(void)
{
    int64_t end = now_us() + PATIENCE_MS * INT64_C(1000);

    for (size_t i = 0; i < g.n_masters; i++) {
        g.masters[i].again = true;
        g.masters[i].waits = g.masters[i].response_id = 0;
        g.masters[i].n_got = 0;
        allocate(&g.masters[i]);
    }
    while (g.n_served < g.n_masters) {
        if (now_us() > end)
            die("a master got no container", NULL);
        run_for(10);
    }
    drain();
}

static void hang_up(void)
{
    for (size_t i = 0; i < g.n_nodes; i++)
        ipc_client_free(g.nodes[i].rm);
    for (size_t i = 0; i < g.n_masters; i++) {
        ipc_client_free(g.masters[i].rm);
        g.masters[i].served = false;
    }
    free(g.nodes);
    g.n_served = 0;
    g.open = 0;
}

static void restart(void)
{
    sd_event_source *tick;
    char line[64];
    int64_t start;

    g.restart = true;
    add_masters();
    tick = tick_nodes();
    ask_all();
    sd_event_source_disable_unref(tick);
    drain();
    hang_up();
    printf("ready\n");
    if (fflush(stdout) != 0 || !fgets(line, sizeof(line), stdin))
        die("standard input: no time of the start", NULL);
    start = strtoll(line, NULL, 10);
    add_nodes();
    tick = tick_nodes();
    for (size_t i = 0; i < g.n_masters; i++)
        register_master(&g.masters[i]);
    printf("{\"registered_s\": %.2f, ", (double)(now_us() - start) / 1e6);
    ask_all();
    sd_event_source_disable_unref(tick);
    printf("\"first_s\": %.2f, \"all_s\": %.2f}\n", (double)(g.first_us - start) / 1e6,
           (double)(g.last_us - start) / 1e6);
}

int main(int argc, char **argv)
{
    double beats, given, beat_p99, idle_s;
    uint64_t v[8];
    long rss;

    sv_log_init("rm-load");
    g.restart = argc == 8 && sv_streq(argv[7], "restart");
    for (int i = 0; i < (g.restart ? 6 : 8); i++)
        if ((!g.restart && argc != 9) || sv_parse_u64(argv[i + 1], 1, INT32_MAX, &v[i]) < 0)
            die("usage: CLIENT_PORT TRACKER_PORT AM_PORT PID NODES MASTERS {IDLE_MS ALLOCATE_MS | "
                "restart}",
                NULL);
    g.client_port = (uint16_t)v[0];
    g.tracker_port = (uint16_t)v[1];
    g.am_port = (uint16_t)v[2];
    g.pid = (int)v[3];
    g.n_nodes = v[4];
    g.n_masters = v[5];
    if (g.n_nodes > 65535 - PORT_FIRST || sd_event_new(&g.event) < 0)
        die("NODES or the event loop", NULL);
    add_nodes();
    drain();
    if (g.restart) {
        restart();
        return EXIT_SUCCESS;
    }
    (void)idle(1000); /* the JVM compiles */
    rss = rss_kib(g.pid);
    idle_s = (double)v[6] / 1e3;
    beats = idle((int64_t)v[6]);
    beat_p99 = quantile_ms(&g.beat_us, 0.99);
    printf("{\"heartbeats_per_cpu_s\": %.0f, \"heartbeats_per_s\": %.0f, \"heartbeat_p99_ms\": "
           "%.2f, \"rss_mib\": %.1f, ",
           beats, (double)g.beats / idle_s, beat_p99, (double)rss / 1024);
    given = allocations((int64_t)v[7]);
    printf("\"containers_per_cpu_s\": %.0f, \"containers_per_s\": %.0f, \"ask_p50_ms\": %.2f, "
           "\"ask_p99_ms\": %.2f, \"loaded_heartbeat_p99_ms\": %.2f, \"loaded_rss_mib\": %.1f, ",
           given, (double)g.containers * 1e3 / (double)v[7], quantile_ms(&g.ask_us, 0.5),
           quantile_ms(&g.ask_us, 0.99), quantile_ms(&g.beat_us, 0.99),
           (double)rss_kib(g.pid) / 1024);
    paced((int64_t)v[7]);
    printf("\"paced_ask_p50_ms\": %.2f, \"paced_ask_p99_ms\": %.2f, \"paced_heartbeat_p99_ms\": "
           "%.2f}\n",
           quantile_ms(&g.ask_us, 0.5), quantile_ms(&g.ask_us, 0.99),
           quantile_ms(&g.beat_us, 0.99));
    return EXIT_SUCCESS;
}
