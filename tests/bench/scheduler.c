/* In-process benchmark of rm-lite's scheduler (tests/bench/bench-rm): allocations a CPU-second,
 * each with the end of another container, on a cluster that is full and has more asks than room.
 *
 *     scheduler NODES APPLICATIONS QUEUES USERS HOST-ASKS STEPS
 *
 * Prints one line of JSON: allocations per CPU-second; the end of a container with its round (the
 * 99.9th percentile and the longest) and a round of preemption, in CPU time; resident bytes a node
 * and a container. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rm-lite/scheduler/scheduler.h"

#define TS INT64_C(1700000000000)
#define NODE_MB 8192
#define CS "yarn.scheduler.capacity."

struct bench {
    struct rm_sched *s;
    struct sv_conf *conf;
    int nodes, apps, queues, users, hosts;
    int64_t steps, given;
    struct yarn_container_id *live; /* containers, in no order */
    size_t n_live, cap_live;
    double *times; /* of each end with its round, ms; NULL: not measured, which is faster */
    uint32_t seed;
};

static uint32_t rnd(struct bench *b)
{
    b->seed = b->seed * 1664525u + 1013904223u;
    return b->seed >> 8;
}

static double cpu_ms(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) < 0)
        abort();
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void handle(struct bench *b, struct rm_sched_event ev)
{
    const struct rm_decision *d;
    struct sv_error err = { 0 };
    size_t n;

    if (rm_sched_handle(b->s, &ev, 1000, &d, &n, &err) < 0) {
        (void)fprintf(stderr, "scheduler: event %d: %s\n", (int)ev.type, err.text);
        exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        if (d[i].type != RM_DECIDE_ALLOCATED)
            continue;
        if (b->n_live == b->cap_live) {
            b->cap_live = b->cap_live ? b->cap_live * 2 : 1024;
            b->live = realloc(b->live, b->cap_live * sizeof(*b->live));
            if (!b->live)
                abort();
        }
        b->live[b->n_live++] = d[i].container;
        b->given++;
    }
}

static void set(struct bench *b, const char *key, const char *value)
{
    if (sv_conf_set(b->conf, key, value) < 0)
        abort();
}

static void configure(struct bench *b)
{
    size_t size = (size_t)b->queues * 8 + 1;
    char *names = calloc(1, size), key[128], share[32];
    struct sv_error err = { 0 };

    b->conf = sv_conf_new();
    if (!names || !b->conf)
        abort();
    for (int i = 0; i < b->queues; i++) {
        size_t at = strlen(names);

        (void)snprintf(names + at, size - at, "%sq%d", i ? "," : "", i);
        (void)snprintf(key, sizeof(key), CS "root.q%d.capacity", i);
        (void)snprintf(share, sizeof(share), "%dw", 1 + i % 3);
        set(b, key, share);
    }
    set(b, CS "root.queues", names);
    set(b, "yarn.resourcemanager.scheduler.monitor.enable", "true");
    set(b, "yarn.resourcemanager.monitor.capacity.preemption.intra-queue-preemption.enabled",
        "true");
    set(b, CS "user-limit-factor", "-1");
    set(b, CS "minimum-user-limit-percent", "1");
    set(b, CS "maximum-am-resource-percent", "1");
    set(b, CS "maximum-applications", "1000000");
    set(b, CS "global-queue-max-application", "1000000");
    free(names);
    if (rm_sched_new(b->conf, 0, &b->s, &err) < 0) {
        (void)fprintf(stderr, "scheduler: %s\n", err.text);
        exit(1);
    }
}

static struct yarn_node_id node_id(int i)
{
    struct yarn_node_id id = { .port = 45454 };

    (void)snprintf(id.host, sizeof(id.host), "node%d.example.org", i);
    return id;
}

static void add_nodes(struct bench *b)
{
    for (int i = 0; i < b->nodes; i++) {
        struct yarn_node_id id = node_id(i);
        char rack[32];

        (void)snprintf(rack, sizeof(rack), "/rack%d", i / 40);
        handle(b, (struct rm_sched_event){
                      .type = RM_SCHED_NODE_ADDED,
                      .node_added = {
                          .node = &id, .rack = rack, .total = { .mem = NODE_MB, .vcores = 64 } } });
        handle(b, (struct rm_sched_event){ .type = RM_SCHED_NODE_HEARTBEAT,
                                           .node_heartbeat = { .node = &id } });
    }
}

static void ask(struct bench *b, int app, const char *name, int count)
{
    struct rm_ask a = { .priority = 1,
                        .allocation_id = -1,
                        .name = name,
                        .count = count,
                        .relax = true,
                        .capability = { .mem = 1024, .vcores = 1 } };

    handle(b, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                       .ask = { .app = { TS, app }, .asks = &a, .n_asks = 1 } });
}

