/* The manager: owns everything, runs the event queue, turns decisions of the scheduler into events,
 * looks at the clock. Called by main.c and the tests. */
#include "rm-lite/rm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/launcher.h"
#include "rm-lite/machines.h"
#include "rm-lite/nodes-list.h"
#include "rm-lite/rm-app-manager.h"
#include "rm-lite/secrets.h"
#include "rm-lite/services.h"
#include "rm-lite/store.h"

#define TEXT_MAX (64 * 1024)
#define TICK_MS 200

/* ------------------------------------------------------------------- helpers */

void rm_out_of_memory(void)
{
    static const char text[] =
        "selvedge-rm: out of memory, ending; the state store is consistent\n";

    fwrite(text, 1, sizeof(text) - 1, stderr);
    abort();
}

struct sv_arena *rm_answer_arena(void)
{
    struct sv_arena *a = sv_arena_new(256u << 20);

    if (!a)
        rm_out_of_memory();
    return a;
}

char *rm_strdup(const char *s)
{
    char *copy = s ? strdup(s) : NULL;

    if (s && !copy)
        rm_out_of_memory();
    return copy;
}

void rm_set_text(char **dst, const char *s)
{
    char *copy = rm_strdup(s);

    free(*dst);
    *dst = copy;
    if (copy && strlen(copy) > TEXT_MAX)
        copy[TEXT_MAX] = 0;
}

void rm_append_text(char **dst, const char *s)
{
    size_t old = *dst ? strlen(*dst) : 0, add = strlen(s), cut;
    char *all = malloc(old + add + 1);

    if (!all)
        rm_out_of_memory();
    if (old)
        memcpy(all, *dst, old);
    memcpy(all + old, s, add + 1);
    cut = old + add > TEXT_MAX ? old + add - TEXT_MAX : 0;
    if (cut)
        memmove(all, all + cut, old + add - cut + 1);
    free(*dst);
    *dst = all;
}

struct rm_name_set *rm_set_get(struct rm_name_set *set, const char *name)
{
    struct rm_name_set *it;

    HASH_FIND_STR(set, name, it);
    return it;
}

bool rm_set_has(struct rm_name_set *set, const char *name)
{
    return rm_set_get(set, name) != NULL;
}

struct rm_name_set *rm_set_add(struct rm_name_set **set, const char *name)
{
    struct rm_name_set *it = rm_set_get(*set, name);

    if (it)
        return it;
    it = calloc(1, sizeof(*it));
    if (!it)
        rm_out_of_memory();
    it->name = rm_strdup(name);
    HASH_ADD_KEYPTR(hh, *set, it->name, strlen(it->name), it);
    return it;
}

void rm_set_clear(struct rm_name_set **set)
{
    struct rm_name_set *it, *tmp;

    HASH_ITER (hh, *set, it, tmp) {
        HASH_DEL(*set, it);
        free(it->name);
        free(it);
    }
}

/* -------------------------------------------------------------------- events */

void rm_post_full(struct rm *rm, struct rm_event ev, const char *text)
{
    struct rm_event *copy = malloc(sizeof(*copy));

    if (!copy)
        rm_out_of_memory();
    *copy = ev;
    copy->text = rm_strdup(text);
    copy->next = NULL;
    if (rm->queue)
        rm->queue_tail->next = copy;
    else
        rm->queue = copy;
    rm->queue_tail = copy;
}

void rm_post(struct rm *rm, enum rm_machine m, void *object, int event)
{
    rm_post_full(rm, (struct rm_event){ .machine = m, .object = object, .event = event }, NULL);
}

static void log_step(const struct sv_fsm *fsm, const char *id, int before, int after,
                     const struct rm_event *ev, int r)
{
    if (r < 0)
        sv_log(SV_LOG_WARNING, id, "%s: %s cannot take event %s in state %s, ignoring", id,
               fsm->name, fsm->event_names[ev->event], fsm->state_names[before]);
    else if (before != after)
        sv_log(SV_LOG_INFO, id, "%s State change from %s to %s on event = %s", id,
               fsm->state_names[before], fsm->state_names[after], fsm->event_names[ev->event]);
}

