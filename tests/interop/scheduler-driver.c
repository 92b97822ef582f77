/* Plays NodeManagers, clients and ApplicationMasters around a ResourceManager over Hadoop's
 * protocols, one command a line of standard input, one line of answer each: what
 * tests/interop/scenarios.py compares between Apache's ResourceManager and selvedge-rm.
 *
 *     scheduler-driver CLIENT_PORT TRACKER_PORT AM_PORT ADMIN_PORT
 *
 * MEM,VCORES may go on with the GPUs and licenses (yarn.resource-types=yarn.io/gpu,licenses); so do
 * answers then.
 *
 *     node nK MEM,VCORES           registers the node 127.0.1.K
 *     rack nK                      its rack, as a client is told
 *     remove nK                    unregisters it
 *     beat nK [TIMES]              heartbeats with the states of its containers
 *     sick nK, well nK             its heartbeats say so from now on; this is the first
 *     drain                        the nodes of the exclude list are decommissioned gracefully
 *     app NAME USER QUEUE MEM,VCORES PRIORITY      submits; the state that follows
 *     master NAME                  waits for the start of its master and registers it: its node
 *     ask NAME PRIORITY ID MEM,VCORES COUNT PLACE...     PLACE: *, nK, /RACK; with a ! not relaxed
 *     apart NAME ID MEM,VCORES COUNT TAG     SchedulingRequest of priority 1: no node has two of a
 * tag take NAME                    a heartbeat of the master release NAME INDEX...        of what
 * it was given, from 1 on in the order of their ids update NAME INDEX MEM,VCORES   of a running
 * one: an increase if it is more of any, else a decrease end NAME INDEX...            their nodes
 * will report them as complete; 0 is the master black NAME nK, white NAME nK its blacklist used
 * NAME                    containers and memory that the ResourceManager counts for it room NAME
 * the headroom of its last answer preempted NAME COUNT         takes until so many have ended with
 * -102, beating its nodes finish NAME, kill NAME       the end priority NAME N, move NAME QUEUE,
 * refresh   by client and operator: "ok" or "refused"
 *
 * ask, take, release and update answer what is new: "nK:MEM,VCORES@PRIORITY ...", "ended
 * INDEX(EXIT) ...", "updated INDEX:MEM,VCORES@VERSION ...", "error INDEX:REASON ...".
 */
#include "tests/interop/scheduler-driver.h"

#include <inttypes.h>
#include <stdarg.h>

struct driver g;

void answer(const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(g.answer + g.len, sizeof(g.answer) - g.len, fmt, ap);
    va_end(ap);
    g.len = SV_MIN(g.len + (size_t)SV_MAX(n, 0), sizeof(g.answer) - 1);
}

/* ---- Words ---- */

struct app *app_named(const char *name)
{
    for (int i = 0; i < g.n_apps; i++)
        if (sv_streq(g.apps[i].name, name))
            return &g.apps[i];
    die("no such application", NULL);
}

int node_number(const char *name)
{
    int64_t n = 0;

    if (name[0] != 'n' || sv_parse_i64(name + 1, 1, NODES - 1, &n) < 0)
        die("not a node", NULL);
    return (int)n;
}

int64_t number(const char *text)
{
    int64_t n = 0;

    if (!text || sv_parse_i64(text, -1, INT32_MAX, &n) < 0)
        die("not a number", NULL);
    return n;
}

static const char *const others[OTHERS] = { "yarn.io/gpu", "licenses" };

Hadoop__Yarn__ResourceProto *size_of(struct sv_arena *a, const char *text)
{
    Hadoop__Yarn__ResourceProto *m;
    long long mem, other[OTHERS] = { 0 };
    int vcores, n = sscanf(text, "%lld,%d,%lld,%lld", &mem, &vcores, &other[0], &other[1]);

    if (n < 2)
        die("not MEM,VCORES", NULL);
    m = yarn_resource_to(a, (struct yarn_resource){ mem, vcores, 0 });
    m->resource_value_map = sv_newn(a, Hadoop__Yarn__ResourceInformationProto *, OTHERS);
    for (int i = 0; i < n - 2; i++) {
        Hadoop__Yarn__ResourceInformationProto *e =
            PEER_NEW(a, hadoop__yarn__resource_information_proto);

        e->key = peer_text(others[i]);
        e->has_value = true;
        e->value = other[i];
        m->resource_value_map[m->n_resource_value_map++] = e;
    }
    return m;
}

struct size raw_size(const Hadoop__Yarn__ResourceProto *m)
{
    struct size s = { 0 };

    if (!m)
        return s;
    s.base = (struct yarn_resource){ m->memory, m->virtual_cores, 0 };
    for (size_t i = 0; i < m->n_resource_value_map; i++)
        for (int k = 0; k < OTHERS; k++)
            if (sv_streq(m->resource_value_map[i]->key, others[k])) {
                s.other[k] = m->resource_value_map[i]->value;
                s.has[k] = true;
            }
    return s;
}

