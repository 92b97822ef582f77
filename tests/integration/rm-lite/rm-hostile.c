/* Hostile peers of a ResourceManager, beside nodes whose heartbeats are measured: for
 * tests/integration/rm-lite/test-rm-hostile.
 *
 *     rm-hostile CLIENT_PORT TRACKER_PORT AM_PORT full|short
 *
 * A child process heartbeats as NODES nodes all the time. The parent is an ApplicationMaster, then
 * a node, that send what no program of good will sends. Each check is one line "ok TEXT" or "FAIL
 * TEXT"; the last line "figures ..." has the quantiles of the others' heartbeats. */
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "tests/lib/latency.h"
#include "tests/lib/rm-peer.h"

#define NODES 4
#define PORT_OTHERS 21000
#define PAUSE_MS 5 /* between two heartbeats of the others */
#define MILLION 1000000
#define PORT_HOSTILE 22000

struct master {
    struct peer_master am;
    struct yarn_container_id got; /* one of its containers */
};

/* For messages of a million parts. */
static struct sv_arena *big_arena(void)
{
    return sv_arena_new((size_t)1 << 30);
}

/* ---- Good nodes ---- */

static void join(struct peer_node *n, int port)
{
    (void)snprintf(n->id.host, sizeof(n->id.host), "127.0.0.1");
    n->id.port = port;
    n->rm = ipc_client_free(n->rm);
    if (!peer_join(n))
        die("registerNodeManager: not NORMAL", NULL);
}

static bool beat(struct peer_node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const HeartbeatResponse *m = peer_beat_with(a, n, peer_heartbeat(a, n));

    return m && (!m->has_nodeaction || m->nodeaction == NODE_ACTION(NORMAL));
}

