/* nodemanager/federation/federation-interceptor.c: jobs on several sub-clusters, and histories of
 * chance in which no container may be lost or told twice. The cost of a heartbeat is printed. */
#include "tests/unit/nodemanager/federation-fixture.h"

#include <time.h>

static void test_two_sub_clusters(void **state)
{
    answer_proto *m;

    (void)state;
    reg();
    m = beat(10);
    assert_non_null(m);
    assert_int_equal(m->response_id, 1);
    assert_int_equal(m->n_allocated_containers, 5); /* the home's; others are on their way */
    beat_until(10);
    assert_int_equal(fakes.v[1].n_submitted, 1);
    assert_string_equal(fakes.v[1].name, "UnmanagedAM-SC-1");
    assert_string_equal(fakes.v[1].queue, "q");
    assert_string_equal(fakes.v[1].submitter, "alice");
    assert_string_equal(fakes.v[1].token, "SC-2");
    assert_int_equal(fakes.v[2].n_submitted, 0); /* no weight */
    assert_non_null(find_record("FederationInterceptor/secondarySC/SC-2"));
    turns(50);
    m = beat(-1);
    assert_int_equal(m->num_cluster_nodes, 20); /* each counted once */
    assert_int_equal(m->limit->memory, 2000);
    assert_true(finish());
    assert_true(fakes.v[0].finished && fakes.v[1].finished);
    assert_null(find_record("FederationInterceptor/secondarySC/SC-2"));
    m = beat(-1);
    assert_false(m->has_response_id);
    nm_amrm_federation_interceptor.stop(g.self);
    turns(20);
    assert_true(g.stopped);
    assert_int_equal(fakes.v[1].n_killed, 0);
}

static void test_epochs_clash(void **state)
{
    (void)state;
    fakes.v[1].epoch = 1;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    for (size_t i = 0; i < 5; i++)
        assert_true(fakes.v[1].containers[i].released);
}

static void test_tokens_roll(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    fakes.v[0].roll = "home-2";
    fakes.v[1].roll = "uam-2";
    for (int i = 0; i < 3; i++) {
        assert_null(((answer_proto *)beat(-1))->am_rm_token);
        turns(20);
    }
    assert_string_equal(fakes.v[0].token, "home-2");
    assert_string_equal(fakes.v[1].token, "uam-2");
}

static void test_application_killed(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    nm_amrm_federation_interceptor.stop(g.self);
    for (int i = 0; i < 100 && !g.stopped; i++)
        (void)sd_event_run(g.event, 1000);
    assert_true(g.stopped);
    assert_true(fakes.v[1].killed);
    assert_false(fakes.v[0].killed);
    assert_null(find_record("FederationInterceptor/secondarySC/SC-2"));
}

static void test_policy_rejects(void **state)
{
    (void)state;
    store(&(struct fed_request){
        .op = FED_POLICY_SET,
        .policy = { .queue = "q", .type = FED_MANAGER_PACKAGE "RejectAllPolicyManager" } });
    reg();
    assert_null(beat(10));
    assert_string_equal(g.class, JAVA_YARN_EXCEPTION);
    assert_non_null(beat(-1));
    assert_non_null(strstr(g.text, "RejectAllPolicyManager"));
}

/* ---- Histories of chance ---- */

static uint64_t seed;

