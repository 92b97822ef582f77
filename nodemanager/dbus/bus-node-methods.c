/* Methods of the interface Node. */
#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-methods.h"
#include "nodemanager/health/node-health.h"

static int read_reason(sd_bus_message *m, const char **ret, struct sv_error *err)
{
    int r = sd_bus_message_read(m, "s", ret);

    if (r < 0)
        return sv_error_errno(err, r, "reason");
    if (strlen(*ret) >= NM_DRAIN_REASON_MAX / 4)
        return sv_error_set(err, -EINVAL, "the reason is longer than %d bytes",
                            NM_DRAIN_REASON_MAX / 4 - 1);
    return 0;
}

static int check_reason(sd_bus_message *m, struct sv_error *err)
{
    const char *reason;
    int r = read_reason(m, &reason, err);

    return r < 0 ? r : sd_bus_message_rewind(m, true);
}

static int drain(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                 struct sv_error *err)
{
    char shown[NM_DRAIN_REASON_MAX];
    const char *reason;
    int r = read_reason(m, &reason, err);

    if (r < 0)
        return r;
    sv_escape(shown, sizeof(shown), *reason ? reason : caller);
    return nm_health_drain(o->view->ctx->health, shown, err);
}

static int undrain(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                   struct sv_error *err)
{
    (void)m;
    (void)caller;
    return nm_health_drain(o->view->ctx->health, NULL, err);
}

const struct nm_bus_method nm_bus_node_methods[NM_BUS_NODE_METHODS] = {
    { "Drain", "s", "", "reason", "drain", drain, check_reason },
    { "Undrain", "", "", "", "undrain", undrain, NULL },
};