static void step(struct rm_event *ev)
{
    const struct sv_fsm *fsm;
    const char *id;
    int *state, before, r;

    switch (ev->machine) {
    case RM_M_APP:
        fsm = &rm_app_fsm;
        state = &((struct rm_app *)ev->object)->state;
        id = ((struct rm_app *)ev->object)->id_str;
        break;
    case RM_M_ATTEMPT:
        fsm = &rm_attempt_fsm;
        state = &((struct rm_attempt *)ev->object)->state;
        id = ((struct rm_attempt *)ev->object)->id_str;
        break;
    case RM_M_CONTAINER:
        fsm = &rm_container_fsm;
        state = &((struct rm_container *)ev->object)->state;
        id = ((struct rm_container *)ev->object)->id_str;
        break;
    default:
        fsm = &rm_node_fsm;
        state = &((struct rm_node *)ev->object)->state;
        id = ((struct rm_node *)ev->object)->key;
        break;
    }
    before = *state;
    r = sv_fsm_run(fsm, state, ev->event, ev->object, ev);
    log_step(fsm, id, before, *state, ev, r);
}

static void bury(struct rm *rm)
{
    struct rm_container *c, *ctmp;
    struct rm_node *n, *ntmp;

    DL_FOREACH_SAFE2(rm->dead_containers, c, ctmp, n_next)
    rm_container_free(c);
    rm->dead_containers = NULL;
    HASH_ITER (hh, rm->dead_nodes, n, ntmp) {
        HASH_DEL(rm->dead_nodes, n);
        rm_node_free(n);
    }
}

void rm_want_round(struct rm *rm)
{
    rm->want_round = true;
}

static void run_round(struct rm *rm)
{
    struct rm_sched_event ev = { .type = RM_SCHED_ASK_ROUND,
                                 .window_ms = rm->conf.heartbeat_ms * 2 };

    rm->want_round = false;
    if (rm->conf.schedule_on_ask && sv_now_ms() >= rm->hold_until_ms)
        (void)rm_schedule(rm, &ev,
                          NULL); /* only memory can fail it, and the next heartbeat retries */
}

void rm_drain(struct rm *rm)
{
    if (rm->draining)
        return;
    rm->draining = true;
    do {
        while (rm->queue) {
            struct rm_event *ev = rm->queue;

            rm->queue = ev->next;
            step(ev);
            free(ev->text);
            free(ev);
        }
        if (rm->want_round)
            run_round(rm);
    } while (rm->queue);
    bury(rm);
    rm->draining = false;
}

/* ----------------------------------------------------------------- decisions */

static void on_allocated(struct rm *rm, const struct rm_decision *d)
{
    struct rm_attempt *att = rm_attempt_find(rm, d->container.attempt);
    struct rm_node *node = rm_node_find(rm, &d->node);
    struct rm_container *c;

    if (!att || !node) { /* the scheduler knows only what was put in: cannot happen */
        struct rm_sched_event ev = { .type = RM_SCHED_CONTAINER_DONE, .container = d->container };

        (void)rm_schedule(rm, &ev, NULL);
        return;
    }
    c = rm_container_new(att, node, d->container, d->resource, d->priority, d->allocation_id);
    DL_APPEND2(att->fresh, c, f_prev, f_next);
    c->in_fresh = true;
    rm_post(rm, RM_M_CONTAINER, c, RM_CON_EV_START);
    if (!att->has_master && !att->app->unmanaged)
        rm_post_full(rm,
                     (struct rm_event){ .machine = RM_M_ATTEMPT,
                                        .object = att,
                                        .event = RM_ATT_EV_CONTAINER_ALLOCATED,
                                        .subject = c },
                     NULL);
}

static void decide(struct rm *rm, const struct rm_decision *d)
{
    struct rm_app *app = rm_app_find(rm, d->app);
    struct rm_container *c;

    switch (d->type) {
    case RM_DECIDE_APP_ACCEPTED:
        if (app)
            rm_post(rm, RM_M_APP, app, RM_APP_EV_ACCEPTED);
        break;
    case RM_DECIDE_APP_REJECTED:
        if (app)
            rm_post_full(rm,
                         (struct rm_event){
                             .machine = RM_M_APP, .object = app, .event = RM_APP_EV_REJECTED },
                         d->text);
        break;
    case RM_DECIDE_ATTEMPT_ADDED:
        if (app && app->current)
            rm_post(rm, RM_M_ATTEMPT, app->current, RM_ATT_EV_ADDED);
        break;
    case RM_DECIDE_ALLOCATED:
        on_allocated(rm, d);
        break;
    case RM_DECIDE_ORPHANED:
        c = rm_container_find(rm, d->container);
        if (c)
            rm_post_full(rm,
                         (struct rm_event){ .machine = RM_M_CONTAINER,
                                            .object = c,
                                            .event = RM_CON_EV_KILL,
                                            .exit_status = YARN_EXIT_ABORTED },
                         "Container of a completed application");
        break;
    case RM_DECIDE_LOST:     /* the node's own machine tells its containers */
    case RM_DECIDE_RESERVED: /* the scheduler's own business */
    case RM_DECIDE_UNRESERVED:
        break;
    }
}

