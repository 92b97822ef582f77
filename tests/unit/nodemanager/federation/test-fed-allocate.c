/* nodemanager/federation/fed-allocate.c: heartbeats before members that refuse, are away, are mute,
 * restart and forget. */
#include "tests/unit/nodemanager/federation-fixture.h"

static void test_response_ids(void **state)
{
    answer_proto *m;

    (void)state;
    reg();
    m = beat(4);
    assert_int_equal(m->n_allocated_containers, 2);
    g.response_id = 0; /* the answer was lost */
    g.n_told = 0;
    m = beat(4);
    assert_int_equal(m->response_id, 1);
    assert_int_equal(m->n_allocated_containers, 2);
    g.response_id = 7;
    assert_null(beat(-1));
    assert_string_equal(g.class, JAVA_INVALID_AM_REQUEST);
    assert_non_null(strstr(g.text, "expect responseId to be 1, but get 7"));
}

/* A secondary has a further heartbeat as soon as the master has been told of an end there. */
static void test_ends_are_acknowledged(void **state)
{
    int before;

    (void)state;
    reg();
    assert_non_null(beat(4));
    beat_until(4);
    turns(20);
    assert_true(fakes.v[1].n_containers > 0);
    fakes.v[1].containers[0].ended = true;
    do {
        before = fakes.v[1].n_allocated;
        assert_non_null(beat(-1));
        turns(20);
    } while (g.n_ended == 0);
    assert_int_equal(fakes.v[1].n_allocated, before + 2);
    assert_non_null(beat(-1));
    turns(20);
    assert_int_equal(fakes.v[1].n_allocated, before + 3);
    assert_int_equal(g.n_ended, 1);
}

static void test_mute_secondary(void **state)
{
    int before;

    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    turns(20);
    fakes.v[1].manner = FAKE_MUTE;
    assert_non_null(beat(2)); /* open there now */
    before = fakes.v[1].n_allocated;
    for (int i = 0; i < 20; i++)
        assert_non_null(beat(i == 10 ? 8 : -1));
    assert_int_equal(fakes.v[1].n_allocated, before);
    fakes.v[1].manner = FAKE_ANSWERS;
    fake_pump_later();
    beat_until(2 + 1 + 5 + 4);                         /* SC-1: 1+1+4, SC-2: 1, 1, then 4 */
    assert_true(fakes.v[1].n_allocated - before < 10); /* folded */
}

static void test_mute_home(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    turns(20);
    fakes.v[0].manner = FAKE_MUTE;
    g.shared->conf.wait_ms = 20;
    assert_non_null(beat(-1)); /* the limit */
    g.shared->conf.wait_ms = 600000;
    for (int i = 0; i < 20; i++)
        assert_non_null(beat(-1)); /* SC-2's answers */
}

static void test_members_restart(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    fakes.v[0].grants = fakes.v[1].grants = false;
    assert_non_null(beat(20));
    assert_non_null(beat(-1));
    turns(20);
    for (int i = 0; i < 2; i++) {
        fake_restart(&fakes.v[i]);
        fakes.v[i].grants = true;
    }
    beat_until(30);
    assert_int_equal(fakes.v[0].n_registered, 2);
    assert_int_equal(fakes.v[1].n_registered, 2);
    assert_int_equal(fakes.v[1].n_submitted, 1);
}

static void test_member_refuses_connections(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(4));
    beat_until(4);
    fakes.v[1].manner = FAKE_DOWN;
    for (int i = 0; i < 10; i++)
        assert_non_null(beat(i == 5 ? 6 : -1));
    fakes.v[1].manner = FAKE_ANSWERS;
    beat_until(10);
}

/* The member's ResourceManager has moved, as the store says. */
static void test_member_moves(void **state)
{
    int64_t end = sv_now_ms() + PATIENCE_MS;

    (void)state;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    turns(20);
    fakes.v[1].manner = FAKE_DOWN;
    add_member(1, 2);
    while (!fakes.v[2].registered && sv_now_ms() < end) {
        assert_non_null(beat(-1));
        (void)sd_event_run(g.event, 1000);
    }
    assert_true(fakes.v[2].registered);
    assert_string_equal(fakes.v[2].token, "SC-2");
    assert_int_equal(fakes.v[2].n_submitted, 0);
    assert_non_null(beat(4));
    beat_until(2 + 4);
    assert_int_equal(fakes.v[2].n_containers, 2);
}

static void test_lost_answers(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(4));
    beat_until(4);
    fakes.v[1].response_id = 40; /* it has answered, nobody has heard */
    assert_non_null(beat(8));
    beat_until(12);
}

static void test_launch_fails(void **state)
{
    (void)state;
    fakes.v[1].manner = FAKE_DOWN;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    assert_int_equal(fakes.v[0].n_containers, 10);
    fakes.v[1].manner = FAKE_ANSWERS;
    assert_non_null(beat(2));
    beat_until(12);
    assert_int_equal(fakes.v[1].n_submitted, 0);
    g.shared->conf.timeout_ms = -1;
    g.shared->relaunch_ms = 0;
    assert_non_null(beat(2));
    g.shared->conf.timeout_ms = 60000;
    beat_until(14);
    assert_int_equal(fakes.v[1].n_submitted, 1);
    assert_int_equal(fakes.v[1].n_containers, 1);
}

