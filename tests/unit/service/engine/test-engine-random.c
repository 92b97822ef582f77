/* The engine against a fake cluster in random orders of events: what must hold after each and at
 * rest, that equal inputs give equal operations, and that every edge of the state tables was
 * walked. */
#include "tests/unit/service/engine-fixture.h"

#include "service/engine/states.h"

#ifdef SV_SANITIZED
#define RUNS 400
#else
#define RUNS 4000
#endif
#define EVENTS 500

/* ---- which edges were walked -----------------------------------------------------------------*/

static bool walked[3][16][16][16]; /* machine, state, event, next */

int __real_sv_fsm_run(const struct sv_fsm *fsm, int *state, int event, void *object, void *arg);
int __wrap_sv_fsm_run(const struct sv_fsm *fsm, int *state, int event, void *object, void *arg);

static int machine_of(const struct sv_fsm *fsm)
{
    return fsm == svc_service_fsm() ? 0 : fsm == svc_component_fsm() ? 1 : 2;
}

int __wrap_sv_fsm_run(const struct sv_fsm *fsm, int *state, int event, void *object, void *arg)
{
    int was = *state, r = __real_sv_fsm_run(fsm, state, event, object, arg);

    if (r >= 0)
        walked[machine_of(fsm)][was][event][*state] = true;
    return r;
}

static int missing(const struct sv_fsm *fsm, int state, int event, int next)
{
    if (!next || walked[machine_of(fsm)][state][event][next])
        return 0;
    if (fsm == svc_instance_fsm() && event == SVC_INSTANCE_EV_ENDED_BEFORE)
        return 0; /* of frameworks: test-framework-recovery */
    print_message("%s: not walked: %s -%s-> %s\n", fsm->name, fsm->state_names[state],
                  fsm->event_names[event], fsm->state_names[next]);
    return 1;
}

static void test_all_edges(void **state)
{
    const struct sv_fsm *const machines[] = { svc_service_fsm(), svc_component_fsm(),
                                              svc_instance_fsm() };
    int n = 0;

    (void)state;
    for (size_t m = 0; m < SV_ARRAY_LEN(machines); m++)
        for (int s = 1; s < machines[m]->n_states; s++)
            for (int ev = 1; ev < machines[m]->n_events; ev++) {
                const struct sv_fsm_cell *cell =
                    &machines[m]->cells[s * machines[m]->n_events + ev];

                n += missing(machines[m], s, ev, cell->next);
                for (size_t a = 0; a < SV_ARRAY_LEN(cell->alt); a++)
                    n += missing(machines[m], s, ev, cell->alt[a]);
            }
#ifdef SV_SANITIZED
    (void)n; /* too few runs */
#else
    assert_int_equal(n, 0);
#endif
}

/* ---- a run -----------------------------------------------------------------------------------*/

static struct world w;
static struct def defs[2]; /* the stored one, and the one of an upgrade */
static size_t stored;
static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* The service may be in a state that refuses it. */
static void tried(int r)
{
    (void)r;
    carry_out(&w);
}

static const char *random_host(void)
{
    static const char *const hosts[] = { "h0", "h1", "h2", "h3", "h4", "h5" };

    return hosts[rnd(SV_ARRAY_LEN(hosts))];
}

static void random_definition(const struct svc_policy *policy)
{
    size_t n = 1 + rnd(4);

    def_init(&defs[0], "1", n);
    for (size_t i = 0; i < n; i++) {
        struct svc_options *o = &defs[0].o[i];

        defs[0].c[i].count = rnd(6);
        if (i && !rnd(3))
            def_depend(&defs[0], i, rnd((uint32_t)i));
        o->failure_threshold = rnd(4) ? 1000 : rnd(6);
        o->dominant = !rnd(8);
        if (!rnd(20))
            *o = (struct svc_options){ .failure_threshold = 3,
                                       .node_threshold = 2,
                                       .health_percent = 50,
                                       .health_window_ms = 40000,
                                       .health_delay_ms = 60000,
                                       .label = "" };
        if (policy == &svc_yarn_policy && !rnd(4))
            defs[0].c[i].restart = rnd(2) ? SVC_RESTART_NEVER : SVC_RESTART_ON_FAILURE;
        if (policy == &svc_slider_policy) {
            static const uint32_t placements[] = { 0, SVC_PLACEMENT_STRICT, SVC_PLACEMENT_ANYWHERE,
                                                   SVC_PLACEMENT_ANTI_AFFINITY };

            o->placement = placements[rnd(4)];
            o->label = rnd(3) ? "" : "gpu";
        }
    }
    defs[1] = defs[0];
    defs[1].d.version = "2";
    defs[1].d.components = defs[1].c;
    for (size_t i = 0; i < n; i++) {
        defs[1].c[i].dependencies = defs[1].dependencies[i];
        if (rnd(3))
            defs[1].c[i].launch_command = "2";
    }
}

