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

/* ---- Histories of chance ---- */

static uint64_t seed;

static unsigned chance(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

static void happen(void)
{
    struct fake *f = &fakes.v[chance(2)];

    if (!f->registered)
        return;
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

/* book() has seen that none is told twice. */
static void check_book(void)
{
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < fakes.v[i].n_containers; k++) {
            int64_t id = fakes.v[i].containers[k].id;

            if (fakes.v[i].containers[k].ended)
                assert_true(has(g.ended, g.n_ended, id));
            else
                assert_true(has(g.told, g.n_told, id));
        }
}

static void history(void)
{
    begin();
    fakes.v[0].java = chance(2);
    fakes.v[1].java = chance(2);
    g.shared->conf.wait_for_launches = chance(2);
    for (int round = 0; round < 40; round++) {
        happen();
        if (chance(3) == 0) {
            kill_it();
            if (!beat(-1))
                assert_non_null(reg_as("here"));
        } else {
            assert_non_null(beat(-1));
        }
        turns((int)chance(10));
    }
    for (int i = 0; i < 6; i++) {
        assert_non_null(beat(-1));
        turns(20);
    }
    check_book();
}

static void test_histories(void **state)
{
    for (unsigned i = 0; i < 200; i++) {
        seed = i;
        history();
        assert_int_equal(teardown(state), 0);
        assert_int_equal(setup(state), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_read),      CASE(test_unread),    CASE(test_not_recorded),
        CASE(test_kept_back), CASE(test_histories),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
