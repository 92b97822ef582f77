/* dbus/bus-list.c, bus-call.c and bus-introspect.c over a socket pair instead of a bus: a thousand
 * containers in one reply, made in slices; visibility for a user; objects that end meanwhile; texts
 * of jobs that are not UTF-8; the values of a container's figures. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "common/clock.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-call.h"
#include "nodemanager/dbus/bus-introspect.h"
#include "nodemanager/dbus/bus-list.h"
#include "nodemanager/resources/resource-limits.h"

#define CONTAINERS 1000
#define MANAGER "org.freedesktop.DBus.ObjectManager"

static struct nm_conf conf = { .diagnostics_max = 200 };
static struct nm_context ctx = { .conf = &conf };
static const struct nm_bus_view view = { .ctx = &ctx };
static struct nm_bus_caller caller;
static bool others; /* each call is of another uid */
static struct nm_bus_lists *lists;
static sd_bus *server, *client;
static unsigned turns; /* of the loop since the call */

void __wrap_cg_demanded(const struct cg_root *r, const struct cg_resource *c, uint64_t *ret_memory,
                        uint32_t *ret_pids);
void __wrap_cg_demanded(const struct cg_root *r, const struct cg_resource *c, uint64_t *ret_memory,
                        uint32_t *ret_pids)
{
    (void)r;
    *ret_memory = c->memory_bytes;
    *ret_pids = 7;
}

/* ---- the node ---- */

static struct nm_app *add_app(int n, const char *user)
{
    struct nm_app *a;

    assert_int_equal(nm_app_new(&ctx, (struct yarn_app_id){ 1, n }, user, &a), 0);
    free(a->run_as);
    a->run_as = strdup("nobody");
    nm_app_add(a);
    return a;
}

static void add_container(struct nm_app *a, int64_t n)
{
    struct nm_container *c = calloc(1, sizeof(*c));

    c->ctx = &ctx;
    c->id = (struct yarn_container_id){ { a->id, 1 }, n };
    yarn_container_id_text(c->id, c->text);
    c->state = NM_CONTAINER_RUNNING;
    c->resource = (struct yarn_resource){ 64, 1, 0 };
    c->node_label = strdup("");
    c->diagnostics = strdup("caf\xe9");
    assert_int_equal(nm_app_join(a, c), 0);
    nm_container_add(c, a);
}

static int on_call(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    const struct nm_bus_calls calls = { .view = &view, .lists = lists };

    (void)userdata;
    (void)error;
    caller.uid += others;
    nm_bus_call_answer(&calls, m, &caller);
    return 1;
}

