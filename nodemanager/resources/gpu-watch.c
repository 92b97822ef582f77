/* See gpu-watch.h. */
#include "nodemanager/resources/gpu-watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/worker.h"
#include "executor/exe.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/gpu-discovery.h"

struct nm_gpu_watch {
    struct nm_context *ctx;
    const char *root;
    struct nm_assignments *assignments;
    struct sv_worker *worker;
    sd_event_source *timer;
    void (*changed)(void *userdata);
    void *userdata;
};

struct look { /* the thread's, which may outlive the daemon's objects */
    char *root, *allowed;
    uint32_t major;
    bool driver;
    struct nm_gpus found;
};

static void run(void *data)
{
    struct look *l = data;
    const struct nm_gpu_sources sources = { l->root, l->allowed, NULL, l->major };

    nm_gpu_look(&sources, l->driver, &l->found);
}

static void look_free(void *data)
{
    struct look *l = data;

    if (!l)
        return;
    free(l->root);
    free(l->allowed);
    free(l);
}

static struct look *look_new(const struct nm_gpu_watch *w)
{
    const struct nm_conf *conf = w->ctx->conf;
    struct look *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->root = strdup(w->root);
    l->allowed = strdup(conf->gpus_allowed);
    l->major = (uint32_t)conf->gpu_major;
    l->driver = nm_assignments_had_driver(w->assignments);
    if (l->root && l->allowed)
        return l;
    look_free(l);
    return NULL;
}

static void tell_health(const struct nm_gpu_watch *w)
{
    char text[2048];

    nm_gpu_report(nm_assignments_gpu_list(w->assignments), text, sizeof(text));
    nm_health_note(w->ctx->health, text);
}

static void arm(struct nm_gpu_watch *w)
{
    int r =
        sd_event_source_set_time_relative(w->timer, (uint64_t)w->ctx->conf->gpu_check_ms * 1000);

    if (r >= 0)
        r = sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT);
    if (r < 0)
        sv_log_err("GPUs: no further check: %s", strerror(-r));
}

static void on_looked(int status, void *data, void *userdata)
{
    static const struct nm_gpus hangs = {
        .why = "/proc/driver/nvidia does not answer: the driver hangs; see the kernel's log"
    };
    struct nm_gpu_watch *w = userdata;
    const struct look *l = data;
    int32_t gpus;

    arm(w);
    if (!nm_assignments_found(w->assignments, status < 0 ? &hangs : &l->found))
        return;
    tell_health(w);
    (void)!exe_check(w->ctx->exe, false, NULL, NULL); /* nodes may be others; ignoring */
    gpus = nm_assignments_gpus(w->assignments);
    if (gpus != w->ctx->total.gpus) {
        sv_log_notice("this node offers %d GPUs, before %d", gpus, w->ctx->total.gpus);
        w->ctx->total.gpus = gpus;
        w->changed(w->userdata);
    }
    nm_context_changed(w->ctx);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_gpu_watch *w = userdata;
    struct look *l = look_new(w);
    const struct sv_job job = { .data = l,
                                .userdata = w,
                                .run = run,
                                .done = on_looked,
                                .free = look_free,
                                .deadline_ms = NM_GPU_LOOK_MS };

    (void)s;
    (void)usec;
    if (!l || sv_worker_run(w->worker, &job) < 0) {
        look_free(l);
        arm(w); /* it is tried again, ignoring */
    }
    return 0;
}

int nm_gpu_watch_new(struct nm_context *ctx, const char *root, struct nm_assignments *a,
                     void (*changed)(void *userdata), void *userdata, struct nm_gpu_watch **ret)
{
    struct nm_gpu_watch *w;
    int r;

    *ret = NULL;
    if (!ctx->conf->gpus)
        return 0;
    w = calloc(1, sizeof(*w));
    if (!w)
        return -ENOMEM;
    *w = (struct nm_gpu_watch){
        .ctx = ctx, .root = root, .assignments = a, .changed = changed, .userdata = userdata
    };
    r = sv_worker_new(ctx->event, "gpu-watch", &w->worker);
    if (r >= 0)
        r = sd_event_add_time_relative(ctx->event, &w->timer, CLOCK_BOOTTIME,
                                       (uint64_t)ctx->conf->gpu_check_ms * 1000, 0, on_timer, w);
    if (r < 0)
        return (void)nm_gpu_watch_free(w), r;
    tell_health(w);
    *ret = w;
    return 0;
}

struct nm_gpu_watch *nm_gpu_watch_free(struct nm_gpu_watch *w)
{
    if (!w)
        return NULL;
    w->timer = sd_event_source_disable_unref(w->timer);
    w->worker = sv_worker_free(w->worker);
    free(w);
    return NULL;
}