static unsigned chance(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

/* The members' containers that live, all told, are those that the master knows. */
static void check_book(void)
{
    size_t live = 0;

    for (int i = 0; i < FAKES; i++)
        for (size_t k = 0; k < fakes.v[i].n_containers; k++) {
            size_t at = 0;

            if (fakes.v[i].containers[k].ended)
                continue;
            live++;
            while (at < g.n_told && g.told[at] != fakes.v[i].containers[k].id)
                at++;
            assert_true(at < g.n_told);
        }
    assert_int_equal(live, g.n_told);
}

static void test_histories(void **state)
{
    int64_t wanted = 0;

    (void)state;
    seed = 34;
    g.shared->conf.wait_ms = 2;
    reg();
    for (int round = 0; round < 400; round++) {
        struct fake *f = &fakes.v[chance(2)];

        switch (chance(8)) {
        case 0:
            f->manner = FAKE_DOWN;
            break;
        case 1:
            f->manner = FAKE_MUTE;
            break;
        case 2:
            if (g.n_told == (size_t)wanted) /* a book is known to be whole */
                fake_restart(f);
            break;
        case 3:
            f->grants = !f->grants;
            break;
        default:
            f->manner = FAKE_ANSWERS;
            fake_pump_later();
        }
        if (g.n_told == (size_t)wanted && wanted < 3000) {
            wanted += 10;
            (void)beat(10);
        } else {
            (void)beat(-1);
        }
        turns((int)chance(20));
    }
    for (int i = 0; i < FAKES; i++) {
        fakes.v[i].manner = FAKE_ANSWERS;
        fakes.v[i].grants = true;
    }
    g.shared->relaunch_ms = 0;
    fake_pump_later();
    beat_until((size_t)wanted);
    check_book();
    assert_true(finish());
}

/* ---- Long heartbeats ---- */

static Hadoop__Yarn__ResourceRequestProto **make_rows(int32_t n, int32_t count)
{
    Hadoop__Yarn__ResourceRequestProto **rows = calloc((size_t)n + 1, sizeof(*rows));

    for (int32_t i = 0; i < n; i++) {
        rows[i] = row(count);
        rows[i]->priority->priority = 2 + i;
    }
    return rows;
}

static void beat_rows(Hadoop__Yarn__ResourceRequestProto **rows, int32_t n)
{
    hadoop__yarn__allocate_request_proto__init(&beat_q);
    beat_q.has_response_id = true;
    beat_q.response_id = g.response_id;
    beat_q.ask = rows;
    beat_q.n_ask = (size_t)n;
    call(NM_AMRM_ALLOCATE, &beat_q.base);
}

/* No turn of the loop takes more rows than it may, and a few that belong together; a request that
 * is copied counts some 270. */
static void check_turns(size_t least)
{
    size_t n = 0;

    while (g.open) {
        (void)sd_event_run(g.event, 1000000);
        n++;
    }
    assert_true(n >= least);
    assert_in_range(g.shared->turns.most, 1, NM_TURN_ROWS + 400);
}

static void test_turns(void **state)
{
    enum { ROWS = 20000, CONTAINERS = 4000 };
    Hadoop__Yarn__ResourceRequestProto **rows = make_rows(ROWS, 0);

    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    beat_rows(rows, ROWS);
    assert_true(g.open); /* not in one turn */
    assert_true(g.shared->turns.queue != NULL);
    check_turns(ROWS / NM_TURN_ROWS);
    assert_true(g.answered);
    (void)beat_end();
    turns(200); /* the members have heard all of it */
    /* As many answers. */
    beat_begin(2 * CONTAINERS);
    check_turns(CONTAINERS / NM_TURN_ROWS);
    (void)beat_end();
    beat_until(2 + 2 * CONTAINERS);
    assert_in_range(g.shared->turns.most, 1, NM_TURN_ROWS + 400);
    free(rows);
}

/* The master goes away, the application ends and the daemon does, in any turn. */
static void test_turns_end(void **state)
{
    enum { ROWS = 3000 };
    Hadoop__Yarn__ResourceRequestProto **rows = make_rows(ROWS, 1);

    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    for (int i = 0; i < 12; i++) {
        beat_rows(rows, ROWS);
        turns(i);
        if (!g.open)
            break;
        fakes.v[0].refuse = JAVA_INVALID_RESOURCE_REQUEST;
        restart(NM_AMRM_RESTARTED);
        fakes.v[0].refuse = NULL;
        assert_non_null(reg_as("here"));
    }
    beat_rows(rows, ROWS);
    g.open = false; /* it is refused, and gone */
    nm_amrm_federation_interceptor.stop(g.self);
    g.call.arena = sv_arena_free(g.call.arena);
    for (int i = 0; i < 100 && !g.stopped; i++)
        (void)sd_event_run(g.event, 1000);
    assert_true(g.stopped);
    free(rows);
}

/* A master whose heartbeats are long has a part of the loop, and no more: it is answered later. */
static void test_pace(void **state)
{
    enum { ROWS = 30000 };
    Hadoop__Yarn__ResourceRequestProto **rows = make_rows(ROWS, 0);
    int64_t begin = sv_now_ms();

    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    beat_rows(rows, ROWS);
    assert_non_null(beat_end());
    assert_true(sv_now_ms() - begin >= 50 * 4);
    free(rows);
}

/* ---- Cost ---- */

static int64_t cpu_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Printed, not judged: processor time of a heartbeat of n rows, with what the members do, and of
 * its longest turn. */
static void cost(int32_t n, int rounds)
{
    Hadoop__Yarn__ResourceRequestProto **rows = make_rows(n, 0);
    int64_t all = 0, longest = 0;

    for (int i = 0; i < rounds; i++) {
        int64_t t = cpu_us();

        beat_rows(rows, n);
        for (int64_t spent = cpu_us() - t; g.open; spent = cpu_us() - t) {
            all += spent;
            longest = SV_MAX(longest, spent);
            t = cpu_us();
            (void)sd_event_run(g.event, 1000000);
        }
        all += cpu_us() - t;
        assert_non_null(beat_end());
    }
    print_message("a heartbeat of %d rows, 2 of %zu members: %lld us, in turns of %lld at most\n",
                  n, (size_t)FAKES, (long long)(all / rounds), (long long)longest);
    free(rows);
}

static void test_cost(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    cost(0, 1000);
    cost(100, 100);
    cost(10000, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_two_sub_clusters),
        CASE(test_epochs_clash),
        CASE(test_tokens_roll),
        CASE(test_application_killed),
        CASE(test_policy_rejects),
        CASE(test_histories),
        CASE(test_turns),
        CASE(test_turns_end),
        CASE(test_pace),
        CASE(test_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
