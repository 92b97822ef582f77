/* rm-lite/scheduler/queue-users.c, parallel-apps.c: weights of users, limits of running
 * applications, and the fair order that looks at sizes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

static bool active(struct fix *f, int i)
{
    struct rm_app_usage u;

    assert_int_equal(rm_sched_app_usage(f->s, app_id(i), &u), 0);
    return u.active;
}

static void removed(struct fix *f, int i)
{
    assert_int_equal(go(f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                    .app_removed = { .app = app_id(i) } }),
                     0);
}

static int refresh(struct fix *f)
{
    return go(f, (struct rm_sched_event){ .type = RM_SCHED_RECONFIGURED,
                                          .reconfigured = { .conf = f->conf } });
}

/* ---------------------------------------------------------------------- weights */

static void test_weights(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "100", "0");
    set(&f, CS "root.a.minimum-user-limit-percent", "25");
    set(&f, CS "root.a.user-settings.ann.weight", "2");
    set(&f, CS "root.user-settings.b.o.b.weight", "0.5"); /* names may have dots */
    fix_start(&f);
    node(&f, 1, NULL, 28 * 1024, 64);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "b.o.b", "a", 0);
    app(&f, 3, "cat", "a", 0);
    for (int i = 1; i <= 3; i++)
        ask(&f, i, 1024, 100);
    while (beat(&f, 1) > 0)
        ;
    /* 28 GiB in 2 + 0.5 + 1 shares of 8. As in Hadoop a user goes one container above the limit,
     * and the last one has the rest. */
    assert_int_equal(app_used(&f, 1) / 1024, 17);
    assert_int_equal(app_used(&f, 2) / 1024, 5);
    assert_int_equal(app_used(&f, 3) / 1024, 6);
    set(&f, CS "root.a.user-settings.ann.weight", "0");
    assert_int_equal(refresh(&f), 0);
    removed(&f, 3);
    while (beat(&f, 1) > 0)
        assert_int_equal(count_app(&f, 1), 0);
    fix_end(&f);
}

struct seen {
    struct rm_queue_user users[4];
    size_t n;
};

static void note(const struct rm_queue_user *u, void *userdata)
{
    struct seen *seen = userdata;

    assert_true(seen->n < SV_ARRAY_LEN(seen->users));
    seen->users[seen->n++] = *u;
}

static void test_list(void **state)
{
    struct seen all = { .n = 0 }, some = { .n = 0 };
    struct fix f;

    (void)state;
    two_queues(&f, "100", "0");
    set(&f, CS "root.a.user-settings.bob.weight", "0.5");
    fix_start(&f);
    node(&f, 1, NULL, 8 * 1024, 64);
    app(&f, 1, "ann", "a", 0);
    app(&f, 2, "bob", "a", 0);
    app(&f, 3, "ann", "a", 0);
    app(&f, 4, "cat", "b", 0);
    ask(&f, 2, 1024, 2);
    assert_int_equal(rm_sched_queue_users(f.s, "root.a", 4, note, &all), 2);
    assert_int_equal(all.n, 2);
    assert_string_equal(all.users[0].name, "ann");
    assert_int_equal(all.users[0].active_apps + all.users[0].pending_apps, 2);
    assert_false(all.users[0].asking);
    assert_string_equal(all.users[1].name, "bob");
    assert_true(all.users[1].asking);
    assert_true(all.users[1].weight == 0.5);
    assert_int_equal(rm_sched_queue_users(f.s, "root.a", 1, note, &some), 1);
    assert_string_equal(some.users[0].name, "ann");
    assert_int_equal(rm_sched_queue_users(f.s, "root.a", 0, note, &some), 0);
    assert_int_equal(rm_sched_queue_users(f.s, "root.none", 4, note, &some), 0);
    assert_int_equal(some.n, 1);
    fix_end(&f);
}

static void test_bad_values(void **state)
{
    static const char *const bad[][3] = {
        { CS "root.a.user-settings.ann.weight", "-1", "ann.weight: -1 is not between 0 and 1" },
        { CS "root.a.user-settings.ann.weight", "1.5", "is not between 0 and 1" },
        { CS "root.a.user-settings.ann.weight", "heavy", "user-settings.ann.weight" },
        { CS "user.ann.max-parallel-apps", "-1", "user.ann.max-parallel-apps" },
        { CS "user.max-parallel-apps", "few", "user.max-parallel-apps" },
        { CS "root.a.max-parallel-apps", "-2", "root.a.max-parallel-apps: -2 is below 0" },
        { CS "root.a.default-application-lifetime", "9", "above the queue's" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct sv_error err = { 0 };
        struct fix f;

        two_queues(&f, "50", "50");
        set(&f, CS "root.maximum-application-lifetime", "8");
        set(&f, bad[i][0], bad[i][1]);
        if (rm_sched_new(f.conf, 0, &f.s, &err) >= 0)
            fail_msg("%s=%s is taken", bad[i][0], bad[i][1]);
        if (!strstr(err.text, bad[i][2]))
            fail_msg("%s=%s: %s", bad[i][0], bad[i][1], err.text);
        f.conf = sv_conf_free(f.conf);
    }
}

/* ---------------------------------------------------------------- running applications */

static void test_parallel_of_queues(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "max-parallel-apps", "2"); /* of each queue without its own */
    set(&f, CS "root.max-parallel-apps", "3");
    set(&f, CS "root.b.max-parallel-apps", "1");
    fix_start(&f);
    node(&f, 1, NULL, 65536, 64);
    app(&f, 1, "ann", "a", 1024);
    app(&f, 2, "ann", "a", 1024);
    app(&f, 3, "ann", "a", 1024); /* a has two */
    app(&f, 4, "ann", "b", 1024);
    app(&f, 5, "bob", "b", 1024); /* b has one, and root three */
    app(&f, 6, "bob", "a", 1024);
    assert_true(active(&f, 1) && active(&f, 2) && active(&f, 4));
    assert_true(!active(&f, 3) && !active(&f, 5) && !active(&f, 6));
    assert_int_equal(beat(&f, 1), 3); /* no master of a held one */
    removed(&f, 2);
    assert_true(active(&f, 3) && !active(&f, 5) && !active(&f, 6));
    removed(&f, 6); /* a held one goes: nothing changes */
    assert_true(!active(&f, 5));
    removed(&f, 4);
    assert_true(active(&f, 5));
    fix_end(&f);
}