/* The process whose heartbeats are measured, until the other end of the pipe is closed. */
static _Noreturn void others(char **ports, int go, int result)
{
    struct peer_node nodes[NODES] = { 0 };
    struct pollfd end = { .fd = go };
    struct samples us = { 0 };
    bool good = true;
    char text[200];

    peer_start(ports, 3);
    for (int i = 0; i < NODES; i++)
        join(&nodes[i], PORT_OTHERS + i);
    if (write(result, "r", 1) != 1)
        die("pipe", NULL);
    while (good && us.n < SAMPLES_MAX && poll(&end, 1, PAUSE_MS) == 0) { /* it is not closed */
        int64_t began = now_us();

        good = beat(&nodes[us.n % NODES]);
        sample(&us, began);
    }
    if (us.n == 0)
        die("heartbeats of the others", NULL);
    (void)snprintf(text, sizeof(text), "%d %zu %.1f %.1f %.1f", good, us.n, quantile_ms(&us, 0.5),
                   quantile_ms(&us, 0.99), quantile_ms(&us, 1));
    exit(write(result, text, strlen(text)) > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* The process of the others; *ret_go ends it when it is closed, *ret_result has its figures. */
static pid_t start_others(char **ports, int *ret_go, int *ret_result)
{
    int go[2], result[2];
    char ready;
    pid_t pid;

    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(result, O_CLOEXEC) < 0 || (pid = fork()) < 0)
        die("pipes and the second process", NULL);
    if (pid == 0) {
        (void)close(go[1]); /* so that its end is seen, ignoring */
        others(ports, go[0], result[1]);
    }
    (void)close(go[0]);     /* the child's, ignoring */
    (void)close(result[1]); /* the child's, ignoring */
    if (read(result[0], &ready, 1) != 1)
        die("the other nodes", NULL);
    *ret_go = go[1];
    *ret_result = result[0];
    return pid;
}

/* ---- Masters ---- */

static void start_master(struct ipc_client *c, struct peer_master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    peer_submit_unmanaged(c, m, "");
    for (int64_t until = peer_deadline(); !peer_reported_token(c, m) && peer_pause(until, 10);)
        ; /* until it is accepted */
    (void)peer_good(peer_register_master(a, m, ""));
}

/* The answer, or NULL with the reason. */
static const AllocateResponse *ask(struct sv_arena *a, struct master *m, ResourceRequest **rows,
                                   size_t n)
{
    AllocateRequest *q = peer_request(a, "allocate");

    q->ask = rows;
    q->n_ask = n;
    return peer_allocate(a, &m->am, q);
}

/* ------------------------------------------------------------------ attacks */

static void bad_sizes(struct master *m)
{
    static const struct {
        int64_t memory;
        int32_t vcores, count;
        const char *text;
    } bad[] = {
        { -1, 1, 1, "negative" },
        { INT64_MIN, 1, 1, "negative" },
        { 1024, -1, 1, "negative" },
        { 1024, 1, -1, "negative" },
        { 1024, 1, INT32_MIN, "negative" },
        { INT64_MAX, 1, 1, "maximum allowed" },
        { INT64_MAX, INT32_MAX, INT32_MAX, "maximum allowed" },
        { INT64_C(1) << 32 | 1024, 1, 1, "maximum allowed" },
        { 1024, INT32_MAX, 1, "maximum allowed" },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        _cleanup_arena_ struct sv_arena *a = big_arena();
        ResourceRequest *r = peer_ask(
            a, "*", (struct yarn_resource){ bad[i].memory, bad[i].vcores, 0 }, bad[i].count);
        bool refused = !ask(a, m, &r, 1);

        check(refused && strstr(peer.err.text, bad[i].text),
              "an ask for %d of %lld MB and %d vcores is refused: %.150s", bad[i].count,
              (long long)bad[i].memory, bad[i].vcores, peer.err.text);
    }
}

/* Each answer has a bounded number of containers; requests can be taken back. */
static void ten_million(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = big_arena();
    ResourceRequest *r = peer_ask(a, "*", (struct yarn_resource){ 1024, 1, 0 }, 10 * MILLION);
    size_t most = 0, given = 0;
    bool good = true;

    for (int i = 0; i < 50 && good; i++) {
        const AllocateResponse *resp = ask(a, m, &r, i == 0);

        good = resp != NULL;
        most = good ? SV_MAX(most, resp->n_allocated_containers) : most;
        given += good ? resp->n_allocated_containers : 0;
        if (good && resp->n_allocated_containers)
            good = yarn_container_id_from(resp->allocated_containers[0]->id, &m->got) >= 0;
        (void)peer_pause(0, 1);
    }
    check(good && most <= 256, "10^7 containers asked for: %zu came, %zu in one answer", given,
          most);
    check(given > 0, "10^7 containers asked for: some come");
    r->num_containers = 0;
    check(ask(a, m, &r, 1), "10^7 containers: taken back %s", peer.err.text);
}

static void million_rows(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = big_arena();
    ResourceRequest **rows = calloc(MILLION, sizeof(ResourceRequest *));
    size_t sent = 0;

    if (!rows)
        die("memory", NULL);
    for (size_t i = 0; i < MILLION; i++)
        rows[i] = peer_ask(a, "*", (struct yarn_resource){ 1024, 1, 0 }, 1);
    check(!ask(a, m, rows, MILLION) && strstr(peer.err.text, "more than 65536"),
          "10^6 rows in one allocate are refused: %.200s", peer.err.text);
    check(ask(a, m, NULL, 0), "and the connection goes on %s", peer.err.text);
    for (size_t i = 0; i < MILLION; i++) {
        rows[i]->has_allocation_request_id = true;
        rows[i]->allocation_request_id = (int64_t)i;
    }
    while (sent < MILLION && ask(a, m, rows + sent, 4000))
        sent += 4000;
    check(sent < MILLION && strstr(peer.err.text, "10000 different asks"),
          "different asks without end are refused after %zu: %.200s", sent, peer.err.text);
    for (size_t i = 0; i < sent + 4000; i++)
        rows[i]->num_containers = 0;
    for (size_t i = 0; i <= sent; i += 4000)
        check(ask(a, m, rows + i, 4000), "4000 rows are taken back %s", peer.err.text);
    free(rows);
}

static void others_containers(struct master *m, const struct master *other)
{
    _cleanup_arena_ struct sv_arena *a = big_arena();
    AllocateRequest *q = peer_request(a, "allocate");
    Hadoop__Yarn__ContainerIdProto *id = yarn_container_id_to(a, other->got);

    q->release = &id;
    q->n_release = 1;
    check(!peer_allocate(a, &m->am, q) && strstr(peer.err.text, "not belonging"),
          "the release of another application's container is refused: %.150s", peer.err.text);
}

static void forged_tokens(const struct master *m)
{
    for (int kind = 0; kind < 3; kind++) {
        _cleanup_arena_ struct sv_arena *a = big_arena();
        struct peer_master forged = m->am;

        forged.rm = NULL;
        if (kind == 0)
            forged.password[3] ^= 1;
        else if (kind == 1)
            forged.id[forged.id_len - 2] ^= 1;
        else
            memset(forged.id, 0xff, forged.id_len);
        check(!peer_register_master(a, &forged, ""), "a forged token (%d) is refused: %.150s", kind,
              peer.err.text);
        ipc_client_free(forged.rm);
    }
}

/* Names, and commands, of 20 MB: none is kept, so the memory is as before. */
static void large_submissions(struct ipc_client *c)
{
    char *large = malloc(20 * MILLION + 1);

    if (!large)
        die("no memory", NULL);
    memset(large, 'x', 20 * MILLION);
    large[20 * MILLION] = 0;
    for (int i = 0; i < 12; i++) {
        _cleanup_arena_ struct sv_arena *a = big_arena();
        Hadoop__Yarn__SubmitApplicationRequestProto *q = peer_request(a, "submitApplication");
        struct yarn_app_id id;
        SubmissionContext *m = peer_submission(a, c, &id);

        if (i % 2)
            m->am_container_spec->command[0] = large;
        else
            m->application_name = large;
        q->application_submission_context = m;
        check(!peer_call(a, c, "submitApplication", q) &&
                  strstr(peer.err.text, i % 2 ? "more than 4194304" : "more than 1024"),
              "a large submission is refused: %.150s", peer.err.text);
    }
    free(large);
}

/* The first container of an application that the ResourceManager does not know. */
static struct yarn_container_id unknown(int app)
{
    return (struct yarn_container_id){ { { 1700000000000, app }, 1 }, 1 };
}

static const HeartbeatResponse *beat_with(struct sv_arena *a, struct peer_node *n,
                                          ContainerStatus **v, size_t len)
{
    HeartbeatRequest *q = peer_heartbeat(a, n);

    q->node_status->containersstatuses = v;
    q->node_status->n_containersstatuses = len;
    return peer_beat_with(a, n, q);
}

static const RegisterResponse *register_with(struct sv_arena *a, struct peer_node *n,
                                             int64_t memory,
                                             Hadoop__Yarn__NMContainerStatusProto **v, size_t len)
{
    RegisterRequest *q = peer_registration(a, n);

    q->resource->memory = memory;
    q->container_statuses = v;
    q->n_container_statuses = len;
    return peer_register(a, n, q);
}

static void million_containers(struct peer_node *n)
{
    _cleanup_arena_ struct sv_arena *a = big_arena();
    ContainerStatus **v = calloc(MILLION, sizeof(*v));
    const HeartbeatResponse *m;
    size_t some = 10000;

    if (!v)
        die("memory", NULL);
    for (int i = 0; i < MILLION; i++)
        v[i] = peer_status(a, unknown(i + 1));
    check(!beat_with(a, n, v, MILLION) && strstr(peer.err.text, "more than 65536"),
          "a heartbeat with 10^6 containers is refused: %.200s", peer.err.text);
    m = beat_with(a, n, v, some);
    check(m && m->n_applications_to_cleanup == some,
          "a heartbeat with %zu containers of unknown applications: all are to end (%zu) %s", some,
          m ? m->n_applications_to_cleanup : 0, peer.err.text);
    check(beat(n), "and the node's heartbeats go on");
    free(v);
}

static void bad_registrations(struct peer_node *n)
{
    _cleanup_arena_ struct sv_arena *a = big_arena();
    Hadoop__Yarn__NMContainerStatusProto **v = calloc(MILLION, sizeof(*v));
    static const int64_t sizes[] = { INT64_MAX, (INT64_C(1) << 40) + 1 };
    const RegisterResponse *m;

    if (!v)
        die("memory", NULL);
    for (int i = 0; i < MILLION; i++) {
        v[i] = PEER_NEW(a, hadoop__yarn__nmcontainer_status_proto);
        v[i]->container_id = yarn_container_id_to(a, unknown(i + 1));
        v[i]->resource = yarn_resource_to(a, (struct yarn_resource){ INT64_MAX, INT32_MAX, 0 });
    }
    check(!register_with(a, n, 65536, v, MILLION) && strstr(peer.err.text, "more than 65536"),
          "a registration with 10^6 containers is refused: %.200s", peer.err.text);
    m = register_with(a, n, 65536, v, 10000);
    check(m && m->nodeaction == NODE_ACTION(NORMAL),
          "a registration with 10,000 containers that are unknown is taken %s", peer.err.text);
    check(beat(n), "and the node's heartbeats go on");
    for (size_t i = 0; i < SV_ARRAY_LEN(sizes); i++) {
        m = register_with(a, n, sizes[i], NULL, 0);
        check(m && m->nodeaction == NODE_ACTION(SHUTDOWN) &&
                  strstr(m->diagnostics_message, "yarn.nodemanager.resource.memory-mb"),
              "a node of %lld MB is shut down: %.200s", (long long)sizes[i],
              m ? m->diagnostics_message : peer.err.text);
    }
    free(v);
}

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    size_t *open = userdata;

    (void)r;
    (void)err;
    (*open)--;
}

