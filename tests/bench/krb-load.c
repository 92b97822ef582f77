/* Our side of `make bench-krb`: the IPC client with Kerberos at a real ResourceManager.
 *
 *   krb-load HELPER KRB5-CONF KEYTAB PRINCIPAL SERVER-PRINCIPAL PORT PROTECTION
 *
 * Stays resident, with its ticket, and takes a command a line: "connections N", each with a
 * handshake and one call, or "calls N" on one connection, one after the other; "storm N": N nodes
 * that come back at the same moment, each with a connection, a call and the retries of a
 * NodeManager; "beats N", N nodes that are connected and call once a second each, until the next
 * line. Answered by a line of JSON: seconds, processor time of this process and of its helpers, the
 * largest helper's resident memory; of a storm also when half and 99 % of the nodes were served,
 * and how many attempts failed; of beats the milliseconds of all answers, as percentiles. The Java
 * side is tests/bench/java/KrbLoad.java. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/str.h"
#include "gss/client.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ipc/proxy.h"
#include "wire/sasl/qop.h"

#define HELPERS_MAX 32
#define NODES_A_HELPER 250 /* fewer than wait in its queue: each node has a helper of its own */

static struct {
    sd_event *event;
    struct sgss_client_config helper;
    struct sgss_client *helpers[HELPERS_MAX];
    size_t n_helpers, next;
    struct ipc_client_config client;
    const char *server;
    bool answered;
} g;

static _Noreturn _printf_(1, 2) void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fprintf(stderr, "krb-load: ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    exit(1);
}

static int handshake(const struct ipc_kerberos *k, const char *host,
                     char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    (void)host;
    snprintf(ret_server, IPC_PRINCIPAL_MAX, "%s", g.server);
    return sgss_client_initiator(g.helpers[g.next++ % g.n_helpers], k->principal, g.server, ret);
}

/* ---- Calls ---- */

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)userdata;
    if (r->status < 0)
        die("getClusterMetrics: %s", err->text);
    g.answered = true;
}

static void call(struct ipc_client *c)
{
    const struct ipc_request q = {
        .method = "getClusterMetrics",
        .response = &hadoop__yarn__get_cluster_metrics_response_proto__descriptor,
    };

    g.answered = false;
    if (ipc_client_start(c, &q, on_answer, NULL, NULL) < 0)
        die("a call cannot be started");
    while (!g.answered)
        if (sd_event_run(g.event, UINT64_MAX) < 0)
            die("event loop");
}

static struct ipc_client *client_new(void)
{
    struct sv_error err = { 0 };
    struct ipc_client *c;

    if (ipc_client_new(g.event, &g.client, &c, &err) < 0)
        die("%s", err.text);
    return c;
}

static void connections(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct ipc_client *c = client_new();

        call(c);
        ipc_client_free(c);
    }
}

static void calls(uint64_t n)
{
    struct ipc_client *c = client_new();

    for (uint64_t i = 0; i < n; i++)
        call(c);
    ipc_client_free(c);
}

/* ---- A storm ---- */

/* As nodes by default: yarn.resourcemanager.connect.*, ipc.client.connect.*. */
static const struct ipc_retry_policy node_policy = { .kind = IPC_RETRY_RM,
                                                     .connect_retries = 10,
                                                     .connect_timeout_retries = 45,
                                                     .connect_interval_ms = 1000,
                                                     .max_wait_ms = 900000,
                                                     .interval_ms = 30000 };

static struct {
    int64_t begin_ms, *served_ms;
    uint64_t n, failed;
} storm;

static void on_served(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)userdata;
    if (r->status < 0)
        die("a node gives up: %s", err->text);
    storm.served_ms[storm.n++] = sv_now_ms() - storm.begin_ms;
}

static void on_retry(const char *method, const struct sv_error *err, int64_t wait_ms,
                     const struct ipc_proxy_server *failed, const struct ipc_proxy_server *next,
                     void *userdata)
{
    (void)method, (void)err, (void)wait_ms, (void)failed, (void)next, (void)userdata;
    storm.failed++;
}

static struct ipc_proxy *node_new(void)
{
    const struct ipc_proxy_config cfg = { .client = g.client,
                                          .servers = { { .host = g.client.host,
                                                         .port = g.client.port } },
                                          .n_servers = 1,
                                          .retry = node_policy,
                                          .notify = on_retry };
    Hadoop__Yarn__GetClusterMetricsRequestProto q =
        HADOOP__YARN__GET_CLUSTER_METRICS_REQUEST_PROTO__INIT;
    struct sv_error err = { 0 };
    struct ipc_proxy *p;

