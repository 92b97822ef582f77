/* Random workloads of the scheduler: a configuration and a list of steps, both from one seed, over
 * the events of scheduler-fixture.h. Included once by test-scheduler-properties.c and
 * test-scheduler-progress.c, which check the properties. */
#ifndef SELVEDGE_TESTS_UNIT_RM_LITE_SCHEDULER_WORKLOAD_H
#define SELVEDGE_TESTS_UNIT_RM_LITE_SCHEDULER_WORKLOAD_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rm-lite/scheduler/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

#define PREEMPTION "yarn.resourcemanager.monitor.capacity.preemption."

#define EVENTS 400
#define APPS 40
#define NODES 8
#define USERS 4

enum op {
    BEAT,
    ROUND,
    ASK,
    HOST_ASK,
    APP,
    APP_END,
    DONE,
    RETRY,
    PREEMPT,
    NODE,
    NODE_END,
    REFRESH,
    PRIORITY,
    MOVE,
    UPDATE, /* only with world.updates */
    DRAIN,  /* from here on only with world.every_op: a node may be over-allocated */
    RESIZE,
    BLACKLIST,
    REST, /* only for the test that uses it */
    OPS
};

struct step {
    enum op op;
    uint32_t a, b, c;
};

struct world {
    struct fix f;
    struct step steps[EVENTS];
    size_t n;
    uint32_t seed, random;
    bool made[APPS + 1], nodes[NODES + 1], gpus;
    bool every_op;
    bool updates;   /* some heartbeats are updates of containers */
    bool unlimited; /* no user's limit stops anybody */
    bool walk_all;  /* without the index by host */
    uint64_t trace; /* a hash of all decisions */
    char why[300];  /* the property that does not hold */
};

static uint32_t rnd(struct world *w)
{
    w->random = w->random * 1664525u + 1013904223u;
    return w->random >> 8;
}

static bool fails(struct world *w, const char *fmt, ...) _printf_(2, 3);
static bool fails(struct world *w, const char *fmt, ...)
{
    va_list ap;

    if (w->why[0])
        return true;
    va_start(ap, fmt);
    (void)vsnprintf(w->why, sizeof(w->why), fmt, ap);
    va_end(ap);
    return true;
}

/* ------------------------------------------------------------------- workloads */

static void configure(struct world *w)
{
    static const char *const shares[][2] = { { "50", "50" }, { "20", "80" }, { "3w", "1w" } };
    static const char *const some[] = { "1", "2", "5", "100" };
    static const char *const limits[] = { "-1", "0.5", "1", "3" };
    struct fix *f = &w->f;
    uint32_t k = rnd(w) % 3;

    two_queues(f, shares[k][0], shares[k][1]);
    set(f, CS "root.b.queues", "x,y");
    set(f, CS "root.b.x.capacity", "40");
    set(f, CS "root.b.y.capacity", "60");
    set(f, CS "root.a.maximum-capacity", rnd(w) % 2 ? "100" : "80");
    set(f, CS "root.b.y.maximum-capacity", rnd(w) % 2 ? "100" : "70");
    set(f, CS "root.b.y.ordering-policy", rnd(w) % 2 ? "fair" : "fifo");
    set(f, CS "root.b.y.ordering-policy.fair.enable-size-based-weight",
        rnd(w) % 2 ? "true" : "false");
    set(f, CS "root.ordering-policy", rnd(w) % 2 ? "utilization" : "priority-utilization");
    set(f, CS "root.a.priority", some[rnd(w) % 3]);
    set(f, CS "user-limit-factor", limits[rnd(w) % 4]);
    set(f, CS "minimum-user-limit-percent", rnd(w) % 2 ? "100" : "25");
    set(f, CS "root.user-settings.user1.weight", rnd(w) % 2 ? "1" : "0.5");
    w->unlimited = !strcmp(sv_conf_raw(f->conf, CS "user-limit-factor"), "-1") &&
                   !strcmp(sv_conf_raw(f->conf, CS "minimum-user-limit-percent"), "100") &&
                   !strcmp(sv_conf_raw(f->conf, CS "root.user-settings.user1.weight"), "1");
    set(f, CS "max-parallel-apps", some[rnd(w) % 2 + 2]);
    set(f, CS "user.max-parallel-apps", some[rnd(w) % 3 + 1]);
    set(f, CS "maximum-am-resource-percent", rnd(w) % 2 ? "1" : "0.2");
    set(f, CS "per-node-heartbeat.maximum-offswitch-assignments", some[rnd(w) % 4]);
    set(f, CS "reservations-continue-look-all-nodes", rnd(w) % 2 ? "true" : "false");
    if (rnd(w) % 3 == 0)
        set(f, CS "resource-calculator",
            "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator");
    w->gpus = rnd(w) % 2;
    if (w->gpus)
        set(f, "yarn.resource-types", "yarn.io/gpu");
    set(f, "yarn.resourcemanager.scheduler.monitor.enable", "true");
    set(f, PREEMPTION "total_preemption_per_round", "0.5");
    set(f, PREEMPTION "max_wait_before_kill", "100");
    set(f, PREEMPTION "intra-queue-preemption.enabled", rnd(w) % 2 ? "true" : "false");
    set(f, PREEMPTION "intra-queue-preemption.preemption-order-policy",
        rnd(w) % 2 ? "userlimit_first" : "priority_first");
}

