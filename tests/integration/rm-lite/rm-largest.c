/* The largest request of every RPC method of a ResourceManager that is full: for
 * tests/integration/rm-lite/test-largest-requests.
 *
 *     rm-largest CLIENT_PORT TRACKER_PORT AM_PORT ADMIN_PORT APPLICATIONS NODES CONTAINERS
 *
 * Loads so many nodes and applications, and MASTERS of them with CONTAINERS each; prints "LOADED"
 * and the ids of what the requests name. Then each line of standard input is a protocol and a
 * method, separated by a blank, whose requests are sent: two for each of its lists and texts. Each
 * method is answered by a line "ok METHOD: N requests, N refused, largest SIZE bytes". */
#include "common/log.h"
#include "tests/lib/largest-request.h"
#include "tests/lib/rm-peer.h"
#include "wire/frame.h"

#define MASTERS 3 /* one for most methods, one to be killed, one whose attempt fails */
#define TAGS 10
#define PORT_FIRST 10000
#define WINDOW 64          /* submissions under way */
#define TEXT_MAX (1 << 20) /* of a long text */
#define REQUEST_ARENA ((size_t)1 << 30)

static struct {
    struct ipc_client *client, *tracker, *admin, *ha;
    struct peer_node *nodes;
    int n_nodes;
    struct peer_master masters[MASTERS];
    struct yarn_container_id container; /* of the first master */
    int under_way;
} g;

/* ---- Load ---- */

static void load_nodes(int n)
{
    g.nodes = calloc((size_t)n, sizeof(*g.nodes));
    if (!g.nodes)
        die("memory of nodes", NULL);
    for (g.n_nodes = 0; g.n_nodes < n; g.n_nodes++) {
        struct peer_node *node = &g.nodes[g.n_nodes];

        (void)snprintf(node->id.host, sizeof(node->id.host), "127.0.0.1");
        node->id.port = PORT_FIRST + g.n_nodes;
        node->rm = g.tracker;
        if (!peer_join(node))
            die("registerNodeManager: not NORMAL", NULL);
        peer_beat(node);
    }
}

static void on_submitted(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)userdata;
    if (r->status < 0)
        die("submitApplication", err);
    g.under_way--;
}

/* Its master never comes. */
static void submit(int i)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__SubmitApplicationRequestProto *q = peer_request(a, "submitApplication");
    struct yarn_app_id id;
    SubmissionContext *m = peer_submission(a, g.client, &id);

    m->application_name = sv_arena_printf(a, "job %d", i);
    m->applicationtags = sv_newn(a, char *, TAGS);
    for (int k = 0; k < TAGS; k++)
        m->applicationtags[m->n_applicationtags++] = sv_arena_printf(a, "tag-%d-%d", i, k);
    m->has_unmanaged_am = m->unmanaged_am = true;
    q->application_submission_context = m;
    peer_send(g.client, "submitApplication", q, on_submitted, NULL);
    g.under_way++;
    for (int64_t until = peer_deadline(); g.under_way >= WINDOW && peer_pause(until, 20);)
        ;
}

static void start_master(struct peer_master *m, int containers)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(REQUEST_ARENA);
    AllocateRequest *q = peer_request(a, "allocate");
    int64_t until = peer_deadline();
    int got = 0;

    peer_submit_unmanaged(g.client, m, "full");
    while (!peer_reported_token(g.client, m) && peer_pause(until, 20))
        ;
    (void)peer_good(peer_register_master(a, m, ""));
    q->ask = sv_newn(a, ResourceRequest *, 1);
    q->ask[q->n_ask++] = peer_ask(a, "*", (struct yarn_resource){ 1024, 1, 0 }, containers);
    for (; got < containers && peer_pause(until, 5); q = NULL) {
        const AllocateResponse *resp = peer_good(peer_allocate(a, m, q));

        if (resp->n_allocated_containers && m == g.masters &&
            yarn_container_id_from(resp->allocated_containers[0]->id, &g.container) < 0)
            die("allocate: no id of a container", NULL);
        got += (int)resp->n_allocated_containers;
        if (got < containers)
            peer_beat(&g.nodes[got % g.n_nodes]);
    }
    check(got >= containers, "an application has %d containers", got);
}