static ssize_t pick(enum box_state from, enum box_state to)
{
    for (int tries = 0; tries < 4 && w.n_alive; tries++) {
        size_t i = w.alive[rnd((uint32_t)w.n_alive)];

        if (w.box[i].state >= from && w.box[i].state <= to)
            return (ssize_t)i;
    }
    return -1;
}

static void random_name(char *name, size_t size)
{
    (void)snprintf(name, size, "%s-%u", comp_names[rnd((uint32_t)defs[0].d.n_components)], rnd(7));
}

/* ---- what must hold after each event ---------------------------------------------------------*/

static void check_counts(void)
{
    int64_t active[COMPS] = { 0 };

    for (size_t k = 0; k < w.n_alive; k++) {
        const struct box *b = &w.box[w.alive[k]];

        if (b->state >= LAUNCHED && b->state <= REINIT)
            active[b->comp]++;
    }
    for (size_t i = 0; i < svc_engine_components(w.e); i++) {
        struct svc_component_view v = component(&w, i);

        if (w.unregistered || svc_engine_state(w.e) >= SVC_STOPPED) {
            assert_int_equal(v.instances, 0);
            continue;
        }
        assert_int_equal(active[i], v.live);
        assert_true(v.live <= v.desired);
        if (svc_engine_state(w.e) != SVC_ACCEPTED) {
            assert_int_equal(v.instances, v.desired);
            assert_true(v.requested <= v.pending);
        }
        assert_true(v.ready <= v.live);
        assert_int_equal(v.desired, w.persisted[i]);
    }
}

/* ---- events ----------------------------------------------------------------------------------*/

static void ev_offer(void)
{
    struct ask *a = w.n_asks ? &w.ask[rnd((uint32_t)w.n_asks)] : NULL;
    size_t i;

    if (!a)
        return;
    i = offer(&w, a, a->relax || !a->n_hosts ? random_host() : a->hosts[rnd((uint32_t)a->n_hosts)]);
    if (!rnd(10))
        w.box[i].request = SVC_REQUEST_UNKNOWN;
    if (rnd(3))
        deliver(&w, i);
}

static void ev_deliver(void)
{
    ssize_t i = pick(OFFERED, OFFERED);

    if (i >= 0)
        deliver(&w, (size_t)i);
}

static void ev_start(void)
{
    ssize_t i = pick(LAUNCHED, LAUNCHED);

    if (i < 0)
        return;
    if (rnd(8)) {
        started(&w, (size_t)i);
        return;
    }
    svc_engine_start_failed(w.e, w.now, box_id((size_t)i), "refused");
    carry_out(&w);
}

static void ev_ready(void)
{
    ssize_t i = pick(LAUNCHED, RELEASED);

    if (i >= 0)
        ready(&w, (size_t)i, rnd(4));
}

static void ev_end(void)
{
    static const int32_t statuses[] = {
        0, 0, 1, 137, 143, -100, -101, -102, -103, -105, -106, -108
    };
    ssize_t i = pick(OFFERED, RELEASED);

    if (i >= 0)
        completed(&w, (size_t)i, statuses[rnd(SV_ARRAY_LEN(statuses))]);
}

static void ev_end_released(void)
{
    ssize_t i = pick(RELEASED, RELEASED);

    if (i >= 0)
        completed(&w, (size_t)i, YARN_EXIT_KILLED_BY_APPMASTER);
}

static void ev_reinit(void)
{
    ssize_t i = pick(REINIT, REINIT);

    if (i >= 0)
        reinitialized(&w, (size_t)i, rnd(5));
}