static struct rm_res node_size(const struct world *w, int i)
{
    return (struct rm_res){ 4096 + 1024 * (i * 7 % 9), 8 + i, { w->gpus ? i % 3 * 2 : 0 } };
}

static void node_added(struct world *w, int i)
{
    struct rm_res total = node_size(w, i);
    struct yarn_node_id id = node_id(i);

    if (!w->nodes[i])
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_NODE_ADDED,
                                                 .node_added = { .node = &id,
                                                                 .rack = i % 2 ? "/r1" : "/r2",
                                                                 .total = total } });
    w->nodes[i] = true;
}

static struct rm_sched_container *some_container(const struct rm_sched *s, uint32_t k)
{
    uint32_t count = (uint32_t)s->root->containers;

    k = count ? k % count : 0;
    for (const struct rm_sched_node *n = s->node_list; n; n = n->next) {
        if (k < (uint32_t)n->n_containers)
            return rm_pool_at(&s->container_pool, n->containers[k]);
        k -= (uint32_t)n->n_containers;
    }
    return NULL;
}

static void done(struct world *w, struct rm_sched_container *c, bool again)
{
    if (c)
        (void)go(&w->f,
                 (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                          .container_done = { .container = rm_container_id(c),
                                                              .put_ask_back = again && !c->am } });
}

static void update_some(struct world *w, const struct step *s)
{
    struct rm_sched_container *c = some_container(w->f.s, s->a);
    struct rm_res size = { 1024 * (1 + s->b % 4),
                           1 + s->b / 4 % 3,
                           { w->gpus ? s->b / 12 % 3 : 0 } };

    if (c)
        (void)go(&w->f,
                 (struct rm_sched_event){
                     .type = RM_SCHED_CONTAINER_UPDATE,
                     .container_update = { .container = rm_container_id(c),
                                           .resource = s->c % 5 ? size : (struct rm_res){ 0 } } });
}

static void kill_preempted(struct world *w)
{
    struct yarn_container_id ids[RM_PREEMPT_DECISIONS];
    size_t n = 0;

    for (size_t i = 0; i < w->f.n; i++)
        if (w->f.d[i].type == RM_DECIDE_PREEMPTED)
            ids[n++] = w->f.d[i].container;
    for (size_t i = 0; i < n; i++)
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_CONTAINER_DONE,
                                                 .container_done = { .container = ids[i] } });
}

