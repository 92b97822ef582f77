/* Hostile peers of a ResourceManager, beside nodes whose heartbeats are measured: for
 * tests/integration/rm-lite/test-rm-hostile.
 *
 *     rm-hostile CLIENT_PORT TRACKER_PORT AM_PORT full|short
 *
 * A child process heartbeats as NODES nodes all the time. The parent is an ApplicationMaster, then
 * a node, that send what no program of good will sends. Each check is one line "ok TEXT" or "FAIL
 * TEXT"; the last line "figures ..." has the quantiles of the others' heartbeats. */
#include "tests/integration/rm-lite/rm-hostile-peers.h"

#define MILLION 1000000
#define PORT_HOSTILE 22000

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
        _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 30);
        Row *r = row(a, "*", bad[i].memory, bad[i].vcores, bad[i].count);
        struct sv_error err;
        bool refused = !ask(a, m, &r, 1, &err);

        check(refused && strstr(err.text, bad[i].text),
              "an ask for %d of %lld MB and %d vcores is refused: %.150s", bad[i].count,
              (long long)bad[i].memory, bad[i].vcores, err.text);
    }
}

/* Each answer has a bounded number of containers; requests can be taken back. */
static void ten_million(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 30);
    Row *r = row(a, "*", 1024, 1, 10 * MILLION);
    size_t most = 0, given = 0;
    struct sv_error err;
    bool good = true;

    for (int i = 0; i < 50 && good; i++) {
        const AllocateResponse *resp = ask(a, m, &r, i == 0, &err);

        good = resp != NULL;
        most = good ? SV_MAX(most, resp->n_allocated_containers) : most;
        given += good ? resp->n_allocated_containers : 0;
        if (good && resp->n_allocated_containers)
            good = yarn_container_id_from(resp->allocated_containers[0]->id, &m->got) >= 0;
        (void)sd_event_run(g.event, 1000); /* a pause, ignoring */
    }
    check(good && most <= 256, "10^7 containers asked for: %zu came, %zu in one answer", given,
          most);
    check(given > 0, "10^7 containers asked for: some come");
    r->num_containers = 0;
    check(ask(a, m, &r, 1, &err), "10^7 containers: taken back %s", err.text);
}

static void million_rows(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 30);
    Row **rows = calloc(MILLION, sizeof(Row *));
    struct sv_error err;
    size_t sent = 0;

    if (!rows)
        die("memory", NULL);
    for (size_t i = 0; i < MILLION; i++)
        rows[i] = row(a, "*", 1024, 1, 1);
    check(!ask(a, m, rows, MILLION, &err) && strstr(err.text, "more than 131072"),
          "10^6 rows in one allocate are refused: %.200s", err.text);
    check(ask(a, m, NULL, 0, &err), "and the connection goes on %s", err.text);
    for (size_t i = 0; i < MILLION; i++) {
        rows[i]->has_allocation_request_id = true;
        rows[i]->allocation_request_id = (int64_t)i;
    }
    while (sent < MILLION && ask(a, m, rows + sent, 4000, &err))
        sent += 4000;
    check(sent < MILLION && strstr(err.text, "10000 different asks"),
          "different asks without end are refused after %zu: %.200s", sent, err.text);
    for (size_t i = 0; i < sent + 4000; i++)
        rows[i]->num_containers = 0;
    for (size_t i = 0; i <= sent; i += 4000)
        check(ask(a, m, rows + i, 4000, &err), "4000 rows are taken back %s", err.text);
    free(rows);
}

static void others_containers(struct master *m, const struct master *other)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 30);
    AllocateRequest q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ContainerIdProto *id = yarn_container_id_to(a, other->got);
    struct sv_error err;

    q.release = &id;
    q.n_release = 1;
    check(!allocate(a, m, &q, &err) && strstr(err.text, "not belonging"),
          "the release of another application's container is refused: %.150s", err.text);
}

static void forged_tokens(const struct master *m)
{
    for (int kind = 0; kind < 3; kind++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 30);
        struct master forged = *m;
        struct ipc_client *c;
        struct sv_error err;

        forged.token.id = forged.id;
        forged.token.password = forged.password;
        if (kind == 0)
            forged.password[3] ^= 1;
        else if (kind == 1)
            forged.id[forged.token.id_len - 2] ^= 1;
        else
            memset(forged.id, 0xff, forged.token.id_len);
        c = open_client(g.am_port, YARN_APPLICATION_MASTER_PROTOCOL, NULL, &forged.token);
        check(!register_master(a, c, &err), "a forged token (%d) is refused: %.150s", kind,
              err.text);
        ipc_client_free(c);
    }
}

static Hadoop__Yarn__ContainerStatusProto *status(struct sv_arena *a, int app)
{
    struct yarn_container_id id = { .attempt = { .app = { 1700000000000, app }, .attempt = 1 },
                                    .id = 1 };
    Hadoop__Yarn__ContainerStatusProto *m = sv_new(a, Hadoop__Yarn__ContainerStatusProto);

    hadoop__yarn__container_status_proto__init(m);
    m->container_id = yarn_container_id_to(a, id);
    m->has_state = true;
    m->state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    return m;
}

static void million_containers(struct node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 30);
    Hadoop__Yarn__ContainerStatusProto **v = calloc(MILLION, sizeof(*v));
    const Hadoop__Yarn__NodeHeartbeatResponseProto *m;
    struct sv_error err;
    size_t some = 25000;

    if (!v)
        die("memory", NULL);
    for (int i = 0; i < MILLION; i++)
        v[i] = status(a, i + 1);
    check(!beat_with(a, n, v, MILLION, &err) && strstr(err.text, "more than 131072"),
          "a heartbeat with 10^6 containers is refused: %.200s", err.text);
    m = beat_with(a, n, v, some, &err);
    check(m && m->n_applications_to_cleanup == some,
          "a heartbeat with %zu containers of unknown applications: all are to end (%zu) %s", some,
          m ? m->n_applications_to_cleanup : 0, err.text);
    check(beat(n), "and the node's heartbeats go on");
    free(v);
}

