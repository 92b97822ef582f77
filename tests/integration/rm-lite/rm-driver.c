/* Plays everything around a ResourceManager over real IPC: NodeManagers (their RPC server
 * included), a client and ApplicationMasters. Works with any ResourceManager that speaks Hadoop's
 * protocol.
 *
 *     rm-driver CLIENT_PORT TRACKER_PORT AM_PORT SCENARIO
 *
 * Each check is one line "ok TEXT" or "FAIL TEXT"; `restart` and `uam` print RESTART and wait for a
 * line on stdin while tests/integration/rm-lite/test-rm kills and starts the ResourceManager;
 * `page` prints PAUSE while its application runs, and $CROWD others wait. Masters register
 * $TRACKING_URL; applications are named $APP_NAME, and $MODIFY_ACL is their MODIFY_APP list. */
#include "tests/integration/rm-lite/rm-driver.h"

#include <math.h>

#include "common/log.h"

struct driver g;

void refused(struct ipc_client *c, const char *method, const void *q, const char *class,
             const char *text)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    bool refusal = !peer_call(a, c, method, q) && sv_streq(peer.class, class);

    check(refusal && strstr(peer.err.text, text), "%s is refused with %s: \"%s\" %s %s", method,
          class, text, peer.class, refusal ? "" : peer.err.text);
}

const char *variable(const char *name, const char *otherwise)
{
    return getenv(name) ? getenv(name) : otherwise;
}

void await_line(const char *word)
{
    char line[16];

    printf("%s\n", word);
    (void)fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        die("stdin", NULL);
}

/* ---- Nodes ---- */

static void on_start(struct peer_node *n, struct yarn_container_id id,
                     const Hadoop__Yarn__ContainerLaunchContextProto *launch)
{
    (void)n;
    g.master = id;
    g.starts++;
    for (size_t i = 0; i < launch->n_environment; i++) {
        const char *key = launch->environment[i]->key, *value = launch->environment[i]->value;

        if (sv_streq(key, "APPLICATION_WEB_PROXY_BASE"))
            (void)snprintf(g.env_base, sizeof(g.env_base), "%s", value);
        if (sv_streq(key, "APP_SUBMIT_TIME_ENV"))
            (void)snprintf(g.env_time, sizeof(g.env_time), "%s", value);
    }
    peer_launch_token(&g.am, launch);
}

struct peer_node *add_node(void)
{
    struct peer_node *n = &g.nodes[g.n_nodes++];

    peer_serve(n, "127.0.0.1");
    if (!peer_join(n))
        die("registerNodeManager: not NORMAL", NULL);
    return n;
}

/* Fills the report by NODE_HEALTH: "good" for a healthy node, else one with invalid numbers. */
static void fill_health(struct sv_arena *a, Hadoop__Yarn__NodeStatusProto *st)
{
    const char *report = getenv("NODE_HEALTH");
    bool good = sv_streq(report, "good");
    Hadoop__Yarn__ResourceUtilizationProto *use;

    if (!report)
        return;
    use = PEER_NEW(a, hadoop__yarn__resource_utilization_proto);
    use->has_pmem = use->has_vmem = use->has_cpu = true;
    use->pmem = good ? 8192 : INT32_MIN;
    use->cpu = good ? 16.5f : -NAN;
    st->node_utilization = use;
    st->containers_utilization = use;
    st->nodehealthstatus->health_report = peer_text(good ? "all is well" : report);
    st->nodehealthstatus->has_last_health_report_time = true;
    st->nodehealthstatus->last_health_report_time = good ? sv_wall_ms() - 5000 : INT64_MAX;
}

const HeartbeatResponse *beat_with(struct sv_arena *a, struct peer_node *n, int32_t response_id)
{
    HeartbeatRequest *q = peer_heartbeat(a, n);

    q->node_status->response_id = response_id;
    fill_health(a, q->node_status);
    return peer_good(peer_beat_with(a, n, q));
}

void beat(struct peer_node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    (void)beat_with(a, n, n->response_id);
}

void beat_all(void)
{
    for (int i = 0; i < g.n_nodes; i++)
        beat(&g.nodes[i]);
}

/* ---- Client ---- */

static Hadoop__Yarn__ApplicationACLMapProto *acl(struct sv_arena *a, int type, const char *list)
{
    Hadoop__Yarn__ApplicationACLMapProto *m = PEER_NEW(a, hadoop__yarn__application_aclmap_proto);

    m->has_accesstype = true;
    m->accesstype = (Hadoop__Yarn__ApplicationAccessTypeProto)type;
    m->acl = peer_text(list);
    return m;
}

struct yarn_app_id submit(const char *queue, int32_t attempts)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_app_id id;
    SubmissionContext *m = peer_submission(a, g.client, &id);
    Hadoop__Yarn__ApplicationACLMapProto *acls[] = {
        /* a user, and a group that each system has */
        acl(a, HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP, "eve daemon"),
        acl(a, HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP,
            variable("MODIFY_ACL", " ")),
    };

    m->am_container_spec->application_acls = acls;
    m->am_container_spec->n_application_acls = 2;
    m->application_name = peer_text(variable("APP_NAME", "driver"));
    m->queue = peer_text(queue);
    m->has_maxappattempts = true;
    m->maxappattempts = attempts;
    peer_submit(a, g.client, m);
    return id;
}

