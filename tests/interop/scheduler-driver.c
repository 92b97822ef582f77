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
 *     app NAME USER QUEUE MEM,VCORES PRIORITY      submits; the state that follows
 *     master NAME                  waits for the start of its master and registers it: its node
 *     ask NAME PRIORITY ID MEM,VCORES COUNT PLACE...     PLACE: *, nK, /RACK; with a ! not relaxed
 *     take NAME                    a heartbeat of the master
 *     release NAME INDEX...        of what it was given, from 1 on in the order of their ids
 *     end NAME INDEX...            their nodes will report them as complete; 0 is the master
 *     black NAME nK, white NAME nK its blacklist
 *     used NAME                    containers and memory that the ResourceManager counts for it
 *     room NAME                    the headroom of its last answer
 *     preempted NAME COUNT         takes until so many have ended with -102, beating its nodes
 *     finish NAME, kill NAME       the end
 *     priority NAME N, move NAME QUEUE, refresh   by client and operator: "ok" or "refused"
 *
 * ask, take and release answer what is new: "nK:MEM,VCORES@PRIORITY ...", "ended INDEX(EXIT) ...".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "common/clock.h"
#include "common/str.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

#define NODES 10
#define APPS 64
#define HELD 1000
#define WORDS 20
#define PATIENCE_MS 60000 /* for hangs alone */

#define OTHERS 2 /* types of resources beside memory and vcores, where the scenario has them */

struct size {
    struct yarn_resource base;
    int64_t other[OTHERS];
    bool has[OTHERS];
};

struct held { /* a container; 0 of an application is its master's */
    struct yarn_container_id id;
    int node; /* 0 = none */
    struct size size;
    int32_t priority, exit, said; /* exit: in its node's report; said: in the master's answer */
    bool ended, acked;            /* for its node */
    bool told, fresh;             /* its master knows of its end; by the last answer */
};

struct app {
    char name[32];
    struct yarn_app_id id;
    struct ipc_client *master;
    uint8_t token_id[1024], password[64];
    struct yarn_token token;
    int32_t response_id;
    struct size room;
    struct held held[HELD];
    size_t n; /* 0: its master has not started */
};

struct node {
    struct ipc_server *server;
    struct ipc_client *rm;
    struct yarn_node_id id;
    int32_t response_id;
};

static struct {
    sd_event *event;
    uint16_t client_port, tracker_port, am_port, admin_port;
    struct yarn_master_key container_key, nm_key;
    struct node nodes[NODES];
    struct app apps[APPS];
    int n_apps;
    char answer[65536];
    size_t len;
} g;

static void answer(const char *fmt, ...) _printf_(1, 2);
static void answer(const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(g.answer + g.len, sizeof(g.answer) - g.len, fmt, ap);
    va_end(ap);
    g.len = SV_MIN(g.len + (size_t)SV_MAX(n, 0), sizeof(g.answer) - 1);
}

static void die(const char *what, const struct sv_error *err)
{
    printf("driver: %s: %s\n", what, err ? err->text : "");
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
                                     .call_ms = PATIENCE_MS };
    struct sv_error err = { 0 };
    struct ipc_client *c;

    if (ipc_client_new(g.event, &cfg, &c, &err) < 0)
        die("ipc_client_new", &err);
    return c;
}

/* NULL: the ResourceManager refuses. */
static const void *call(struct sv_arena *a, struct ipc_client *c, const char *method,
                        const ProtobufCMessage *q, const ProtobufCMessageDescriptor *d)
{
    ProtobufCMessage *m = NULL;
    const char *class = "";
    struct sv_error err = { 0 };

    if (ipc_client_call_sync(c, method, q, d, a, &m, &class, &err) >= 0)
        return m;
    if (!class || !*class)
        die(method, &err);
    fprintf(stderr, "%s: %s: %s\n", method, class, err.text);
    return NULL;
}