void answer_size(struct size s)
{
    answer("%" PRId64 ",%d", s.base.memory_mb, s.base.vcores);
    for (int k = 0; k < OTHERS; k++)
        if (s.has[k])
            answer(",%" PRId64, s.other[k]);
}

/* ---- Calls ---- */

static struct ipc_client *client_of(const char *user)
{
    return peer_open(PEER_CLIENTS, user, NULL);
}

void tell_refusal(void)
{
    if (!*peer.class)
        die(peer.method, &peer.err);
    fprintf(stderr, "%s: %s: %s\n", peer.method, peer.class, peer.err.text);
}

static const void *call(struct sv_arena *a, struct ipc_client *c, const char *method, const void *q)
{
    const void *m = peer_call(a, c, method, q);

    if (!m)
        tell_refusal();
    return m;
}

/* One call whose answer is "ok" or "refused". */
static void call_as(enum peer_service service, const char *method, const void *q)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct ipc_client *c = peer_open(service, "yarn", NULL);

    answer(call(a, c, method, q) ? "ok" : "refused");
    ipc_client_free(c);
}

const ApplicationReport *report(struct sv_arena *a, const struct app *app)
{
    static struct ipc_client *c;

    if (!c)
        c = client_of("yarn");
    return peer_report(a, c, app->master.app);
}

/* ---- Nodes ---- */

static void on_start(struct peer_node *n, struct yarn_container_id id,
                     const Hadoop__Yarn__ContainerLaunchContextProto *launch)
{
    for (int i = 0; i < g.n_apps; i++) {
        struct app *app = &g.apps[i];

        if (yarn_app_id_cmp(app->master.app, id.attempt.app) != 0 || app->n > 0)
            continue;
        peer_launch_token(&app->master, launch);
        app->held[0] = (struct held){ .id = id, .node = (int)(n - g.nodes) };
        app->n = 1;
    }
}

static void cmd_node(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const int k = node_number(w[1]);
    struct peer_node *n = &g.nodes[k];
    const RegisterResponse *resp;
    RegisterRequest *q;
    char host[16];

    (void)snprintf(host, sizeof(host), "127.0.1.%d", k);
    if (!n->server)
        peer_serve(n, host);
    q = peer_registration(a, n);
    q->resource = size_of(a, w[2]);
    q->n_container_statuses = 0; /* its heartbeats tell */
    resp = peer_good(peer_register(a, n, q));
    answer(resp->nodeaction == NODE_ACTION(NORMAL) ? "ok" : "refused");
}

static void cmd_rack(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__GetClusterNodesResponseProto *resp;
    struct ipc_client *c = client_of("yarn");

    resp = peer_must(a, c, "getClusterNodes", NULL);
    for (size_t i = 0; i < resp->n_nodereports; i++)
        if (sv_streq(resp->nodereports[i]->nodeid->host, g.nodes[node_number(w[1])].id.host))
            answer("%s", resp->nodereports[i]->rackname);
    ipc_client_free(c);
}

static void cmd_remove(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UnRegisterNodeManagerRequestProto *q = peer_request(a, "unRegisterNodeManager");
    struct peer_node *n = &g.nodes[node_number(w[1])];

    q->node_id = yarn_node_id_to(a, &n->id);
    (void)peer_must(a, n->rm, "unRegisterNodeManager", q);
    n->n_held = 0;
    answer("ok");
}

static void cmd_beat(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const int k = node_number(w[1]);
    HeartbeatRequest *q = peer_heartbeat(a, &g.nodes[k]);

    q->node_status->nodehealthstatus->is_node_healthy = !g.sick[k];
    (void)peer_good(peer_beat_with(a, &g.nodes[k], q));
    answer("ok");
}

static void cmd_sick(char **w)
{
    g.sick[node_number(w[1])] = sv_streq(w[0], "sick");
    cmd_beat(w);
}

/* ---- Clients and operators ---- */

static Hadoop__Yarn__PriorityProto *priority_of(struct sv_arena *a, const char *text)
{
    Hadoop__Yarn__PriorityProto *m = PEER_NEW(a, hadoop__yarn__priority_proto);

    m->has_priority = true;
    m->priority = (int32_t)number(text);
    return m;
}

/* NULL: on its way. */
static const char *state_name(const ApplicationReport *m)
{
    static const char *const names[] = {
        [APP_STATE(ACCEPTED)] = "ACCEPTED", [APP_STATE(RUNNING)] = "RUNNING",
        [APP_STATE(FINISHED)] = "FINISHED", [APP_STATE(FAILED)] = "FAILED",
        [APP_STATE(KILLED)] = "KILLED",
    };
    size_t state = (size_t)m->yarn_application_state;

    return state < SV_ARRAY_LEN(names) ? names[state] : NULL;
}