static void test_parallel_of_users(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "user.max-parallel-apps", "1");
    set(&f, CS "user.b.ob.max-parallel-apps", "2");
    fix_start(&f);
    node(&f, 1, NULL, 65536, 64);
    app(&f, 1, "ann", "a", 1024);
    app(&f, 2, "ann", "b", 1024); /* counts in all queues */
    app(&f, 3, "b.ob", "a", 1024);
    app(&f, 4, "b.ob", "b", 1024);
    app(&f, 5, "b.ob", "b", 1024);
    assert_true(active(&f, 1) && !active(&f, 2));
    assert_true(active(&f, 3) && active(&f, 4) && !active(&f, 5));
    /* An attempt that ends gives its place away; the next attempt waits for another. */
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_REMOVED,
                                                     .attempt_removed = { .app = app_id(1) } }),
                     0);
    assert_true(!active(&f, 1) && active(&f, 2));
    assert_int_equal(
        go(&f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_ADDED,
                                        .attempt_added = { .app = app_id(1), .attempt = 2 } }),
        0);
    assert_true(!active(&f, 1));
    set(&f, CS "user.b.ob.max-parallel-apps", "3");
    set(&f, CS "user.ann.max-parallel-apps", "2");
    assert_int_equal(refresh(&f), 0);
    assert_true(active(&f, 1) && active(&f, 5));
    fix_end(&f);
}

/* One end may let two start: one waiting for its user's limit, one for its queue's. */
static void test_parallel_two_start(void **state)
{
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "user.ann.max-parallel-apps", "1");
    set(&f, CS "root.a.max-parallel-apps", "1");
    fix_start(&f);
    node(&f, 1, NULL, 65536, 64);
    app(&f, 1, "ann", "a", 1024);
    app(&f, 2, "bob", "a", 1024);
    app(&f, 3, "ann", "b", 1024);
    assert_true(!active(&f, 2) && !active(&f, 3));
    removed(&f, 1);
    assert_true(active(&f, 2) && active(&f, 3));
    fix_end(&f);
}

/* ------------------------------------------------------------------- fair by size */

static void test_fair_by_size(void **state)
{
    struct fix f;

    (void)state;
    for (int by_size = 0; by_size < 2; by_size++) {
        fix_conf(&f);
        set(&f, CS "root.queues", "default");
        set(&f, CS "root.default.capacity", "100");
        set(&f, CS "root.default.ordering-policy", "fair");
        set(&f, CS "root.default.ordering-policy.fair.enable-size-based-weight",
            by_size ? "true" : "false");
        fix_start(&f);
        node(&f, 1, NULL, 128 * 1024, 256);
        app(&f, 1, "ann", "default", 0);
        app(&f, 2, "ann", "default", 0);
        ask(&f, 1, 1024, 1000); /* log2 of the demand in MB: 20 */
        ask(&f, 2, 1024, 31);   /* 15 */
        for (int i = 0; i < 40; i++)
            assert_int_equal(beat(&f, 1), 1);
        /* By use alone both have the same; by size 20 to 15. */
        assert_int_equal(app_used(&f, 1) / 1024, by_size ? 23 : 20);
        assert_int_equal(app_used(&f, 2) / 1024, by_size ? 17 : 20);
        fix_end(&f);
    }
}

static void test_lifetimes(void **state)
{
    struct rm_queue_info q;
    struct fix f;

    (void)state;
    two_queues(&f, "50", "50");
    set(&f, CS "root.maximum-application-lifetime", "3600");
    set(&f, CS "root.a.default-application-lifetime", "60");
    set(&f, CS "root.b.maximum-application-lifetime", "0");
    fix_start(&f);
    assert_int_equal(rm_sched_queue(f.s, "a", &q), 0);
    assert_true(q.max_lifetime_s == 3600 && q.default_lifetime_s == 60);
    assert_int_equal(rm_sched_queue(f.s, "b", &q), 0);
    assert_true(q.max_lifetime_s == 0 && q.default_lifetime_s == 0);
    fix_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),           cmocka_unit_test(test_list),
        cmocka_unit_test(test_bad_values),        cmocka_unit_test(test_parallel_of_queues),
        cmocka_unit_test(test_parallel_of_users), cmocka_unit_test(test_parallel_two_start),
        cmocka_unit_test(test_fair_by_size),      cmocka_unit_test(test_lifetimes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
