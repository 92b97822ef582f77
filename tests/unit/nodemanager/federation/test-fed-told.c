/* nodemanager/federation/fed-told.c: the NodeManager is killed in any turn of the loop, and its
 * master is told of each container and of its end once all the same. */
#include "tests/unit/nodemanager/federation-fixture.h"

static void begin(void)
{
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    turns(20);
    assert_non_null(beat(-1));
    turns(20);
}

static void end_one(struct fake *f, size_t i)
{
    f->containers[i].ended = true;
}

/* The master knows what it has read; an answer that it has not is forgotten here. */
static void unread(size_t n_told, size_t n_ended, int32_t response_id)
{
    g.n_told = n_told;
    g.n_ended = n_ended;
    g.response_id = response_id;
}

static void resync(void)
{
    assert_null(beat(-1));
    assert_string_equal(g.class, JAVA_AM_NOT_REGISTERED);
    assert_non_null(reg_as("here"));
}

/* A few heartbeats, in which nothing but `n_told` and `n_ended` come. */
static void settle(size_t n_told, size_t n_ended)
{
    for (int i = 0; i < 6; i++) {
        assert_non_null(beat(-1));
        turns(20);
    }
    assert_int_equal(g.n_told, n_told);
    assert_int_equal(g.n_ended, n_ended);
}

static void test_read(void **state)
{
    (void)state;
    for (int java = 0; java < 2; java++) {
        begin();
        fakes.v[0].java = fakes.v[1].java = java;
        for (int i = 0; i < 2; i++) {
            end_one(&fakes.v[i], 0);
            fake_allocate_one(&fakes.v[i]);
        }
        assert_non_null(beat(-1));
        restart(NM_AMRM_RESTARTED); /* neither has acknowledged */
        resync();
        settle(12, 2);
        restart(NM_AMRM_RESTARTED);
        resync();
        settle(12, 2);
        assert_int_equal(teardown(state), 0);
        assert_int_equal(setup(state), 0);
    }
}

static void test_unread(void **state)
{
    int32_t id;

    (void)state;
    begin();
    id = g.response_id;
    for (int i = 0; i < 2; i++) {
        end_one(&fakes.v[i], 0);
        fake_allocate_one(&fakes.v[i]);
    }
    assert_non_null(beat(-1));
    unread(10, 0, id);
    restart(NM_AMRM_RESTARTED);
    assert_null(beat(-1));
    restart(NM_AMRM_RESTARTED); /* the master repeats its registration */
    assert_non_null(reg_as("here"));
    assert_non_null(beat(-1));
    unread(10, 0, 0);
    restart(NM_AMRM_RESTARTED);
    resync();
    settle(12, 2);
}

/* The home's answer is in the daemon, which is killed with it. */
static void test_not_recorded(void **state)
{
    (void)state;
    begin();
    end_one(&fakes.v[0], 1);
    fake_allocate_one(&fakes.v[0]);
    beat_begin(-1);
    while (!g.n_commits)
        (void)sd_event_run(g.event, 1000);
    assert_true(g.open);
    lose_records();
    restart(NM_AMRM_RESTARTED);
    resync();
    settle(11, 1);
}

/* A member that has told an end has no further heartbeat before that is recorded. */
static void test_kept_back(void **state)
{
    int before;

    (void)state;
    begin();
    end_one(&fakes.v[1], 0);
    fakes.v[1].manner = FAKE_MUTE;
    assert_non_null(beat(-1)); /* open there now */
    fakes.v[1].manner = FAKE_ANSWERS;
    fake_pump_later();
    turns(50);
    before = fakes.v[1].n_allocated;
    assert_true(fakes.v[1].containers[0].end_told);
    assert_false(fakes.v[1].containers[0].end_acked);
    assert_non_null(beat(-1));
    turns(20);
    assert_int_equal(g.n_ended, 1);
    assert_true(fakes.v[1].containers[0].end_acked);
    assert_int_equal(fakes.v[1].n_allocated, before + 1);
}

/* Away when the daemon restarts, for longer than registrations are tried: its master is attached
 * again without a new request, and what the master knows is not told again. */
static void test_away(void **state)
{
    int64_t end = sv_now_ms() + PATIENCE_MS;

    (void)state;
    begin();
    end_one(&fakes.v[1], 0);
    fakes.v[1].manner = FAKE_DOWN;
    restart(NM_AMRM_RESTARTED);
    resync();
    turns(200);
    for (int i = 0; i < 20; i++) {
        assert_non_null(beat(-1));
        (void)sd_event_run(g.event, 2000);
    }
    fakes.v[1].manner = FAKE_ANSWERS;
    g.shared->relaunch_ms = 0;
    while (g.n_ended == 0) {
        assert_true(sv_now_ms() < end);
        assert_non_null(beat(-1));
        (void)sd_event_run(g.event, 1000);
    }
    settle(10, 1);
    assert_int_equal(fakes.v[1].n_submitted, 1);
}