static const void *must(struct sv_arena *a, struct ipc_client *c, const char *method,
                        const ProtobufCMessage *q, const ProtobufCMessageDescriptor *d)
{
    const void *m = call(a, c, method, q, d);

    if (!m)
        die(method, NULL);
    return m;
}

/* ---------------------------------------------------------------------- words */

static struct app *app_named(const char *name)
{
    for (int i = 0; i < g.n_apps; i++)
        if (sv_streq(g.apps[i].name, name))
            return &g.apps[i];
    die("no such application", NULL);
    return NULL;
}

static int node_number(const char *name)
{
    int64_t n = 0;

    if (name[0] != 'n' || sv_parse_i64(name + 1, 1, NODES - 1, &n) < 0)
        die("not a node", NULL);
    return (int)n;
}

static int64_t number(const char *text)
{
    int64_t n = 0;

    if (!text || sv_parse_i64(text, -1, INT32_MAX, &n) < 0)
        die("not a number", NULL);
    return n;
}

static char *text_of(const char *s)
{
    return (char *)(uintptr_t)s;
}

static const char *const others[OTHERS] = { "yarn.io/gpu", "licenses" };

static Hadoop__Yarn__ResourceProto *size_of(struct sv_arena *a, const char *text)
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
            sv_new(a, Hadoop__Yarn__ResourceInformationProto);

        hadoop__yarn__resource_information_proto__init(e);
        e->key = text_of(others[i]);
        e->has_value = true;
        e->value = other[i];
        m->resource_value_map[m->n_resource_value_map++] = e;
    }
    return m;
}

/* As it is on the wire: Apache's are negative where there is less than none. */
static struct size raw_size(const Hadoop__Yarn__ResourceProto *m)
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

static void answer_size(struct size s)
{
    answer("%" PRId64 ",%d", s.base.memory_mb, s.base.vcores);
    for (int k = 0; k < OTHERS; k++)
        if (s.has[k])
            answer(",%" PRId64, s.other[k]);
}

/* ---------------------------------------------- methods that a ResourceManager calls at a node */

static void take_token(struct app *app, const Hadoop__Yarn__ContainerLaunchContextProto *clc)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials cred = { 0 };

    if (yarn_credentials_parse(clc->tokens.data, clc->tokens.len, a, &cred, NULL) < 0)
        return;
    for (size_t i = 0; i < cred.n_tokens; i++) {
        const struct yarn_token *t = &cred.tokens[i].token;

        if (!sv_streq(t->kind, YARN_KIND_AMRM) || t->id_len > sizeof(app->token_id) ||
            t->password_len > sizeof(app->password))
            continue;
        memcpy(app->token_id, t->id, t->id_len);
        memcpy(app->password, t->password, t->password_len);
        app->token = (struct yarn_token){ app->token_id,   t->id_len,      app->password,
                                          t->password_len, YARN_KIND_AMRM, "" };
    }
}

static void on_startContainers(struct ipc_call *c, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Yarn__StartContainersRequestProto *q =
        (const Hadoop__Yarn__StartContainersRequestProto *)request;
    Hadoop__Yarn__StartContainersResponseProto resp =
        HADOOP__YARN__START_CONTAINERS_RESPONSE_PROTO__INIT;
    const struct node *node = userdata;
    struct yarn_container_token id;

    if (q->n_start_container_request != 1 ||
        yarn_container_token_decode(q->start_container_request[0]->container_token->identifier.data,
                                    q->start_container_request[0]->container_token->identifier.len,
                                    &id, NULL) < 0)
        die("startContainers", NULL);
    for (int i = 0; i < g.n_apps; i++) {
        struct app *app = &g.apps[i];

        if (yarn_app_id_cmp(app->id, id.container.attempt.app) != 0 || app->n > 0)
            continue;
        take_token(app, q->start_container_request[0]->container_launch_context);
        app->held[0].id = id.container;
        app->held[0].node = (int)(node - g.nodes);
        app->n = 1;
    }
    ipc_call_reply(c, &resp.base);
}