const ApplicationReport *report(struct sv_arena *a, struct yarn_app_id id)
{
    return peer_report(a, g.client, id);
}

bool wait_state(struct yarn_app_id id, int state)
{
    int64_t until = peer_deadline();

    do {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

        beat_all();
        if ((int)report(a, id)->yarn_application_state == state)
            return true;
    } while (peer_pause(until, 20));
    return false;
}

bool wait_start(int starts)
{
    for (int64_t until = peer_deadline(); g.starts < starts && peer_pause(until, 20);)
        beat_all();
    return g.starts >= starts;
}

/* ---- ApplicationMaster ---- */

const MasterRegistered *master_register(struct sv_arena *a, struct master *m)
{
    return peer_good(peer_register_master(a, &m->am, variable("TRACKING_URL", "")));
}

AllocateRequest *request(struct sv_arena *a, int32_t count, int64_t memory)
{
    AllocateRequest *q = peer_request(a, "allocate");

    q->ask = sv_newn(a, ResourceRequest *, 1);
    q->ask[q->n_ask++] = peer_ask(a, "*", (struct yarn_resource){ memory, 1, 0 }, count);
    return q;
}

static void place(const Hadoop__Yarn__ContainerProto *c)
{
    struct yarn_container_id id;
    struct yarn_node_id node;

    if (yarn_node_id_from(c->nodeid, &node) < 0 || yarn_container_id_from(c->id, &id) < 0)
        return;
    for (int k = 0; k < g.n_nodes; k++)
        if (g.nodes[k].id.port == node.port)
            peer_hold(&g.nodes[k], id);
}

const AllocateResponse *allocate(struct sv_arena *a, struct master *m, int32_t ask)
{
    AllocateRequest *q = ask >= 0 ? request(a, ask, 1024) : NULL;
    const AllocateResponse *resp = peer_good(peer_allocate(a, &m->am, q));

    for (size_t i = 0; i < resp->n_allocated_containers; i++) {
        const Hadoop__Yarn__ContainerProto *c = resp->allocated_containers[i];

        peer.bad_tokens += !peer_signed(c->container_token, &peer.container_key);
        place(c);
    }
    for (size_t i = 0; i < resp->n_nm_tokens; i++)
        peer.bad_tokens += !peer_signed(resp->nm_tokens[i]->token, &peer.nm_key);
    m->containers += resp->n_allocated_containers;
    m->done += resp->n_completed_container_statuses;
    for (size_t i = 0; i < resp->n_completed_container_statuses; i++)
        m->exits += resp->completed_container_statuses[i]->exit_status;
    return resp;
}

struct yarn_app_id begin(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const MasterRegistered *resp;
    int starts = g.starts;
    struct yarn_app_id id;

    if (g.n_nodes == 0)
        beat(add_node());
    id = submit("default", 1);
    check(wait_start(starts + 1), "the master's container is started on its node");
    *m = (struct master){ .am = g.am };
    resp = master_register(a, m);
    check(resp->maximumcapability && sv_streq(resp->queue, "root.default") &&
              resp->n_resource_types == 2,
          "registerApplicationMaster tells capability, queue and resource types");
    return id;
}

static int apps_cleaned(void)
{
    int n = 0;

    for (int i = 0; i < g.n_nodes; i++)
        n += g.nodes[i].apps_cleaned;
    return n;
}

void good_bye(struct master *m, struct yarn_app_id id)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_container_id master = g.master;
    int cleaned;

    check(peer_finish(&m->am, "well done"),
          "finishApplicationMaster is answered true when the end is stored");
    m->am.rm = ipc_client_free(m->am.rm);
    check((int)report(a, id)->yarn_application_state == APP_STATE(FINISHED),
          "the application is FINISHED for its client");
    cleaned = apps_cleaned();
    for (int i = 0; i < g.n_nodes; i++)
        peer_end(&g.nodes[i], master, 0);
    for (int round = 0; round < 3; round++)
        beat_all();
    check(apps_cleaned() > cleaned, "its node is told to clean the application up");
    check(report(a, id)->final_application_status ==
                  HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_SUCCEEDED &&
              sv_streq(report(a, id)->diagnostics, "well done"),
          "final status and diagnostics are the master's");
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    { "stranger", run_stranger },
    { "life", run_life },
    { "page", run_page },
    { "rules", run_rules },
    { "heartbeats", run_heartbeats },
    { "updates", run_updates },
    { "kill", run_kill },
    { "failure", run_failure },
    { "restart", run_restart },
    { "expiry", run_expiry },
    { "roll", run_roll },
    { "rate", run_rate },
    { "acls", run_acls },
    { "uam", run_uam },
};

int main(int argc, char **argv)
{
    sv_log_init("rm-driver");
    if (argc != 5)
        return EXIT_FAILURE;
    peer.on_start = on_start;
    peer_start(argv + 1, 3);
    g.client = peer_open(PEER_CLIENTS, "ann", NULL);
    for (size_t i = 0; i < SV_ARRAY_LEN(scenarios); i++)
        if (strcmp(argv[4], scenarios[i].name) == 0) {
            scenarios[i].run();
            return peer.failed ? EXIT_FAILURE : EXIT_SUCCESS;
        }
    return EXIT_FAILURE;
}
