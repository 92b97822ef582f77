/* ApplicationMasters of `make bench-federation`, and their submission.
 *
 *     am-load submit CLIENT_PORT USER COUNT COMMAND
 *     am-load beat AM_PORT BEATS PAUSE_MS CREDENTIALS
 *     am-load hold AM_PORT CREDENTIALS...
 *
 * submit: COUNT applications whose master's container runs COMMAND; their ids, one a line. The
 * others play the masters of such containers with the tokens of files, which the NodeManager has
 * made for them: each registers, asks for CONTAINERS and gives them back, so that every sub-cluster
 * knows it. beat: then heartbeats one after the other, PAUSE_MS between an answer and the next
 * request; a line of JSON with the quantiles of their times. hold: heartbeats of all once a second,
 * after a line "ready", until standard input ends. */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "tests/lib/latency.h"
#include "tests/lib/rm-peer.h"

#define CONTAINERS 10
#define CREDENTIALS_MAX 65536

/* ---- Submission ---- */

static void submit(const char *user, uint64_t count, const char *command)
{
    struct ipc_client *client = peer_open(PEER_CLIENTS, user, NULL);

    for (uint64_t i = 0; i < count; i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        char text[YARN_ID_TEXT_MAX];
        struct yarn_app_id id;
        SubmissionContext *m = peer_submission(a, client, &id);

        m->application_name = peer_text("bench");
        m->am_container_spec->command[0] = peer_text(command);
        m->resource = yarn_resource_to(a, (struct yarn_resource){ 64, 1, 0 });
        m->has_maxappattempts = true;
        m->maxappattempts = 1;
        peer_submit(a, client, m);
        printf("%s\n", yarn_app_id_text(id, text));
    }
    ipc_client_free(client);
}

/* ---- Masters ---- */

static void open_master(struct peer_master *m, const char *path)
{
    Hadoop__Yarn__ContainerLaunchContextProto launch =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    _cleanup_free_ char *bytes = NULL;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    size_t len;

    if (sv_read_file_at(AT_FDCWD, path, CREDENTIALS_MAX, &bytes, &len) < 0)
        die(path, NULL);
    launch.tokens.data = (uint8_t *)bytes;
    launch.tokens.len = len;
    peer_launch_token(m, &launch);
    if (!m->id_len)
        die("no AMRMToken in the credentials", NULL);
    (void)peer_good(peer_register_master(a, m, ""));
}

/* The next heartbeat gives back what this one has brought. */
static size_t beat_with(struct peer_master *m, AllocateRequest *q, struct yarn_container_id *got,
                        size_t *n_got)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const AllocateResponse *resp;
    size_t n = 0;

    q->release = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, *n_got + 1);
    for (size_t i = 0; i < *n_got; i++)
        q->release[q->n_release++] = yarn_container_id_to(a, got[i]);
    resp = peer_good(peer_allocate(a, m, q));
    for (; n < resp->n_allocated_containers && n < CONTAINERS; n++)
        if (yarn_container_id_from(resp->allocated_containers[n]->id, &got[n]) < 0)
            die("an allocated container", NULL);
    *n_got = n;
    return n;
}

/* As Java's clients ask: Apache's AMRMProxy takes none without an execution type. */
static ResourceRequest *ask_for(struct sv_arena *a)
{
    ResourceRequest *ask = peer_ask(a, "*", (struct yarn_resource){ 64, 1, 0 }, CONTAINERS);

    ask->execution_type_request = PEER_NEW(a, hadoop__yarn__execution_type_request_proto);
    ask->execution_type_request->has_execution_type = true;
    ask->execution_type_request->execution_type = HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED;
    return ask;
}

/* Registers, and gets containers of all sub-clusters once. */
static void start_master(struct peer_master *m, const char *path)
{
    struct yarn_container_id got[CONTAINERS];
    size_t n_got = 0, all = 0;
    bool asked = false;

    open_master(m, path);
    for (int64_t until = peer_deadline(); all < CONTAINERS || n_got; asked = true) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        AllocateRequest *q = peer_request(a, "allocate");

        if (!asked) {
            q->ask = sv_newn(a, ResourceRequest *, 1);
            q->ask[q->n_ask++] = ask_for(a);
        } else if (!peer_pause(until, 50)) {
            die("not all containers have come", NULL);
        }
        all += beat_with(m, q, got, &n_got);
    }
}

static void beat(uint64_t beats, uint64_t pause_ms, const char *path)
{
    struct peer_master m = { 0 };
    struct samples times = { 0 };

    start_master(&m, path);
    for (uint64_t i = 0; i < beats; i++) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        int64_t began;

        for (int64_t until = sv_now_ms() + (int64_t)pause_ms; peer_pause(until, pause_ms);)
            ;
        began = now_us();
        (void)peer_good(peer_allocate(a, &m, NULL));
        sample(&times, began);
    }
    if (!peer_finish(&m, "well done"))
        die("the master's end is not stored", NULL);
    printf("{\"n\": %zu, \"p50\": %.3f, \"p99\": %.3f}\n", times.n, quantile_ms(&times, 0.5),
           quantile_ms(&times, 0.99));
    ipc_client_free(m.rm);
    free(times.v);
}

static void hold(char **paths, size_t n)
{
    struct peer_master *masters = calloc(n, sizeof(*masters));
    struct pollfd end = { .fd = STDIN_FILENO, .events = POLLIN };

    if (!masters)
        die("out of memory", NULL);
    for (size_t i = 0; i < n; i++)
        start_master(&masters[i], paths[i]);
    printf("ready\n");
    (void)fflush(stdout);
    while (poll(&end, 1, 1000) == 0)
        for (size_t i = 0; i < n; i++) {
            _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

            (void)peer_good(peer_allocate(a, &masters[i], NULL));
        }
    for (size_t i = 0; i < n; i++) {
        if (!peer_finish(&masters[i], "well done"))
            die("a master's end is not stored", NULL);
        ipc_client_free(masters[i].rm);
    }
    free(masters);
}

static uint64_t number(const char *text)
{
    uint64_t n;

    if (sv_parse_u64(text, 0, 1000000, &n) < 0)
        die(text, NULL);
    return n;
}

int main(int argc, char **argv)
{
    sv_log_init("am-load");
    if (argc == 6 && sv_streq(argv[1], "submit")) {
        peer_start(&argv[2], 1);
        submit(argv[3], number(argv[4]), argv[5]);
    } else if (argc == 6 && sv_streq(argv[1], "beat")) {
        char *ports[] = { argv[2], argv[2], argv[2] }; /* the masters' is the third */

        peer_start(ports, 3);
        beat(number(argv[3]), number(argv[4]), argv[5]);
    } else if (argc >= 4 && sv_streq(argv[1], "hold")) {
        char *ports[] = { argv[2], argv[2], argv[2] };

        peer_start(ports, 3);
        hold(&argv[3], (size_t)argc - 3);
    } else {
        (void)fprintf(stderr, "am-load submit|beat|hold, see am-load.c\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
