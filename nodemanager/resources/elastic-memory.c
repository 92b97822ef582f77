/* See elastic-memory.h. Runs on the loop, when the root's memory.events change. */
#include "nodemanager/resources/elastic-memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/log.h"
#include "executor/exe.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"

struct nm_elastic {
    struct nm_context *ctx;
    char victim[YARN_ID_TEXT_MAX]; /* killed, its end not yet reported; "" = none */
    int64_t killed_ms;             /* monotonic */
};

bool nm_elastic_before(const struct nm_elastic_row *a, const struct nm_elastic_row *b)
{
    bool over_a = a->used > a->asked, over_b = b->used > b->asked;

    if (a->opportunistic != b->opportunistic)
        return a->opportunistic;
    if (over_a != over_b)
        return over_a;
    return a->launch_ms > b->launch_ms;
}

/* The best victim among running containers without a kill request. */
static struct nm_container *choose(struct nm_context *ctx, struct nm_elastic_row *ret)
{
    struct nm_container *best = NULL;

    for (struct nm_container *c = ctx->containers; c; c = c->hh.next) {
        struct cg_leaf *leaf = c->launch.exe ? exe_container_cgroup(c->launch.exe) : NULL;
        struct nm_elastic_row row;
        uint64_t used;

        if (!nm_container_is_live(c) || !leaf || c->kill_requested || c->launch.exit.event ||
            cg_leaf_memory_in_use(leaf, &used) < 0)
            continue;
        row = (struct nm_elastic_row){
            .opportunistic = c->execution_type == HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC,
            .used = used,
            .asked = (uint64_t)c->resource.memory_mb << 20,
            .launch_ms = c->launch_ms,
        };
        if (best && !nm_elastic_before(&row, ret))
            continue;
        best = c;
        *ret = row;
    }
    return best;
}

static bool victim_is_dying(struct nm_elastic *e)
{
    struct nm_container *c = *e->victim ? nm_container_find(e->ctx, e->victim) : NULL;

    return c && c->launch.exe && !c->launch.exit.event &&
           sv_now_ms() - e->killed_ms < e->ctx->conf->elastic_timeout_ms;
}

static void on_memory(struct cg_root *r, void *userdata)
{
    struct nm_elastic *e = userdata;
    uint64_t in_use, all = cg_root_policy(r)->node_memory;
    struct nm_elastic_row row = { 0 };
    struct nm_container *c;
    char why[512];
    int k;

    /* File cache also reaches memory.high, and the kernel reclaims it by itself: only memory in use
     * counts. The threshold is a little below the limit, because a container throttled at the limit
     * may never exceed it. */
    if (cg_root_memory_in_use(r, &in_use) < 0 || in_use < all - all / 32 || victim_is_dying(e))
        return;
    *e->victim = '\0';
    c = choose(e->ctx, &row);
    if (!c) {
        sv_log_err("elastic memory: containers use %llu of %llu MB, and none can be killed",
                   (unsigned long long)(in_use >> 20), (unsigned long long)(all >> 20));
        return;
    }
    (void)snprintf(
        why, sizeof(why),
        "Container %s was killed by elastic cgroups OOM handler using %llu MB of %llu MB "
        "requested: all containers together use %llu of the node's %llu MB.\n",
        c->text, (unsigned long long)(row.used >> 20), (unsigned long long)(row.asked >> 20),
        (unsigned long long)(in_use >> 20), (unsigned long long)(all >> 20));
    sv_log(SV_LOG_WARNING, c->text, "%s", why);
    (void)snprintf(e->victim, sizeof(e->victim), "%s", c->text);
    e->killed_ms = sv_now_ms();
    nm_container_kill(c, YARN_EXIT_KILLED_EXCEEDED_PMEM, why);
    k = c->launch.exe ? exe_kill(c->launch.exe)
                      : 0; /* its memory is needed immediately: no SIGTERM first */
    if (k < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cgroup.kill: %s", c->text, strerror(-k));
}

int nm_elastic_new(struct nm_context *ctx, struct nm_elastic **ret, struct sv_error *err)
{
    struct nm_elastic *e;
    int r;

    *ret = NULL;
    if (!ctx->conf->elastic)
        return 0;
    e = calloc(1, sizeof(*e));
    if (!e)
        return sv_error_errno(err, -ENOMEM, "elastic memory");
    e->ctx = ctx;
    r = cg_root_watch_memory(ctx->cgroups, ctx->event, on_memory, e);
    if (r < 0) {
        free(e);
        return sv_error_errno(err, r, "elastic memory: %s/memory.events",
                              cg_root_path(ctx->cgroups));
    }
    *ret = e;
    return 0;
}

struct nm_elastic *nm_elastic_free(struct nm_elastic *e)
{
    free(e);
    return NULL;
}