static int set_up(void **state)
{
    struct sv_error err;
    struct nm_app *big, *small;
    sd_id128_t id;
    int fds[2];

    (void)state;
    assert_int_equal(sd_event_new(&ctx.event), 0);
    assert_int_equal(nm_context_open(&ctx, ctx.event, &conf, &err), 0);
    big = add_app(1, "alice");
    small = add_app(2, "bob");
    for (int64_t i = 1; i <= CONTAINERS - 3; i++)
        add_container(big, i);
    for (int64_t i = 1; i <= 3; i++)
        add_container(small, i);
    assert_int_equal(nm_bus_lists_new(ctx.event, &view, &lists), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    assert_int_equal(sd_id128_randomize(&id), 0);
    assert_int_equal(sd_bus_new(&server), 0);
    assert_int_equal(sd_bus_set_fd(server, fds[0], fds[0]), 0);
    assert_int_equal(sd_bus_set_server(server, 1, id), 0);
    assert_int_equal(sd_bus_set_anonymous(server, 1), 0);
    assert_int_equal(sd_bus_new(&client), 0);
    assert_int_equal(sd_bus_set_fd(client, fds[1], fds[1]), 0);
    assert_int_equal(sd_bus_set_anonymous(client, 1), 0);
    assert_true(sd_bus_start(server) >= 0);
    assert_true(sd_bus_start(client) >= 0);
    assert_true(sd_bus_attach_event(server, ctx.event, 0) >= 0);
    assert_true(sd_bus_attach_event(client, ctx.event, 0) >= 0);
    assert_true(sd_bus_add_filter(server, NULL, on_call, NULL) >= 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sd_bus_close_unref(client);
    sd_bus_close_unref(server);
    lists = nm_bus_lists_free(lists);
    while (ctx.containers)
        nm_container_remove(ctx.containers);
    while (ctx.apps)
        nm_app_remove(ctx.apps);
    nm_context_close(&ctx);
    ctx.event = sd_event_unref(ctx.event);
    return 0;
}

/* ---- calls ---- */

static sd_bus_message *answer; /* the last one */

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    (void)userdata;
    (void)error;
    answer = sd_bus_message_ref(m);
    return 0;
}

static void call(const char *path, const char *interface, const char *member)
{
    answer = sd_bus_message_unref(answer);
    turns = 0;
    assert_true(sd_bus_call_method_async(client, NULL, NULL, path, interface, member, on_answer,
                                         NULL, "") >= 0);
}

static void run(void)
{
    for (; !answer; turns++)
        assert_true(sd_event_run(ctx.event, 10000000) > 0);
}

/* Objects in the answer. */
static unsigned count_objects(unsigned *ret_properties)
{
    unsigned n = 0;

    *ret_properties = 0;
    assert_false(sd_bus_message_is_method_error(answer, NULL));
    assert_true(sd_bus_message_enter_container(answer, 'a', "{oa{sa{sv}}}") > 0);
    while (sd_bus_message_enter_container(answer, 'e', "oa{sa{sv}}") > 0) {
        assert_true(sd_bus_message_skip(answer, "o") >= 0);
        assert_true(sd_bus_message_enter_container(answer, 'a', "{sa{sv}}") > 0);
        assert_true(sd_bus_message_enter_container(answer, 'e', "sa{sv}") > 0);
        assert_true(sd_bus_message_skip(answer, "s") >= 0);
        assert_true(sd_bus_message_enter_container(answer, 'a', "{sv}") > 0);
        for (; sd_bus_message_skip(answer, "{sv}") > 0;)
            (*ret_properties)++;
        assert_true(sd_bus_message_exit_container(answer) >= 0);
        assert_true(sd_bus_message_exit_container(answer) >= 0);
        assert_true(sd_bus_message_exit_container(answer) >= 0);
        assert_true(sd_bus_message_exit_container(answer) >= 0);
        n++;
    }
    return n;
}

static void all_in_slices(void **state)
{
    unsigned properties;

    (void)state;
    caller = (struct nm_bus_caller){ .sees_all = true };
    call(NM_BUS_ROOT, MANAGER, "GetManagedObjects");
    run();
    assert_int_equal(count_objects(&properties), CONTAINERS + 2);
    assert_true(properties > 25 * CONTAINERS);
    assert_true(turns > CONTAINERS / NM_BUS_SLICE);
}

static void of_one_user(void **state)
{
    unsigned properties;

    (void)state;
    caller = (struct nm_bus_caller){ .uid = 1, .user = "bob" };
    call(NM_BUS_ROOT, MANAGER, "GetManagedObjects");
    run();
    assert_int_equal(count_objects(&properties), 4);
    caller = (struct nm_bus_caller){ .uid = 1 }; /* an account without a name */
    call(NM_BUS_ROOT, MANAGER, "GetManagedObjects");
    run();
    assert_int_equal(count_objects(&properties), 0);
}

/* Half of the containers end after the first slice. */
static void ends_meanwhile(void **state)
{
    unsigned properties, n;

    (void)state;
    caller = (struct nm_bus_caller){ .sees_all = true };
    call(NM_BUS_ROOT, MANAGER, "GetManagedObjects");
    for (; turns < 12; turns++)
        assert_true(sd_event_run(ctx.event, 10000000) > 0);
    assert_null(answer);
    for (int i = 0; i < CONTAINERS / 2; i++)
        nm_container_remove(ctx.containers);
    nm_app_remove(ctx.apps);
    run();
    n = count_objects(&properties);
    assert_true(n >= CONTAINERS / 2 && n < CONTAINERS);
}

static unsigned lists_refused(bool of_others)
{
    unsigned refused = 0;

    others = of_others;
    caller = (struct nm_bus_caller){ .sees_all = true };
    for (int i = 0; i < NM_BUS_LISTS_MAX + 4; i++)
        call(NM_BUS_ROOT, MANAGER, "GetManagedObjects");
    for (int i = 0; i < NM_BUS_LISTS_MAX + 4; i++) {
        answer = sd_bus_message_unref(answer);
        run();
        refused += sd_bus_message_is_method_error(answer, SD_BUS_ERROR_LIMITS_EXCEEDED) > 0;
    }
    others = false;
    return refused;
}

static void too_many_lists(void **state)
{
    (void)state;
    assert_int_equal(lists_refused(true), 4);
    assert_int_equal(lists_refused(false), NM_BUS_LISTS_MAX + 4 - NM_BUS_LISTS_OF_USER);
}

/* ---- values: of one container, each by its name ---- */

static const struct nm_bus_property *property(const char *name)
{
    const struct nm_bus_property *p = nm_bus_property_find(&nm_bus_container, name);

    assert_non_null(p);
    return p;
}

/* A message that holds the property alone, to be read. */
static sd_bus_message *value(const struct nm_bus_object *o, const char *name)
{
    sd_bus_message *m = NULL;

    assert_true(sd_bus_message_new_signal(server, &m, "/", "a.b", "C") >= 0);
    assert_true(property(name)->append(m, o) >= 0);
    assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
    assert_string_equal(sd_bus_message_get_signature(m, 1), property(name)->signature);
    return m;
}

static void assert_number(const struct nm_bus_object *o, const char *name, uint64_t wanted)
{
    sd_bus_message *m = value(o, name);
    uint64_t found;

    assert_true(sd_bus_message_read(m, "t", &found) > 0);
    if (found != wanted)
        fail_msg("%s: %llu, wanted %llu", name, (unsigned long long)found,
                 (unsigned long long)wanted);
    sd_bus_message_unref(m);
}

static void assert_pressure(const struct nm_bus_object *o, const char *name, double some,
                            double full, uint64_t usec)
{
    sd_bus_message *m = value(o, name);
    double averages[2];
    uint64_t totals[2];

    assert_true(
        sd_bus_message_read(m, "(ddtt)", &averages[0], &averages[1], &totals[0], &totals[1]) > 0);
    if (averages[0] != some || averages[1] != full || totals[0] != usec || totals[1] != usec + 1)
        fail_msg("%s: %f %f %llu %llu", name, averages[0], averages[1],
                 (unsigned long long)totals[0], (unsigned long long)totals[1]);
    sd_bus_message_unref(m);
}

/* test-cgroups has them from the files of a cgroup. */
static void figures(void **state)
{
    struct nm_container *c = ctx.containers;
    struct nm_bus_object o;

    (void)state;
    c->usage.last = (struct cg_usage){ .cpu_usec = 1,
                                       .throttled_usec = 2,
                                       .memory_current = 3,
                                       .memory_peak = 4,
                                       .pids_current = 5,
                                       .oom_kills = 6,
                                       .io_read_bytes = 7,
                                       .io_write_bytes = 8,
                                       .cpu_stall = { 125, 50, 11, 12 },
                                       .memory_stall = { 200, 75, 13, 14 },
                                       .io_stall = { 10000, 300, 15, 16 } };
    nm_bus_object_of_container(&view, c, &o);
    assert_number(&o, "CPUUsage", 1);
    assert_number(&o, "CPUThrottled", 2);
    assert_number(&o, "MemoryCurrent", 3);
    assert_number(&o, "MemoryPeak", 4);
    assert_number(&o, "PidsCurrent", 5);
    assert_number(&o, "OOMKills", 6);
    assert_number(&o, "IOReadBytes", 7);
    assert_number(&o, "IOWriteBytes", 8);
    assert_pressure(&o, "CPUPressure", 1.25, 0.5, 11);
    assert_pressure(&o, "MemoryPressure", 2, 0.75, 13);
    assert_pressure(&o, "IOPressure", 100, 3, 15);
    c->usage.peak_bytes = 9; /* seen by readings of a kernel without memory.peak */
    assert_number(&o, "MemoryPeak", 9);
}

static void devices(void **state)
{
    struct nm_container *c = ctx.containers;
    struct nm_bus_object o;
    sd_bus_message *m;
    const char *first, *second;

    (void)state;
    nm_bus_object_of_container(&view, c, &o);
    m = value(&o, "Devices");
    assert_int_equal(sd_bus_message_read(m, "as", 0), 1); /* empty */
    sd_bus_message_unref(m);
    c->share.assigned.n_gpus = 2;
    c->share.assigned.gpus[0] = (struct exe_device){ 195, 0 };
    c->share.assigned.gpus[1] = (struct exe_device){ 195, 255 };
    m = value(&o, "Devices");
    assert_int_equal(sd_bus_message_read(m, "as", 2, &first, &second), 1);
    assert_string_equal(first, "c 195:0");
    assert_string_equal(second, "c 195:255");
    sd_bus_message_unref(m);
}

static void introspection(void **state)
{
    _cleanup_free_ char *xml = NULL, *none = NULL;
    unsigned n = 0;

    (void)state;
    caller = (struct nm_bus_caller){ .sees_all = true };
    assert_int_equal(nm_bus_introspect(&view, &caller, NM_BUS_CONTAINERS, &xml), 0);
    for (const char *p = xml; (p = strstr(p, "<node name=\"container_5f1_5f")); p++)
        n++;
    assert_int_equal(n, CONTAINERS);
    caller = (struct nm_bus_caller){ .uid = 1, .user = "bob" };
    assert_int_equal(
        nm_bus_introspect(&view, &caller, NM_BUS_APPLICATIONS "/application_5f1_5f0001", &none),
        -ENOENT);
    assert_int_equal(nm_bus_introspect(&view, &caller, NM_BUS_ROOT "/else", &none), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_in_slices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_one_user, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(figures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(devices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(introspection, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
