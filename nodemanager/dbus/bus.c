/* See bus.h. */
#include "nodemanager/dbus/bus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-auth.h"
#include "nodemanager/dbus/bus-call.h"
#include "nodemanager/dbus/bus-caller.h"
#include "nodemanager/dbus/bus-list.h"
#include "nodemanager/dbus/bus-signals.h"
#include "nodemanager/dbus/bus-size.h"

#define FIRST_RETRY_MS 1000
#define LAST_RETRY_MS 60000

struct nm_bus {
    struct nm_bus_view view;
    const char *address; /* borrowed, of the configuration */
    sd_bus *bus;         /* NULL between two attempts */
    sd_bus_slot *name;   /* the request for the name */
    sd_event_source *retry;
    int64_t retry_ms;
    char why[256]; /* reason why there is no connection, as logged; "" = connected */
    struct nm_bus_callers *callers;
    struct nm_bus_lists *lists;
    struct nm_bus_auth *auth;
    struct nm_bus_signals *signals;
    struct nm_bus_calls calls;
};

static const char *address_of(const struct nm_bus *b)
{
    return sv_streq(b->address, "system")
               ? getenv("DBUS_SYSTEM_BUS_ADDRESS") ?: "unix:path=/run/dbus/system_bus_socket"
               : b->address;
}

/* ---- calls
 * --------------------------------------------------------------------------------------*/

static void answer(sd_bus_message *m, void *userdata)
{
    struct nm_bus *b = userdata;
    struct nm_bus_caller who;
    int r = nm_bus_callers_identify(b->callers, m, &who);

    if (r >= 0)
        nm_bus_call_answer(&b->calls, m, &who);
    else if (r == -EBUSY)
        nm_bus_call_refuse(m, SD_BUS_ERROR_LIMITS_EXCEEDED,
                           "too many calls wait for the look-up of their callers: call again");
    else if (r != -EAGAIN)
        nm_bus_call_refuse(m, SD_BUS_ERROR_ACCESS_DENIED, "the bus does not know the caller");
}

/* Refuses a caller whose identification was dropped from the cache meanwhile. */
static void on_decided(sd_bus_message *m, const char *refusal, void *userdata)
{
    struct nm_bus *b = userdata;
    struct nm_bus_caller who;
    int r = nm_bus_callers_account(b->callers, m, &who);

    nm_bus_call_decided(&b->calls, m, &who, r < 0 ? "the caller is not known any more" : refusal);
}

/* False: refused, before anything of it is kept. */
static bool has_size(sd_bus_message *m)
{
    int r = nm_bus_check_size(m);

    if (r == -EMSGSIZE)
        nm_bus_call_refuse(m, SD_BUS_ERROR_LIMITS_EXCEEDED, "the message is larger than 64 KiB");
    else if (r < 0)
        nm_bus_call_refuse(m, SD_BUS_ERROR_INVALID_ARGS, "the message is malformed");
    return r >= 0;
}

static void on_method_done(void *userdata)
{
    nm_bus_changed(userdata);
}

static bool is_ours(const char *path)
{
    return path &&
           (sv_streq(path, "/") || sv_streq(path, "/org") || sv_streq(path, "/org/selvedge") ||
            sv_streq(path, NM_BUS_ROOT) || sv_has_prefix(path, NM_BUS_ROOT "/") ||
            sv_streq(path, "/org/freedesktop") || sv_streq(path, NM_BUS_LOG));
}

static void lost(struct nm_bus *b, const char *why);

/* Filter: every message, before sd-bus handles those of org.freedesktop.DBus.Peer. */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    SV_LOOP_HANDLER();
    struct nm_bus *b = userdata;

    (void)error;
    if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Local", "Disconnected")) {
        lost(b, "the bus has closed the connection");
        return 1;
    }
    if (!sd_bus_message_is_method_call(m, NULL, NULL) || !is_ours(sd_bus_message_get_path(m)) ||
        sv_streq(sd_bus_message_get_interface(m), "org.freedesktop.DBus.Peer"))
        return 0;
    if (has_size(m))
        answer(m, b);
    return 1;
}

/* ---- connection
 * -----------------------------------------------------------------------------------*/

/* Closes without flushing, so without blocking. Not from within a message of this connection. */
static void disconnect(struct nm_bus *b)
{
    nm_bus_signals_connect(b->signals, NULL);
    nm_bus_lists_reset(b->lists);
    nm_bus_auth_reset(b->auth);
    nm_bus_callers_reset(b->callers);
    b->name = sd_bus_slot_unref(b->name);
    if (b->bus)
        sd_bus_close(b->bus);
    b->bus = sd_bus_unref(b->bus);
}

/* Schedules the next attempt. A reason is logged once. */
static void lost(struct nm_bus *b, const char *why)
{
    nm_bus_signals_connect(b->signals, NULL);
    if (strncmp(b->why, why, sizeof(b->why) - 1) != 0)
        sv_log_notice("D-Bus: " NM_BUS_NAME " is not at %s: %s; tried again from time to time",
                      address_of(b), why);
    snprintf(b->why, sizeof(b->why), "%s", why);
    (void)sd_event_source_set_time_relative(b->retry, (uint64_t)b->retry_ms * 1000);
    (void)sd_event_source_set_enabled(b->retry, SD_EVENT_ONESHOT); /* ours, ignoring */
    b->retry_ms = SV_MIN(2 * b->retry_ms, (int64_t)LAST_RETRY_MS);
}