/* A user has killed the unmanaged master, and the sub-cluster takes no other: what it was to
 * allocate is requested at the home at once, although it has answered a moment ago. */
static void test_launch_fails_after_kill(void **state)
{
    struct fake *f = &fakes.v[1];

    (void)state;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    turns(20);
    f->refuse = JAVA_ATTEMPT_NOT_FOUND;
    f->registered = false;
    f->ended = true;
    for (int i = 0; i < 20 && g.n_ended < 5; i++)
        assert_non_null(beat(-1));
    assert_int_equal(g.n_ended, 5);
    g.shared->relaunch_ms = 0;
    assert_non_null(beat(10));
    beat_until(20);
    assert_true(f->n_submitted > 1);
    assert_int_equal(fakes.v[0].n_containers, 15);
}

static void test_silent_for_long(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    turns(20);
    fakes.v[1].manner = FAKE_MUTE;
    assert_non_null(beat(10));
    beat_until(15);
    sv_clock_set_test(sv_now_ms() + 61000, sv_wall_ms());
    assert_non_null(beat(-1));
    sv_clock_set_test(sv_now_ms() + 1000, sv_wall_ms());
    assert_non_null(beat(-1));
    sv_clock_reset();
    beat_until(20);
    assert_int_equal(fakes.v[0].n_containers, 15);
}

static void test_member_forgets(void **state)
{
    (void)state;
    reg();
    assert_non_null(beat(10));
    beat_until(10);
    turns(20);
    fakes.v[1].refuse = JAVA_ATTEMPT_NOT_FOUND;
    fakes.v[1].registered = false;
    memset(fakes.v[1].containers, 0, sizeof(fakes.v[1].containers));
    fakes.v[1].n_containers = 0;
    for (int i = 0; i < 20 && g.n_ended < 5; i++)
        assert_non_null(beat(-1));
    assert_int_equal(g.n_ended, 5);
    g.shared->relaunch_ms = 0;
    assert_non_null(beat(10));
    beat_until(20);
    assert_int_equal(fakes.v[1].n_submitted, 2);
}

static void test_home_refuses(void **state)
{
    (void)state;
    reg();
    fakes.v[0].refuse = JAVA_INVALID_RESOURCE_REQUEST;
    assert_null(beat(10));
    assert_string_equal(g.class, JAVA_INVALID_RESOURCE_REQUEST);
    assert_string_equal(g.text, "refused here");
    assert_non_null(beat(4));
    fakes.v[1].refuse = JAVA_INVALID_RESOURCE_REQUEST;
    beat_until(2 + 2);
}

/* Names of the blacklist that no list knows go to each member: together they are too much. */
static void test_too_many_bytes(void **state)
{
    enum { NAMES = 8000, LENGTH = 2000 };
    Hadoop__Yarn__ResourceBlacklistRequestProto list =
        HADOOP__YARN__RESOURCE_BLACKLIST_REQUEST_PROTO__INIT;
    char **names = calloc(NAMES, sizeof(*names));
    char *text = malloc((size_t)NAMES * LENGTH);

    (void)state;
    memset(text, 'h', (size_t)NAMES * LENGTH);
    for (size_t i = 0; i < NAMES; i++) {
        names[i] = text + i * LENGTH;
        names[i][LENGTH - 1] = '\0';
    }
    list.blacklist_additions = names;
    list.n_blacklist_additions = NAMES;
    reg();
    assert_non_null(beat(2));
    beat_until(2);
    for (int i = 0; i < 5; i++) { /* each has other names */
        for (int k = 0; k < NAMES; k++)
            (void)snprintf(names[k], LENGTH, "%d-%d", i, k), names[k][strlen(names[k])] = 'h';
        hadoop__yarn__allocate_request_proto__init(&beat_q);
        beat_q.has_response_id = true;
        beat_q.response_id = g.response_id;
        beat_q.blacklist_request = &list;
        call(NM_AMRM_ALLOCATE, &beat_q.base);
        if (!beat_end())
            break;
    }
    assert_string_equal(g.class, JAVA_YARN_EXCEPTION);
    assert_non_null(strstr(g.text, "MiB of"));
    free(text);
    free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_response_ids),    CASE(test_ends_are_acknowledged),
        CASE(test_mute_secondary),  CASE(test_mute_home),
        CASE(test_members_restart), CASE(test_member_refuses_connections),
        CASE(test_member_moves),    CASE(test_lost_answers),
        CASE(test_launch_fails),    CASE(test_launch_fails_after_kill),
        CASE(test_silent_for_long), CASE(test_member_forgets),
        CASE(test_home_refuses),    CASE(test_too_many_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
