/* See set-limit.h. The record is a setting of the store, which older versions ignore:
 * "limits CONTAINER" → "MEMORY WEIGHT QUOTA PIDS", and " WANTED" where it wants a limit of pids. */
#include "nodemanager/resources/set-limit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cgroups/cg.h"
#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/resource-limits.h"
#include "nodemanager/store/state-store.h"

#define PREFIX "limits "
#define MEMORY_MIN (4ULL << 20) /* less cannot hold a shell */
#define WEIGHT_MAX 10000
#define MILLIS_MIN 10 /* the kernel's minimum quota: 1 ms of 100 */

/* ---- bounds ---- */

static int check(const struct nm_container *c, const char *name, uint64_t value, uint64_t min,
                 uint64_t max, const char *unit, struct sv_error *err)
{
    if (value == 0 || (value >= min && value <= max))
        return 0;
    return sv_error_set(err, -EINVAL,
                        "container %s: %s %" PRIu64 ": expected %" PRIu64 " to %" PRIu64
                        " %s, or 0 for the limit that it had",
                        c->text, name, value, min, max, unit);
}

/* Refuses a limit below current usage: the kernel would reclaim while the daemon waits, then
 * kill. */
static int check_use(const struct nm_container *c, struct cg_leaf *leaf, uint64_t memory,
                     struct sv_error *err)
{
    struct cg_usage usage;

    if (!memory || cg_leaf_usage(leaf, &usage) < 0 || usage.memory_current <= memory)
        return 0;
    return sv_error_set(err, -EINVAL,
                        "container %s uses %" PRIu64 " bytes, page cache included: memory %" PRIu64
                        " is less; call Stop or Kill to end it",
                        c->text, usage.memory_current, memory);
}

/* Stores one value in `set`. */
static int put(const struct nm_container *c, const char *name, uint64_t value,
               struct cg_override *set, unsigned *ret_controller, struct sv_error *err)
{
    const struct cg_policy *p = cg_root_policy(c->ctx->cgroups);
    int r;

    if (sv_streq(name, "memory")) {
        r = check(c, name, value, MEMORY_MIN, p->node_memory, "bytes", err);
        set->memory_max = value;
        *ret_controller = CG_MEMORY;
    } else if (sv_streq(name, "cpu-weight")) {
        r = check(c, name, value, 1, WEIGHT_MAX, "(100 a virtual core)", err);
        set->cpu_weight = value;
        *ret_controller = CG_CPU;
    } else if (sv_streq(name, "cpu-quota")) {
        r = check(c, name, value, MILLIS_MIN, p->node_millicpus, "thousandths of a processor", err);
        /* A quota in the cgroup can only be reset by writing another. */
        set->cpu_millis = value ? value : p->strict_cpu ? 0 : CG_CPU_UNLIMITED;
        *ret_controller = CG_CPU;
    } else if (sv_streq(name, "pids")) {
        r = check(c, name, value, 1, p->pids_max, "processes and threads", err);
        set->pids_max = value;
        *ret_controller = CG_PIDS;
    } else {
        r = sv_error_set(err, -EINVAL,
                         "\"%.40s\" is no limit: memory, cpu-weight, cpu-quota and pids are", name);
    }
    return r;
}

/* ---- record ---- */

#define NAME_MAX_BYTES (sizeof(PREFIX) + YARN_ID_TEXT_MAX)

static const char *record_name(const struct nm_container *c, char buf[NAME_MAX_BYTES])
{
    snprintf(buf, NAME_MAX_BYTES, PREFIX "%s", c->text);
    return buf;
}

static int record(const struct nm_container *c, const struct cg_override *set, uint64_t wanted)
{
    static const struct cg_override none;
    char name[NAME_MAX_BYTES], value[120];
    int n;

    if (!wanted && memcmp(set, &none, sizeof(none)) == 0)
        return nm_store_setting_remove(c->ctx->store, record_name(c, name));
    n = snprintf(value, sizeof(value), "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                 set->memory_max, set->cpu_weight, set->cpu_millis, set->pids_max);
    if (wanted)
        (void)snprintf(value + n, sizeof(value) - (size_t)n, " %" PRIu64, wanted);
    return nm_store_setting(c->ctx->store, record_name(c, name), value);
}

static int on_setting(const char *name, const char *value, void *userdata)
{
    struct nm_context *ctx = userdata;
    struct cg_override set = { 0 };
    struct nm_container *c;
    uint64_t wanted = 0;
    char end;
    int n;

    if (!sv_has_prefix(name, PREFIX))
        return 0;
    c = nm_container_find(ctx, name + strlen(PREFIX));
    if (!c)
        return 0;
    n = sscanf(value, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%c",
               &set.memory_max, &set.cpu_weight, &set.cpu_millis, &set.pids_max, &wanted, &end);
    if (n == 4 || n == 5) {
        c->share.set = set;
        c->share.wanted_pids = wanted;
    } else {
        sv_log(SV_LOG_ERR, c->text, "%s: malformed limits in state store (\"%.100s\"), ignoring",
               c->text, value);
    }
    return 0;
}

int nm_limit_recover(struct nm_context *ctx)
{
    return nm_store_each_setting(ctx->store, on_setting, ctx);
}

void nm_limit_forget(struct nm_container *c)
{
    static const struct cg_override none;
    char name[NAME_MAX_BYTES];

    if (!c->share.wanted_pids && memcmp(&c->share.set, &none, sizeof(none)) == 0)
        return;
    if (nm_store_setting_remove(c->ctx->store, record_name(c, name)) < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: cannot remove its limits from state store", c->text);
}

/* ---- the call ---- */

static int apply(struct nm_container *c, struct cg_leaf *leaf, const struct cg_override *set,
                 struct sv_error *err)
{
    struct cg_resource limits;
    int r = record(c, set, c->share.wanted_pids);

    if (r < 0)
        return sv_error_errno(err, r, "container %s: its limits could not be recorded", c->text);
    c->share.set = *set;
    nm_limits_of(c, &limits);
    return cg_leaf_set_limits(leaf, &limits, err);
}

int nm_limit_set(struct nm_container *c, const char *name, uint64_t value, struct sv_error *err)
{
    const struct cg_override before = c->share.set;
    struct cg_leaf *leaf = c->launch.exe ? exe_container_cgroup(c->launch.exe) : NULL;
    struct cg_override set = before;
    struct sv_error ignored = { 0 };
    unsigned controller = 0;
    int r = put(c, name, value, &set, &controller, err);

    if (r < 0)
        return r;
    if (!nm_container_is_live(c) || !leaf)
        return sv_error_set(err, -ESRCH, "container %s does not run: it is %s", c->text,
                            nm_container_state_name(c->state));
    if (!(cg_root_controllers(c->ctx->cgroups) & controller))
        return sv_error_set(err, -EOPNOTSUPP,
                            "container %s: this node cannot limit %s: its cgroups do not have the "
                            "controller",
                            c->text, name);
    r = controller == CG_MEMORY ? check_use(c, leaf, value, err) : 0;
    if (r < 0)
        return r;
    r = apply(c, leaf, &set, err);
    if (r < 0 && apply(c, leaf, &before, &ignored) < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: limits are partly set: %s", c->text, ignored.text);
    return r;
}

int nm_limit_want(struct nm_container *c, uint64_t pids)
{
    int r = pids == c->share.wanted_pids ? 0 : record(c, &c->share.set, pids);

    if (r >= 0)
        c->share.wanted_pids = pids;
    return r < 0 ? r : 0;
}