/* One node sends as many heartbeats as the connection takes, without waiting for an answer. */
static void flood(struct peer_node *n, int64_t ms)
{
    _cleanup_arena_ struct sv_arena *a = big_arena();
    HeartbeatRequest *q = peer_heartbeat(a, n);
    int64_t end = now_us() + ms * 1000;
    size_t sent = 0, open = 0;

    while (now_us() < end || open > 0) {
        for (; open < 2000 && now_us() < end; open++, sent++)
            peer_send(n->rm, "nodeHeartbeat", q, on_answer, &open);
        (void)peer_pause(0, 1);
    }
    check(sent > 0, "one node floods: %zu heartbeats in %lld ms", sent, (long long)ms);
}

/* ---- Clients ---- */

/* A filter of 1,000 members is applied, one of more is refused, and so are 30 MB of states. */
static void big_filters(struct ipc_client *c)
{
    enum { MEMBERS = 1000, STATES = 15000000 };
    _cleanup_arena_ struct sv_arena *a = big_arena();
    Hadoop__Yarn__GetApplicationsRequestProto *q = peer_request(a, "getApplications");
    Hadoop__Yarn__GetApplicationsResponseProto *m;
    char **list = sv_newn(a, char *, MEMBERS + 1);

    for (int i = 0; list && i <= MEMBERS; i++)
        list[i] = sv_arena_printf(a, "member-%d", i);
    if (!list || !list[MEMBERS])
        die("memory", NULL);
    list[0] = peer_text("ann");
    q->users = list;
    q->n_users = MEMBERS;
    m = (void *)(uintptr_t)peer_call(a, c, "getApplications", q);
    check(m && m->n_applications == 2, "1,000 users: two applications %s", peer.err.text);
    q->n_users = MEMBERS + 1;
    check(!peer_call(a, c, "getApplications", q) &&
              strstr(peer.err.text, "users: more than 1000 members"),
          "1,001 users are refused: %.150s", peer.err.text);
    q->n_users = 0;
    q->application_states = sv_newn(a, typeof(*q->application_states), STATES);
    q->n_application_states = STATES;
    if (!q->application_states)
        die("memory", NULL);
    for (size_t i = 0; i < STATES; i++)
        q->application_states[i] = APP_STATE(RUNNING);
    check(!peer_call(a, c, "getApplications", q) && strstr(peer.err.text, "more than 65536"),
          "30 MB of states are refused: %.200s", peer.err.text);
}