/* Late and repeated answers, of containers that may be gone. */
static void ev_stale(void)
{
    size_t i = w.n_boxes ? rnd((uint32_t)w.n_boxes) : BOXES;

    if (i == BOXES || (w.box[i].state != GONE && w.box[i].state != RELEASED))
        return;
    switch (rnd(6)) {
    case 0:
        svc_engine_started(w.e, w.now, box_id(i));
        break;
    case 1:
        svc_engine_start_failed(w.e, w.now, box_id(i), "late");
        break;
    case 2:
        svc_engine_reinitialized(w.e, w.now, box_id(i));
        break;
    case 3:
        svc_engine_ready(w.e, w.now, box_id(i), true);
        break;
    case 4:
        svc_engine_reinit_failed(w.e, w.now, box_id(i), "late");
        break;
    case 5:
        if (w.box[i].state == GONE)
            svc_engine_completed(w.e, w.now, box_id(i), 1, "late");
        break;
    }
    carry_out(&w);
}

static void ev_flex(void)
{
    const char *c = comp_names[rnd((uint32_t)defs[0].d.n_components)];
    int64_t count = rnd(7);

    if (flex(&w, c, count) < 0 || svc_engine_state(w.e) >= SVC_STOPPED)
        return;
    assert_int_equal(flex(&w, c, count), 0); /* idempotent */
    assert_int_equal(w.last_ops, 0);
}

static void ev_kill(void)
{
    char name[16];

    random_name(name, sizeof(name));
    (void)kill_one(&w, name);
}

static void ev_decommission(void)
{
    char name[16];

    random_name(name, sizeof(name));
    if (rnd(4) == 0)
        (void)decommission(&w, name);
}

static void ev_node(void)
{
    node(&w, random_host(), rnd(3));
}

static void ev_time(void)
{
    if (rnd(3) && w.due != INT64_MAX && w.due < w.now + 100000)
        timer(&w, w.due);
    else
        w.now += rnd(5000);
    if (w.due <= w.now)
        timer(&w, w.now);
}

static void ev_rejected(void)
{
    struct ask *a = w.n_asks ? &w.ask[rnd((uint32_t)w.n_asks)] : NULL;
    int64_t count;

    if (!a)
        return;
    count = rnd(2) ? 0 : 1 + rnd(2);
    svc_engine_rejected(w.e, w.now, a->id, count, "no node satisfies the constraint");
    a->count -= count && count < a->count ? count : a->count;
    if (!a->count)
        drop_ask(&w, a->id);
    carry_out(&w);
}

/* The ResourceManager forgets its asks; containers that are released end, and it may not know it.
 */
static void ev_resync(void)
{
    bool silent = rnd(2);

    w.n_asks = 0;
    svc_engine_resync(w.e, w.now);
    carry_out(&w);
    for (size_t k = w.n_alive; k-- > 0;) {
        size_t i = w.alive[k];

        if (w.box[i].state != RELEASED)
            continue;
        w.box[i].lost = silent;
        if (silent)
            box_gone(&w, i);
        else
            completed(&w, i, YARN_EXIT_ABORTED);
    }
}

static void ev_upgrade(void)
{
    bool express = !rnd(3);

    if (w.policy != &svc_yarn_policy)
        return;
    for (size_t i = 0; i < defs[0].d.n_components; i++)
        defs[!stored].c[i].count = w.persisted[i];
    if (svc_engine_upgrade(w.e, w.now, &defs[!stored].d, defs[!stored].o, rnd(2), express, NULL) >=
        0)
        w.finalized = NULL;
    carry_out(&w);
}

static void stored_may_change(void)
{
    if (w.finalized == &defs[!stored].d) {
        stored = !stored;
        w.finalized = NULL;
    }
}

static void ev_upgrade_some(void)
{
    char name[16];

    random_name(name, sizeof(name));
    if (rnd(3))
        tried(svc_engine_upgrade_instance(w.e, w.now, name, NULL));
    else
        tried(svc_engine_upgrade_component(
            w.e, w.now, comp_names[rnd((uint32_t)defs[0].d.n_components)], NULL));
}

static void ev_upgrade_end(void)
{
    if (!rnd(3))
        tried(svc_engine_cancel_upgrade(w.e, w.now, NULL));
    else
        tried(svc_engine_finalize(w.e, w.now, NULL));
}

static bool targets[BOXES]; /* these run the version of the upgrade */

static bool of_target(const struct svc_component *c)
{
    return c >= defs[!stored].c && c < defs[!stored].c + COMPS;
}

/* The master's journal has which containers run the new version, as far as it knows. */
static void note_versions(void)
{
    struct svc_instance_view v;

    for (size_t k = 0; k < w.n_alive; k++) {
        size_t i = w.alive[k];

        targets[i] = w.box[i].state != REINIT &&
                     svc_engine_find_container(w.e, box_id(i), &v) >= 0 && of_target(v.component);
    }
}