int rm_schedule(struct rm *rm, const struct rm_sched_event *ev, struct sv_error *err)
{
    const struct rm_decision *d;
    size_t n;
    int r = rm_sched_handle(rm->sched, ev, sv_now_ms(), &d, &n, err);

    /* on_allocated may come back here, which would overwrite the list: only for what the scheduler
     * does not know, and that ends the loop. */
    for (size_t i = 0; i < n; i++)
        decide(rm, &d[i]);
    return r;
}

/* --------------------------------------------------------------------- clock */

static void expire(struct rm *rm, int64_t now)
{
    struct rm_app *app;
    struct rm_node *n, *tmp;

    for (struct rm_container *c = rm->expiring; c && c->expires_ms <= now; c = c->x_next)
        rm_post_full(rm,
                     (struct rm_event){ .machine = RM_M_CONTAINER,
                                        .object = c,
                                        .event = RM_CON_EV_EXPIRE,
                                        .exit_status = YARN_EXIT_ABORTED },
                     "Container expired since it was unused");
    DL_FOREACH (rm->app_list, app) {
        struct rm_attempt *att = app->current;

        if (att &&
            (att->state == RM_ATT_ST_LAUNCHED || att->state == RM_ATT_ST_RUNNING ||
             att->state == RM_ATT_ST_FINISHING) &&
            now - att->seen_ms >= rm->conf.am_expiry_ms)
            rm_post(rm, RM_M_ATTEMPT, att, RM_ATT_EV_EXPIRE);
    }
    HASH_ITER (hh, rm->nodes, n, tmp)
        if (now - n->seen_ms >= rm->conf.nm_expiry_ms) {
            sv_log_warning("node %s: no heartbeat for %lld ms, lost", n->key,
                           (long long)(now - n->seen_ms));
            rm_post(rm, RM_M_NODE, n, RM_NODE_EV_EXPIRE);
        }
}

