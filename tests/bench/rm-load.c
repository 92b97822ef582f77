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
#include <unistd.h>

#include "common/log.h"
#include "tests/lib/latency.h"
#include "tests/lib/rm-peer.h"

#define WINDOW 64
#define ASK 10
#define PAUSE_US 10000          /* of a master that got nothing */
#define PATIENT_PAUSE_US 500000 /* the same where a thousand wait for a restart */
#define TICK_US 10000
#define PACE_US 5000
#define PORT_FIRST 10000

struct node {
    struct peer_node peer;
    bool busy;
    int64_t sent_us;
};

struct master {
    struct peer_master am;
    int32_t waits; /* containers that were asked for and have not come */
    int64_t asked_us;
    bool again;  /* the next request asks */
    bool rests;  /* its requests are served: it waits for its turn on the clock */
    bool served; /* it has got a container */
    struct yarn_container_id got[ASK * 4];
    size_t n_got;
    sd_event_source *pause;
};

static struct {
    int pid;
    struct node *nodes;
    size_t n_nodes, next;
    struct master *masters;
    size_t n_masters, open;
    bool closed_loop, stopping, restart, paced;
    size_t turn; /* of the masters, on the clock */
    size_t n_served;
    int64_t first_us, last_us; /* of masters' first containers */
    int64_t beats, containers;
    struct samples beat_us, ask_us;
} g;

/* ---- The measured process ---- */

