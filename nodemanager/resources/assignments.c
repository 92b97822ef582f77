/* See assignments.h. Called on the loop only. The text in the store was written by this file, yet a
 * disk may have changed it: it is parsed as strictly as any input. */
#include "nodemanager/resources/assignments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/gpu-discovery.h"

#define ADDRESSES 65534 /* maximum, also of a larger range */

struct nm_assignments {
    const struct nm_context *ctx;
    uint32_t minors[NM_GPUS_MAX];
    const struct nm_container *owners[NM_GPUS_MAX]; /* NULL = free */
    size_t n_gpus;
    uint8_t used[(ADDRESSES + 7) / 8];
    uint32_t next; /* next address to try: a released one is not reassigned immediately */
    void (*released)(void *userdata);
    void *userdata;
};

int nm_assignments_new(const struct nm_context *ctx, struct nm_assignments **ret,
                       struct sv_error *err)
{
    struct nm_assignments *a = calloc(1, sizeof(*a));
    int r = 0;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "assignments");
    if (ctx->conf->gpus)
        r = nm_gpu_discover(ctx->conf->gpus_allowed, ctx->conf->gpu_discovery, a->minors,
                            &a->n_gpus, err);
    if (r < 0) {
        free(a);
        return r;
    }
    if (a->n_gpus)
        sv_log_info("%zu GPUs for containers", a->n_gpus);
    a->ctx = ctx;
    *ret = a;
    return 0;
}

int32_t nm_assignments_gpus(const struct nm_assignments *a)
{
    return (int32_t)a->n_gpus;
}

struct nm_assignments *nm_assignments_free(struct nm_assignments *a)
{
    free(a);
    return NULL;
}

static bool address_used(const struct nm_assignments *a, uint32_t i)
{
    return a->used[i / 8] >> (i % 8) & 1;
}

/* `have`: size of the range in the helper's configuration; 0: not yet known. */
static int take_address(struct nm_assignments *a, uint32_t have, uint32_t *ret)
{
    const uint32_t all = have && have < ADDRESSES ? have : ADDRESSES;

    for (uint32_t n = 0; n < all; n++) {
        uint32_t i = (a->next + n) % all;

        if (address_used(a, i))
            continue;
        a->used[i / 8] |= (uint8_t)(1u << (i % 8));
        a->next = (i + 1) % all;
        *ret = i + 1;
        return 0;
    }
    return -EBUSY;
}

static int take_gpu(struct nm_assignments *a, struct nm_container *c, size_t i)
{
    struct nm_assigned *s = &c->share.assigned;

    if (a->owners[i] || s->n_gpus == EXE_DEVICES_MAX)
        return -EBUSY;
    a->owners[i] = c;
    s->gpus[s->n_gpus++] = (struct exe_device){ (uint32_t)a->ctx->conf->gpu_major, a->minors[i] };
    return 0;
}

/* "address=7 gpu=0 gpu=3", as nm_assign_again reads it. */
static void write_text(const struct nm_assigned *s, char *text)
{
    int n = 0;

    text[0] = '\0';
    if (s->address)
        n = snprintf(text, NM_ASSIGNED_TEXT_MAX, "address=%u", s->address - 1);
    for (size_t i = 0; i < s->n_gpus; i++)
        n += snprintf(text + n, NM_ASSIGNED_TEXT_MAX - (size_t)n, "%sgpu=%u", n ? " " : "",
                      s->gpus[i].minor);
}

/* True if it had something. */
static bool give_back(struct nm_assignments *a, struct nm_container *c)
{
    bool any = c->share.assigned.n_gpus > 0 || c->share.assigned.address;

    for (size_t i = 0; i < a->n_gpus; i++)
        if (a->owners[i] == c)
            a->owners[i] = NULL;
    if (c->share.assigned.address)
        a->used[(c->share.assigned.address - 1) / 8] &=
            (uint8_t) ~(1u << ((c->share.assigned.address - 1) % 8));
    c->share.assigned = (struct nm_assigned){ 0 };
    return any;
}