static void hand_over(size_t i)
{
    struct svc_allocated a = allocated_of(&w, i);
    struct svc_instance_view v;

    a.target = targets[i];

    w.box[i].state = RUNNING;
    svc_engine_recovered(w.e, w.now, &a, w.box[i].name);
    if (svc_engine_find_container(w.e, box_id(i), &v) >= 0)
        (void)snprintf(w.box[i].name, sizeof(w.box[i].name), "%s", v.name);
}

/* The upgrade goes on that the attempt before had not ended. */
static void resume(bool express, bool cancelled)
{
    for (size_t i = 0; i < defs[0].d.n_components; i++)
        defs[!stored].c[i].count = w.persisted[i];
    if (svc_engine_upgrade(w.e, w.now, &defs[!stored].d, defs[!stored].o, express || rnd(2),
                           express, NULL) < 0) {
        carry_out(&w);
        return;
    }
    w.finalized = NULL;
    carry_out(&w);
    for (size_t k = 0; k < w.n_alive; k++) {
        size_t i = w.alive[k];

        if (!targets[i] || w.box[i].state != RUNNING)
            continue;
        if (rnd(2))
            ready(&w, i, true);
        svc_engine_upgraded(w.e, w.now, w.box[i].name);
        carry_out(&w);
    }
    if (cancelled)
        tried(svc_engine_cancel_upgrade(w.e, w.now, NULL));
}

/* The master ends, and its next attempt has what the ResourceManager kept. */
static void ev_restart(void)
{
    bool resumes = svc_engine_target(w.e) && rnd(4),
         express = svc_engine_state(w.e) == SVC_EXPRESS_UPGRADING,
         cancelled = svc_engine_state(w.e) == SVC_CANCEL_UPGRADING;
    struct def *f = &defs[stored];
    struct svc_setup setup = {
        .policy = w.policy, .definition = &f->d, .options = f->o, .limits = w.limits, .seed = seed
    };

    for (size_t i = 0; i < f->d.n_components; i++) {
        f->c[i].count = w.persisted[i];
        f->c[i].decommissioned = w.decommissioned[i];
        f->c[i].n_decommissioned = w.n_decommissioned[i];
    }
    memset(targets, 0, sizeof(targets));
    if (resumes)
        note_versions();
    w.e = svc_engine_free(w.e);
    w.n_asks = 0;
    w.due = INT64_MAX;
    assert_int_equal(svc_engine_new(&setup, &w.e, NULL), 0);
    for (size_t k = w.n_alive; k-- > 0;) {
        size_t i = w.alive[k];

        if (w.box[i].state == OFFERED || w.box[i].state == RELEASED) {
            box_gone(&w, i);
        } else if (!rnd(10)) {
            svc_engine_expected(w.e, w.now, box_id(i), w.box[i].name);
            box_gone(&w, i);
        } else if (!rnd(10)) {
            w.box[i].name[0] = '\0'; /* its record is lost */
        }
    }
    for (int named = 1; named >= 0; named--)
        for (size_t k = 0; k < w.n_alive; k++)
            if ((w.box[w.alive[k]].name[0] != '\0') == named)
                hand_over(w.alive[k]);
    carry_out(&w);
    world_start(&w);
    if (resumes)
        resume(express, cancelled);
}

static const struct {
    void (*run)(void);
    uint32_t weight;
} events[] = {
    { ev_offer, 26 },       { ev_deliver, 14 },     { ev_start, 18 },       { ev_ready, 22 },
    { ev_end, 6 },          { ev_end_released, 8 }, { ev_reinit, 8 },       { ev_stale, 2 },
    { ev_flex, 4 },         { ev_kill, 3 },         { ev_decommission, 2 }, { ev_node, 3 },
    { ev_time, 6 },         { ev_rejected, 2 },     { ev_resync, 1 },       { ev_upgrade, 4 },
    { ev_upgrade_some, 8 }, { ev_upgrade_end, 2 },  { ev_restart, 1 },
};

static void step(void)
{
    static uint32_t total;
    uint32_t at;

    if (!total)
        for (size_t i = 0; i < SV_ARRAY_LEN(events); i++)
            total += events[i].weight;
    at = rnd(total);
    for (size_t i = 0; i < SV_ARRAY_LEN(events); i++) {
        if (at < events[i].weight) {
            events[i].run();
            stored_may_change();
            return;
        }
        at -= events[i].weight;
    }
}