void rm_tick(struct rm *rm)
{
    struct sv_error err = { 0 };
    int r = rm_secrets_tick(rm->secrets, sv_wall_ms(), &err);

    if (r > 0)
        r = rm_store_keys(rm->store, rm->secrets, &err);
    if (r < 0)
        sv_log_err("%s; the old token keys stay in use", err.text);
    expire(rm, sv_now_ms());
    if (rm->hold_until_ms && sv_now_ms() >= rm->hold_until_ms) {
        rm->hold_until_ms = 0;
        rm_want_round(rm);
    }
    rm_drain(rm);
    rm_app_evict(rm);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
    struct rm *rm = userdata;

    (void)usec;
    rm_tick(rm);
    (void)sd_event_source_set_time_relative(source, TICK_MS * 1000);
    (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
    return 0;
}

/* --------------------------------------------------------------------- start */

static int secrets_new(struct rm *rm)
{
    struct rm_secrets *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->hmac = rm->conf.hmac;
    s->key_len = (size_t)(rm->conf.key_bits / 8);
    s->roll_ms[RM_SECRET_CONTAINER] = rm->conf.container_key_roll_ms;
    s->roll_ms[RM_SECRET_NM] = rm->conf.nm_key_roll_ms;
    s->roll_ms[RM_SECRET_AMRM] = rm->conf.amrm_key_roll_ms;
    s->delay_ms[RM_SECRET_CONTAINER] = rm->conf.nm_expiry_ms + rm->conf.nm_expiry_ms / 2;
    s->delay_ms[RM_SECRET_NM] = s->delay_ms[RM_SECRET_CONTAINER];
    s->delay_ms[RM_SECRET_AMRM] = rm->conf.am_expiry_ms + rm->conf.am_expiry_ms / 2;
    rm->secrets = s;
    return 0;
}

/* Applications that had not ended go on where they were. */
static void resume(struct rm *rm)
{
    struct rm_app *app;
    size_t live = 0;

    DL_FOREACH (rm->app_list, app) {
        if (rm_app_is_final(app))
            continue;
        live++;
        rm_post(rm, RM_M_APP, app, RM_APP_EV_RECOVER);
    }
    if (rm->app_list)
        sv_log_notice("state store: %u applications, %zu of them not ended",
                      (unsigned)HASH_COUNT(rm->apps), live);
    if (live > 0)
        rm->hold_until_ms = sv_now_ms() + rm->conf.recovery_wait_ms;
}

static int load_scheduler_conf(struct rm *rm, struct sv_error *err)
{
    const char *dir = sv_conf_dir(rm->xml);
    _cleanup_free_ char *path = NULL;
    int r;

    if (!dir)
        return 0;
    if (sv_asprintf(&path, "%s/capacity-scheduler.xml", dir) < 0)
        return -ENOMEM;
    r = sv_conf_load_file(rm->xml, path, err);
    return r == -ENOENT ? 0 : r; /* none: one queue root.default with everything */
}

static int start(struct rm *rm, struct sv_error *err)
{
    int r;

    if ((r = load_scheduler_conf(rm, err)) < 0 || (r = rm_conf_read(rm->xml, &rm->conf, err)) < 0 ||
        (r = rm_nodes_list_read(rm, err)) < 0 || (r = secrets_new(rm)) < 0 ||
        (r = rm_store_open(rm, rm->conf.recovery ? rm->conf.state_dir : NULL, err)) < 0 ||
        (r = rm_store_start(rm->store, &rm->epoch, rm->secrets, err)) < 0 ||
        (r = rm_secrets_init(rm->secrets, sv_wall_ms(), err)) < 0 ||
        (r = rm_store_keys(rm->store, rm->secrets, err)) < 0 ||
        (r = rm_sched_new(rm->xml, rm->epoch, &rm->sched, err)) < 0 ||
        (r = rm_store_load(rm, err)) < 0)
        return r;
    resume(rm);
    rm_drain(rm);
    r = rm_services_start(rm, err);
    if (r < 0)
        return r;
    r = sd_event_add_time_relative(rm->event, &rm->tick, CLOCK_MONOTONIC, TICK_MS * 1000, 50000,
                                   on_tick, rm);
    return r < 0 ? sv_error_errno(err, r, "timer") : 0;
}

int rm_new(sd_event *event, struct sv_conf *conf, struct rm **ret, struct sv_error *err)
{
    struct rm *rm = calloc(1, sizeof(*rm));
    int r;

    if (!rm)
        return -ENOMEM;
    rm->event = sd_event_ref(event);
    rm->xml = conf;
    rm->started_ms = sv_wall_ms();
    r = start(rm, err);
    if (r < 0) {
        rm_free(rm);
        return r;
    }
    *ret = rm;
    return 0;
}

struct rm *rm_free(struct rm *rm)
{
    struct rm_container *c, *ctmp;
    struct rm_app *app, *atmp;
    struct rm_node *n, *ntmp;

    if (!rm)
        return NULL;
    rm_services_stop(rm);
    rm_launcher_free(rm);
    while (rm->queue) {
        struct rm_event *ev = rm->queue;

        rm->queue = ev->next;
        free(ev->text);
        free(ev);
    }
    rm->store = rm_store_close(rm->store);
    bury(rm);
    HASH_ITER (hh, rm->containers, c, ctmp) {
        HASH_DEL(rm->containers, c);
        rm_container_free(c);
    }
    HASH_ITER (hh, rm->apps, app, atmp)
        rm_app_free(app);
    HASH_ITER (hh, rm->nodes, n, ntmp) {
        HASH_DEL(rm->nodes, n);
        rm_node_free(n);
    }
    HASH_ITER (hh, rm->inactive_nodes, n, ntmp) {
        HASH_DEL(rm->inactive_nodes, n);
        rm_node_free(n);
    }
    rm_set_clear(&rm->include);
    rm_set_clear(&rm->exclude);
    rm->sched = rm_sched_free(rm->sched);
    free(rm->secrets);
    sd_event_source_disable_unref(rm->tick);
    sd_event_unref(rm->event);
    free(rm);
    return NULL;
}
