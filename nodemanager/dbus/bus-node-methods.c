/* Methods of the interface Node. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/dbus/bus-caller.h"
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

/* Replies with the path of a container that the caller may read. */
static int reply_container(const struct nm_bus_object *o, sd_bus_message *m, const char *id,
                           struct sv_error *err)
{
    const struct nm_container *c = nm_container_find(o->view->ctx, id);
    char path[NM_BUS_PATH_MAX];
    int r;

    if (!c || !nm_bus_may_read(o->who, c->app))
        return sv_error_set(err, -ENOENT, "no such container on this node, or not one of yours");
    r = sd_bus_reply_method_return(m, "o", nm_bus_path(NM_BUS_CONTAINERS, c->text, path));
    return r < 0 ? sv_error_errno(err, r, "reply") : 1;
}

static int get_container(const struct nm_bus_object *o, sd_bus_message *m, const char *caller,
                         struct sv_error *err)
{
    const char *id;
    int r = sd_bus_message_read(m, "s", &id);

    (void)caller;
    return r < 0 ? sv_error_errno(err, r, "id") : reply_container(o, m, id, err);
}

/* The first component of a cgroup's path that begins as a container's id: jobs may make cgroups
 * below their own, with any name. */
static bool container_of_path(const char *path, char ret[YARN_ID_TEXT_MAX])
{
    const char *id = strstr(path, "/container_");
    size_t n = id ? strcspn(++id, "/\n") : 0;

    if (n == 0 || n >= YARN_ID_TEXT_MAX)
        return false;
    snprintf(ret, YARN_ID_TEXT_MAX, "%.*s", (int)n, id);
    return true;
}

static int get_container_by_pid(const struct nm_bus_object *o, sd_bus_message *m,
                                const char *caller, struct sv_error *err)
{
    char name[64], text[4096], id[YARN_ID_TEXT_MAX];
    _cleanup_close_ int fd = -1;
    uint32_t pid;
    ssize_t n;
    int r = sd_bus_message_read(m, "u", &pid);

    (void)caller;
    if (r < 0)
        return sv_error_errno(err, r, "pid");
    snprintf(name, sizeof(name), "/proc/%u/cgroup", pid);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return sv_error_set(err, -ENOENT, "no process has the pid %u", pid);
    text[n] = '\0';
    if (!container_of_path(text, id))
        return sv_error_set(err, -ENOENT, "the process %u is in no container", pid);
    return reply_container(o, m, id, err);
}

const struct nm_bus_method nm_bus_node_methods[NM_BUS_NODE_METHODS] = {
    { "Drain", "s", "", "reason", "drain", drain, check_reason },
    { "Undrain", "", "", "", "undrain", undrain, NULL },
    { "GetContainer", "s", "o", "id", NULL, get_container, NULL },
    { "GetContainerByPID", "u", "o", "pid", NULL, get_container_by_pid, NULL },
};
