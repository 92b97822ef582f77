/* rm-lite/scheduler/queue-mappings.c: which queue an application goes to, by its user and groups.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rm-lite/scheduler-fixture.h"

static void configure(struct fix *f, const char *mappings)
{
    two_queues(f, "50", "50");
    set(f, CS "root.queues", "a,b,default,teams");
    set(f, CS "root.default.capacity", "0");
    set(f, CS "root.teams.capacity", "0");
    set(f, CS "root.teams.queues", "staff,ops,ann_dot_lee");
    set(f, CS "root.teams.staff.capacity", "50");
    set(f, CS "root.teams.ops.capacity", "50");
    set(f, CS "root.teams.ann_dot_lee.capacity", "0");
    set(f, CS "queue-mappings", mappings);
}

static void test_mappings(void **state)
{
    char *staff[] = { "dev", "ops", "staff", NULL }, *none[] = { NULL };
    const struct {
        const char *mappings, *user, *primary;
        char *const *groups;
        const char *queue, *want; /* NULL: the groups are needed */
    } rows[] = {
        { "u:ann:a", "ann", NULL, NULL, "default", "root.a" },
        { "u:ann:a", "ann", NULL, NULL, "root.default", "root.a" },
        { "u:ann:a", "bob", NULL, NULL, "default", "default" },
        { "u:ann:a", "ann", NULL, NULL, "b", "b" }, /* it names a queue */
        { "u:bob:b , u:ann:a,u:ann:b", "ann", NULL, NULL, "default", "root.a" },
        { "u:%user:root.teams.%user", "ann.lee", NULL, NULL, "default", "root.teams.ann_dot_lee" },
        { "u:%user:%user,u:%user:b", "ops", NULL, NULL, "default", "root.teams.ops" },
        { "u:%user:%user,u:%user:b", "bob", NULL, NULL, "default", "root.b" }, /* passed over */
        { "u:%user:%user", "teams", NULL, NULL, "default", "default" },        /* not a leaf */
        { "u:%user:root.teams.%user", "../../x", NULL, NULL, "default", "default" },
        { "u:%user:root.teams.%user", "%user", NULL, NULL, "default", "default" },
        { "g:ops:b", "ann", "dev", staff, "default", "root.b" },
        { "g:ops:b", "ann", NULL, none, "default", "default" },
        { "g:ops:b", "ann", NULL, NULL, "default", NULL },
        { "u:ann:a,g:ops:b", "ann", NULL, NULL, "default", "root.a" },
        { "u:ann:%primary_group", "ann", "staff", staff, "default", "root.teams.staff" },
        { "u:ann:%primary_group,u:ann:b", "ann", "dev", staff, "default", "root.b" },
        { "u:ann:%primary_group", "ann", NULL, NULL, "default", NULL },
        { "u:bob:%primary_group,u:ann:b", "ann", NULL, NULL, "default", "root.b" },
        { "u:%user:root.teams.%secondary_group", "ann", "ops", staff, "default",
          "root.teams.staff" },
        { "u:%user:root.teams.%secondary_group", "ann", NULL, none, "default", "default" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct rm_submitter who = { rows[i].user, rows[i].primary, rows[i].groups };
        const char *got;
        struct fix f;
        int r;

        configure(&f, rows[i].mappings);
        fix_start(&f);
        r = rm_sched_place(f.s, rows[i].queue, &who, &got);
        if (r != (rows[i].want ? 0 : -EAGAIN) || (rows[i].want && strcmp(got, rows[i].want) != 0))
            fail_msg("row %zu, %s: %d, %s", i, rows[i].mappings, r, got);
        fix_end(&f);
    }
}

static void test_override(void **state)
{
    struct rm_submitter who = { .user = "ann" };
    const char *got;
    struct fix f;

    (void)state;
    configure(&f, "u:ann:a");
    set(&f, CS "queue-mappings-override.enable", "true");
    fix_start(&f);
    assert_int_equal(rm_sched_place(f.s, "b", &who, &got), 0);
    assert_string_equal(got, "root.a");
    assert_false(rm_sched_maps_groups(f.s));
    set(&f, CS "queue-mappings", "g:x:b,u:ann:b");
    assert_int_equal(go(&f, (struct rm_sched_event){ .type = RM_SCHED_RECONFIGURED,
                                                     .reconfigured = { .conf = f.conf } }),
                     0);
    assert_true(rm_sched_maps_groups(f.s));
    fix_end(&f);
}

static void test_bad(void **state)
{
    static const char *const bad[][2] = {
        { "ann:a", "neither u:USER:QUEUE nor g:GROUP:QUEUE" },
        { "u:ann", "neither" },
        { "u::a", "neither" },
        { "u:ann:", "neither" },
        { "u:ann:a:b", "neither" },
        { "x:ann:a", "neither" },
        { "u:ann:gone", "there is no such leaf queue" },
        { "u:ann:teams", "there is no such leaf queue" },
        { "u:%user:root.gone.%user", "no such parent" },
        { "u:%user:root.a.%user", "no such parent" },
        { "u:%user:te%user", "no such parent" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        struct sv_error err = { 0 };
        struct fix f;

        configure(&f, bad[i][0]);
        if (rm_sched_new(f.conf, 0, &f.s, &err) >= 0)
            fail_msg("%s is taken", bad[i][0]);
        if (!strstr(err.text, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], err.text);
        f.conf = sv_conf_free(f.conf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mappings),
        cmocka_unit_test(test_override),
        cmocka_unit_test(test_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
