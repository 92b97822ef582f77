/* dbus/bus-signals.c over a socket pair instead of a bus: a constantly changing container is
 * signalled at most once every NM_BUS_SIGNAL_MS, and its last change is not lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "common/clock.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-signals.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/rm/node-status-updater.h"

#define CHANGE_MS 20
#define SIGNALS 3

static struct nm_conf conf = { .diagnostics_max = 200 };
static struct nm_context ctx = { .conf = &conf };
static const struct nm_bus_view view = { .ctx = &ctx };
static struct nm_bus_signals *signals;
static struct nm_container *busy;
static sd_bus *server, *client;
static unsigned told, changes, ends;
static int32_t exit_code; /* in the last signal */

bool __wrap_nm_health_report(const struct nm_health *h, char report[NM_HEALTH_REPORT_MAX]);
bool __wrap_nm_health_report(const struct nm_health *h, char report[NM_HEALTH_REPORT_MAX])
{
    (void)h;
    *report = '\0';
    return true;
}

bool __wrap_nm_updater_registered(const struct nm_updater *u);
bool __wrap_nm_updater_registered(const struct nm_updater *u)
{
    (void)u;
    return true;
}

void __wrap_cg_demanded(const struct cg_root *r, const struct cg_resource *c, uint64_t *ret_memory,
                        uint32_t *ret_pids);
void __wrap_cg_demanded(const struct cg_root *r, const struct cg_resource *c, uint64_t *ret_memory,
                        uint32_t *ret_pids)
{
    (void)r;
    *ret_memory = c->memory_bytes;
    *ret_pids = 7;
}

/* ---- the node and its client ---- */

static int on_signal(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    const char *name;

    (void)userdata;
    (void)error;
    if (sd_bus_message_is_signal(m, NM_BUS_NAME ".Node", "ContainerEnded")) {
        const char *path, *id, *user;
        int32_t code;
        uint64_t start, finish, cpu, peak;

        assert_true(sd_bus_message_read(m, "ossitttt", &path, &id, &user, &code, &start, &finish,
                                        &cpu, &peak) > 0);
        assert_string_equal(id, busy->text);
        assert_string_equal(user, "alice");
        assert_int_equal(code, (int32_t)ends++);
        assert_true(start == 1000 && finish == 2000 && peak == 4096);
    }
    if (!sd_bus_message_is_signal(m, "org.freedesktop.DBus.Properties", "PropertiesChanged"))
        return 0;
    told++;
    assert_true(sd_bus_message_skip(m, "s") >= 0);
    assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
    while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
        assert_true(sd_bus_message_read(m, "s", &name) >= 0);
        if (strcmp(name, "ExitCode") == 0)
            assert_true(sd_bus_message_read(m, "v", "i", &exit_code) >= 0);
        else
            assert_true(sd_bus_message_skip(m, "v") >= 0);
        assert_true(sd_bus_message_exit_container(m) >= 0);
    }
    return 0;
}

static void add_container(void)
{
    struct nm_app *a;

    assert_int_equal(nm_app_new(&ctx, (struct yarn_app_id){ 1, 1 }, "alice", &a), 0);
    nm_app_add(a);
    busy = calloc(1, sizeof(*busy));
    busy->ctx = &ctx;
    busy->id = (struct yarn_container_id){ { a->id, 1 }, 1 };
    yarn_container_id_text(busy->id, busy->text);
    busy->state = NM_CONTAINER_RUNNING;
    busy->node_label = strdup("");
    busy->diagnostics = strdup("");
    assert_int_equal(nm_app_join(a, busy), 0);
    nm_container_add(busy, a);
}

static int set_up(void **state)
{
    struct sv_error err;
    sd_id128_t id;
    int fds[2];

    (void)state;
    assert_int_equal(sd_event_new(&ctx.event), 0);
    assert_int_equal(nm_context_open(&ctx, ctx.event, &conf, &err), 0);
    add_container();
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
    assert_true(sd_bus_add_filter(client, NULL, on_signal, NULL) >= 0);
    assert_int_equal(nm_bus_signals_new(ctx.event, &view, &signals), 0);
    nm_bus_signals_connect(signals, server);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    signals = nm_bus_signals_free(signals);
    sd_bus_close_unref(client);
    sd_bus_close_unref(server);
    while (ctx.containers)
        nm_container_remove(ctx.containers);
    while (ctx.apps)
        nm_app_remove(ctx.apps);
    nm_context_close(&ctx);
    ctx.event = sd_event_unref(ctx.event);
    return 0;
}

/* ---- */

static int on_change(sd_event_source *source, uint64_t usec, void *userdata)
{
    (void)usec;
    (void)userdata;
    busy->exit_code = (int)++changes;
    nm_bus_signals_changed(signals);
    assert_true(sd_event_source_set_time_relative(source, CHANGE_MS * 1000) >= 0);
    return 0;
}

static void once_a_second(void **state)
{
    sd_event_source *change = NULL;
    int64_t begun = sv_now_ms();

    (void)state;
    assert_true(sd_event_add_time_relative(ctx.event, &change, CLOCK_BOOTTIME, 0, 1000, on_change,
                                           NULL) >= 0);
    assert_true(sd_event_source_set_enabled(change, SD_EVENT_ON) >= 0);
    while (told < SIGNALS)
        assert_true(sd_event_run(ctx.event, UINT64_MAX) > 0);
    sd_event_source_disable_unref(change);
    assert_true(changes > told);
    /* The first is sent at once, each further one an interval after the one before, however late.
     */
    assert_true(told <= 1 + (sv_now_ms() - begun) / NM_BUS_SIGNAL_MS);
    while (exit_code != (int32_t)changes) /* the last change is not lost */
        assert_true(sd_event_run(ctx.event, UINT64_MAX) > 0);
    assert_true(told <= SIGNALS + 1);
}

/* Each end is told, however many there are within a second. */
static void every_end(void **state)
{
    (void)state;
    busy->start_ms = 1;
    busy->finish_ms = 2;
    busy->usage.peak_bytes = 4096;
    ends = 0;
    for (int i = 0; i < 500; i++) {
        busy->exit_code = i;
        nm_bus_signals_ended(signals, busy);
    }
    while (ends < 500)
        assert_true(sd_event_run(ctx.event, UINT64_MAX) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(once_a_second, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