static void bad_registrations(struct node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 30);
    Hadoop__Yarn__NMContainerStatusProto **v = calloc(MILLION, sizeof(*v));
    static const int64_t sizes[] = { INT64_MAX, (INT64_C(1) << 40) + 1 };
    const Hadoop__Yarn__RegisterNodeManagerResponseProto *m;
    struct sv_error err;

    if (!v)
        die("memory", NULL);
    for (int i = 0; i < MILLION; i++) {
        Hadoop__Yarn__ContainerStatusProto *st = status(a, i + 1);

        v[i] = sv_new(a, Hadoop__Yarn__NMContainerStatusProto);
        hadoop__yarn__nmcontainer_status_proto__init(v[i]);
        v[i]->container_id = st->container_id;
        v[i]->resource = yarn_resource_to(a, (struct yarn_resource){ INT64_MAX, INT32_MAX });
    }
    check(!register_with(a, n, 65536, v, MILLION, &err) && strstr(err.text, "more than 131072"),
          "a registration with 10^6 containers is refused: %.200s", err.text);
    m = register_with(a, n, 65536, v, 10000, &err);
    check(m && m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__NORMAL,
          "a registration with 10,000 containers that are unknown is taken %s", err.text);
    n->response_id = 0;
    check(beat(n), "and the node's heartbeats go on");
    for (size_t i = 0; i < SV_ARRAY_LEN(sizes); i++) {
        m = register_with(a, n, sizes[i], NULL, 0, &err);
        check(m && m->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__SHUTDOWN &&
                  strstr(m->diagnostics_message, "yarn.nodemanager.resource.memory-mb"),
              "a node of %lld MB is shut down: %.200s", (long long)sizes[i],
              m ? m->diagnostics_message : err.text);
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
static void flood(struct node *n, int64_t ms)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 30);
    Hadoop__Yarn__NodeHeartbeatRequestProto q = HADOOP__YARN__NODE_HEARTBEAT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeStatusProto st = HADOOP__YARN__NODE_STATUS_PROTO__INIT;
    int64_t end = now_us() + ms * 1000;
    size_t sent = 0, open = 0;

    st.node_id = yarn_node_id_to(a, &n->id);
    st.has_response_id = true;
    st.response_id = n->response_id;
    q.node_status = &st;
    while (now_us() < end || open > 0) {
        for (; open < 2000 && now_us() < end; open++, sent++)
            if (ipc_client_call(n->rm, "nodeHeartbeat", &q.base,
                                &hadoop__yarn__node_heartbeat_response_proto__descriptor, 0,
                                on_answer, &open) < 0)
                die("flood", NULL);
        if (sd_event_run(g.event, 1000) < 0)
            die("event loop", NULL);
    }
    check(sent > 0, "one node floods: %zu heartbeats in %lld ms", sent, (long long)ms);
}

static void attack(struct master *first, const struct master *second, struct node *node, int rounds)
{
    struct master other = *second;

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

/* The process of the others; *ret_go ends it when it is closed, *ret_result has its figures. */
static pid_t start_others(int *ret_go, int *ret_result)
{
    int go[2], result[2];
    char ready;
    pid_t pid;

    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(result, O_CLOEXEC) < 0 || (pid = fork()) < 0)
        die("pipes and the second process", NULL);
    if (pid == 0) {
        (void)close(go[1]); /* so that its end is seen, ignoring */
        others(go[0], result[1]);
    }
    (void)close(go[0]);     /* the child's, ignoring */
    (void)close(result[1]); /* the child's, ignoring */
    if (read(result[0], &ready, 1) != 1)
        die("the other nodes", NULL);
    *ret_go = go[1];
    *ret_result = result[0];
    return pid;
}

int main(int argc, char **argv)
{
    struct master first = { 0 }, second = { 0 };
    struct ipc_client *client;
    struct node node = { 0 };
    int go, result, state;
    char text[256] = "";
    uint64_t ports[3];
    ssize_t n;
    pid_t pid;

    sv_log_init("rm-hostile");
    for (int i = 0; i < 3; i++)
        if (argc != 5 || sv_parse_u64(argv[i + 1], 1, UINT16_MAX, &ports[i]) < 0)
            die("usage: CLIENT_PORT TRACKER_PORT AM_PORT full|short", NULL);
    g.client_port = (uint16_t)ports[0];
    g.tracker_port = (uint16_t)ports[1];
    g.am_port = (uint16_t)ports[2];
    pid = start_others(&go, &result);
    if (sd_event_new(&g.event) < 0)
        die("event loop", NULL);
    client = open_client(g.client_port, YARN_APPLICATION_CLIENT_PROTOCOL, "ann", NULL);
    start_master(client, &first);
    start_master(client, &second);
    join(&node, PORT_HOSTILE);
    attack(&first, &second, &node, sv_streq(argv[4], "full") ? 10 : 1);
    (void)close(go); /* the others end, ignoring */
    n = read(result, text, sizeof(text) - 1);
    check(waitpid(pid, &state, 0) == pid && state == 0 && n > 0 && text[0] == '1',
          "the heartbeats of %d other nodes went on", NODES);
    printf("figures %s\n", n > 0 ? text : "");
    return g.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