/* ---- Requests ---- */

/* A text that is legal where it is short. */
static ProtobufCBinaryData short_or_long(struct sv_arena *a, const char *text, size_t n)
{
    char *s = sv_arena_strdup(a, text);

    if (n > LARGEST_SHORT) {
        s = sv_arena_calloc(a, n + 1, 1);
        if (s)
            memset(s, 'x', n);
    }
    if (!s)
        die("memory of a request", NULL);
    return (ProtobufCBinaryData){ .len = strlen(s), .data = (uint8_t *)s };
}

static ProtobufCBinaryData anywhere(struct sv_arena *a, size_t n)
{
    return short_or_long(a, "*", n);
}

static ProtobufCBinaryData no_label(struct sv_arena *a, size_t n)
{
    return short_or_long(a, "", n);
}

static ProtobufCBinaryData memory(struct sv_arena *a, size_t n)
{
    return short_or_long(a, "memory-mb", n);
}

static ProtobufCBinaryData mebibytes(struct sv_arena *a, size_t n)
{
    return short_or_long(a, "Mi", n);
}

static const struct largest_text texts[] = {
    { &hadoop__yarn__resource_information_proto__descriptor, "key", memory },
    { &hadoop__yarn__resource_information_proto__descriptor, "units", mebibytes },
    { NULL, "resource_name", anywhere },
    { NULL, "node_label_expression", no_label },
    { 0 },
};

static struct yarn_app_id victim(const char *method)
{
    return g
        .masters[sv_streq(method, "forceKillApplication")     ? 1
                 : sv_streq(method, "failApplicationAttempt") ? 2
                                                              : 0]
        .app;
}

static void *begin(struct sv_arena *a, const char *method)
{
    struct yarn_app_id id;

    if (sv_streq(method, "submitApplication")) {
        Hadoop__Yarn__SubmitApplicationRequestProto *q = peer_request(a, method);

        q->application_submission_context = peer_submission(a, g.client, &id);
        return q;
    }
    if (sv_streq(method, "registerNodeManager"))
        return peer_registration(a, &g.nodes[0]);
    if (sv_streq(method, "nodeHeartbeat"))
        return peer_heartbeat(a, &g.nodes[0]);
    if (sv_streq(method, "allocate")) {
        AllocateRequest *q = peer_request(a, method);

        q->has_response_id = true;
        q->response_id = g.masters[0].response_id;
        return q;
    }
    return peer_request(a, method);
}

/* Keeps the numbers that the next request has to have. */
static void end(const char *method, const void *answer)
{
    if (answer && sv_streq(method, "nodeHeartbeat"))
        g.nodes[0].response_id = ((const HeartbeatResponse *)answer)->response_id;
    if (answer && sv_streq(method, "registerNodeManager"))
        g.nodes[0].response_id = 0;
    if (answer && sv_streq(method, "allocate"))
        g.masters[0].response_id = ((const AllocateResponse *)answer)->response_id;
}

static bool send_one(struct ipc_client *c, const char *method, const struct largest_path *p,
                     struct largest_size size, size_t *largest)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(REQUEST_ARENA);
    struct yarn_attempt_id attempt = { victim(method), 1 };
    const struct largest_known known[] = {
        { &hadoop__yarn__application_id_proto__descriptor,
          (const void *)yarn_app_id_to(a, attempt.app) },
        { &hadoop__yarn__application_attempt_id_proto__descriptor,
          (const void *)yarn_attempt_id_to(a, attempt) },
        { &hadoop__yarn__container_id_proto__descriptor,
          (const void *)yarn_container_id_to(a, g.container) },
        { &hadoop__yarn__node_id_proto__descriptor,
          (const void *)yarn_node_id_to(a, &g.nodes[0].id) },
        { .type = &hadoop__yarn__scheduling_request_proto__descriptor },
        { 0 },
    };
    ProtobufCMessage *m = begin(a, method);
    const void *answer;

    largest_fill(a, m, p, &(struct largest_hints){ known, texts }, size);
    *largest = SV_MAX(*largest, protobuf_c_message_get_packed_size(m));
    answer = peer_call(a, c, method, m);
    end(method, answer);
    return answer != NULL;
}