/* ---- at rest ---------------------------------------------------------------------------------*/

static void end_jobs(void)
{
    for (size_t k = 0; k < w.n_alive; k++) {
        size_t i = w.alive[k];

        if (w.box[i].state == RUNNING && defs[0].c[w.box[i].comp].restart != SVC_RESTART_ALWAYS) {
            completed(&w, i, 0);
            k = (size_t)-1;
        }
    }
}

static void settle(void)
{
    for (int i = 0; i < 400 && !w.unregistered && w.n_boxes + 64 < BOXES; i++) {
        if (svc_engine_target(w.e) && i % 20 == 10)
            tried(svc_engine_cancel_upgrade(w.e, w.now, NULL));
        for (size_t h = 0; h < 6; h++)
            node(&w, (const char *[]){ "h0", "h1", "h2", "h3", "h4", "h5" }[h], true);
        for (bool any = true; any && !w.unregistered;) {
            ssize_t b = -1;

            for (size_t k = 0; k < w.n_alive && b < 0; k++)
                if (w.box[w.alive[k]].state == OFFERED)
                    b = (ssize_t)w.alive[k];
            any = b >= 0;
            if (any)
                deliver(&w, (size_t)b);
        }
        bring_up(&w);
        for (size_t k = 0; k < w.n_alive; k++)
            if (w.box[w.alive[k]].state == RUNNING)
                ready(&w, w.alive[k], true);
        end_released(&w);
        end_jobs();
        stored_may_change();
        if (!w.unregistered && w.due != INT64_MAX && w.due - w.now < 200000)
            timer(&w, w.due);
        else if (i > 60)
            return;
    }
}

static void check_rest(void)
{
    if (w.unregistered || w.n_boxes + 64 >= BOXES)
        return;
    assert_null(svc_engine_target(w.e));
    for (size_t i = 0; i < svc_engine_components(w.e); i++) {
        struct svc_component_view v = component(&w, i);
        bool anti = defs[0].o[i].placement & SVC_PLACEMENT_ANTI_AFFINITY;

        if (v.state == SVC_COMPONENT_INIT) {
            assert_int_equal(v.requested, 0);
            continue;
        }
        assert_int_equal(v.releasing, 0);
        assert_int_equal(v.requested, 0);
        if (!anti)
            assert_int_equal(v.desired, v.live + v.succeeded + v.failed);
        else
            assert_int_equal(v.live, SV_MIN(v.desired, 6));
        if (!anti && defs[0].c[i].restart == SVC_RESTART_ALWAYS)
            assert_int_equal(v.ready, v.desired);
        assert_int_equal(v.needs_upgrade, 0);
    }
    assert_int_equal(w.n_asks, 0);
}

static size_t n_events;

static uint64_t run(uint64_t number)
{
    static const struct svc_policy *const policies[] = { &svc_yarn_policy, &svc_slider_policy };
    const struct svc_policy *policy = policies[number % 3 == 2];
    struct svc_limits limits = SVC_LIMITS_DEFAULT;
    uint64_t result;

    seed = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    stored = 0;
    random_definition(policy);
    limits.rollback_on_failure = !rnd(4);
    limits.lost_ms = 120000;
    world_init(&w, policy, &defs[0], &limits);
    if (!rnd(50)) {
        svc_engine_stop(w.e, w.now, "before it starts");
        carry_out(&w);
        assert_true(w.unregistered);
    } else {
        world_start(&w);
    }
    for (int i = 0; i < EVENTS && !w.unregistered && w.n_boxes + 200 < BOXES; i++, n_events++) {
        step();
        check_counts();
    }
    if (!w.unregistered && !rnd(4))
        svc_engine_stop(w.e, w.now, "stopped by its user"), carry_out(&w);
    if (!w.unregistered) {
        settle();
        check_rest();
    }
    if (svc_engine_state(w.e) >= SVC_STOPPED && !w.unregistered) {
        timer(&w, w.now + 100000);
        assert_true(w.unregistered);
    }
    result = w.hash;
    world_free(&w);
    return result;
}

static void test_random_orders(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < RUNS; i++) {
        uint64_t was;

        was = run(i);
        if (i % 16 == 0)
            assert_true(run(i) == was); /* the same inputs, the same operations */
    }
    print_message("%zu events\n", n_events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_orders),
        cmocka_unit_test(test_all_edges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
