/* A service's engine with a fake cluster: definitions by hand, containers as the ResourceManager
 * and the nodes have them, and what must hold of every operation. */
#ifndef SELVEDGE_TESTS_UNIT_SERVICE_ENGINE_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_SERVICE_ENGINE_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "service/engine/policy.h"
#include "wire/exit-status.h"

#define COMPS 6
#define BOXES 1024 /* containers of one run */
#define ASKS 256
#define HOSTS 8

/* ---- definitions -----------------------------------------------------------------------------*/

struct def {
    struct svc_definition d;
    struct svc_component c[COMPS];
    struct svc_options o[COMPS];
    const char *dependencies[COMPS][COMPS];
};

static const char *const comp_names[COMPS] = { "a", "b", "c", "d", "e", "f" };

_unused_ static void def_init(struct def *f, const char *version, size_t n)
{
    memset(f, 0, sizeof(*f));
    f->d = (struct svc_definition){ .name = "svc",
                                    .version = version,
                                    .description = "",
                                    .id = "",
                                    .queue = "",
                                    .artifact = { .id = "" },
                                    .lifetime_s = -1,
                                    .components = f->c,
                                    .n_components = n,
                                    .principal = "",
                                    .keytab = "",
                                    .saved_state = "" };
    for (size_t i = 0; i < n; i++) {
        f->c[i] = (struct svc_component){ .name = comp_names[i],
                                          .dependencies = f->dependencies[i],
                                          .artifact = { .id = "" },
                                          .launch_command = version,
                                          .resource = { .memory_mb = 256, .vcores = 1 },
                                          .count = 1 };
        f->o[i] = (struct svc_options)SVC_OPTIONS_DEFAULT;
    }
}

_unused_ static void def_depend(struct def *f, size_t i, size_t on)
{
    f->dependencies[i][f->c[i].n_dependencies++] = comp_names[on];
}

/* ---- the cluster -----------------------------------------------------------------------------*/

enum box_state { OFFERED, LAUNCHED, RUNNING, REINIT, RELEASED, GONE };
struct box {
    enum box_state state;
    size_t comp;
    int64_t request;
    int32_t priority;
    char name[80], host[16];
    char asked_for[80]; /* the instance of the ask; "": any */
    int version_changes;
    bool lost; /* gone, and nobody tells the engine */
};
struct ask {
    int64_t id, count;
    int32_t priority;
    size_t comp;
    bool relax;
    size_t n_hosts;
    char hosts[HOSTS][16];
    char asked_for[80];
};
struct world {
    struct svc_engine *e;
    const struct svc_policy *policy;
    struct svc_limits limits;
    int64_t now, due;
    struct box box[BOXES];
    size_t n_boxes, alive[BOXES], n_alive;
    struct ask ask[ASKS];
    size_t n_asks;
    int64_t persisted[COMPS];
    const char *decommissioned[COMPS][64];
    char decommissioned_names[COMPS][64][80];
    size_t n_decommissioned[COMPS];
    bool unregistered, success;
    char text[256];
    uint64_t hash; /* of all operations */
    size_t n_ops, last_ops;
    size_t ops_of[SVC_OP_UNREGISTER + 1]; /* of the last input */
    const struct svc_definition *dropped, *finalized;
    bool cancelled;
    size_t n_blacklisted;
    char asked_hosts[HOSTS][16]; /* of the last ASK */
    size_t n_asked_hosts;
    bool asked_relax;
    char asked_label[16];
};

static struct yarn_container_id box_id(size_t i)
{
    return (struct yarn_container_id){
        .attempt = { .app = { .cluster_ts = 1700000000000, .id = 7 }, .attempt = 1 },
        .id = (int64_t)i + 1,
    };
}

static size_t box_of(const struct world *w, struct yarn_container_id id)
{
    assert_int_equal(id.attempt.app.id, 7);
    assert_true(id.id >= 1 && (size_t)id.id <= w->n_boxes);
    return (size_t)id.id - 1;
}

static void hash(struct world *w, const void *p, size_t n)
{
    const unsigned char *b = p;

    while (n--)
        w->hash = (w->hash ^ *b++) * UINT64_C(1099511628211);
}

