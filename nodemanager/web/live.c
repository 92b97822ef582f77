/* See live.h. A row of an event is a name, a share and a text, all of our own: nothing of a job. */
#include "nodemanager/web/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/html.h"
#include "common/http-events.h"
#include "common/user-groups.h"
#include "executor/exe.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"

struct figures {
    struct cg_usage use;
    int64_t memory_mb; /* what `use` is compared with */
    int vcores;
};

static void put_row(char event[static SV_HTTP_EVENT_MAX], const char *name, double share,
                    const char *text)
{
    size_t n = strlen(event);

    (void)snprintf(event + n, SV_HTTP_EVENT_MAX - n, "%s[\"%s\",%.4f,\"%s\"]",
                   event[n - 1] == '[' ? "" : ",", name, share, text);
}

static void put_memory(char event[static SV_HTTP_EVENT_MAX], const struct figures *f)
{
    double limit = (double)f->memory_mb * 1048576;
    char used[SV_HTML_WORD], most[SV_HTML_WORD], text[2 * SV_HTML_WORD + 8];

    if (f->use.memory_current == 0 || limit <= 0) /* no controller */
        return;
    (void)snprintf(text, sizeof(text), "%s of %s", sv_html_bytes(f->use.memory_current, used),
                   sv_html_mb(f->memory_mb, most));
    put_row(event, "Memory", (double)f->use.memory_current / limit, text);
}

/* Since the event before; the first one has none before it. */
static void put_cpu(char event[static SV_HTTP_EVENT_MAX], const struct figures *f,
                    struct sv_http_reading *before)
{
    uint64_t now_us = (uint64_t)sv_now_ms() * 1000;
    double cores = 0;
    char text[64] = "–";

    if (before->at_us && now_us > before->at_us && f->use.cpu_usec >= before->value) {
        cores = (double)(f->use.cpu_usec - before->value) / (double)(now_us - before->at_us);
        (void)snprintf(text, sizeof(text), "%.2f of %d cores", cores, f->vcores);
    }
    put_row(event, "CPU", f->vcores > 0 ? cores / f->vcores : 0, text);
    *before = (struct sv_http_reading){ .value = f->use.cpu_usec, .at_us = now_us };
}

static void put_wait(char event[static SV_HTTP_EVENT_MAX], const char *name,
                     const struct cg_stall *s)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%.1f %%", s->some_avg10 / 100.0);
    put_row(event, name, s->some_avg10 / 10000.0, text);
}

/* -ENOENT: no container of this name runs. */
static int read_figures(const struct nm_context *ctx, const char *container, struct figures *ret)
{
    const struct nm_container *c;
    struct cg_leaf *leaf;

    if (!*container) {
        *ret = (struct figures){ .memory_mb = ctx->total.memory_mb, .vcores = ctx->total.vcores };
        return cg_root_usage(ctx->cgroups, &ret->use);
    }
    c = nm_container_find(ctx, container);
    if (!c || nm_container_is_done(c))
        return -ENOENT;
    *ret = (struct figures){ .memory_mb = c->resource.memory_mb, .vcores = c->resource.vcores };
    leaf = c->launch.exe ? exe_container_cgroup(c->launch.exe) : NULL;
    return leaf ? cg_leaf_usage(leaf, &ret->use) : -EAGAIN;
}

static int write_event(const char *container, struct sv_http_reading *before,
                       char ret[static SV_HTTP_EVENT_MAX], void *userdata)
{
    const struct nm_web *w = userdata;
    struct figures f;
    int r = read_figures(w->ctx, container, &f);

    if (r == -ENOENT)
        return r;
    (void)snprintf(ret, SV_HTTP_EVENT_MAX, "{\"rows\":[");
    if (r >= 0) { /* else not launched yet */
        put_memory(ret, &f);
        put_cpu(ret, &f, before);
        put_wait(ret, "Waiting for CPU", &f.use.cpu_stall);
        put_wait(ret, "Waiting for memory", &f.use.memory_stall);
        put_wait(ret, "Waiting for disks", &f.use.io_stall);
    }
    (void)snprintf(ret + strlen(ret), SV_HTTP_EVENT_MAX - strlen(ret), "]}");
    return 0;
}

int nm_live_new(sd_event *event, const struct nm_web *w, struct sv_http_events **ret)
{
    return sv_http_events_new(event, NM_LIVE_PERIOD_MS, write_event, (void *)(uintptr_t)w, ret);
}

int nm_live_open(const struct nm_web *w, const char *container, const struct sv_http_request *req,
                 struct sv_http_response *ret)
{
    if (sv_groups_missed(w->groups)) /* whether the caller may view it is not known yet */
        return -EAGAIN;
    return sv_http_events_open(w->live, req, container, ret);
}