    if (ipc_proxy_new(g.event, &cfg, &p, &err) < 0)
        die("%s", err.text);
    if (ipc_proxy_call(p, "getClusterMetrics", &q.base,
                       &hadoop__yarn__get_cluster_metrics_response_proto__descriptor, 60000,
                       on_served, NULL, NULL) < 0)
        die("a node's call cannot be started");
    return p;
}

/* Each has a ticket for the service, as a node's has that was connected before. */
static void add_helpers(size_t n)
{
    struct sv_error err = { 0 };

    if (n > HELPERS_MAX)
        die("more than %d nodes", HELPERS_MAX * NODES_A_HELPER);
    while (g.n_helpers < n) {
        if (sgss_client_new(&g.helper, &g.helpers[g.n_helpers], &err) < 0)
            die("%s", err.text);
        g.next = g.n_helpers++;
        connections(1);
    }
}

static void run_storm(uint64_t n)
{
    struct ipc_proxy **nodes = calloc(n, sizeof(*nodes));

    storm.served_ms = realloc(storm.served_ms, n * sizeof(*storm.served_ms));
    if (!nodes || !storm.served_ms)
        die("out of memory");
    storm.n = storm.failed = 0;
    storm.begin_ms = sv_now_ms();
    for (uint64_t i = 0; i < n; i++)
        nodes[i] = node_new();
    while (storm.n < n)
        if (sd_event_run(g.event, UINT64_MAX) < 0)
            die("event loop");
    for (uint64_t i = 0; i < n; i++)
        ipc_proxy_free(nodes[i]);
    free(nodes);
}

/* ---- Heartbeats ---- */

#define BEAT_US 1000000
#define BEATS_MAX 4000000 /* answers that are kept */

struct beat {
    struct ipc_client *client;
    sd_event_source *timer;
    int64_t asked_us;
};

static struct {
    uint32_t *us; /* of each answer */
    size_t n, room;
    bool ended;
} beats;

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void on_beaten(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct beat *b = userdata;

    if (r->status == -ECANCELED)
        return;
    if (r->status < 0)
        die("a heartbeat: %s", err->text);
    if (beats.n == beats.room) {
        beats.room = beats.room ? 2 * beats.room : 4096;
        beats.us =
            beats.room <= BEATS_MAX ? reallocarray(beats.us, beats.room, sizeof(*beats.us)) : NULL;
        if (!beats.us)
            die("too many heartbeats");
    }
    beats.us[beats.n++] = (uint32_t)SV_MIN(now_us() - b->asked_us, (int64_t)UINT32_MAX);
    if (sd_event_source_set_time(b->timer, (uint64_t)(b->asked_us + BEAT_US)) < 0 ||
        sd_event_source_set_enabled(b->timer, SD_EVENT_ONESHOT) < 0)
        die("a timer");
}

static int on_beat(sd_event_source *src, uint64_t usec, void *userdata)
{
    const struct ipc_request q = {
        .method = "getClusterMetrics",
        .response = &hadoop__yarn__get_cluster_metrics_response_proto__descriptor,
    };
    struct beat *b = userdata;

    (void)src, (void)usec;
    b->asked_us = now_us();
    if (ipc_client_start(b->client, &q, on_beaten, b, NULL) < 0)
        die("a heartbeat cannot be sent");
    return 0;
}

static int on_line(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)src, (void)fd, (void)revents, (void)userdata;
    beats.ended = true;
    return 0;
}

