/* org.freedesktop.LogControl1, which `systemctl service-log-level` and `service-log-target` speak:
 * the daemon's log until its configuration is read again. */
#include <errno.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/dbus/bus-object.h"

static int level(sd_bus_message *m, const struct nm_bus_object *o)
{
    (void)o;
    return sd_bus_message_append(m, "s", sv_log_level_word(sv_log_get_level()));
}

static int set_level(sd_bus_message *m, struct sv_error *err)
{
    enum sv_log_level wanted;
    const char *text;
    int r = sd_bus_message_read(m, "s", &text);

    if (r < 0)
        return sv_error_errno(err, r, "LogLevel");
    if (sv_log_level_of(text, &wanted) < 0)
        return sv_error_set(
            err, -EINVAL, "LogLevel \"%.40s\": expected err, warning, notice, info or debug", text);
    sv_log_set_level(wanted);
    sv_log_notice("D-Bus: LogLevel set to %s", text);
    return 0;
}

static int target(sd_bus_message *m, const struct nm_bus_object *o)
{
    (void)o;
    return sd_bus_message_append(m, "s", sv_log_to_journal() ? "journal" : "console");
}

static int set_target(sd_bus_message *m, struct sv_error *err)
{
    const char *text;
    int r = sd_bus_message_read(m, "s", &text);

    if (r < 0)
        return sv_error_errno(err, r, "LogTarget");
    if (!sv_streq(text, "journal") && !sv_streq(text, "console"))
        return sv_error_set(err, -EINVAL, "LogTarget \"%.40s\": expected journal or console", text);
    sv_log_notice("D-Bus: LogTarget set to %s", text);
    sv_log_set_journal(sv_streq(text, "journal"));
    return 0;
}

static int identifier(sd_bus_message *m, const struct nm_bus_object *o)
{
    (void)o;
    return sd_bus_message_append(m, "s", sv_log_program());
}

static const struct nm_bus_property properties[] = {
    { "LogLevel", "s", 0, level, set_level },
    { "LogTarget", "s", 0, target, set_target },
    { "SyslogIdentifier", "s", NM_BUS_CONST, identifier, NULL },
};

const struct nm_bus_interface nm_bus_log = { .name = "org.freedesktop.LogControl1",
                                             .properties = properties,
                                             .n_properties = SV_ARRAY_LEN(properties) };