int nm_assign(struct nm_assignments *a, struct nm_container *c, char text[NM_ASSIGNED_TEXT_MAX],
              struct sv_error *err)
{
    size_t requested = c->resource.gpus > 0 ? (size_t)c->resource.gpus : 0;
    int r = 0;

    text[0] = '\0';
    for (size_t i = 0; i < a->n_gpus && c->share.assigned.n_gpus < requested; i++)
        (void)!take_gpu(a, c, i);
    if (c->share.assigned.n_gpus < requested)
        r = sv_error_set(err, -EBUSY,
                         "%s: %zu of yarn.io/gpu were requested, %zu are free of %zu "
                         "(at most %d for one container)",
                         c->text, requested, c->share.assigned.n_gpus, a->n_gpus, EXE_DEVICES_MAX);
    if (r == 0 && a->ctx->conf->network == EXE_NETWORK_PRIVATE &&
        take_address(a, exe_addresses(a->ctx->exe), &c->share.assigned.address) < 0)
        r = sv_error_set(err, -EBUSY, "%s: no address of the private network is free", c->text);
    if (r < 0) {
        (void)give_back(a, c); /* what was free before, ignoring */
        return r;
    }
    write_text(&c->share.assigned, text);
    return 0;
}

static int again_gpu(struct nm_assignments *a, struct nm_container *c, uint64_t minor)
{
    for (size_t i = 0; i < a->n_gpus; i++)
        if (a->minors[i] == minor)
            return take_gpu(a, c, i);
    return -ENODEV; /* not a GPU of this node any more */
}

int nm_assign_again(struct nm_assignments *a, struct nm_container *c, const char *text)
{
    _cleanup_strv_ char **list = NULL;
    int r = sv_strv_split(text, ' ', &list);

    for (char **one = list; r >= 0 && one && *one; one++) {
        uint64_t v;

        if (sv_has_prefix(*one, "address=") && !c->share.assigned.address &&
            sv_parse_u64(*one + strlen("address="), 0, ADDRESSES - 1, &v) == 0 &&
            !address_used(a, (uint32_t)v)) {
            a->used[v / 8] |= (uint8_t)(1u << (v % 8));
            c->share.assigned.address = (uint32_t)v + 1;
        } else if (sv_has_prefix(*one, "gpu=") &&
                   sv_parse_u64(*one + strlen("gpu="), 0, UINT32_MAX, &v) == 0) {
            r = again_gpu(a, c, v);
            if (r == -ENODEV)
                r = 0;
        } else {
            r = -EBADMSG;
        }
    }
    return r < 0 ? -EBADMSG : 0;
}

void nm_assignments_on_release(struct nm_assignments *a, void (*fn)(void *userdata), void *userdata)
{
    a->released = fn;
    a->userdata = userdata;
}

bool nm_assign_is_whole(const struct nm_assignments *a, const struct nm_container *c)
{
    return (int64_t)c->share.assigned.n_gpus >= c->resource.gpus &&
           (c->share.assigned.address || a->ctx->conf->network != EXE_NETWORK_PRIVATE);
}

bool nm_assign_may_come(const struct nm_assignments *a, const struct nm_container *c)
{
    return c->resource.gpus <= (int64_t)SV_MIN(a->n_gpus, (size_t)EXE_DEVICES_MAX);
}

void nm_assign_release(struct nm_assignments *a, struct nm_container *c)
{
    if (give_back(a, c) && a->released)
        a->released(a->userdata);
}

void nm_assign_launch(const struct nm_container *c, struct exe_launch *l)
{
    const struct nm_conf *conf = c->ctx->conf;

    l->devices = c->share.assigned.gpus;
    l->n_devices = c->share.assigned.n_gpus;
    if (!c->share.assigned.address)
        return;
    l->net_index = c->share.assigned.address - 1;
    l->net_rate_kbit = conf->net_rate_kbit;
    l->net_ceil_kbit = conf->net_ceil_kbit;
}