static void box_gone(struct world *w, size_t i)
{
    w->box[i].state = GONE;
    for (size_t k = 0; k < w->n_alive; k++)
        if (w->alive[k] == i) {
            w->alive[k] = w->alive[--w->n_alive];
            return;
        }
}

static size_t comp_of(const struct world *w, const char *name)
{
    (void)w;
    return (size_t)(strncmp(name, "role", 4) == 0 ? name[4] - '0' : name[0] - 'a');
}

static struct ask *ask_of(struct world *w, int64_t id)
{
    for (size_t i = 0; i < w->n_asks; i++)
        if (w->ask[i].id == id)
            return &w->ask[i];
    return NULL;
}

static void on_ask(struct world *w, const struct svc_op *op)
{
    struct ask *a = ask_of(w, op->request);

    assert_true(op->count > 0);
    if (!a) {
        assert_true(w->n_asks < ASKS);
        a = &w->ask[w->n_asks++];
    }
    *a = (struct ask){ .id = op->request,
                       .count = op->count,
                       .priority = op->priority,
                       .comp = comp_of(w, op->component->name),
                       .relax = op->relax };
    (void)snprintf(a->asked_for, sizeof(a->asked_for), "%s", op->instance ?: "");
    w->n_asked_hosts = op->n_hosts;
    w->asked_relax = op->relax;
    (void)snprintf(w->asked_label, sizeof(w->asked_label), "%s", op->label);
    for (size_t i = 0; i < op->n_hosts && i < HOSTS; i++) {
        (void)snprintf(a->hosts[a->n_hosts++], sizeof(a->hosts[0]), "%s", op->hosts[i]);
        (void)snprintf(w->asked_hosts[i], sizeof(w->asked_hosts[0]), "%s", op->hosts[i]);
    }
}

static void drop_ask(struct world *w, int64_t id)
{
    struct ask *a = ask_of(w, id);

    if (a)
        *a = w->ask[--w->n_asks];
}

static void on_launch(struct world *w, const struct svc_op *op)
{
    size_t i = box_of(w, op->container);

    assert_int_equal(w->box[i].state, OFFERED);
    if (*w->box[i].asked_for)
        assert_string_equal(w->box[i].asked_for, op->instance);
    for (size_t k = 0; k < w->n_alive; k++) /* one live container an instance name */
        if (w->box[w->alive[k]].state != OFFERED)
            assert_string_not_equal(w->box[w->alive[k]].name, op->instance);
    for (size_t k = 0; k < w->n_decommissioned[w->box[i].comp]; k++)
        assert_string_not_equal(w->decommissioned_names[w->box[i].comp][k], op->instance);
    w->box[i].state = LAUNCHED;
    w->box[i].comp = comp_of(w, op->component->name);
    (void)snprintf(w->box[i].name, sizeof(w->box[i].name), "%s", op->instance);
}

static void on_persist(struct world *w, const struct svc_op *op)
{
    size_t c = comp_of(w, op->component->name), n = w->n_decommissioned[c];

    w->persisted[c] = op->count;
    if (!op->instance || n == 64)
        return;
    (void)snprintf(w->decommissioned_names[c][n], sizeof(w->decommissioned_names[c][n]), "%s",
                   op->instance);
    w->decommissioned[c][n] = w->decommissioned_names[c][n];
    w->n_decommissioned[c]++;
}

/* No operation on a container that is gone. */
static void on_container_op(struct world *w, const struct svc_op *op)
{
    struct box *b = &w->box[box_of(w, op->container)];

    assert_string_equal(op->host, b->host);
    if (b->lost && op->type == SVC_OP_RELEASE)
        return;
    assert_int_not_equal(b->state, GONE);
    switch (op->type) {
    case SVC_OP_RELEASE:
        b->state = RELEASED;
        break;
    case SVC_OP_STOP:
        assert_in_range(b->state, RUNNING, REINIT);
        b->state = RELEASED;
        break;
    case SVC_OP_REINITIALIZE:
        assert_int_equal(b->state, RUNNING);
        b->state = REINIT;
        b->version_changes++;
        break;
    default:
        assert_int_equal(b->state, RUNNING); /* CHECK */
    }
}