static void add_app(struct bench *b, int i)
{
    char user[32], queue[32];

    (void)snprintf(user, sizeof(user), "user%d", i % b->users);
    (void)snprintf(queue, sizeof(queue), "q%d", i % b->queues);
    handle(b, (struct rm_sched_event){
                  .type = RM_SCHED_APP_ADDED,
                  .app_added = { .app = { TS, i + 1 }, .user = user, .queue = queue } });
    handle(b, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_ADDED,
                                       .attempt_added = { .app = { TS, i + 1 }, .attempt = 1 } });
}

/* Rows for a few hosts of a few racks, as a master of a job with input data has them. */
static void ask_hosts(struct bench *b, int app)
{
    for (int k = 0; k < b->hosts; k++) {
        int n = (int)(rnd(b) % (uint32_t)b->nodes);
        struct yarn_node_id id = node_id(n);
        char rack[32];

        (void)snprintf(rack, sizeof(rack), "/rack%d", n / 40);
        ask(b, app, id.host, 1000);
        ask(b, app, rack, 1000);
    }
}

static void rounds(struct bench *b)
{
    while (rm_sched_pass_waiting(b->s))
        handle(b,
               (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 1000000 } });
}

/* Fills the cluster evenly, then asks for more than it will give. */
static void fill(struct bench *b)
{
    int each = b->nodes * (NODE_MB / 1024) / b->apps + 1;

    for (int i = 0; i < b->apps; i++)
        add_app(b, i);
    for (int i = 0; i < b->apps; i++) {
        ask(b, i + 1, RM_ANY, each);
        rounds(b);
    }
    for (int i = 0; i < b->apps; i++) {
        ask_hosts(b, i + 1);
        ask(b, i + 1, RM_ANY, 10000);
    }
    rounds(b);
}

static double run(struct bench *b, int64_t steps)
{
    double start = cpu_ms(), before = 0;
    size_t next = 0;

    b->given = 0;
    for (int64_t i = 0; i < steps && b->n_live > 0; i++) {
        size_t k = next % b->n_live;
        struct yarn_container_id id = b->live[k];

        b->live[k] = b->live[--b->n_live];
        next = rnd(b);
        __builtin_prefetch(&b->live[next % (b->n_live + 1)], 1); /* this is not measured */
        if (b->times)
            before = cpu_ms();
        handle(b, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                           .container_done = { .container = id } });
        rounds(b);
        if (b->times)
            b->times[i] = cpu_ms() - before;
    }
    return cpu_ms() - start;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Fills in the 99.9th percentile and the longest of n ends. */
static void run_timed(struct bench *b, int64_t n, double *ret_most, double *ret_longest)
{
    b->times = calloc((size_t)n, sizeof(*b->times));
    if (!b->times)
        abort();
    (void)run(b, n);
    qsort(b->times, (size_t)n, sizeof(*b->times), by_size);
    *ret_most = b->times[n * 999 / 1000];
    *ret_longest = b->times[n - 1];
    free(b->times);
    b->times = NULL;
}

static double resident(void)
{
    unsigned long all, pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%lu %lu", &all, &pages) != 2)
        abort();
    (void)fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* A round of preemption over all queues and applications. */
static double preempt(struct bench *b)
{
    double start = cpu_ms();

    handle(b, (struct rm_sched_event){ .type = RM_SCHED_PREEMPT });
    return cpu_ms() - start;
}

int main(int argc, char **argv)
{
    struct bench b = { .seed = 1 };
    double ms, most, longest, empty, idle, full;
    int64_t given;

    if (argc != 7) {
        (void)fprintf(stderr, "usage: %s NODES APPLICATIONS QUEUES USERS HOST-ASKS STEPS\n",
                      argv[0]);
        return 2;
    }
    b.nodes = (int)strtol(argv[1], NULL, 10);
    b.apps = (int)strtol(argv[2], NULL, 10);
    b.queues = (int)strtol(argv[3], NULL, 10);
    b.users = (int)strtol(argv[4], NULL, 10);
    b.hosts = (int)strtol(argv[5], NULL, 10);
    b.steps = strtol(argv[6], NULL, 10);
    if (b.nodes <= 0 || b.apps <= 0 || b.queues <= 0 || b.users <= 0 || b.hosts < 0) {
        (void)fprintf(stderr, "%s: every count must be above 0\n", argv[0]);
        return 2;
    }
    configure(&b);
    empty = resident();
    add_nodes(&b);
    idle = resident();
    fill(&b);
    full = resident() - (double)(b.n_live * sizeof(*b.live));
    ms = run(&b, b.steps);
    given = b.given;
    run_timed(&b, SV_MAX(b.steps / 10, 10), &most, &longest);
    printf("{\"allocations\": %lld, \"per_cpu_second\": %.0f, \"end_p999_ms\": %.3f, "
           "\"longest_ms\": %.3f, \"preemption_ms\": %.3f, \"node_bytes\": %.0f, "
           "\"container_bytes\": %.0f}\n",
           (long long)given, (double)given * 1e3 / ms, most, longest, preempt(&b),
           (idle - empty) / b.nodes, (full - idle) / (double)SV_MAX(b.n_live, (size_t)1));
    rm_sched_free(b.s);
    sv_conf_free(b.conf);
    free(b.live);
    return 0;
}
