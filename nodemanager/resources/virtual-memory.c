/* See virtual-memory.h. */
#include "nodemanager/resources/virtual-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/worker.h"
#include "executor/exe.h"
#include "nodemanager/core/container-diagnostics.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/process-sizes.h"

#define PROC "/proc"

struct nm_vmem {
    struct nm_context *ctx;
    struct sv_worker *worker;
    uint64_t ticks; /* in a second, of the start of processes */
};

struct reading { /* the thread's */
    char container[YARN_ID_TEXT_MAX];
    int group, error;
    uint64_t before;
    struct nm_process_sizes found;
};

static void read_processes(void *data)
{
    struct reading *r = data;

    r->error = nm_process_sizes(PROC, r->group, r->before, &r->found);
}

static void reading_free(void *data)
{
    struct reading *r = data;

    sv_close(r->group);
    free(r);
}

/* Follows its memory, or the memory that an operator has set. */
static uint64_t limit_of(const struct nm_container *c)
{
    uint64_t memory =
        c->share.set.memory_max ? c->share.set.memory_max : (uint64_t)c->resource.memory_mb << 20;
    double limit = (double)memory * c->ctx->conf->vmem_ratio;

    return limit < (double)UINT64_MAX ? (uint64_t)limit : UINT64_MAX;
}

static void judge(struct nm_container *c, const struct nm_process_sizes *found)
{
    const uint64_t limit = limit_of(c);
    char *why;

    c->usage.vmem_bytes = found->bytes;
    if (c->kill_requested || !nm_container_is_live(c) || !nm_process_sizes_over(found, limit))
        return;
    why = nm_diagnostics_vmem(c, &(struct nm_vmem_usage){ .bytes = found->bytes,
                                                          .limit = limit,
                                                          .processes = found->n,
                                                          .largest = found->largest,
                                                          .largest_bytes = found->of_largest.bytes,
                                                          .largest_name = found->of_largest.name });
    if (why)
        sv_log(SV_LOG_WARNING, c->text, "%s", why);
    nm_container_kill(c, YARN_EXIT_KILLED_EXCEEDED_VMEM, why ? why : "");
    free(why);
}

/* The container may have ended meanwhile, and its cgroup with it (-ENODEV). */
static void on_read(int status, void *data, void *userdata)
{
    const struct nm_vmem *v = userdata;
    const struct reading *r = data;
    struct nm_container *c = nm_container_find(v->ctx, r->container);

    (void)status; /* there is no deadline */
    if (!c)
        return;
    c->usage.vmem_reading = false;
    if (r->error >= 0)
        judge(c, &r->found);
    else if (r->error != -ENODEV)
        sv_log(SV_LOG_DEBUG, c->text, "%s: virtual memory: %s", c->text, strerror(-r->error));
}

void nm_vmem_check(struct nm_vmem *v, struct nm_container *c)
{
    const struct cg_leaf *leaf = v && c->launch.exe ? exe_container_cgroup(c->launch.exe) : NULL;
    struct reading *r = leaf && !c->usage.vmem_reading ? calloc(1, sizeof(*r)) : NULL;
    const struct sv_job job = {
        .data = r, .run = read_processes, .done = on_read, .free = reading_free, .userdata = v
    };

    if (!r)
        return;
    memcpy(r->container, c->text, sizeof(r->container));
    r->before = (uint64_t)c->usage.vmem_read_ms * v->ticks / 1000;
    r->group = cg_leaf_dir(leaf);
    if (r->group < 0 || sv_worker_run(v->worker, &job) < 0) {
        reading_free(r); /* the next pass tries again */
        return;
    }
    c->usage.vmem_reading = true;
    c->usage.vmem_read_ms = sv_now_ms();
}

/* The kernel hides processes of other accounts where /proc is mounted with hidepid=: the sum of a
 * container would be 0. */
static int check_proc(struct sv_error *err)
{
    _cleanup_free_ char *text = NULL;
    int r = sv_read_file_at(AT_FDCWD, PROC "/1/stat", 4096, &text, NULL);

    if (r < 0)
        return sv_error_set(err, r,
                            "yarn.nodemanager.vmem-check-enabled: this daemon does not see the "
                            "processes of other accounts (" PROC "/1/stat: %s): mount " PROC
                            " without hidepid=, or with gid= of a group of the daemon, or set the "
                            "key to false",
                            strerror(-r));
    return 0;
}

int nm_vmem_new(struct nm_context *ctx, struct nm_vmem **ret, struct sv_error *err)
{
    struct nm_vmem *v;
    long ticks = sysconf(_SC_CLK_TCK);
    int r;

    *ret = NULL;
    if (!ctx->conf->vmem_check)
        return 0;
    r = check_proc(err);
    if (r < 0)
        return r;
    v = calloc(1, sizeof(*v));
    if (!v)
        return sv_error_errno(err, -ENOMEM, "check of virtual memory");
    v->ctx = ctx;
    v->ticks = ticks > 0 ? (uint64_t)ticks : 100;
    r = sv_worker_new(ctx->event, "virtual-memory", &v->worker);
    if (r < 0) {
        free(v);
        return sv_error_errno(err, r, "check of virtual memory");
    }
    *ret = v;
    return 0;
}

struct nm_vmem *nm_vmem_free(struct nm_vmem *v)
{
    if (!v)
        return NULL;
    v->worker = sv_worker_free(v->worker);
    free(v);
    return NULL;
}