static void apply(struct world *w, const struct svc_op *op)
{
    assert_false(w->unregistered);
    w->ops_of[op->type]++;
    switch (op->type) {
    case SVC_OP_ASK:
        on_ask(w, op);
        break;
    case SVC_OP_CANCEL:
        drop_ask(w, op->request);
        break;
    case SVC_OP_LAUNCH:
        on_launch(w, op);
        break;
    case SVC_OP_RELEASE:
    case SVC_OP_STOP:
    case SVC_OP_REINITIALIZE:
    case SVC_OP_CHECK:
        on_container_op(w, op);
        break;
    case SVC_OP_BLACKLIST:
        w->n_blacklisted += op->on ? 1 : (size_t)-1;
        break;
    case SVC_OP_TIMER:
        w->due = op->at;
        break;
    case SVC_OP_PERSIST:
        on_persist(w, op);
        break;
    case SVC_OP_FINALIZE:
        w->finalized = op->definition;
        w->cancelled = !op->definition;
        break;
    case SVC_OP_DROP:
        w->dropped = op->definition;
        break;
    case SVC_OP_STATE:
        break;
    case SVC_OP_UNREGISTER:
        w->unregistered = true;
        w->success = op->success;
        (void)snprintf(w->text, sizeof(w->text), "%s", op->text);
        break;
    }
}

/* Carries out the operations of the input before; returns their number. */
static size_t carry_out(struct world *w)
{
    size_t n;
    const struct svc_op *ops = svc_engine_ops(w->e, &n);

    memset(w->ops_of, 0, sizeof(w->ops_of));
    for (size_t i = 0; i < n; i++) {
        hash(w, &ops[i].type, sizeof(ops[i].type));
        hash(w, &ops[i].container.id, sizeof(ops[i].container.id));
        hash(w, &ops[i].request, sizeof(ops[i].request));
        hash(w, &ops[i].count, sizeof(ops[i].count));
        hash(w, &ops[i].at, sizeof(ops[i].at));
        if (ops[i].instance)
            hash(w, ops[i].instance, strlen(ops[i].instance));
        for (size_t h = 0; h < ops[i].n_hosts; h++)
            hash(w, ops[i].hosts[h], strlen(ops[i].hosts[h]));
        apply(w, &ops[i]);
    }
    w->n_ops += n;
    w->last_ops = n;
    return n;
}