static void cmd_app(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__SubmitApplicationRequestProto *q = peer_request(a, "submitApplication");
    struct app *app = &g.apps[g.n_apps++];
    struct ipc_client *c = client_of(w[2]);
    SubmissionContext *m = peer_submission(a, c, &app->master.app);
    const char *state = NULL;

    if (g.n_apps == APPS)
        die("too many applications", NULL);
    (void)snprintf(app->name, sizeof(app->name), "%s", w[1]);
    m->application_name = w[1];
    m->queue = w[3];
    m->resource = size_of(a, w[4]);
    m->has_maxappattempts = true;
    m->maxappattempts = 1;
    m->priority = priority_of(a, w[5]);
    q->application_submission_context = m;
    if (!call(a, c, "submitApplication", q)) {
        answer("refused");
    } else {
        while (!(state = state_name(report(a, app))))
            (void)peer_pause(0, 5);
        answer("%s in %s", state, report(a, app)->queue);
    }
    ipc_client_free(c);
}

static void cmd_used(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const ApplicationReport *m = report(a, app_named(w[1]));
    const Hadoop__Yarn__ApplicationResourceUsageReportProto *u = m->app_resource_usage;

    answer("%d of ", SV_MAX(u->num_used_containers, 0));
    answer_size(raw_size(u->used_resources));
    if (u->num_reserved_containers > 0) {
        answer(" reserved %d of ", u->num_reserved_containers);
        answer_size(raw_size(u->reserved_resources));
    }
}

static void cmd_kill(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__KillApplicationRequestProto *q = peer_request(a, "forceKillApplication");
    const Hadoop__Yarn__KillApplicationResponseProto *resp;
    struct app *app = app_named(w[1]);
    struct ipc_client *c = client_of(w[2] ? w[2] : "yarn");

    q->application_id = yarn_app_id_to(a, app->master.app);
    do {
        resp = call(a, c, "forceKillApplication", q);
        (void)peer_pause(0, 5);
    } while (resp && !resp->is_kill_completed);
    answer(resp ? "ok" : "refused");
    ipc_client_free(c);
}

static void cmd_priority(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UpdateApplicationPriorityRequestProto *q =
        peer_request(a, "updateApplicationPriority");

    q->applicationid = yarn_app_id_to(a, app_named(w[1])->master.app);
    q->applicationpriority = priority_of(a, w[2]);
    call_as(PEER_CLIENTS, "updateApplicationPriority", q);
}

static void cmd_move(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__MoveApplicationAcrossQueuesRequestProto *q =
        peer_request(a, "moveApplicationAcrossQueues");

    q->application_id = yarn_app_id_to(a, app_named(w[1])->master.app);
    q->target_queue = w[2];
    call_as(PEER_CLIENTS, "moveApplicationAcrossQueues", q);
}

static void cmd_refresh(char **w)
{
    (void)w;
    call_as(PEER_ADMIN, "refreshQueues", NULL);
}

static void cmd_drain(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RefreshNodesRequestProto *q = peer_request(a, "refreshNodes");

    (void)w;
    q->has_decommissiontype = q->has_decommissiontimeout = true;
    q->decommissiontype = HADOOP__YARN__DECOMMISSION_TYPE_PROTO__GRACEFUL;
    q->decommissiontimeout = 600;
    call_as(PEER_ADMIN, "refreshNodes", q);
}

/* ---- Commands ---- */

static const struct {
    const char *name;
    int words; /* at least */
    void (*run)(char **w);
} commands[] = {
    { "node", 3, cmd_node },     { "rack", 2, cmd_rack },       { "remove", 2, cmd_remove },
    { "beat", 2, cmd_beat },     { "app", 6, cmd_app },         { "master", 2, cmd_master },
    { "ask", 7, cmd_ask },       { "take", 2, cmd_take },       { "release", 3, cmd_release },
    { "end", 3, cmd_end },       { "black", 3, cmd_black },     { "white", 3, cmd_black },
    { "used", 2, cmd_used },     { "room", 2, cmd_room },       { "preempted", 3, cmd_preempted },
    { "finish", 2, cmd_finish }, { "kill", 2, cmd_kill },       { "priority", 3, cmd_priority },
    { "move", 3, cmd_move },     { "refresh", 1, cmd_refresh }, { "update", 4, cmd_update },
    { "sick", 2, cmd_sick },     { "well", 2, cmd_sick },       { "drain", 1, cmd_drain },
    { "apart", 6, cmd_apart },
};

static void run(char *line)
{
    char *w[WORDS + 1] = { 0 }, *rest = line, *one;
    int n = 0;

    while ((one = strsep(&rest, " \n")))
        if (*one && n < WORDS)
            w[n++] = one;
    for (size_t i = 0; n > 0 && i < SV_ARRAY_LEN(commands); i++)
        if (sv_streq(commands[i].name, w[0]) && n >= commands[i].words) {
            g.len = 0;
            commands[i].run(w);
            printf("%.*s\n", (int)g.len, g.answer);
            (void)fflush(stdout);
            return;
        }
    die("not a command, or words are missing", NULL);
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t cap = 0;

    if (argc != 5)
        return EXIT_FAILURE;
    peer.name = "driver: ";
    peer.patience_ms = 60000;
    peer.on_start = on_start;
    peer_start(argv + 1, 4);
    while (getline(&line, &cap, stdin) > 0)
        run(line);
    free(line);
    return EXIT_SUCCESS;
}