static struct ipc_client *client_of(const char *protocol)
{
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = peer.port[PEER_ADMIN],
                                     .protocol = protocol,
                                     .version = 1,
                                     .user = "yarn",
                                     .idle_ms = -1,
                                     .call_ms = peer.patience_ms };
    struct sv_error err = { 0 };

    if (sv_streq(protocol, YARN_RESOURCE_TRACKER_PROTOCOL))
        return g.tracker;
    if (sv_streq(protocol, YARN_APPLICATION_MASTER_PROTOCOL))
        return g.masters[0].rm;
    if (sv_streq(protocol, YARN_APPLICATION_CLIENT_PROTOCOL))
        return g.client;
    if (sv_streq(protocol, YARN_ADMIN_PROTOCOL))
        return g.admin;
    if (!sv_streq(protocol, HADOOP_HA_SERVICE_PROTOCOL))
        die(protocol, NULL);
    if (!g.ha && ipc_client_new(peer.event, &cfg, &g.ha, &err) < 0)
        die("connection", &err);
    return g.ha;
}

static void play(const char *protocol, const char *method)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const ProtobufCMessage *plain = peer_request(a, method);
    struct largest_path paths[LARGEST_PATHS] = { 0 };
    size_t n = SV_MAX(largest_paths(plain->descriptor, paths), (size_t)1), size = 0;
    int refused = 0;

    if (n == LARGEST_PATHS)
        die("more lists and texts than LARGEST_PATHS", NULL);
    for (size_t i = 0; i < 2 * n; i++) {
        struct largest_size half = { IPC_REQUEST_ITEMS_MAX - 64, TEXT_MAX, i % 2 };
        bool good, smaller = true;

        while (!(good = send_one(client_of(protocol), method, &paths[i / 2], half, &size)) &&
               smaller)
            smaller = largest_halve(&half);
        refused += !good;
    }
    check(true, "%s: %zu requests, %d refused, largest %zu bytes", method, 2 * n, refused, size);
}

static int count_of(const char *text)
{
    uint64_t n;

    if (sv_parse_u64(text, 1, 1000000, &n) < 0)
        die(text, NULL);
    return (int)n;
}

int main(int argc, char **argv)
{
    char line[512], protocol[256], method[128], text[YARN_ID_TEXT_MAX];
    int apps, containers;

    if (argc != 8)
        die("usage", NULL);
    sv_log_set_level(SV_LOG_ERR);
    peer_start(argv + 1, 4);
    g.client = peer_open(PEER_CLIENTS, "yarn", NULL);
    g.tracker = peer_open(PEER_TRACKER, "yarn", NULL);
    g.admin = peer_open(PEER_ADMIN, "yarn", NULL);
    apps = count_of(argv[5]);
    load_nodes(count_of(argv[6]));
    containers = count_of(argv[7]);
    for (int i = 0; i < MASTERS; i++)
        start_master(&g.masters[i], containers);
    for (int i = 0; i < apps; i++)
        submit(i);
    for (int64_t until = peer_deadline(); g.under_way > 0 && peer_pause(until, 20);)
        ;
    check(g.under_way == 0, "%d applications wait", apps);
    yarn_container_id_text(g.container, text);
    printf("LOADED %s 127.0.0.1:%d\n", text, PORT_FIRST);
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin))
        if (sscanf(line, "%255s %127s", protocol, method) == 2)
            play(protocol, method);
    return peer.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