static double cpu_s(int pid)
{
    unsigned long user, system;
    char path[64], text[1024], *p;
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    f = fopen(path, "re");
    if (!f || !fgets(text, sizeof(text), f))
        die(path, NULL);
    (void)fclose(f);
    p = strrchr(text, ')');
    if (!p ||
        sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        die(path, NULL);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static long rss_kib(int pid)
{
    char path[64], line[256];
    long kib = -1;
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (f)
        (void)fclose(f);
    return kib;
}

static void run_for(int64_t ms)
{
    for (int64_t end = sv_now_ms() + ms; peer_pause(end, TICK_US / 1000);)
        ;
}

/* ---- Nodes ---- */

static void beat(struct node *n);

static void on_registered(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    const RegisterResponse *m = (const void *)r->response;
    struct node *n = userdata;

    if (r->status < 0)
        die("registerNodeManager", err);
    if (m->nodeaction != HADOOP__YARN__NODE_ACTION_PROTO__NORMAL)
        die("registerNodeManager: refused", NULL);
    peer_take_keys(m->container_token_master_key, m->nm_token_master_key);
    g.open--;
    beat(n);
}

static void register_node(struct node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    n->peer.rm = peer_open(PEER_TRACKER, "yarn", NULL);
    peer_send(n->peer.rm, "registerNodeManager", peer_registration(a, &n->peer), on_registered, n);
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
    const HeartbeatResponse *m = (const void *)r->response;
    struct node *n = userdata;

    if (r->status < 0)
        die("nodeHeartbeat", err);
    if (m->has_nodeaction && m->nodeaction != HADOOP__YARN__NODE_ACTION_PROTO__NORMAL)
        die("nodeHeartbeat: to register again", NULL);
    n->peer.response_id = m->response_id;
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

    n->busy = true;
    n->sent_us = now_us();
    g.open++;
    peer_send(n->peer.rm, "nodeHeartbeat", peer_heartbeat(a, &n->peer), on_beat, n);
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

    if (sd_event_add_time_relative(peer.event, &tick, CLOCK_MONOTONIC, 0, 1, on_tick, NULL) < 0)
        die("timer", NULL);
    return tick;
}

static void add_nodes(void)
{
    g.nodes = calloc(g.n_nodes, sizeof(*g.nodes));
    if (!g.nodes)
        die("memory", NULL);
    for (size_t i = 0; i < g.n_nodes; i++) {
        g.nodes[i].peer.id = (struct yarn_node_id){ "127.0.0.1", (int32_t)(PORT_FIRST + i) };
        register_node(&g.nodes[i]);
        while (g.open >= WINDOW)
            (void)peer_pause(0, TICK_US / 1000);
    }
}

static void drain(void)
{
    g.stopping = true;
    while (g.open > 0)
        (void)peer_pause(0, TICK_US / 1000);
    g.stopping = false;
}

/* ---- Masters ---- */

static void register_master(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    (void)peer_good(peer_register_master(a, &m->am, ""));
}

static void add_masters(void)
{
    struct ipc_client *c = peer_open(PEER_CLIENTS, "ann", NULL);
    int64_t end = peer_deadline();

    g.masters = calloc(g.n_masters, sizeof(*g.masters));
    if (!g.masters)
        die("memory", NULL);
    for (size_t i = 0; i < g.n_masters; i++)
        peer_submit_unmanaged(c, &g.masters[i].am, "rm-load");
    for (size_t i = 0; i < g.n_masters; i++) {
        while (!peer_reported_token(c, &g.masters[i].am))
            if (!peer_pause(end, 20))
                die("no AMRMToken in an application's report", NULL);
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
    const AllocateResponse *resp = (const void *)r->response;
    struct master *m = userdata;
    uint64_t pause = g.restart ? PATIENT_PAUSE_US : PAUSE_US;
    int e = 0;

    if (r->status < 0)
        die("allocate", err);
    g.open--;
    m->am.response_id = resp->response_id;
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
        e = sd_event_add_time_relative(peer.event, &m->pause, CLOCK_MONOTONIC, pause, 1, on_pause,
                                       m);
    else if ((e = sd_event_source_set_time_relative(m->pause, pause)) >= 0)
        e = sd_event_source_set_enabled(m->pause, SD_EVENT_ONESHOT);
    if (e < 0)
        die("timer", NULL);
}

static void allocate(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    AllocateRequest *q = peer_request(a, "allocate");
    ResourceRequest *ask;

    q->has_response_id = q->has_progress = true;
    q->response_id = m->am.response_id;
    q->release = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, m->n_got + 1);
    for (size_t i = 0; i < m->n_got; i++)
        q->release[q->n_release++] = yarn_container_id_to(a, m->got[i]);
    m->n_got = 0;
    if (m->again) {
        ask = peer_ask(a, "*", (struct yarn_resource){ 1024, 1, 0 }, ASK);
        q->ask = &ask;
        q->n_ask = 1;
        m->waits = ASK;
        m->asked_us = now_us();
        m->again = false;
    }
    g.open++;
    peer_send(m->am.rm, "allocate", q, on_allocated, m);
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
    if (sd_event_add_time_relative(peer.event, &pace, CLOCK_MONOTONIC, 0, 1, on_pace, NULL) < 0)
        die("timer", NULL);
    run_for(ms);
    sd_event_source_disable_unref(pace);
    sd_event_source_disable_unref(tick);
    drain();
}

/* ---- Restart ---- */

static void ask_all(void)
{
    int64_t end = peer_deadline();

    for (size_t i = 0; i < g.n_masters; i++) {
        g.masters[i].again = true;
        g.masters[i].waits = g.masters[i].am.response_id = 0;
        g.masters[i].n_got = 0;
        allocate(&g.masters[i]);
    }
    while (g.n_served < g.n_masters)
        if (!peer_pause(end, 10))
            die("a master got no container", NULL);
    drain();
}

static void hang_up(void)
{
    for (size_t i = 0; i < g.n_nodes; i++)
        ipc_client_free(g.nodes[i].peer.rm);
    for (size_t i = 0; i < g.n_masters; i++) {
        g.masters[i].am.rm = ipc_client_free(g.masters[i].am.rm);
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
    uint64_t v[5];
    long rss;

    sv_log_init("rm-load");
    peer.name = "rm-load: ";
    peer.errors = stderr;
    g.restart = argc == 8 && sv_streq(argv[7], "restart");
    for (int i = 0; i < (g.restart ? 3 : 5); i++)
        if ((!g.restart && argc != 9) || sv_parse_u64(argv[i + 4], 1, INT32_MAX, &v[i]) < 0)
            die("usage: CLIENT_PORT TRACKER_PORT AM_PORT PID NODES MASTERS "
                "{IDLE_MS ALLOCATE_MS | restart}",
                NULL);
    peer_start(argv + 1, 3);
    g.pid = (int)v[0];
    g.n_nodes = v[1];
    g.n_masters = v[2];
    if (g.n_nodes > 65535 - PORT_FIRST)
        die("NODES", NULL);
    add_nodes();
    drain();
    if (g.restart) {
        restart();
        return EXIT_SUCCESS;
    }
    (void)idle(1000); /* the JVM compiles */
    rss = rss_kib(g.pid);
    idle_s = (double)v[3] / 1e3;
    beats = idle((int64_t)v[3]);
    beat_p99 = quantile_ms(&g.beat_us, 0.99);
    printf("{\"heartbeats_per_cpu_s\": %.0f, \"heartbeats_per_s\": %.0f, \"heartbeat_p99_ms\": "
           "%.2f, \"rss_mib\": %.1f, ",
           beats, (double)g.beats / idle_s, beat_p99, (double)rss / 1024);
    given = allocations((int64_t)v[4]);
    printf("\"containers_per_cpu_s\": %.0f, \"containers_per_s\": %.0f, \"ask_p50_ms\": %.2f, "
           "\"ask_p99_ms\": %.2f, \"loaded_heartbeat_p99_ms\": %.2f, \"loaded_rss_mib\": %.1f, ",
           given, (double)g.containers * 1e3 / (double)v[4], quantile_ms(&g.ask_us, 0.5),
           quantile_ms(&g.ask_us, 0.99), quantile_ms(&g.beat_us, 0.99),
           (double)rss_kib(g.pid) / 1024);
    paced((int64_t)v[4]);
    printf("\"paced_ask_p50_ms\": %.2f, \"paced_ask_p99_ms\": %.2f, \"paced_heartbeat_p99_ms\": "
           "%.2f}\n",
           quantile_ms(&g.ask_us, 0.5), quantile_ms(&g.ask_us, 0.99),
           quantile_ms(&g.beat_us, 0.99));
    return EXIT_SUCCESS;
}
