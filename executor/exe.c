/* The daemon's handle of the executor. */
#include "executor/exe.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "executor/helper-socket.h"
#include "executor/internal.h"

static int copy_strv(char *const *from, char ***ret)
{
    size_t n = sv_strv_len(from);
    char **v = calloc(n + 1, sizeof(*v));
    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!(v[i] = strdup(from[i]))) {
            (void)sv_strv_free(v);
            return -ENOMEM;
        }
    *ret = v;
    return 0;
}

int exe_new(sd_event *event, const struct exe_settings *s, struct exe **ret, struct sv_error *err)
{
    _cleanup_(exe_freep) struct exe *x = calloc(1, sizeof(*x));
    if (!x)
        return sv_error_errno(err, -ENOMEM, "executor");
    if (s->helper[0] != '/')
        return sv_error_set(err, -EINVAL, "%s: the path of container-executor must be absolute",
                            s->helper);
    if (sv_strv_len(s->local_dirs) > EXE_DIRS_MAX || sv_strv_len(s->log_dirs) > EXE_DIRS_MAX)
        return sv_error_set(err, -EINVAL, "more than %d local or log directories", EXE_DIRS_MAX);
    x->event = sd_event_ref(event);
    x->version = EXE_PROTOCOL_VERSION;
    x->cgroups = s->cgroups;
    x->unenforced_allowed = s->unenforced_allowed;
    x->labels = s->labels;
    x->profile = s->profile;
    x->network = s->network;
    x->net_rate_kbit = s->net_rate_kbit;
    x->net_ceil_kbit = s->net_ceil_kbit;
    x->helper = strdup(s->helper);
    const int folder = (int)(strrchr(s->helper, '/') - s->helper);
    if (!x->helper ||
        sv_asprintf(&x->debug_program, "%.*s/container-debug-info", folder, s->helper) < 0 ||
        copy_strv(s->local_dirs, &x->local_dirs) < 0 || copy_strv(s->log_dirs, &x->log_dirs) < 0)
        return sv_error_errno(err, -ENOMEM, "executor");
    int r = s->socket ? exe_dialer_new(event, s->socket, &x->dialer) : 0;
    if (r < 0)
        return sv_error_errno(err, r, "%s: the socket of container-executor", s->socket);
    *ret = SV_TAKE(x);
    return 0;
}

const char *exe_debug_program(const struct exe *x)
{
    return x->debug_program;
}

uint32_t exe_addresses(const struct exe *x)
{
    return x->addresses;
}

bool exe_assignable(const struct exe *x, const struct exe_device *d)
{
    for (unsigned i = 0; i < x->n_assignable; i++)
        if (x->assignable[i].major == d->major && x->assignable[i].minor == d->minor)
            return true;
    return false;
}

bool exe_unreachable(const struct exe *x)
{
    return x->unreachable;
}

struct exe *exe_free(struct exe *x)
{
    if (!x)
        return NULL;
    exe_containers_free(x);
    exe_localizers_free(x);
    exe_calls_free(x);
    exe_operations_free(x);
    x->dialer = exe_dialer_free(x->dialer);
    x->local_dirs = sv_strv_free(x->local_dirs);
    x->log_dirs = sv_strv_free(x->log_dirs);
    free(x->helper);
    free(x->debug_program);
    (void)sd_event_unref(x->event);
    free(x);
    return NULL;
}
