/* Load generator of `make bench-federation`: calls of one client at the Router of a federation,
 * WINDOW of them under way.
 *
 *     router-load PORT PID submit|report FIRST COUNT
 *
 * Submits COUNT unmanaged applications, numbered from FIRST, or asks for their reports. A line of
 * JSON: the seconds, and those of the processor of PID, the Router, with all its threads. */
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "tests/lib/rm-peer.h"

#define WINDOW 32
#define CLUSTER 1600000000000 /* of the applications' ids, which are the Router's to take */

static struct {
    struct ipc_client *client;
    bool submits;
    int32_t next, end;
    size_t open;
} g;

static double cpu_s(pid_t pid)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
        die("the clock of the Router", NULL);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void call(void);

static void on_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)userdata;
    if (r->status < 0)
        die(g.submits ? "submitApplication" : "getApplicationReport", err);
    g.open--;
    if (g.next < g.end)
        call();
}

static void submit(struct sv_arena *a, struct yarn_app_id id)
{
    Hadoop__Yarn__SubmitApplicationRequestProto *q = peer_request(a, "submitApplication");
    SubmissionContext *m = PEER_NEW(a, hadoop__yarn__application_submission_context_proto);

    m->application_id = yarn_app_id_to(a, id);
    m->application_name = peer_text("bench");
    m->queue = peer_text("default");
    m->am_container_spec = PEER_NEW(a, hadoop__yarn__container_launch_context_proto);
    m->resource = yarn_resource_to(a, (struct yarn_resource){ 1024, 1, 0 });
    m->has_unmanaged_am = m->unmanaged_am = true;
    q->application_submission_context = m;
    peer_send(g.client, "submitApplication", q, on_done, NULL);
}

static void call(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_app_id id = { CLUSTER, g.next++ };
    Hadoop__Yarn__GetApplicationReportRequestProto *q;

    g.open++;
    if (g.submits) {
        submit(a, id);
        return;
    }
    q = peer_request(a, "getApplicationReport");
    q->application_id = yarn_app_id_to(a, id);
    peer_send(g.client, "getApplicationReport", q, on_done, NULL);
}

int main(int argc, char **argv)
{
    double cpu;
    int64_t start;
    int32_t count;
    pid_t pid;

    sv_log_init("router-load");
    if (argc != 6) {
        (void)fprintf(stderr, "router-load PORT PID submit|report FIRST COUNT\n");
        return EXIT_FAILURE;
    }
    pid = (pid_t)strtol(argv[2], NULL, 10);
    g.submits = sv_streq(argv[3], "submit");
    g.next = (int32_t)strtol(argv[4], NULL, 10);
    count = (int32_t)strtol(argv[5], NULL, 10);
    g.end = g.next + count;
    peer_start(&argv[1], 1);
    g.client = peer_open(PEER_CLIENTS, "ann", NULL);
    cpu = cpu_s(pid);
    start = sv_now_ms();
    while (g.next < g.end && g.open < WINDOW)
        call();
    while (g.open > 0)
        if (sd_event_run(peer.event, UINT64_MAX) < 0)
            die("event loop", NULL);
    printf("{\"n\": %d, \"seconds\": %.3f, \"cpu\": %.6f}\n", count,
           (double)(sv_now_ms() - start) / 1e3, cpu_s(pid) - cpu);
    ipc_client_free(g.client);
    return EXIT_SUCCESS;
}
