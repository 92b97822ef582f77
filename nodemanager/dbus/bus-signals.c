/* See bus-signals.h. */
#include "nodemanager/dbus/bus-signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/rm/node-status-updater.h"

/* State of an object last published to clients. Compared as bytes: zeroed before it is filled. */
struct shown {
    int64_t state, exit_code, memory_mb, vcores, type, pid, frozen, launch_ms, finish_ms;
    struct cg_override set;
};

struct published {
    UT_hash_handle hh;
    char text[YARN_ID_TEXT_MAX];
    struct shown shown;
    unsigned round; /* last round in which the object existed */
    bool is_app;
};

struct shown_node {
    int64_t state, healthy, memory_mb, vcores, apps, containers;
    char report[NM_HEALTH_REPORT_MAX];
};

struct nm_bus_signals {
    const struct nm_bus_view *view;
    sd_bus *bus; /* NULL = no connection */
    sd_event_source *timer;
    bool armed;
    int64_t last_ms;
    struct published *published; /* uthash */
    struct shown_node node;
    unsigned round, sent;
    unsigned untold; /* ends that a full queue has lost */
};

/* ---- one signal -------------------------------------------------------------------------------*/

static int new_signal(struct nm_bus_signals *s, const char *path, const char *interface,
                      const char *member, sd_bus_message **ret)
{
    s->sent++;
    return sd_bus_message_new_signal(s->bus, ret, path, interface, member);
}

static void finish_signal(sd_bus_message *m, int r)
{
    if (r >= 0)
        r = sd_bus_send(NULL, m, NULL);
    if (r < 0)
        sv_log_debug("D-Bus: signal: %s", strerror(-r));
    sd_bus_message_unref(m);
}

static void emit_changed(struct nm_bus_signals *s, const char *path, const struct nm_bus_object *o)
{
    sd_bus_message *m = NULL;
    int r = new_signal(s, path, "org.freedesktop.DBus.Properties", "PropertiesChanged", &m);

    if (r >= 0)
        r = sd_bus_message_append(m, "s", o->interface->name);
    if (r >= 0)
        r = nm_bus_append_properties(m, o, NM_BUS_CHANGES, NM_BUS_PRIVATE);
    if (r >= 0)
        r = sd_bus_message_append(m, "as", 0);
    finish_signal(m, r);
}