static void damage(const char *name)
{
    bool found = false;

    for (size_t i = 0; i < RECORDS; i++)
        if (strstr(g.records[i].name, name)) {
            memset(g.records[i].p, 0xff, g.records[i].n);
            found = true;
        }
    assert_true(found);
}

/* A disk has damaged a record: what its sub-cluster says once more is known to the master, and what
 * it says later is told. */
static void test_damaged(void **state)
{
    static const char *const members[] = { "told/SC-1", "told/SC-2" };

    for (int i = 0; i < 2; i++) {
        begin();
        for (int k = 0; k < 2; k++) {
            end_one(&fakes.v[k], 0);
            fake_allocate_one(&fakes.v[k]);
        }
        assert_non_null(beat(-1));
        damage(members[i]);
        restart(NM_AMRM_RESTARTED); /* neither has acknowledged */
        resync();
        settle(12, 2);
        end_one(&fakes.v[i], 1);
        fake_allocate_one(&fakes.v[i]);
        beat_until(13);
        settle(13, 3);
        restart(NM_AMRM_RESTARTED);
        resync();
        settle(13, 3);
        assert_int_equal(teardown(state), 0);
        assert_int_equal(setup(state), 0);
    }
}

/* ---- Histories of chance ---- */

static uint64_t seed;

static unsigned chance(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

static void happen(bool away)
{
    struct fake *f = &fakes.v[chance(2)];

    if (!f->registered)
        return;
    f->manner = !away || chance(4) ? FAKE_ANSWERS : chance(2) ? FAKE_DOWN : FAKE_DEAF;
    fake_pump_later();
    if (f->n_containers < 400 && chance(2) == 0)
        fake_allocate_one(f);
    if (f->n_containers)
        end_one(f, chance((unsigned)f->n_containers));
}

/* Killed somewhere in a heartbeat, or behind it: read, or lost with the connection. */
static void kill_it(void)
{
    size_t n_told = g.n_told, n_ended = g.n_ended;
    int32_t id = g.response_id;

    beat_begin(-1);
    for (unsigned i = chance(12); i && g.open; i--)
        (void)sd_event_run(g.event, 0);
    if (!g.open)
        (void)beat_end();
    if (chance(2))
        unread(n_told, n_ended, id);
    if (chance(2) && !g.answered)
        lose_records();
    restart(NM_AMRM_RESTARTED);
    while (chance(3) == 0) { /* and again, before the master is registered */
        if (chance(2))
            (void)beat(-1);
        restart(NM_AMRM_RESTARTED);
    }
}

static bool has(const int64_t *list, size_t n, int64_t id)
{
    while (n && list[n - 1] != id)
        n--;
    return n > 0;
}

/* All is told; book() has seen that nothing is twice. */
static bool book_is_whole(void)
{
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < fakes.v[i].n_containers; k++) {
            int64_t id = fakes.v[i].containers[k].id;

            if (fakes.v[i].containers[k].ended ? !has(g.ended, g.n_ended, id)
                                               : !has(g.told, g.n_told, id))
                return false;
        }
    return true;
}

static void end_history(void)
{
    int64_t end = sv_now_ms() + PATIENCE_MS;

    g.shared->relaunch_ms = 0;
    for (int i = 0; i < 2; i++)
        fakes.v[i].manner = FAKE_ANSWERS;
    fake_pump_later();
    do {
        assert_true(sv_now_ms() < end);
        assert_non_null(beat(-1));
        (void)sd_event_run(g.event, 10000);
        turns(20);
    } while (!book_is_whole());
}

/* `away`: members are not there at times, and a heartbeat does not wait for the home. */
static void history(bool away)
{
    if (away)
        g.shared->conf.wait_ms = 2;
    begin();
    fakes.v[0].java = chance(2);
    fakes.v[1].java = chance(2);
    g.shared->conf.wait_for_launches = chance(2);
    for (int round = 0; round < 40; round++) {
        happen(away);
        if (chance(3) == 0) {
            kill_it();
            if (!beat(-1))
                assert_non_null(reg_as("here"));
        } else {
            assert_non_null(beat(-1));
        }
        turns((int)chance(10));
    }
    end_history();
}

static void histories(void **state, unsigned n, bool away)
{
    for (unsigned i = 0; i < n; i++) {
        seed = i;
        history(away);
        assert_int_equal(teardown(state), 0);
        assert_int_equal(setup(state), 0);
    }
}

static void test_histories(void **state)
{
    histories(state, 200, false);
}

/* Pauses of heartbeats take their time. */
static void test_histories_away(void **state)
{
    histories(state, 6, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_read), CASE(test_unread),  CASE(test_not_recorded), CASE(test_kept_back),
        CASE(test_away), CASE(test_damaged), CASE(test_histories),    CASE(test_histories_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