static void ask_some(struct world *w, int i, const struct step *s, bool host)
{
    struct rm_res size = { 1024 * (1 + s->b % 4),
                           1 + s->b / 4 % 3,
                           { w->gpus ? s->b / 12 % 3 : 0 } };
    int32_t count = (int32_t)(s->c % 7), priority = (int32_t)(s->c / 7 % 2);
    char name[16];
    struct rm_ask rows[] = { { priority, -1, name, size, count, true },
                             { priority, -1, s->c % 3 ? "/r1" : "/r2", size, count, true },
                             { priority, -1, RM_ANY, size, count, s->c % 5 > 0 } };

    (void)snprintf(name, sizeof(name), "node%u", s->b % NODES + 1);
    (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                             .ask = { .app = app_id(i),
                                                      .asks = host ? rows : rows + 2,
                                                      .n_asks = host ? 3 : 1 } });
}

/* Blacklists a node that the application has reserved; or a random one. */
static void blacklist_some(struct world *w, const struct step *s)
{
    const struct rm_sched_node *n = w->f.s->node_list;
    int i = (int)(s->a % APPS) + 1;
    size_t add = s->c % 2;
    char name[16];
    const char *names[] = { name };

    while (n && !n->reserved_app)
        n = n->next;
    (void)snprintf(name, sizeof(name), "node%u", s->b % NODES + 1);
    if (n && s->b % 4) {
        (void)snprintf(name, sizeof(name), "%s", n->host_label.name);
        i = n->reserved_app->id.id;
    }
    if (w->made[i])
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_ASK,
                                                 .ask = { .app = app_id(i),
                                                          .blacklist_add = names,
                                                          .n_blacklist_add = add,
                                                          .blacklist_remove = names,
                                                          .n_blacklist_remove = 1 - add } });
}

static void remove_app(struct world *w, int i)
{
    if (w->made[i])
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                 .app_removed = { .app = app_id(i) } });
    w->made[i] = false;
}

static void step(struct world *w, const struct step *s)
{
    static const char *const queues[] = { "a", "x", "y" };
    int i = (int)(s->a % APPS) + 1, n = (int)(s->a % NODES) + 1;
    struct yarn_node_id id = node_id(n);
    char user[16];

    w->f.now += 50;
    w->f.n = 0;
    (void)snprintf(user, sizeof(user), "user%u", s->b % USERS);
    switch (s->op) {
    case BEAT:
        if (w->nodes[n])
            (void)beat(&w->f, n);
        break;
    case ROUND:
        (void)go(&w->f,
                 (struct rm_sched_event){ .type = RM_SCHED_PASS, .pass = { .window_ms = 1000 } });
        break;
    case ASK:
    case HOST_ASK:
        if (w->made[i])
            ask_some(w, i, s, s->op == HOST_ASK);
        break;
    case APP:
        if (!w->made[i])
            w->made[i] =
                app_prio(&w->f, i, user, queues[s->b / USERS % 3], 1024, (int32_t)(s->c % 3));
        break;
    case APP_END:
        remove_app(w, i);
        break;
    case DONE:
    case RETRY:
        done(w, some_container(w->f.s, s->a), s->op == RETRY);
        break;
    case PREEMPT:
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_PREEMPT });
        break;
    case NODE:
        node_added(w, n);
        break;
    case NODE_END:
        if (w->nodes[n])
            (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_NODE_REMOVED,
                                                     .node_removed = { .node = &id } });
        w->nodes[n] = false;
        break;
    case REFRESH:
        (void)go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_RECONFIGURED,
                                                 .reconfigured = { .conf = w->f.conf } });
        break;
    case DRAIN:
        (void)go(&w->f, (struct rm_sched_event){
                            .type = RM_SCHED_NODE_SCHEDULABLE,
                            .node_schedulable = { .node = &id, .schedulable = s->b % 3 > 0 } });
        break;
    case RESIZE:
        (void)go(&w->f,
                 (struct rm_sched_event){
                     .type = RM_SCHED_NODE_RESIZED,
                     .node_resized = { .node = &id, .total = node_size(w, (int)(s->b % 9)) } });
        break;
    case BLACKLIST:
        blacklist_some(w, s);
        break;
    case UPDATE:
        update_some(w, s);
        break;
    case REST:
        break;
    case MOVE: /* or its refusal, which changes nothing */
        if (w->made[i])
            (void)go(&w->f, (struct rm_sched_event){
                                .type = RM_SCHED_APP_MOVED,
                                .app_moved = { .app = app_id(i), .queue = queues[s->b % 3] } });
        break;
    default: /* PRIORITY */
        if (w->made[i])
            (void)go(&w->f,
                     (struct rm_sched_event){
                         .type = RM_SCHED_APP_PRIORITY,
                         .app_priority = { .app = app_id(i), .priority = (int32_t)(s->c % 3) } });
    }
}