static int compare_us(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* All are connected before the first timer runs; "ready" is printed then. */
static void run_beats(uint64_t n)
{
    struct beat *all = calloc(n, sizeof(*all));
    sd_event_source *line = NULL;

    if (!all || sd_event_add_io(g.event, &line, STDIN_FILENO, EPOLLIN, on_line, NULL) < 0)
        die("out of memory");
    for (uint64_t i = 0; i < n; i++) {
        all[i].client = client_new();
        call(all[i].client);
    }
    for (uint64_t i = 0; i < n; i++)
        if (sd_event_add_time(g.event, &all[i].timer, CLOCK_MONOTONIC,
                              (uint64_t)now_us() + i * BEAT_US / n, 100, on_beat, &all[i]) < 0)
            die("a timer");
    printf("ready\n");
    fflush(stdout);
    beats.ended = false;
    while (!beats.ended)
        if (sd_event_run(g.event, UINT64_MAX) < 0)
            die("event loop");
    sd_event_source_disable_unref(line);
    for (uint64_t i = 0; i < n; i++) {
        sd_event_source_disable_unref(all[i].timer);
        ipc_client_free(all[i].client);
    }
    free(all);
    if (beats.n == 0)
        die("no heartbeat was answered");
    qsort(beats.us, beats.n, sizeof(*beats.us), compare_us);
}

/* ---- Figures ---- */

/* The helpers, which are the only children. */
static size_t helper_pids(int ret[HELPERS_MAX])
{
    char path[64];
    size_t n = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
    FILE *f = fopen(path, "re");
    while (f && n < HELPERS_MAX && fscanf(f, "%d", &ret[n]) == 1)
        n++;
    if (n == 0)
        die("there is no helper");
    fclose(f);
    return n;
}

static FILE *open_proc(int pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    FILE *f = fopen(path, "re");
    if (!f)
        die("%s cannot be read", path);
    return f;
}

static double cpu_of(int pid)
{
    unsigned long user, kernel;
    FILE *f = open_proc(pid, "stat");

    /* its name has no blank */
    if (fscanf(f, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) !=
        2)
        die("processor time of %d", pid);
    fclose(f);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static long rss_kib_of(int pid)
{
    char line[256];
    long kib = -1;
    FILE *f = open_proc(pid, "status");

    while (kib < 0 && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %ld", &kib) != 1)
            kib = -1;
    fclose(f);
    return kib;
}

static double helpers_cpu(void)
{
    int pids[HELPERS_MAX];
    double sum = 0;

    for (size_t i = helper_pids(pids); i-- > 0;)
        sum += cpu_of(pids[i]);
    return sum;
}

static long helpers_rss_kib(void)
{
    int pids[HELPERS_MAX];
    long most = 0;

    for (size_t i = helper_pids(pids); i-- > 0;)
        most = SV_MAX(most, rss_kib_of(pids[i]));
    return most;
}

static double own_cpu(void)
{
    struct rusage r;

    (void)getrusage(RUSAGE_SELF, &r); /* cannot fail, ignoring */
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

/* ---- Commands ---- */

static void command(const char *what, uint64_t n)
{
    bool is_storm = sv_streq(what, "storm"), is_beats = sv_streq(what, "beats");

    if (is_storm)
        add_helpers((n + NODES_A_HELPER - 1) / NODES_A_HELPER);
    int64_t start = sv_now_ms();
    double own = own_cpu(), helper = helpers_cpu();

    if (is_storm)
        run_storm(n);
    else if (is_beats)
        run_beats(n);
    else if (sv_streq(what, "calls"))
        calls(n);
    else
        connections(n);
    printf("{\"n\": %" PRIu64 ", \"seconds\": %.4f, \"cpu\": %.4f, \"helper_cpu\": %.4f, "
           "\"helper_rss_kib\": %ld",
           n, (double)(sv_now_ms() - start) / 1000, own_cpu() - own, helpers_cpu() - helper,
           helpers_rss_kib());
    if (is_storm)
        printf(", \"half\": %.4f, \"most\": %.4f, \"failed\": %" PRIu64,
               (double)storm.served_ms[n / 2] / 1000, (double)storm.served_ms[n * 99 / 100] / 1000,
               storm.failed);
    if (is_beats)
        printf(", \"beats\": %zu, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"most_ms\": %.3f", beats.n,
               beats.us[beats.n / 2] / 1e3, beats.us[beats.n * 99 / 100] / 1e3,
               beats.us[beats.n - 1] / 1e3);
    printf("}\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct sv_error err = { 0 };
    char line[64], what[16];
    uint64_t port, n;
    uint32_t mask;

    if (argc != 8 || sv_parse_u64(argv[6], 1, 65535, &port) < 0 ||
        ipc_qop_parse(argv[7], &mask, &err) < 0 || sd_event_new(&g.event) < 0)
        die("wrong arguments");
    char *helper_argv[] = { argv[1], (char *)"--keytab", argv[3], (char *)"--krb5-conf", argv[2],
                            NULL };
    const struct ipc_kerberos k = { .principal = argv[4], .handshake = handshake };

    g.helper = (struct sgss_client_config){ .event = g.event, .argv = helper_argv };
    g.server = argv[5];
    g.client = (struct ipc_client_config){
        .host = "127.0.0.1",
        .port = (uint16_t)port,
        .protocol = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB",
        .version = 1,
        .kerberos = &k,
        .qop_mask = mask,
    };
    if (sgss_client_new(&g.helper, &g.helpers[g.n_helpers++], &err) < 0)
        die("%s", err.text);
    while (fgets(line, sizeof(line), stdin))
        if (sscanf(line, "%15s %" SCNu64, what, &n) == 2 && n > 0)
            command(what, n);
    for (size_t i = 0; i < g.n_helpers; i++)
        sgss_client_free(g.helpers[i]);
    free(storm.served_ms);
    free(beats.us);
    sd_event_unref(g.event);
    return 0;
}
