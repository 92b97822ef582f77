/* core/context.c: tables, and removed objects while events name them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"

static struct nm_conf conf;

struct fixture {
    struct nm_context ctx;
    int events;                     /* handled */
    struct nm_container *to_remove; /* by the next event of a container */
    char seen[YARN_ID_TEXT_MAX];
};

static void on_container(const struct sv_event *event, void *userdata)
{
    struct fixture *f = userdata;
    struct nm_container *c = event->object;

    f->events++;
    (void)snprintf(f->seen, sizeof(f->seen), "%s",
                   c->text); /* of an object that may be removed already */
    if (f->to_remove)
        nm_container_remove(f->to_remove);
    f->to_remove = NULL;
}

static void on_app(const struct sv_event *event, void *userdata)
{
    struct fixture *f = userdata;

    (void)event;
    f->events++;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    if (!f || nm_context_open(&f->ctx, NULL, &conf, NULL) < 0)
        return -1;
    sv_dispatcher_register(f->ctx.dispatcher, NM_MACHINE_CONTAINER, on_container, f);
    sv_dispatcher_register(f->ctx.dispatcher, NM_MACHINE_APP, on_app, f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    while (f->ctx.containers)
        nm_container_remove(f->ctx.containers);
    while (f->ctx.apps)
        nm_app_remove(f->ctx.apps);
    nm_context_close(&f->ctx);
    free(f);
    return 0;
}

static struct nm_app *add_app(struct fixture *f)
{
    struct nm_app *a;

    assert_int_equal(nm_app_new(&f->ctx, (struct yarn_app_id){ 1, 1 }, "alice", &a), 0);
    nm_app_add(a);
    return a;
}

static struct nm_container *add_container(struct nm_app *a, int64_t id)
{
    const struct yarn_container_token t = { .container = { { { 1, 1 }, 1 }, id } };
    Hadoop__Yarn__StartContainerRequestProto q;
    Hadoop__Yarn__ContainerLaunchContextProto clc;
    struct nm_container *c;
    uint8_t packed[64];
    size_t len;

    hadoop__yarn__start_container_request_proto__init(&q);
    hadoop__yarn__container_launch_context_proto__init(&clc);
    q.container_launch_context = &clc;
    len = hadoop__yarn__start_container_request_proto__pack(&q, packed);
    assert_int_equal(nm_container_new(a->ctx, &t, packed, len, &c), 0);
    assert_int_equal(nm_app_join(a, c), 0);
    nm_container_add(c, a);
    return c;
}

static void tables(void **state)
{
    struct fixture *f = *state;
    struct nm_app *a = add_app(f);
    struct nm_container *one = add_container(a, 1), *two = add_container(a, 2);

    assert_ptr_equal(nm_app_find(&f->ctx, "application_1_0001"), a);
    assert_ptr_equal(nm_container_find(&f->ctx, one->text), one);
    nm_container_remove(one);
    assert_null(nm_container_find(&f->ctx, "container_1_0001_01_000001"));
    assert_int_equal(HASH_COUNT(a->members), 1);
    nm_app_remove(a);
    assert_null(nm_app_find(&f->ctx, "application_1_0001"));
    assert_ptr_equal(nm_container_find(&f->ctx, two->text), two);
    assert_null(two->app);
}

/* Removed by an event while a second event of it is pending: freed after both. */
static void removed_with_pending_event(void **state)
{
    struct fixture *f = *state;
    struct nm_container *c = add_container(add_app(f), 1);

    f->to_remove = c;
    {
        SV_DISPATCH_BATCH(f->ctx.dispatcher);
        nm_container_post(c, NM_CONTAINER_EV_INIT, NULL);
        nm_container_post(c, NM_CONTAINER_EV_LAUNCHED, NULL);
    }
    assert_int_equal(f->events, 2);
    assert_string_equal(f->seen, "container_1_0001_01_000001");
    assert_null(f->ctx.dead_containers);
}

static void close_drops_events(void **state)
{
    struct fixture *f = *state;
    struct nm_app *a = add_app(f);
    struct sv_dispatcher *batch = sv_dispatcher_begin(f->ctx.dispatcher);

    (void)batch; /* never ends */
    nm_app_finish(a, "why");
    nm_container_post(add_container(a, 1), NM_CONTAINER_EV_INIT, "text");
    assert_int_equal(f->events, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables, setup, teardown),
        cmocka_unit_test_setup_teardown(removed_with_pending_event, setup, teardown),
        cmocka_unit_test_setup_teardown(close_drops_events, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
