/* See probe-port.h. */
#include "service/am/check/probe-port.h"

#include <errno.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "common/loop-guard.h"
#include "fs/policy.h"
#include "wire/ipc/resolve.h"

struct svc_port_probe {
    sd_event *event;
    svc_port_done done;
    void *userdata;
    struct ipc_resolve *resolve;
    struct ipc_addresses list;
    sd_event_source *io, *timer;
    int fd;
    int failed; /* of the start */
};

struct svc_port_probe *svc_port_probe_free(struct svc_port_probe *p)
{
    if (!p)
        return NULL;
    ipc_resolve_free(p->resolve);
    sd_event_source_disable_unref(p->io);
    sd_event_source_disable_unref(p->timer);
    p->fd = sv_close(p->fd);
    sd_event_unref(p->event);
    free(p);
    return NULL;
}

static void finish(struct svc_port_probe *p, int status)
{
    svc_port_done done = p->done;
    void *userdata = p->userdata;

    svc_port_probe_free(p);
    done(status, userdata);
}

static int on_timeout(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)usec;
    finish(userdata, -ETIMEDOUT);
    return 0;
}

static int on_connected(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    socklen_t len = sizeof(int);
    int error = 0;

    (void)s;
    (void)events;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    finish(userdata, -error);
    return 0;
}

/* Connects to the first address of the list: a container has one, a node's name as well. */
static int begin(struct svc_port_probe *p)
{
    const struct sockaddr *to = (const struct sockaddr *)&p->list.sa[0];

    if (p->list.n == 0)
        return -EHOSTUNREACH;
    if (!fs_policy_address(&fs_policy_jobs, to))
        return -EPERM;
    p->fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (p->fd < 0)
        return -errno;
    if (connect(p->fd, to, p->list.len[0]) < 0 && errno != EINPROGRESS)
        return -errno;
    return sd_event_add_io(p->event, &p->io, p->fd, EPOLLOUT, on_connected, p);
}

/* Gives the result of a failed start from the loop, as every other. */
static int on_failed(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_port_probe *p = userdata;

    (void)s;
    (void)usec;
    finish(p, p->failed);
    return 0;
}

static int fail_later(struct svc_port_probe *p, int status)
{
    sd_event_source_disable_unref(p->timer);
    p->timer = NULL;
    p->failed = status;
    return sd_event_add_time_relative(p->event, &p->timer, CLOCK_MONOTONIC, 0, 0, on_failed, p);
}

static void on_resolved(int status, const struct ipc_addresses *list, void *userdata)
{
    struct svc_port_probe *p = userdata;
    int r = status;

    p->resolve = ipc_resolve_free(p->resolve);
    if (r == 0) {
        p->list = *list;
        r = begin(p);
    }
    if (r < 0)
        finish(p, r);
}

int svc_port_probe_start(sd_event *event, const struct svc_probe_target *target, int64_t timeout_ms,
                         svc_port_done done, void *userdata, struct svc_port_probe **ret)
{
    struct svc_port_probe *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return -ENOMEM;
    *p = (struct svc_port_probe){
        .event = sd_event_ref(event), .done = done, .userdata = userdata, .fd = -1
    };
    r = sd_event_add_time_relative(event, &p->timer, CLOCK_MONOTONIC, (uint64_t)timeout_ms * 1000,
                                   10000, on_timeout, p);
    if (r >= 0 && ipc_resolve_numeric(target->address, target->port, &p->list)) {
        r = begin(p);
        if (r < 0)
            r = fail_later(p, r);
    } else if (r >= 0) {
        r = ipc_resolve_start(event, target->address, target->port, on_resolved, p, &p->resolve);
    }
    if (r < 0) {
        svc_port_probe_free(p);
        return r;
    }
    *ret = p;
    return 0;
}