static void emit_added(struct nm_bus_signals *s, const char *path, const struct nm_bus_object *o)
{
    sd_bus_message *m = NULL;
    int r = new_signal(s, NM_BUS_ROOT, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", &m);

    if (r >= 0)
        r = sd_bus_message_append(m, "o", path);
    if (r >= 0)
        r = nm_bus_append_interfaces(m, o, NM_BUS_PRIVATE);
    finish_signal(m, r);
}

static void emit_removed(struct nm_bus_signals *s, const struct published *p)
{
    const char *prefix = p->is_app ? NM_BUS_APPLICATIONS : NM_BUS_CONTAINERS;
    const char *interface = p->is_app ? nm_bus_application.name : nm_bus_container.name;
    char path[NM_BUS_PATH_MAX];
    sd_bus_message *m = NULL;
    int r =
        new_signal(s, NM_BUS_ROOT, "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", &m);

    if (r >= 0)
        r = sd_bus_message_append(m, "oas", nm_bus_path(prefix, p->text, path), 1, interface);
    finish_signal(m, r);
}

void nm_bus_signals_ended(struct nm_bus_signals *s, const struct nm_container *c)
{
    const uint64_t peak = SV_MAX(c->usage.peak_bytes, c->usage.last.memory_peak);
    char path[NM_BUS_PATH_MAX];
    sd_bus_message *m = NULL;
    uint64_t queued = 0;
    int r;

    if (!s->bus)
        return;
    if (sd_bus_get_n_queued_write(s->bus, &queued) < 0 || queued > NM_BUS_ENDS_QUEUED_MAX) {
        if (s->untold++ == 0)
            sv_log(SV_LOG_WARNING, c->text,
                   "D-Bus: the bus takes no signals; ContainerEnded of %s and of those after it is "
                   "lost",
                   c->text);
        return;
    }
    if (s->untold > 0)
        sv_log(SV_LOG_WARNING, NULL, "D-Bus: %u signals ContainerEnded were lost", s->untold);
    s->untold = 0;
    r = sd_bus_message_new_signal(s->bus, &m, NM_BUS_ROOT, nm_bus_node.name, "ContainerEnded");
    if (r >= 0)
        r = sd_bus_message_append(m, "oss", nm_bus_path(NM_BUS_CONTAINERS, c->text, path), c->text,
                                  c->app ? c->app->user : "");
    if (r >= 0)
        r = sd_bus_message_append(m, "itttt", c->exit_code, (uint64_t)c->start_ms * 1000,
                                  (uint64_t)c->finish_ms * 1000, c->usage.last.cpu_usec, peak);
    finish_signal(m, r);
}

/* ---- comparison -------------------------------------------------------------------------------*/

static void shown_of_container(const struct nm_container *c, struct shown *ret)
{
    *ret = (struct shown){ .state = c->state,
                           .exit_code = c->exit_code,
                           .memory_mb = c->resource.memory_mb,
                           .vcores = c->resource.vcores,
                           .type = c->execution_type,
                           .pid = c->launch.pid,
                           .frozen = c->launch.frozen,
                           .set = c->share.set,
                           .launch_ms = c->launch_ms,
                           .finish_ms = c->finish_ms };
}

/* `silent`: without a signal. */
static void publish(struct nm_bus_signals *s, const char *text, const struct shown *now,
                    const struct nm_bus_object *o, bool silent)
{
    const char *prefix = o->app ? NM_BUS_APPLICATIONS : NM_BUS_CONTAINERS;
    char path[NM_BUS_PATH_MAX];
    struct published *p = NULL;
    bool added;

    HASH_FIND_STR(s->published, text, p);
    added = !p;
    if (added) {
        if (s->sent >= NM_BUS_SIGNALS_A_TURN || !(p = calloc(1, sizeof(*p))))
            return; /* retried in the next turn */
        memcpy(p->text, text, strlen(text) + 1);
        p->is_app = o->app != NULL;
        HASH_ADD_STR(s->published, text, p);
    }
    p->round = s->round;
    if (!added && memcmp(&p->shown, now, sizeof(*now)) == 0)
        return;
    if (s->sent >= NM_BUS_SIGNALS_A_TURN)
        return;
    p->shown = *now;
    if (silent)
        return;
    nm_bus_path(prefix, text, path);
    if (added)
        emit_added(s, path, o);
    else
        emit_changed(s, path, o);
}

static void compare_objects(struct nm_bus_signals *s, bool silent)
{
    const struct nm_context *ctx = s->view->ctx;
    struct published *p, *tmp;
    struct nm_bus_object o;
    struct shown now;

    s->round++;
    for (struct nm_app *a = ctx->apps; a; a = a->hh.next) {
        now = (struct shown){ .state = a->state };
        nm_bus_object_of_app(s->view, a, &o);
        publish(s, a->text, &now, &o, silent);
    }
    for (struct nm_container *c = ctx->containers; c; c = c->hh.next) {
        shown_of_container(c, &now);
        nm_bus_object_of_container(s->view, c, &o);
        publish(s, c->text, &now, &o, silent);
    }
    HASH_ITER (hh, s->published, p, tmp) {
        if (p->round == s->round || s->sent >= NM_BUS_SIGNALS_A_TURN)
            continue;
        if (!silent)
            emit_removed(s, p);
        HASH_DEL(s->published, p);
        free(p);
    }
}

static void compare_node(struct nm_bus_signals *s, bool silent)
{
    const struct nm_context *ctx = s->view->ctx;
    const struct nm_bus_object o = { .view = s->view, .interface = &nm_bus_node };
    struct shown_node now = { .state = ctx->stopping + 2 * nm_updater_registered(s->view->updater),
                              .memory_mb = ctx->total.memory_mb,
                              .vcores = ctx->total.vcores,
                              .apps = HASH_COUNT(ctx->apps),
                              .containers = HASH_COUNT(ctx->containers) };

    now.healthy = nm_health_report(ctx->health, now.report);
    if (now.state == s->node.state && now.healthy == s->node.healthy &&
        now.memory_mb == s->node.memory_mb && now.vcores == s->node.vcores &&
        now.apps == s->node.apps && now.containers == s->node.containers &&
        strcmp(now.report, s->node.report) == 0)
        return;
    s->node = now;
    if (!silent)
        emit_changed(s, NM_BUS_ROOT, &o);
}

/* ---- once a second ----------------------------------------------------------------------------*/

static void arm(struct nm_bus_signals *s, int64_t in_ms)
{
    (void)sd_event_source_set_time_relative(s->timer, (uint64_t)SV_MAX(in_ms, (int64_t)0) * 1000);
    s->armed = sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT) >= 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_bus_signals *s = userdata;
    uint64_t queued = 0;

    (void)source;
    (void)usec;
    s->armed = false;
    if (!s->bus)
        return 0;
    s->last_ms = sv_now_ms();
    if (sd_bus_get_n_queued_write(s->bus, &queued) >= 0 && queued > NM_BUS_QUEUED_MAX) {
        arm(s, NM_BUS_SIGNAL_MS);
        return 0;
    }
    s->sent = 0;
    compare_objects(s, false);
    compare_node(s, false);
    if (s->sent >= NM_BUS_SIGNALS_A_TURN)
        arm(s, 1); /* the rest, after other events of the loop */
    return 0;
}

void nm_bus_signals_changed(struct nm_bus_signals *s)
{
    if (s->bus && !s->armed)
        arm(s, s->last_ms + NM_BUS_SIGNAL_MS - sv_now_ms());
}

static void forget(struct nm_bus_signals *s)
{
    struct published *p, *tmp;

    HASH_ITER (hh, s->published, p, tmp) {
        HASH_DEL(s->published, p);
        free(p);
    }
}

void nm_bus_signals_connect(struct nm_bus_signals *s, sd_bus *bus)
{
    forget(s);
    s->bus = bus;
    s->sent = 0;
    if (!bus)
        return;
    compare_objects(s, true);
    compare_node(s, true);
}

int nm_bus_signals_new(sd_event *event, const struct nm_bus_view *view, struct nm_bus_signals **ret)
{
    struct nm_bus_signals *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    s->view = view;
    r = sd_event_add_time_relative(event, &s->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_source_set_priority(s->timer, SD_EVENT_PRIORITY_IDLE);
    if (r < 0) {
        nm_bus_signals_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct nm_bus_signals *nm_bus_signals_free(struct nm_bus_signals *s)
{
    if (!s)
        return NULL;
    forget(s);
    sd_event_source_disable_unref(s->timer);
    free(s);
    return NULL;
}