/* Results of RequestName: 1 owner, 2 queued, 3 owned by another, 4 already ours. */
static int on_name(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    SV_LOOP_HANDLER();
    struct nm_bus *b = userdata;
    const sd_bus_error *e = sd_bus_message_get_error(m);
    uint32_t result = 0;

    (void)error;
    if (e && sd_bus_error_has_name(e, SD_BUS_ERROR_ACCESS_DENIED)) {
        lost(b, "the bus refuses the name: its policy file " NM_BUS_NAME
                ".conf is not installed, or is for another account");
    } else if (e) {
        lost(b, "the bus does not give the name");
    } else if (sd_bus_message_read(m, "u", &result) < 0 || (result != 1 && result != 4)) {
        lost(b, "another process has the name");
    } else {
        sv_log_info("D-Bus: " NM_BUS_NAME " at %s", address_of(b));
        b->why[0] = '\0';
        b->retry_ms = FIRST_RETRY_MS;
        nm_bus_signals_connect(b->signals, b->bus);
    }
    return 1;
}

/* Does not block: the event loop sets the connection up. */
static int try_connect(struct nm_bus *b)
{
    int r = sd_bus_new(&b->bus);

    if (r >= 0)
        r = sd_bus_set_address(b->bus, address_of(b));
    if (r >= 0)
        r = sd_bus_set_bus_client(b->bus, true);
    if (r >= 0)
        r = sd_bus_set_close_on_exit(b->bus, false); /* closing at exit would wait for the bus */
    if (r >= 0)
        r = sd_bus_start(b->bus);
    if (r >= 0)
        r = sd_bus_attach_event(b->bus, b->view.ctx->event, SD_EVENT_PRIORITY_IDLE);
    if (r >= 0)
        r = sd_bus_add_filter(b->bus, NULL, on_message, b);
    if (r >= 0)
        r = sd_bus_request_name_async(b->bus, &b->name, NM_BUS_NAME, 0, on_name, b);
    return r;
}

static void reconnect(struct nm_bus *b)
{
    int r;

    disconnect(b);
    r = try_connect(b);
    if (r < 0)
        lost(b, strerror(-r));
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)usec;
    reconnect(userdata);
    return 0;
}

/* ---- life
 * -------------------------------------------------------------------------------------------*/

static int create_parts(struct nm_bus *b, struct sv_groups *groups)
{
    sd_event *event = b->view.ctx->event;
    int r = nm_bus_callers_new(event, groups, answer, b, &b->callers);

    if (r >= 0)
        r = nm_bus_lists_new(event, &b->view, &b->lists);
    if (r >= 0)
        r = (b->auth = nm_bus_auth_new(on_decided, b)) ? 0 : -ENOMEM;
    if (r >= 0)
        r = nm_bus_signals_new(event, &b->view, &b->signals);
    b->calls = (struct nm_bus_calls){ .view = &b->view,
                                      .lists = b->lists,
                                      .auth = b->auth,
                                      .changed = on_method_done,
                                      .userdata = b };
    if (r >= 0) /* the first attempt: once the loop runs */
        r = sd_event_add_time_relative(event, &b->retry, CLOCK_BOOTTIME, 0, 1000, on_retry, b);
    return r;
}

int nm_bus_new(const struct nm_bus_view *view, const char *address, struct sv_groups *groups,
               struct nm_bus **ret, struct sv_error *err)
{
    struct nm_bus *b;
    int r;

    if (sv_streq(address, "off")) {
        *ret = NULL;
        return 0;
    }
    b = calloc(1, sizeof(*b));
    if (!b)
        return sv_error_errno(err, -ENOMEM, "D-Bus");
    b->view = *view;
    b->address = address;
    b->retry_ms = FIRST_RETRY_MS;
    r = create_parts(b, groups);
    if (r < 0) {
        nm_bus_free(b);
        return sv_error_errno(err, r, "D-Bus");
    }
    *ret = b;
    return 0;
}

struct nm_bus *nm_bus_free(struct nm_bus *b)
{
    if (!b)
        return NULL;
    if (b->signals) /* the last part */
        disconnect(b);
    sd_event_source_disable_unref(b->retry);
    nm_bus_signals_free(b->signals);
    nm_bus_lists_free(b->lists);
    nm_bus_auth_free(b->auth);
    nm_bus_callers_free(b->callers);
    free(b);
    return NULL;
}

void nm_bus_changed(struct nm_bus *b)
{
    if (b)
        nm_bus_signals_changed(b->signals);
}

void nm_bus_ended(struct nm_bus *b, const struct nm_container *c)
{
    if (b)
        nm_bus_signals_ended(b->signals, c);
}

void nm_bus_groups_known(struct nm_bus *b)
{
    if (b)
        nm_bus_callers_retry(b->callers);
}