static void on_stopContainers(struct ipc_call *c, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Yarn__StopContainersResponseProto resp =
        HADOOP__YARN__STOP_CONTAINERS_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    ipc_call_reply(c, &resp.base);
}

static int verify_nm_token(const uint8_t *id, size_t len, uint8_t ret[64], size_t *ret_len,
                           char user[256], const char **class, struct sv_error *err, void *data)
{
    struct yarn_nm_token t;
    int r = yarn_nm_token_decode(id, len, &t, err);

    (void)class;
    (void)data;
    if (r < 0)
        return r;
    yarn_attempt_id_text(t.attempt, user);
    return yarn_token_password(YARN_HMAC_SHA1, &g.nm_key, id, len, ret, ret_len);
}

static const struct ipc_method nm_methods[] = {
    { "startContainers", &hadoop__yarn__start_containers_request_proto__descriptor,
      &hadoop__yarn__start_containers_response_proto__descriptor, on_startContainers },
    { "stopContainers", &hadoop__yarn__stop_containers_request_proto__descriptor,
      &hadoop__yarn__stop_containers_response_proto__descriptor, on_stopContainers },
};
static const struct ipc_protocol nm_protocol = { YARN_CONTAINER_MANAGEMENT_PROTOCOL, 1, nm_methods,
                                                 SV_ARRAY_LEN(nm_methods) };
static const struct ipc_protocol *const nm_protocols[] = { &nm_protocol, NULL };

/* ----------------------------------------------------------------------- nodes */

static void take_key(const Hadoop__Yarn__MasterKeyProto *m, struct yarn_master_key *k)
{
    if (!m || m->bytes.len > sizeof(k->bytes))
        return;
    k->key_id = m->key_id;
    k->len = m->bytes.len;
    memcpy(k->bytes, m->bytes.data, m->bytes.len);
}

static void cmd_node(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__RegisterNodeManagerResponseProto *resp;
    struct node *n = &g.nodes[node_number(w[1])];
    struct ipc_server_config cfg = { .host = n->id.host,
                                     .verify_token = verify_nm_token,
                                     .protocols = nm_protocols,
                                     .userdata = n };
    struct sv_error err = { 0 };

    (void)snprintf(n->id.host, sizeof(n->id.host), "127.0.1.%d", (int)(n - g.nodes));
    if (!n->server && ipc_server_new(g.event, &cfg, &n->server, &err) < 0)
        die("server of a node", &err);
    n->id.port = ipc_server_port(n->server);
    if (!n->rm)
        n->rm = open_client(g.tracker_port, YARN_RESOURCE_TRACKER_PROTOCOL, "yarn", NULL);
    q.node_id = yarn_node_id_to(a, &n->id);
    q.has_http_port = true;
    q.http_port = 8042;
    q.resource = size_of(a, w[2]);
    q.nm_version = text_of("3.4.2");
    resp = must(a, n->rm, "registerNodeManager", &q.base,
                &hadoop__yarn__register_node_manager_response_proto__descriptor);
    take_key(resp->container_token_master_key, &g.container_key);
    take_key(resp->nm_token_master_key, &g.nm_key);
    n->response_id = 0;
    answer(resp->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__NORMAL ? "ok" : "refused");
}

static void cmd_remove(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UnRegisterNodeManagerRequestProto q =
        HADOOP__YARN__UN_REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    struct node *n = &g.nodes[node_number(w[1])];

    q.node_id = yarn_node_id_to(a, &n->id);
    (void)must(a, n->rm, "unRegisterNodeManager", &q.base,
               &hadoop__yarn__un_register_node_manager_response_proto__descriptor);
    for (int i = 0; i < g.n_apps; i++)
        for (size_t k = 0; k < g.apps[i].n; k++)
            if (g.apps[i].held[k].node == n - g.nodes)
                g.apps[i].held[k].acked = true;
    answer("ok");
}

static struct held *held_of(const Hadoop__Yarn__ContainerIdProto *m)
{
    struct yarn_container_id id;

