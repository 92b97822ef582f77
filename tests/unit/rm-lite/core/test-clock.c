/* The wall clock is changed by operators and by NTP: ages and sums of time must not follow it; and
 * sums and lists of an application cost time by the application's size, not the cluster's. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "common/clock.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/periodic.h"

#define DAY INT64_C(86400000)
#define NOW INT64_C(500000000)
#define WALL INT64_C(1700000000000)

static int32_t key(struct fix *f)
{
    return rm_secrets_announce(f->rm->secrets, RM_SECRET_NM)->key_id;
}

/* Keys roll after a day, and after nothing else. */
static void test_key_age(void **state)
{
    struct fix f;
    int32_t first;

    (void)state;
    sv_clock_set_test(NOW, WALL);
    setup(&f);
    first = key(&f);
    sv_clock_set_test(NOW + 1000, WALL + 400 * DAY);
    rm_periodic_run(f.rm);
    assert_int_equal(key(&f), first);
    sv_clock_set_test(NOW + DAY - 1, WALL - 400 * DAY);
    rm_periodic_run(f.rm);
    assert_int_equal(key(&f), first);
    sv_clock_set_test(NOW + DAY, WALL - 400 * DAY);
    rm_periodic_run(f.rm);
    assert_int_equal(key(&f), first + 1);
    teardown(&f);
    sv_clock_reset();
}

/* Over a reboot the monotonic clock begins again: only the wall knows how long it took. */
static void test_key_age_over_a_restart(void **state)
{
    struct fix f;
    int32_t first;

    (void)state;
    sv_clock_set_test(NOW, WALL);
    setup(&f);
    first = key(&f);
    stop(&f);
    sv_clock_set_test(5000, WALL + DAY / 2);
    start(&f);
    assert_int_equal(key(&f), first);
    sv_clock_set_test(5000 + DAY / 2 - 1, WALL + DAY - 1);
    rm_periodic_run(f.rm);
    assert_int_equal(key(&f), first);
    sv_clock_set_test(5000 + DAY / 2, WALL + DAY);
    rm_periodic_run(f.rm);
    assert_int_equal(key(&f), first + 1);
    stop(&f);
    /* A wall that was set back meanwhile: as if the key were new, not as if it came from the
     * future. */
    sv_clock_set_test(7000, WALL - 100 * DAY);
    start(&f);
    sv_clock_set_test(7000 + 2 * DAY, WALL - 98 * DAY);
    rm_periodic_run(f.rm); /* the next key signs */
    rm_periodic_run(f.rm); /* and a third is announced */
    assert_int_equal(key(&f), first + 2);
    teardown(&f);
    sv_clock_reset();
}

static void seconds(const struct rm_app *app, int64_t mb_s, int64_t vcore_s)
{
    int64_t mb, vc;

    rm_app_seconds(app, &mb, &vc);
    assert_int_equal(mb, mb_s);
    assert_int_equal(vc, vcore_s);
}

static void test_seconds(void **state)
{
    struct fix f;
    struct rm_app *app, *other;
    struct rm_container *c;
    struct rm_node *n;

    (void)state;
    sv_clock_set_test(NOW, WALL);
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    seconds(app, 0, 0);
    sv_clock_set_test(NOW + 10000, WALL - DAY);
    seconds(app, 10 * 1024, 10);
    ask_containers(&f, app, 2);
    assert_int_equal(app->n_live, 3);
    c = pull_container(app->current);
    sv_clock_set_test(NOW + 15000, WALL + DAY);
    seconds(app, (10 + 3 * 5) * 1024, 25);
    rm_container_post_exit(c, RM_CON_EV_RELEASED, YARN_EXIT_ABORTED, "");
    settle(&f);
    assert_int_equal(app->n_live, 2);
    sv_clock_set_test(NOW + 16000, WALL + DAY);
    seconds(app, (25 + 2) * 1024, 27);
    other = submit(&f, false, 1); /* its containers are its own */
    heartbeat(&f, n);
    assert_int_equal(other->n_live, 1);
    assert_ptr_equal(other->containers, other->current->master);
    kill_app(&f, app);
    assert_int_equal(app->n_live, 0);
    assert_null(app->containers);
    sv_clock_set_test(NOW + 20000, WALL + DAY);
    seconds(app, 27 * 1024, 27);
    teardown(&f);
    sv_clock_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_age),
        cmocka_unit_test(test_key_age_over_a_restart),
        cmocka_unit_test(test_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