static void attack(struct ipc_client *client, struct master *first, const struct master *second,
                   struct peer_node *node, int rounds)
{
    struct master other = *second;

    large_submissions(client);
    bad_sizes(first);
    ten_million(first);
    others_containers(&other, first);
    forged_tokens(first);
    for (int i = 0; i < rounds; i++) {
        million_rows(first);
        million_containers(node);
        flood(node, 1000);
        bad_registrations(node);
        join(node, PORT_HOSTILE + 1 + i); /* it was shut down */
    }
}

int main(int argc, char **argv)
{
    struct master first = { 0 }, second = { 0 };
    struct peer_node node = { 0 };
    struct ipc_client *client;
    int go, result, state;
    char text[256] = "";
    ssize_t n;
    pid_t pid;

    sv_log_init("rm-hostile");
    peer.patience_ms = 300000;
    if (argc != 5)
        die("usage: CLIENT_PORT TRACKER_PORT AM_PORT full|short", NULL);
    pid = start_others(argv + 1, &go, &result);
    peer_start(argv + 1, 3);
    client = peer_open(PEER_CLIENTS, "ann", NULL);
    start_master(client, &first.am);
    start_master(client, &second.am);
    join(&node, PORT_HOSTILE);
    big_filters(client);
    attack(client, &first, &second, &node, sv_streq(argv[4], "full") ? 4 : 1);
    (void)close(go); /* the others end, ignoring */
    n = read(result, text, sizeof(text) - 1);
    check(waitpid(pid, &state, 0) == pid && state == 0 && n > 0 && text[0] == '1',
          "the heartbeats of %d other nodes went on", NODES);
    printf("figures %s\n", n > 0 ? text : "");
    return peer.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
