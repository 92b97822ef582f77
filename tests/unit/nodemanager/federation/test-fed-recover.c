/* nodemanager/federation/fed-register.c, fed-recover.c and fed-finish.c: registration, restarts of
 * the NodeManager, later attempts, and ends with members that are away. */
#include "tests/unit/nodemanager/federation-fixture.h"

static void test_registration(void **state)
{
    Hadoop__Yarn__RegisterApplicationMasterResponseProto *m;

    (void)state;
    assert_null(beat(-1));
    assert_string_equal(g.class, JAVA_ILLEGAL_ARGUMENT);
    assert_false(finish());
    assert_string_equal(g.class, JAVA_AM_NOT_REGISTERED);
    m = reg_as("here");
    assert_string_equal(m->queue, "q");
    assert_string_equal(fakes.v[0].token, "home-token");
    assert_non_null(find_record("FederationInterceptor/registerRequest"));
    assert_non_null(find_record("FederationInterceptor/registerResponse"));
    m = reg_as("here");
    assert_string_equal(m->queue, "q");
    assert_int_equal(fakes.v[0].n_registered, 1);
    assert_null(reg_as("there"));
    assert_string_equal(g.class, JAVA_YARN_EXCEPTION);
    assert_string_equal(
        g.text, "AM should not call registerApplicationMaster with a different request body");
    assert_int_equal(fakes.v[1].n_submitted, 0);
}

/* The answer is lost with its connection: the master has one all the same, and another one later.
 */
static void test_answer_lost(void **state)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__RegisterApplicationMasterResponseProto *m;
    int64_t end = sv_now_ms() + PATIENCE_MS;

    (void)state;
    fakes.v[0].manner = FAKE_DEAF;
    q.host = (char[]){ "here" };
    call(NM_AMRM_REGISTER, &q.base);
    while (!fakes.v[0].registered && sv_now_ms() < end)
        (void)sd_event_run(g.event, 1000);
    fakes.v[0].manner = FAKE_ANSWERS;
    wait_until(is_closed);
    m = (void *)g.answer;
    assert_true(g.answered);
    assert_string_equal(m->queue, "q");
    assert_int_equal(m->maximumcapability->memory, 8192);
    assert_int_equal(m->n_scheduler_resource_types, 1);
    assert_int_equal(fakes.v[0].n_registered, 1);
    m = reg_as("here");
    assert_string_equal(m->queue, "q");
    assert_non_null(beat(10));
    beat_until(10);
    assert_true(finish());
}

/* Killed between the home's answer and its commit, with and without the request's: the master
 * registers once more, and has lost nothing. */
static void test_killed_before_commit(void **state)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    for (int with_request = 0; with_request < 2; with_request++) {
        int64_t end = sv_now_ms() + PATIENCE_MS;

        q.host = (char[]){ "here" };
        call(NM_AMRM_REGISTER, &q.base);
        while (!g.n_commits && sv_now_ms() < end)
            (void)sd_event_run(g.event, 1000);
        assert_true(fakes.v[0].registered);
        (void)!nm_amrm_forget(&g.at, "FederationInterceptor/registerResponse");
        if (!with_request)
            (void)!nm_amrm_forget(&g.at, "FederationInterceptor/registerRequest");
        restart(NM_AMRM_RESTARTED);
        assert_string_equal(reg_as("here")->queue, "q");
        assert_int_equal(fakes.v[0].n_registered, 1);
        assert_non_null(beat(10));
        beat_until(10);
        assert_true(finish());
        assert_int_equal(teardown(state), 0);
        assert_int_equal(setup(state), 0);
    }
}

/* With Kerberos the answer had a key that nobody has any more. */
static void test_answer_lost_with_kerberos(void **state)
{
    (void)state;
    g.env.kerberos = (struct sgss_service *)&g; /* not looked into */
    fakes.v[0].registered = true;
    assert_null(reg_as("here"));
    assert_string_equal(g.class, JAVA_INVALID_AM_REQUEST);
    assert_non_null(strstr(g.text, "already registered"));
}

static void test_finish_waits_for_all(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    fakes.v[1].manner = FAKE_DOWN;
    assert_false(finish());
    assert_true(fakes.v[0].finished);
    assert_int_equal(fakes.v[0].n_finished, 1);
    fakes.v[1].manner = FAKE_ANSWERS;
    assert_true(finish());
    assert_int_equal(fakes.v[0].n_finished, 1);
    assert_true(fakes.v[1].finished || fakes.v[1].killed);
    g.shared->conf.timeout_ms = 0;
}

static void test_finish_without_one(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    fakes.v[1].manner = FAKE_DOWN;
    assert_false(finish());
    g.shared->conf.timeout_ms = -1;
    assert_true(finish());
}