static void generate(struct world *w)
{
    static const enum op weights[] = { BEAT,    BEAT,     BEAT,      BEAT,    BEAT,     BEAT,
                                       ROUND,   ROUND,    ROUND,     ASK,     ASK,      ASK,
                                       ASK,     HOST_ASK, HOST_ASK,  APP,     APP,      APP,
                                       DONE,    DONE,     DONE,      DONE,    RETRY,    PREEMPT,
                                       APP_END, NODE,     NODE_END,  REFRESH, PRIORITY, MOVE,
                                       DRAIN,   RESIZE,   BLACKLIST, REST };
    size_t n = SV_ARRAY_LEN(weights) - (w->every_op ? 0 : OPS - DRAIN);

    w->random = w->seed * 2654435761u + 1;
    w->n = EVENTS;
    for (size_t i = 0; i < w->n; i++) {
        w->steps[i] = (struct step){ weights[rnd(w) % n], rnd(w), rnd(w), rnd(w) };
        if (w->updates && w->steps[i].op == BEAT && w->steps[i].c % 3 == 0)
            w->steps[i].op = UPDATE;
    }
}

/* Everything before the first step; fix_end is the caller's. */
static void begin(struct world *w)
{
    w->random = w->seed;
    w->trace = 0;
    memset(w->made, 0, sizeof(w->made));
    memset(w->nodes, 0, sizeof(w->nodes));
    w->why[0] = 0;
    configure(w);
    fix_start(&w->f);
}

#ifdef __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* `test` for each seed: 200; with SELVEDGE_CHECK=full 10,000, and 1,000 with a sanitizer, which is
 * eight times slower; or the one of SEED. */
static void each_seed(struct world *w, void (*test)(struct world *w))
{
    const char *one = getenv("SEED"), *mode = getenv("SELVEDGE_CHECK");
    uint32_t last = mode && strcmp(mode, "full") == 0 ? (SANITIZED ? 1000 : 10000) : 200;

    for (uint32_t seed = 1; seed <= last; seed++) {
        w->seed = one ? (uint32_t)strtoul(one, NULL, 10) : seed;
        generate(w);
        test(w);
        if (one)
            break;
    }
}

/* Leaves out one part after the other, as long as the rest breaks a property. */
static void shrink(struct world *w, bool (*breaks)(struct world *))
{
    static struct step whole[EVENTS];

    for (size_t part = w->n / 2; part > 0; part /= 2)
        for (size_t at = 0; at + part <= w->n;) {
            size_t n = w->n;

            memcpy(whole, w->steps, sizeof(whole));
            memmove(&w->steps[at], &w->steps[at + part], (n - at - part) * sizeof(w->steps[0]));
            w->n = n - part;
            if (breaks(w))
                continue;
            memcpy(w->steps, whole, sizeof(whole));
            w->n = n;
            at += part;
        }
    (void)breaks(w); /* for its words */
}

static void report(struct world *w, bool (*breaks)(struct world *))
{
    static const char *const names[OPS] = { "BEAT",     "ROUND",     "ASK",      "HOST_ASK",
                                            "APP",      "APP_END",   "DONE",     "RETRY",
                                            "PREEMPT",  "NODE",      "NODE_END", "REFRESH",
                                            "PRIORITY", "MOVE",      "UPDATE",   "DRAIN",
                                            "RESIZE",   "BLACKLIST", "REST" };

    shrink(w, breaks);
    for (size_t i = 0; i < w->n; i++)
        print_error("  %s %u %u %u\n", names[w->steps[i].op], w->steps[i].a, w->steps[i].b,
                    w->steps[i].c);
    fail_msg("seed %u, after %zu events: %s", w->seed, w->n, w->why);
}

#endif