    if (yarn_container_id_from(m, &id) < 0)
        return NULL;
    for (int i = 0; i < g.n_apps; i++)
        for (size_t k = 0; k < g.apps[i].n; k++)
            if (yarn_container_id_cmp(g.apps[i].held[k].id, id) == 0)
                return &g.apps[i].held[k];
    return NULL;
}

static void report_held(struct sv_arena *a, Hadoop__Yarn__NodeStatusProto *st, int node)
{
    st->containersstatuses = sv_newn(a, Hadoop__Yarn__ContainerStatusProto *, (size_t)HELD * 4);
    for (int i = 0; i < g.n_apps; i++)
        for (size_t k = 0; k < g.apps[i].n; k++) {
            const struct held *h = &g.apps[i].held[k];
            Hadoop__Yarn__ContainerStatusProto *m = sv_new(a, Hadoop__Yarn__ContainerStatusProto);

            if (h->node != node || h->acked || st->n_containersstatuses == (size_t)HELD * 4)
                continue;
            hadoop__yarn__container_status_proto__init(m);
            m->container_id = yarn_container_id_to(a, h->id);
            m->has_state = m->has_exit_status = true;
            m->state = h->ended ? HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE
                                : HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
            m->exit_status = h->ended ? h->exit : -1000;
            m->diagnostics = text_of("");
            st->containersstatuses[st->n_containersstatuses++] = m;
        }
}

static void take_cleanup(const Hadoop__Yarn__NodeHeartbeatResponseProto *resp)
{
    for (size_t i = 0; i < resp->n_containers_to_be_removed_from_nm; i++) {
        struct held *h = held_of(resp->containers_to_be_removed_from_nm[i]);

        if (h)
            h->acked = true;
    }
    for (size_t i = 0; i < resp->n_containers_to_cleanup; i++) {
        struct held *h = held_of(resp->containers_to_cleanup[i]);

        if (h && !h->ended) {
            h->ended = true;
            h->exit = 143;
        }
    }
}

static void beat(int number)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__NodeHeartbeatRequestProto q = HADOOP__YARN__NODE_HEARTBEAT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeStatusProto st = HADOOP__YARN__NODE_STATUS_PROTO__INIT;
    Hadoop__Yarn__NodeHealthStatusProto health = HADOOP__YARN__NODE_HEALTH_STATUS_PROTO__INIT;
    Hadoop__Yarn__MasterKeyProto ck = HADOOP__YARN__MASTER_KEY_PROTO__INIT, nk = ck;
    const Hadoop__Yarn__NodeHeartbeatResponseProto *resp;
    struct node *n = &g.nodes[number];

    health.has_is_node_healthy = health.is_node_healthy = true;
    health.has_last_health_report_time = true;
    health.health_report = text_of("");
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
    report_held(a, &st, number);
    resp = must(a, n->rm, "nodeHeartbeat", &q.base,
                &hadoop__yarn__node_heartbeat_response_proto__descriptor);
    take_key(resp->container_token_master_key, &g.container_key);
    take_key(resp->nm_token_master_key, &g.nm_key);
    take_cleanup(resp);
    n->response_id = resp->response_id;
}

static void cmd_beat(char **w)
{
    beat(node_number(w[1]));
    answer("ok");
}

#include "tests/interop/scheduler-driver-apps.h"

/* -------------------------------------------------------------------- commands */

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
    { "move", 3, cmd_move },     { "refresh", 1, cmd_refresh },
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

    if (argc != 5 || sd_event_new(&g.event) < 0)
        return EXIT_FAILURE;
    g.client_port = (uint16_t)number(argv[1]);
    g.tracker_port = (uint16_t)number(argv[2]);
    g.am_port = (uint16_t)number(argv[3]);
    g.admin_port = (uint16_t)number(argv[4]);
    while (getline(&line, &cap, stdin) > 0)
        run(line);
    free(line);
    return EXIT_SUCCESS;
}