static void test_restart(void **state)
{
    Hadoop__Yarn__RegisterApplicationMasterResponseProto *m;

    (void)state;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    restart(NM_AMRM_RESTARTED);
    assert_null(beat(-1));
    assert_string_equal(g.class, JAVA_AM_NOT_REGISTERED);
    m = reg_as("here");
    assert_non_null(m);
    assert_string_equal(m->queue, "q");
    assert_int_equal(m->n_containers_from_previous_attempts, 0); /* it knows them */
    assert_int_equal(fakes.v[1].n_submitted, 1);
    assert_non_null(beat(20));
    beat_until(30);
    /* Releases find their sub-cluster. */
    hadoop__yarn__allocate_request_proto__init(&beat_q);
    beat_q.response_id = g.response_id;
    beat_q.has_response_id = true;
    beat_q.release = (Hadoop__Yarn__ContainerIdProto *[]){
        yarn_container_id_to(
            g.a, (struct yarn_container_id){ { FAKE_APP, 1 }, fakes.v[0].containers[0].id }),
        yarn_container_id_to(
            g.a, (struct yarn_container_id){ { FAKE_APP, 1 }, fakes.v[1].containers[0].id })
    };
    beat_q.n_release = 2;
    call(NM_AMRM_ALLOCATE, &beat_q.base);
    assert_non_null(beat_end());
    turns(20);
    assert_true(fakes.v[0].containers[0].released && fakes.v[1].containers[0].released);
    assert_true(finish());
}

/* Containers that members have allocated while the daemon was down are told, though members list
 * them when masters are attached again; those that the master knows are not. */
static void test_restart_with_fresh(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    turns(20);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            fake_allocate_one(&fakes.v[i]);
    restart(NM_AMRM_RESTARTED);
    assert_null(beat(-1));
    assert_int_equal(reg_as("here")->n_containers_from_previous_attempts, 0);
    beat_until(16);
    for (int i = 0; i < 10; i++) {
        assert_non_null(beat(-1));
        turns(20);
    }
    assert_int_equal(g.n_told, 16);
}

/* Longer than what the arena of the master's request holds: recalled in turns of the loop, and for
 * a later attempt read, joined and packed in turns. */
static void test_restart_with_many(void **state)
{
    enum { CONTAINERS = 4000 };
    Hadoop__Yarn__RegisterApplicationMasterResponseProto *m;

    (void)state;
    reg();
    assert_non_null(beat(2 * CONTAINERS));
    beat_until(2 * CONTAINERS);
    restart(NM_AMRM_RESTARTED);
    assert_null(beat(-1));
    assert_int_equal(reg_as("here")->n_containers_from_previous_attempts, 0);
    for (int i = 0; i < 4; i++)
        assert_non_null(beat(-1));
    assert_int_equal(g.n_told, 2 * CONTAINERS);
    assert_in_range(g.shared->turns.most, 1, NM_TURN_ROWS + 400);
    fakes.v[0].registered = false;
    g.at.id.attempt = 2;
    restart(NM_AMRM_SUCCEEDS);
    m = reg_as("another");
    assert_non_null(m);
    assert_int_equal(m->n_containers_from_previous_attempts, CONTAINERS);
    assert_in_range(g.shared->turns.most, 1, NM_TURN_ROWS + 400);
}

static void test_restart_and_finish(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    restart(NM_AMRM_RESTARTED);
    while (!finish())
        assert_true(g.answered);
    assert_true(fakes.v[0].finished);
    assert_true(fakes.v[1].finished || fakes.v[1].killed);
}

static void test_restart_and_stop(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    restart(NM_AMRM_RESTARTED);
    nm_amrm_federation_interceptor.stop(g.self);
    for (int i = 0; i < 100 && !g.stopped; i++)
        (void)sd_event_run(g.event, 1000);
    assert_true(g.stopped);
    assert_true(fakes.v[1].killed);
}

static void test_next_attempt(void **state)
{
    Hadoop__Yarn__RegisterApplicationMasterResponseProto *m;

    (void)state;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    fakes.v[0].registered = false;
    g.at.id.attempt = 2;
    restart(NM_AMRM_SUCCEEDS);
    m = reg_as("another");
    assert_non_null(m);
    assert_int_equal(m->n_containers_from_previous_attempts, 5);
    assert_non_null(beat(20));
    beat_until(30);
    assert_int_equal(fakes.v[1].n_submitted, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_registration),         CASE(test_finish_waits_for_all),
        CASE(test_finish_without_one),   CASE(test_restart),
        CASE(test_restart_and_finish),   CASE(test_restart_and_stop),
        CASE(test_restart_with_fresh),   CASE(test_restart_with_many),
        CASE(test_next_attempt),         CASE(test_answer_lost),
        CASE(test_killed_before_commit), CASE(test_answer_lost_with_kerberos),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
