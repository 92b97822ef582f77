/* Random histories of frameworks against a model that counts directly: retries of each task are
 * those of the model, also after the master was killed; a task has one container at most; of a gang
 * none is launched before all have a container; the application ends when the model says, as it
 * says. 20,000 histories, 1,000,000 with SELVEDGE_CHECK=full, or the one of SEED. */
#include <stdlib.h>

#include "tests/unit/service/framework-fixture.h"

#define TASKS 5 /* of a role */
#define EVENTS 60
#define NONE SIZE_MAX

static struct world w;
static struct framework f;
static uint64_t seed;
static size_t n_events, n_launched, n_retried, n_kills, n_gang, n_ends[8];

static uint64_t rnd(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

/* ---- the model -------------------------------------------------------------------------------*/

static const struct {
    int32_t raw;
    const char *text;
    int32_t code;
    enum svc_fw_type type;
} exits[] = {
    { 0, "", 0, SVC_FW_SUCCEEDED },
    { 0, "well done", 0, SVC_FW_SUCCEEDED },
    { 1, "", 1, SVC_FW_UNKNOWN },
    { 137, "killed", 137, SVC_FW_TRANSIENT_NORMAL },
    { 139, "", 139, SVC_FW_NON_TRANSIENT },
    { -100, "Container expired since it was unused", -7112, SVC_FW_TRANSIENT_CONFLICT },
    { -100, "Container released on a *lost* node", -7111, SVC_FW_TRANSIENT_NORMAL },
    { -104, "", -7122, SVC_FW_NON_TRANSIENT },
};

struct model_task {
    bool exists, final, counted; /* counted: its container's end will be */
    size_t box;                  /* NONE: it has none */
    bool gated, ready;           /* allocated in a gang; all others were then, too */
    int32_t decided;             /* the code of an end that was decided; 0 = none */
    enum svc_fw_type decided_type;
    int32_t code;
    int32_t counts[SVC_FW_N_TYPES], retried;
};
static struct model {
    struct model_task t[ROLES][TASKS];
    int32_t wanted[ROLES];
    bool ended;
    int32_t code;
    int64_t gang_since; /* -1: no round goes on */
    int32_t missing[BOXES];
    struct {
        size_t role, index;
    } of[BOXES];
    bool owned[BOXES]; /* a task's */
} m;

static bool model_retries(const struct svc_fw_role *r, struct model_task *t, enum svc_fw_type type)
{
    int32_t max = r->retry.max_retries;

    if (r->retry.fancy && type == SVC_FW_NON_TRANSIENT)
        return false;
    if (!r->retry.fancy || (type != SVC_FW_TRANSIENT_NORMAL && type != SVC_FW_TRANSIENT_CONFLICT)) {
        if (max != -2 && (type == SVC_FW_SUCCEEDED || (max != -1 && t->retried >= max)))
            return false;
        t->retried++;
    }
    t->counts[type]++;
    n_retried++;
    return true;
}

static void model_end(int32_t code, size_t why)
{
    if (m.ended)
        return;
    m.ended = true;
    m.code = code;
    n_ends[why]++;
}

static void model_complete(size_t role, struct model_task *t, int32_t code, enum svc_fw_type type)
{
    const struct svc_fw_role *r = &f.roles[role];
    int32_t failed = 0, succeeded = 0;

    t->final = true;
    t->code = code;
    for (size_t k = 0; k < TASKS; k++) {
        failed += m.t[role][k].final && m.t[role][k].code != 0;
        succeeded += m.t[role][k].final && m.t[role][k].code == 0;
    }
    if (type != SVC_FW_SUCCEEDED && r->min_failed && failed >= r->min_failed)
        model_end(code, 0);
    else if (type == SVC_FW_SUCCEEDED && r->min_succeeded && succeeded >= r->min_succeeded)
        model_end(0, 1);
}

/* The container of the box is gone. */
static void model_gone(size_t box, int32_t code, enum svc_fw_type type)
{
    struct model_task *t = &m.t[m.of[box].role][m.of[box].index];

    if (!m.owned[box] || t->box != box)
        return;
    t->box = NONE;
    t->gated = t->ready = false;
    if (!t->exists || !t->counted)
        return;
    if (t->decided) {
        code = t->decided;
        type = t->decided_type;
    }
    t->decided = 0;
    if (!model_retries(&f.roles[m.of[box].role], t, type))
        model_complete(m.of[box].role, t, code, type);
}

static bool is_outstanding(const struct model_task *t)
{
    return t->exists && !t->final && (t->box == NONE || t->decided || !t->counted);
}

/* After each input. */
static void model_settle(void)
{
    int64_t outstanding = 0;
    bool all = true;

    if (m.ended)
        return;
    for (size_t r = 0; r < f.d.n_roles; r++)
        for (size_t k = 0; k < TASKS; k++) {
            outstanding += is_outstanding(&m.t[r][k]);
            all = all && (!m.t[r][k].exists || m.t[r][k].final);
        }
    if (all)
        model_end(0, 2);
    if (!f.d.gang)
        return;
    if (outstanding && m.gang_since < 0)
        m.gang_since = w.now;
    if (outstanding)
        return;
    m.gang_since = -1;
    for (size_t r = 0; r < f.d.n_roles; r++)
        for (size_t k = 0; k < TASKS; k++)
            m.t[r][k].ready = m.t[r][k].ready || m.t[r][k].gated;
}

static void model_count(size_t role, int32_t wanted)
{
    for (size_t k = 0; k < TASKS; k++) {
        struct model_task *t = &m.t[role][k];

        if ((int32_t)k >= wanted) {
            t->exists = t->final = false;
        } else if (!t->exists) {
            size_t box = t->box;

            *t = (struct model_task){ .exists = true, .box = box };
        }
    }
    m.wanted[role] = wanted;
}

/* ---- comparisons -----------------------------------------------------------------------------*/

static struct model_task *task_of(const char *instance, size_t *ret_role, size_t *ret_index)
{
    *ret_role = (size_t)(instance[4] - '0');
    *ret_index = (size_t)(instance[6] - '0');
    return &m.t[*ret_role][*ret_index];
}

static void compare_task(size_t role, size_t index)
{
    const struct model_task *t = &m.t[role][index];
    struct svc_fw_view v;
    char name[64];

    (void)snprintf(name, sizeof(name), "role%zu-%zu", role, index);
    if (svc_fw_view(w.e, name, &v) < 0) {
        assert_false(t->exists);
        return;
    }
    assert_true(t->exists);
    assert_int_equal(v.task.retries.retried, t->retried);
    assert_int_equal(v.task.retries.succeeded, t->counts[SVC_FW_SUCCEEDED]);
    assert_int_equal(v.task.retries.transient_normal, t->counts[SVC_FW_TRANSIENT_NORMAL]);
    assert_int_equal(v.task.retries.transient_conflict, t->counts[SVC_FW_TRANSIENT_CONFLICT]);
    assert_int_equal(v.task.retries.non_transient, t->counts[SVC_FW_NON_TRANSIENT]);
    assert_int_equal(v.task.retries.unknown, t->counts[SVC_FW_UNKNOWN]);
    assert_int_equal(v.task.state == SVC_FW_TASK_COMPLETED, t->final);
    if (t->final) {
        assert_int_equal(v.task.exit_code, t->code);
        return;
    }
    assert_int_equal(v.task.state >= SVC_FW_CONTAINER_ALLOCATED, t->box != NONE && t->counted);
    assert_int_equal(v.task.state == SVC_FW_CONTAINER_COMPLETED, t->decided != 0);
    if (v.has_container)
        assert_int_equal(box_of(&w, v.container), t->box);
}

static void compare_launches(void)
{
    for (size_t i = 0; i < w.n_alive; i++) {
        size_t box = w.alive[i];
        struct model_task *t = &m.t[m.of[box].role][m.of[box].index];

        if (w.box[box].state != LAUNCHED || !m.owned[box] || t->box != box)
            continue;
        n_launched += t->gated;
        if (f.d.gang)
            assert_true(t->ready || !t->gated);
        t->gated = false;
    }
}

static void compare(void)
{
    struct svc_fw_end end;

    model_settle();
    compare_launches();
    svc_fw_end(w.e, &end);
    assert_int_equal(end.ended, m.ended);
    assert_int_equal(w.unregistered, m.ended);
    if (m.ended) {
        assert_int_equal(end.code, m.code);
        return;
    }
    for (size_t r = 0; r < f.d.n_roles; r++)
        for (size_t k = 0; k < TASKS; k++)
            compare_task(r, k);
}

/* Work goes on in turns, which are due at once. */
static void turns(void)
{
    while (!w.unregistered && w.due <= w.now)
        timer(&w, w.now);
}

/* ---- events ----------------------------------------------------------------------------------*/

static size_t random_box(enum box_state from, enum box_state to)
{
    for (size_t i = 0, at = rnd(w.n_alive + 1); i < w.n_alive; i++) {
        size_t box = w.alive[(at + i) % w.n_alive];

        if (w.box[box].state >= from && w.box[box].state <= to)
            return box;
    }
    return NONE;
}

static bool host_is_free(const char *host)
{
    for (size_t i = 0; i < w.n_alive; i++)
        if (m.owned[w.alive[i]] && !strcmp(w.box[w.alive[i]].host, host))
            return false;
    return true;
}

static void allocate(void)
{
    static const char *const hosts[] = { "h0", "h1", "h2", "h3" };
    const char *host = hosts[rnd(4)];
    struct svc_allocated a;
    struct model_task *t;
    size_t box, role, index;
    bool refused = !rnd(12), fits = !f.d.anti_affine || host_is_free(host);
    struct ask *ask;

    if (!w.n_asks)
        return;
    ask = &w.ask[rnd(w.n_asks)];
    t = task_of(ask->asked_for, &role, &index);
    assert_true(t->exists && t->box == NONE && !t->final); /* one container a task */
    box = offer(&w, ask, host);
    a = allocated_of(&w, box);
    a.refused = refused;
    m.of[box].role = role;
    m.of[box].index = index;
    if (!refused && fits) {
        m.owned[box] = t->counted = t->gated = true;
        t->box = box;
    }
    svc_engine_allocated(w.e, w.now, &a);
    carry_out(&w);
    assert_int_equal(w.box[box].state == RELEASED, refused || !fits);
}

static void decide(size_t box, int32_t code)
{
    struct model_task *t = &m.t[m.of[box].role][m.of[box].index];

    t->decided = code;
    t->decided_type = SVC_FW_TRANSIENT_NORMAL;
    t->gated = t->ready = false;
}

static void end_box(size_t box)
{
    size_t x = rnd(SV_ARRAY_LEN(exits));

    if (box == NONE)
        return;
    model_gone(box, exits[x].code, exits[x].type);
    ended_with(&w, box, exits[x].raw, exits[x].text);
}

static bool is_live(size_t box)
{
    const struct model_task *t = &m.t[m.of[box].role][m.of[box].index];

    return m.owned[box] && t->box == box && t->exists && t->counted && !t->decided;
}

static void move(void)
{
    size_t box = random_box(OFFERED, RUNNING);
    int r;

    if (box == NONE || !m.owned[box])
        return;
    if (is_live(box))
        decide(box, -7153);
    r = migrate(&w, box);
    assert_true(r == 0 || r == -ESRCH);
}

static void fail_start(void)
{
    size_t box = random_box(LAUNCHED, LAUNCHED);

    if (box == NONE || !is_live(box))
        return;
    decide(box, -7150);
    svc_engine_start_failed(w.e, w.now, box_id(box), "no");
    carry_out(&w);
}

static void recount(void)
{
    size_t role = rnd(f.d.n_roles);
    int32_t wanted = (int32_t)rnd(TASKS);
    char name[64];

    (void)snprintf(name, sizeof(name), "role%zu", role);
    f.roles[role].tasks = wanted;
    model_count(role, wanted);
    assert_int_equal(flex(&w, name, wanted), 0);
}

static void reject(void)
{
    struct ask a;

    if (!w.n_asks)
        return;
    a = w.ask[rnd(w.n_asks)];
    drop_ask(&w, a.id);
    svc_engine_rejected(w.e, w.now, a.id, 0, "no node");
    carry_out(&w);
}

static void pass_time(void)
{
    int64_t at = w.due == INT64_MAX ? w.now + 1 : w.due;

    if (rnd(3))
        at = SV_MIN(at, w.now + (int64_t)rnd(60000));
    if (f.d.gang && m.gang_since >= 0 && at >= m.gang_since + f.setup.times.gang) {
        at = m.gang_since + f.setup.times.gang;
        model_end(-7252, 3);
    }
    timer(&w, at);
}

/* The ResourceManager lists all but `lost`, which it has forgotten. */
static void list_all(void)
{
    size_t lost = rnd(2) ? random_box(OFFERED, RUNNING) : NONE;

    if (lost != NONE && !is_live(lost))
        lost = NONE;
    for (size_t i = 0; i < w.n_alive; i++)
        m.missing[w.alive[i]] = w.alive[i] == lost ? m.missing[w.alive[i]] + 1 : 0;
    if (lost != NONE && m.missing[lost] > f.d.max_lost) {
        w.box[lost].lost = true;
        decide(lost, -7151);
        model_gone(lost, 0, SVC_FW_SUCCEEDED);
        list_containers(&w, lost);
        box_gone(&w, lost);
        return;
    }
    list_containers(&w, lost);
}

/* The next attempt has what the one before told, and the containers that live. */
static void kill_master(void)
{
    struct {
        size_t role;
        struct svc_fw_view v;
    } told[ROLES * TASKS];
    struct svc_setup setup;
    size_t n = 0;

    n_kills++;
    for (size_t r = 0; r < f.d.n_roles; r++)
        for (size_t cursor = 0; svc_fw_walk(w.e, r, &cursor, &told[n].v); n++) {
            told[n].role = r;
            if (told[n].v.has_container)
                told[n].v.task.container = told[n].v.text;
        }
    for (size_t i = 0; i < n; i++) { /* texts of the old engine */
        told[i].v.task.host =
            told[i].v.has_container ? w.box[box_of(&w, told[i].v.container)].host : NULL;
        told[i].v.task.exit_diagnostics = told[i].v.task.exit_description = NULL;
    }
    svc_engine_free(w.e);
    f.seed++;
    setup = framework_setup(&f);
    assert_int_equal(svc_engine_new(&setup, &w.e, NULL), 0);
    w.due = INT64_MAX;
    w.n_asks = 0;
    for (size_t i = 0; i < w.n_alive; i++) {
        struct box *b = &w.box[w.alive[i]];
        struct model_task *t = &m.t[m.of[w.alive[i]].role][m.of[w.alive[i]].index];

        if (b->state == OFFERED) /* it may have been started */
            memcpy(b->name, b->asked_for, sizeof(b->name));
        if (b->state < RUNNING)
            b->state = RUNNING;
        if (b->state == RELEASED) /* the release may not have arrived */
            b->state = RUNNING;
        if (m.owned[w.alive[i]] && t->box == w.alive[i] && t->exists) {
            t->counted = t->counted && !t->gated;
            t->gated = t->ready = false;
        }
        m.missing[w.alive[i]] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(svc_fw_restore(w.e, w.now, told[i].role, &told[i].v.task, NULL, NULL), 0);
        carry_out(&w);
    }
    for (size_t i = 0; i < w.n_alive; i++) {
        struct svc_allocated a = allocated_of(&w, w.alive[i]);

        svc_engine_recovered(w.e, w.now, &a, "");
        carry_out(&w);
    }
    m.gang_since = -1;
    world_start(&w);
}

static void step(void)
{
    switch (rnd(20)) {
    case 0 ... 6:
        allocate();
        break;
    case 7 ... 8:
        for (size_t box; (box = random_box(LAUNCHED, LAUNCHED)) != NONE && rnd(4);)
            started(&w, box);
        break;
    case 9 ... 11:
        end_box(random_box(RUNNING, RELEASED));
        break;
    case 12:
        end_box(random_box(OFFERED, RELEASED));
        break;
    case 13:
        end_box(random_box(RELEASED, RELEASED));
        break;
    case 14:
        move();
        break;
    case 15:
        if (!rnd(2))
            fail_start();
        else
            reject();
        break;
    case 16:
        if (!rnd(3))
            recount();
        break;
    case 17:
        if (!rnd(4))
            kill_master();
        break;
    case 18:
        if (rnd(4)) {
            list_all();
        } else {
            svc_engine_resync(w.e, w.now);
            carry_out(&w);
        }
        break;
    default:
        pass_time();
        break;
    }
}

/* ---- histories -------------------------------------------------------------------------------*/

static void random_framework(void)
{
    framework_init(&f, 1 + rnd(ROLES));
    f.seed = rnd(UINT64_MAX);
    f.d.gang = !rnd(3);
    f.d.anti_affine = !rnd(5);
    f.d.max_lost = (int32_t)rnd(3);
    f.limits.turn = (uint32_t[]){ 2, 3, 1024 }[rnd(3)];
    f.limits.lost_ms = INT64_MAX / 4; /* the model knows lists alone */
    if (rnd(2))
        f.setup.times.gang = 100000;
    memset(&m, 0, sizeof(m));
    m.gang_since = -1;
    for (size_t r = 0; r < f.d.n_roles; r++) {
        f.roles[r].retry.fancy = rnd(2);
        f.roles[r].retry.max_retries = (int32_t)rnd(6) - 2;
        f.roles[r].min_failed = (int32_t)rnd(4);
        f.roles[r].min_succeeded = rnd(2) ? 0 : (int32_t)rnd(4);
        f.roles[r].tasks = (int32_t)rnd(TASKS);
        for (size_t k = 0; k < TASKS; k++)
            m.t[r][k].box = NONE;
        model_count(r, f.roles[r].tasks);
    }
    n_gang += f.d.gang;
}

static void history(uint64_t number)
{
    seed = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    random_framework();
    framework_start(&w, &f);
    turns();
    compare();
    for (int i = 0; i < EVENTS && !w.unregistered; i++, n_events++) {
        step();
        turns();
        compare();
    }
    if (!w.unregistered && !rnd(3)) {
        svc_engine_stop(w.e, w.now, "its user");
        carry_out(&w);
        model_end(-7351, 4);
        compare();
    }
    framework_free(&w, &f);
}

static uint64_t at = NONE; /* the history that goes on */

static int say_where(void **state)
{
    (void)state;
    if (at != NONE)
        print_message("it failed in SEED=%zu\n", (size_t)at);
    return 0;
}

static void test_histories(void **state)
{
    const char *one = getenv("SEED"), *mode = getenv("SELVEDGE_CHECK");
    uint64_t n = mode && !strcmp(mode, "full") ? 1000000 : 20000;

    (void)state;
#ifdef SV_SANITIZED
    n /= 20;
#endif
    if (one) {
        history(strtoull(one, NULL, 10));
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        at = i;
        history(i);
    }
    at = NONE;
    print_message("%zu events, %zu launches, %zu retries, %zu kills, %zu gangs; ends: %zu by a "
                  "failed task, %zu by a succeeded one, %zu as all ended, %zu gangs in time, "
                  "%zu stopped\n",
                  n_events, n_launched, n_retried, n_kills, n_gang, n_ends[0], n_ends[1], n_ends[2],
                  n_ends[3], n_ends[4]);
    for (size_t i = 0; i < 5; i++)
        assert_true(n_ends[i] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_histories, say_where),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