_unused_ static void world_make(struct world *w, const struct svc_setup *setup)
{
    struct sv_error err = { 0 };

    memset(w, 0, sizeof(*w));
    w->policy = setup->policy;
    w->limits = setup->limits;
    w->hash = 1;
    w->due = INT64_MAX;
    if (svc_engine_new(setup, &w->e, &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < setup->definition->n_components; i++)
        w->persisted[i] = setup->definition->components[i].count;
}

_unused_ static void world_init(struct world *w, const struct svc_policy *policy,
                                const struct def *f, const struct svc_limits *limits)
{
    struct svc_setup setup = { .policy = policy,
                               .definition = &f->d,
                               .options = f->o,
                               .limits = SVC_LIMITS_DEFAULT,
                               .seed = 1 };

    if (limits)
        setup.limits = *limits;
    world_make(w, &setup);
}

_unused_ static void world_start(struct world *w)
{
    svc_engine_start(w->e, w->now);
    carry_out(w);
}

/* The ResourceManager allocates one container of the ask on `host` (NULL: its first, or h0). */
_unused_ static size_t offer(struct world *w, struct ask *a, const char *host)
{
    size_t i = w->n_boxes++;

    assert_true(i < BOXES);
    w->box[i] = (struct box){ .comp = a->comp, .request = a->id, .priority = a->priority };
    memcpy(w->box[i].asked_for, a->asked_for, sizeof(w->box[i].asked_for));
    (void)snprintf(w->box[i].host, sizeof(w->box[i].host), "%s",
                   host
                       ?: a->n_hosts ? a->hosts[0]
                                     : "h0");
    if (!--a->count)
        drop_ask(w, a->id);
    w->alive[w->n_alive++] = i;
    return i;
}

static struct svc_allocated allocated_of(const struct world *w, size_t i)
{
    struct svc_allocated a = { .container = box_id(i),
                               .node = { .port = 8041 },
                               .request = w->box[i].request,
                               .priority = w->box[i].priority };

    (void)snprintf(a.node.host, sizeof(a.node.host), "%s", w->box[i].host);
    return a;
}

/* The engine gets it: it launches or releases it at once; a gang's waits for the others. */
_unused_ static void deliver(struct world *w, size_t i)
{
    struct svc_allocated a = allocated_of(w, i);

    svc_engine_allocated(w->e, w->now, &a);
    carry_out(w);
    if (w->policy->may_launch && w->box[i].state == OFFERED)
        return;
    assert_true(w->unregistered || w->box[i].state == LAUNCHED || w->box[i].state == RELEASED);
}

_unused_ static void started(struct world *w, size_t i)
{
    if (w->box[i].state == LAUNCHED)
        w->box[i].state = RUNNING;
    svc_engine_started(w->e, w->now, box_id(i));
    carry_out(w);
}

_unused_ static void reinitialized(struct world *w, size_t i, bool ok)
{
    if (w->box[i].state == REINIT)
        w->box[i].state = RUNNING;
    if (ok)
        svc_engine_reinitialized(w->e, w->now, box_id(i));
    else
        svc_engine_reinit_failed(w->e, w->now, box_id(i), "no answer");
    carry_out(w);
}

_unused_ static void ready(struct world *w, size_t i, bool is)
{
    svc_engine_ready(w->e, w->now, box_id(i), is);
    carry_out(w);
}

_unused_ static void completed(struct world *w, size_t i, int32_t status)
{
    box_gone(w, i);
    svc_engine_completed(w->e, w->now, box_id(i), status, "it ended");
    carry_out(w);
}

_unused_ static void timer(struct world *w, int64_t at)
{
    w->now = SV_MAX(w->now, at);
    w->due = INT64_MAX;
    svc_engine_timer(w->e, w->now);
    carry_out(w);
}

_unused_ static void node(struct world *w, const char *host, bool usable)
{
    struct yarn_node_id id = { .port = 8041 };

    (void)snprintf(id.host, sizeof(id.host), "%s", host);
    svc_engine_node(w->e, w->now, &id, usable);
    carry_out(w);
}

_unused_ static int flex(struct world *w, const char *component, int64_t count)
{
    int r = svc_engine_flex(w->e, w->now, component, count, NULL);

    carry_out(w);
    return r;
}

_unused_ static int kill_one(struct world *w, const char *instance)
{
    int r = svc_engine_kill(w->e, w->now, instance, NULL);

    carry_out(w);
    return r;
}

_unused_ static int decommission(struct world *w, const char *instance)
{
    int r = svc_engine_decommission(w->e, w->now, instance, NULL);

    carry_out(w);
    return r;
}

_unused_ static struct svc_component_view component(const struct world *w, size_t i)
{
    struct svc_component_view v;

    svc_engine_component(w->e, i, &v);
    return v;
}

_unused_ static size_t box_named(const struct world *w, const char *name)
{
    for (size_t k = 0; k < w->n_alive; k++)
        if (!strcmp(w->box[w->alive[k]].name, name))
            return w->alive[k];
    fail_msg("no container of %s", name);
    return 0;
}

_unused_ static enum svc_instance_state state_of(const struct world *w, const char *name)
{
    struct svc_instance_view v;

    return svc_engine_find(w->e, name, &v) < 0 ? (enum svc_instance_state)0 : v.state;
}

/* Allocates, starts and makes ready whatever is asked for, until nothing is outstanding. */
_unused_ static void bring_up(struct world *w)
{
    for (bool more = true; more;) {
        more = false;
        while (w->n_asks && w->n_boxes < BOXES) {
            deliver(w, offer(w, &w->ask[0], NULL));
            more = true;
        }
        for (size_t k = 0; k < w->n_alive; k++) {
            size_t i = w->alive[k];

            if (w->box[i].state == LAUNCHED) {
                started(w, i);
                ready(w, i, true);
                more = true;
            } else if (w->box[i].state == REINIT) {
                reinitialized(w, i, true);
                ready(w, i, true);
                more = true;
            }
        }
    }
}

/* Ends what was released. */
_unused_ static void end_released(struct world *w)
{
    for (size_t k = 0; k < w->n_alive;) {
        size_t i = w->alive[k];

        if (w->box[i].state == RELEASED) {
            completed(w, i, YARN_EXIT_ABORTED);
            k = 0;
        } else {
            k++;
        }
    }
}

_unused_ static void world_free(struct world *w)
{
    w->e = svc_engine_free(w->e);
}

#endif
