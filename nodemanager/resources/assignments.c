/* See assignments.h. Called on the loop only. The text in the store is this file's own, yet a disk
 * may have changed it: it is read as strictly as any input. */
#include "nodemanager/resources/assignments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/core/container.h"
#include "nodemanager/nm.h"
#include "nodemanager/resources/gpu-discovery.h"

#define ADDRESSES 65534 /* at most, also where the range has more */

struct nm_assignments {
    uint32_t minors[NM_GPUS_MAX];
    const struct nm_container *owners[NM_GPUS_MAX]; /* NULL = free */
    size_t n_gpus;
    uint8_t used[(ADDRESSES + 7) / 8];
    uint32_t next; /* address to try first: one that has just ended is not the next to be given */
};

int nm_assignments_new(struct nm *nm, struct nm_assignments **ret, struct sv_error *err)
{
    struct nm_assignments *a = calloc(1, sizeof(*a));
    int r = 0;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "assignments");
    if (nm->conf.gpus)
        r = nm_gpu_discover(nm->conf.gpus_allowed, nm->conf.gpu_discovery, a->minors, &a->n_gpus,
                            err);
    if (r < 0) {
        free(a);
        return r;
    }
    if (a->n_gpus)
        sv_log_info("%zu GPUs for containers", a->n_gpus);
    nm->conf.resource.gpus = (int32_t)a->n_gpus;
    *ret = a;
    return 0;
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

/* Of `have`, as many as root's range has; 0: not told yet. */
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
    struct nm_assigned *s = &c->assigned;

    if (a->owners[i] || s->n_gpus == EXE_DEVICES_MAX)
        return -EBUSY;
    a->owners[i] = c;
    s->gpus[s->n_gpus++] = (struct exe_device){ (uint32_t)c->nm->conf.gpu_major, a->minors[i] };
    return 0;
}

/* "address=7 gpu=0 gpu=3": what nm_assign_again reads. */
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

int nm_assign(struct nm_container *c, char text[NM_ASSIGNED_TEXT_MAX], struct sv_error *err)
{
    struct nm_assignments *a = c->nm->assignments;
    size_t wanted = c->resource.gpus > 0 ? (size_t)c->resource.gpus : 0;
    int r = 0;

    text[0] = '\0';
    for (size_t i = 0; i < a->n_gpus && c->assigned.n_gpus < wanted; i++)
        (void)!take_gpu(a, c, i);
    if (c->assigned.n_gpus < wanted)
        r = sv_error_set(err, -EBUSY,
                         "%s: %zu of yarn.io/gpu were asked for, %zu are free of %zu "
                         "(at most %d for one container)",
                         c->text, wanted, c->assigned.n_gpus, a->n_gpus, EXE_DEVICES_MAX);
    if (r == 0 && c->nm->conf.network == EXE_NETWORK_PRIVATE &&
        take_address(a, c->nm->addresses, &c->assigned.address) < 0)
        r = sv_error_set(err, -EBUSY, "%s: no address of the private network is free", c->text);
    if (r < 0) {
        nm_assign_release(c);
        return r;
    }
    write_text(&c->assigned, text);
    return 0;
}

static int again_gpu(struct nm_container *c, uint64_t minor)
{
    struct nm_assignments *a = c->nm->assignments;

    for (size_t i = 0; i < a->n_gpus; i++)
        if (a->minors[i] == minor)
            return take_gpu(a, c, i);
    return -ENODEV; /* no longer this node's: nobody else gets it either */
}

int nm_assign_again(struct nm_container *c, const char *text)
{
    struct nm_assignments *a = c->nm->assignments;
    _cleanup_strv_ char **list = NULL;
    int r = sv_strv_split(text, ' ', &list);

    for (char **one = list; r >= 0 && one && *one; one++) {
        uint64_t v;

        if (sv_has_prefix(*one, "address=") && !c->assigned.address &&
            sv_parse_u64(*one + strlen("address="), 0, ADDRESSES - 1, &v) == 0 &&
            !address_used(a, (uint32_t)v)) {
            a->used[v / 8] |= (uint8_t)(1u << (v % 8));
            c->assigned.address = (uint32_t)v + 1;
        } else if (sv_has_prefix(*one, "gpu=") &&
                   sv_parse_u64(*one + strlen("gpu="), 0, UINT32_MAX, &v) == 0) {
            r = again_gpu(c, v);
            if (r == -ENODEV)
                r = 0;
        } else {
            r = -EBADMSG;
        }
    }
    return r < 0 ? -EBADMSG : 0;
}

void nm_assign_release(struct nm_container *c)
{
    struct nm_assignments *a = c->nm->assignments;

    if (!a)
        return;
    for (size_t i = 0; i < a->n_gpus; i++)
        if (a->owners[i] == c)
            a->owners[i] = NULL;
    if (c->assigned.address)
        a->used[(c->assigned.address - 1) / 8] &=
            (uint8_t) ~(1u << ((c->assigned.address - 1) % 8));
    c->assigned = (struct nm_assigned){ 0 };
}

void nm_assign_launch(const struct nm_container *c, struct exe_launch *l)
{
    const struct nm_conf *conf = &c->nm->conf;

    l->devices = c->assigned.gpus;
    l->n_devices = c->assigned.n_gpus;
    if (!c->assigned.address)
        return;
    l->net_index = c->assigned.address - 1;
    l->net_rate_kbit = conf->net_rate_kbit;
    l->net_ceil_kbit = conf->net_ceil_kbit;
}
