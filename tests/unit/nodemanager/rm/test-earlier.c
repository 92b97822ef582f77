/* rm/earlier.c, nm_updater_accepts(): containers of an earlier ResourceManager, which may start,
 * and are told once. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/rm/earlier.h"
#include "nodemanager/rm/rm-session.h"

enum { EARLIER = 1, TODAY = 2, TASK = 2 };

static struct nm_conf conf;
static struct nm_context ctx = { .conf = &conf };
static struct nm_updater u = { .ctx = &ctx, .rm_identifier = TODAY };

static void who_may_start(void **state)
{
    struct yarn_container_token t = { .rm_identifier = TODAY, .container_type = TASK };

    (void)state;
    u.rm_takes_earlier = false; /* Apache's */
    assert_true(nm_updater_accepts(&u, &t));
    t.rm_identifier = EARLIER;
    assert_false(nm_updater_accepts(&u, &t));
    u.rm_takes_earlier = true;
    assert_true(nm_updater_accepts(&u, &t));
    t.container_type = NM_APPLICATION_MASTER; /* another attempt has begun */
    assert_false(nm_updater_accepts(&u, &t));
    t.rm_identifier = TODAY;
    assert_true(nm_updater_accepts(&u, &t));
}

static size_t told(struct sv_arena *a)
{
    size_t n = 99;

    assert_non_null(nm_rm_earlier(&u, a, &n));
    return n;
}

static void told_once(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct nm_container c[3] = {
        { .text = "new", .rm_identifier = TODAY },
        { .text = "registered", .rm_identifier = EARLIER, .report.told = true },
        { .text = "begun", .rm_identifier = EARLIER },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(c); i++) {
        c[i].ctx = &ctx;
        c[i].state = NM_CONTAINER_RUNNING;
        c[i].diagnostics = (char *)(uintptr_t) "";
        c[i].node_label = (char *)(uintptr_t) "";
        c[i].id.id = (int64_t)i + 1;
        HASH_ADD_STR(ctx.containers, text, &c[i]);
    }
    u.rm_takes_earlier = false;
    assert_int_equal(told(a), 0);
    u.rm_takes_earlier = true;
    assert_int_equal(told(a), 1);
    assert_int_equal(nm_rm_earlier(&u, a, &(size_t){ 0 })[0]->container_id->id, 3);
    assert_int_equal(told(a), 1); /* the heartbeat was not answered */
    nm_rm_earlier_delivered(&u);
    assert_int_equal(told(a), 0);
    HASH_CLEAR(hh, ctx.containers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_start),
        cmocka_unit_test(told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
