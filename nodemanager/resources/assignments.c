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
#include "nodemanager/resources/gpu-cdi.h"
#include "nodemanager/resources/gpu-discovery.h"
#include "nodemanager/resources/gpu-proc.h"
#include "nodemanager/resources/wanted-gpus.h"
#include "wire/container-variables.h"

#define ADDRESSES 65534 /* maximum, also of a larger range */

struct nm_assignments {
    const struct nm_context *ctx;
    struct nm_gpus gpus;
    struct nm_gpu_cdi *cdi; /* NULL = none */
    bool driver;
    uint8_t used[(ADDRESSES + 7) / 8];
    uint32_t next; /* next address to try: a released one is not reassigned immediately */
    void (*released)(void *userdata);
    void *userdata;
};

static int find_gpus(struct nm_assignments *a, const char *root, struct sv_error *err)
{
    const struct nm_conf *conf = a->ctx->conf;
    const struct nm_gpu_sources sources = { .root = root,
                                            .allowed = conf->gpus_allowed,
                                            .program = conf->gpu_discovery,
                                            .major = (uint32_t)conf->gpu_major };
    char text[256];
    int r = nm_gpu_discover(&sources, &a->gpus, err);

    if (r < 0)
        return r;
    r = nm_gpu_cdi_new(root, 0, conf, &a->cdi);
    if (r < 0)
        return sv_error_errno(err, r, "CDI specifications");
    a->driver = !*a->gpus.why;
    if (*a->gpus.why)
        sv_log_warning("GPUs: %s", a->gpus.why);
    for (size_t i = 0; i < a->gpus.n; i++) {
        const struct nm_gpu *g = &a->gpus.v[i];

        nm_gpu_text(g, text, sizeof(text));
        if (*g->gone)
            sv_log_warning("%s is withdrawn: %s", text, g->gone);
        else
            sv_log_info("%s: %s", text, *g->uuid ? g->uuid : "its UUID is not known");
    }
    nm_gpu_warn_modes(root, &a->gpus);
    sv_log_info("%zu GPUs for containers", nm_gpu_offered(&a->gpus));
    return 0;
}

int nm_assignments_new(const struct nm_context *ctx, const char *root, struct nm_assignments **ret,
                       struct sv_error *err)
{
    struct nm_assignments *a = calloc(1, sizeof(*a));
    int r = 0;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "assignments");
    a->ctx = ctx;
    if (ctx->conf->gpus)
        r = find_gpus(a, root, err);
    if (r < 0) {
        free(a);
        return r;
    }
    *ret = a;
    return 0;
}

int32_t nm_assignments_gpus(const struct nm_assignments *a)
{
    return (int32_t)nm_gpu_offered(&a->gpus);
}

const struct nm_gpus *nm_assignments_gpu_list(const struct nm_assignments *a)
{
    return &a->gpus;
}

bool nm_assignments_had_driver(const struct nm_assignments *a)
{
    return a->driver;
}

bool nm_assignments_found(struct nm_assignments *a, const struct nm_gpus *found)
{
    const size_t before = nm_gpu_offered(&a->gpus);

    a->driver |= !*found->why;
    if (!nm_gpu_merge(&a->gpus, found))
        return false;
    if (nm_gpu_offered(&a->gpus) > before && a->released)
        a->released(a->userdata);
    return true;
}

struct nm_assignments *nm_assignments_free(struct nm_assignments *a)
{
    if (a)
        (void)nm_gpu_cdi_free(a->cdi);
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

/* Adds it in its place, once; false: there is no room. */
static bool add_device(struct nm_assigned *s, const struct exe_device *d)
{
    size_t at = 0;

    while (at < s->n_gpus && (s->gpus[at].major < d->major ||
                              (s->gpus[at].major == d->major && s->gpus[at].minor < d->minor)))
        at++;
    if (at < s->n_gpus && s->gpus[at].major == d->major && s->gpus[at].minor == d->minor)
        return true;
    if (s->n_gpus == EXE_DEVICES_MAX)
        return false;
    memmove(&s->gpus[at + 1], &s->gpus[at], (s->n_gpus - at) * sizeof(s->gpus[0]));
    s->gpus[at] = *d;
    s->n_gpus++;
    return true;
}

/* An instance needs its card's node, and those of its capabilities. */
static int take_gpu(struct nm_assignments *a, struct nm_container *c, struct nm_gpu *g)
{
    const struct exe_device card = { (uint32_t)a->ctx->conf->gpu_major, g->minor };
    struct nm_assigned s = c->share.assigned;

    if (g->owner || !add_device(&s, &card) ||
        (g->instance && (!add_device(&s, &g->access[0]) || !add_device(&s, &g->access[1]))))
        return -EBUSY;
    s.units++;
    g->owner = c;
    c->share.assigned = s;
    return 0;
}

/* "address=7 gpu=0 gpu=3/1/0", as nm_assign_again reads it. */
static void write_text(const struct nm_assignments *a, const struct nm_container *c, char *text)
{
    const struct nm_assigned *s = &c->share.assigned;
    size_t n = 0;

    text[0] = '\0';
    if (s->address)
        n = (size_t)snprintf(text, NM_ASSIGNED_TEXT_MAX, "address=%u", s->address - 1);
    for (size_t i = 0; i < a->gpus.n && n < NM_ASSIGNED_TEXT_MAX; i++) {
        const struct nm_gpu *g = &a->gpus.v[i];

        if (g->owner != c)
            continue;
        n += (size_t)snprintf(text + n, NM_ASSIGNED_TEXT_MAX - n, "%sgpu=%u", n ? " " : "",
                              g->minor);
        if (g->instance && n < NM_ASSIGNED_TEXT_MAX)
            n += (size_t)snprintf(text + n, NM_ASSIGNED_TEXT_MAX - n, "/%u/%u", g->gi, g->ci);
    }
}

/* True if it had something. */
static bool give_back(struct nm_assignments *a, struct nm_container *c)
{
    bool any = c->share.assigned.n_gpus > 0 || c->share.assigned.address;

    for (size_t i = 0; i < a->gpus.n; i++)
        if (a->gpus.v[i].owner == c)
            a->gpus.v[i].owner = NULL;
    if (c->share.assigned.address)
        a->used[(c->share.assigned.address - 1) / 8] &=
            (uint8_t) ~(1u << ((c->share.assigned.address - 1) % 8));
    c->share.assigned = (struct nm_assigned){ 0 };
    return any;
}

static int too_few(const struct nm_assignments *a, const struct nm_container *c,
                   const struct nm_wanted_gpus *w, struct sv_error *err)
{
    if (w->n)
        return sv_error_set(err, -EBUSY,
                            "%s: %zu of the %zu GPUs that " YARN_VARIABLE_GPUS " names are free "
                            "on this node, which has %zu",
                            c->text, c->share.assigned.units, w->n, nm_gpu_offered(&a->gpus));
    return sv_error_set(err, -EBUSY,
                        "%s: %lld of yarn.io/gpu were requested, %zu are free of %zu "
                        "(at most %d device nodes for one container)",
                        c->text, (long long)c->resource.gpus, c->share.assigned.units,
                        nm_gpu_offered(&a->gpus), EXE_DEVICES_MAX);
}

int nm_assign(struct nm_assignments *a, struct nm_container *c, char text[NM_ASSIGNED_TEXT_MAX],
              struct sv_error *err)
{
    size_t requested = c->resource.gpus > 0 ? (size_t)c->resource.gpus : 0;
    struct nm_wanted_gpus w;
    int r = nm_wanted_gpus(c, &w, err);

    text[0] = '\0';
    if (r < 0)
        return r;
    for (size_t i = 0; i < a->gpus.n && c->share.assigned.units < requested; i++)
        if (!*a->gpus.v[i].gone && (!w.n || w.place[i]))
            (void)!take_gpu(a, c, &a->gpus.v[i]); /* the others are counted, ignoring */
    if (c->share.assigned.units < requested)
        r = too_few(a, c, &w, err);
    if (r == 0 && a->ctx->conf->network == EXE_NETWORK_PRIVATE &&
        take_address(a, exe_addresses(a->ctx->exe), &c->share.assigned.address) < 0)
        r = sv_error_set(err, -EBUSY, "%s: no address of the private network is free", c->text);
    if (r < 0) {
        (void)give_back(a, c); /* what was free before, ignoring */
        return r;
    }
    write_text(a, c, text);
    return 0;
}

/* "3", "3/1/0" */
static int again_gpu(struct nm_assignments *a, struct nm_container *c, const char *text)
{
    static const uint64_t max[3] = { UINT32_MAX - 1, UINT32_MAX, UINT32_MAX };
    _cleanup_strv_ char **parts = NULL;
    uint64_t n[3] = { 0 };
    size_t many;
    int r = sv_strv_split(text, '/', &parts);

    many = r < 0 ? 0 : sv_strv_len(parts);
    if (many != 1 && many != 3)
        return -EBADMSG;
    for (size_t i = 0; i < many; i++)
        if (sv_parse_u64(parts[i], 0, max[i], &n[i]) < 0)
            return -EBADMSG;
    for (size_t i = 0; i < a->gpus.n; i++) {
        struct nm_gpu *g = &a->gpus.v[i];

        if (g->minor == n[0] && g->instance == (many == 3) &&
            (!g->instance || (g->gi == n[1] && g->ci == n[2])))
            return take_gpu(a, c, g);
    }
    return 0; /* not a GPU of this node any more */
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
        } else if (sv_has_prefix(*one, "gpu=")) {
            r = again_gpu(a, c, *one + strlen("gpu="));
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
    return (int64_t)c->share.assigned.units >= c->resource.gpus &&
           (c->share.assigned.address || a->ctx->conf->network != EXE_NETWORK_PRIVATE);
}

bool nm_assign_may_come(const struct nm_assignments *a, const struct nm_container *c)
{
    struct nm_wanted_gpus w;
    size_t there = 0;

    if (nm_wanted_gpus(c, &w, NULL) < 0)
        return false;
    for (size_t i = 0; w.n && i < a->gpus.n; i++)
        there += w.place[i] && !*a->gpus.v[i].gone;
    return there == w.n &&
           c->resource.gpus <= (int64_t)SV_MIN(nm_gpu_offered(&a->gpus), (size_t)EXE_DEVICES_MAX);
}

void nm_assign_release(struct nm_assignments *a, struct nm_container *c)
{
    if (give_back(a, c) && a->released)
        a->released(a->userdata);
}

/* ---- launch ---- */

/* Nodes of the CDI devices, where there is room for them. */
static void add_cdi_nodes(struct nm_assignments *a, struct nm_container *c)
{
    const struct nm_cdi_edits *edits[2];
    struct exe_device d;

    for (size_t i = 0; i < a->gpus.n; i++) {
        if (a->gpus.v[i].owner != c || !nm_gpu_cdi_edits(a->cdi, &a->gpus.v[i], edits))
            continue;
        for (size_t e = 0; e < 2; e++)
            for (size_t k = 0; k < edits[e]->n_nodes; k++)
                if (nm_gpu_cdi_node(a->cdi, a->ctx->exe, &edits[e]->nodes[k], &d) &&
                    !add_device(&c->share.assigned, &d))
                    sv_log(SV_LOG_WARNING, c->text,
                           "%s: it does not get %s of CDI: a container has at most %d device nodes",
                           c->text, edits[e]->nodes[k].host, EXE_DEVICES_MAX);
    }
}

void nm_assign_launch(struct nm_assignments *a, struct nm_container *c, struct exe_launch *l)
{
    const struct nm_conf *conf = c->ctx->conf;

    add_cdi_nodes(a, c);
    l->devices = c->share.assigned.gpus;
    l->n_devices = c->share.assigned.n_gpus;
    if (l->network != EXE_NETWORK_PRIVATE || !c->share.assigned.address)
        return;
    l->net_index = c->share.assigned.address - 1;
    l->net_rate_kbit = conf->net_rate_kbit;
    l->net_ceil_kbit = conf->net_ceil_kbit;
}

/* UUIDs, which mean the same card to every process and in every order; where one is not known the
 * numbers from 0 on, which CUDA gives to the cards that the device filter lets it open. */
static const char *visible_devices(const struct nm_assignments *a, const struct nm_container *c,
                                   struct sv_arena *arena)
{
    const char *names = "", *numbers = "";
    unsigned n = 0;
    bool known = true;

    for (size_t i = 0; names && numbers && i < a->gpus.n; i++) {
        if (a->gpus.v[i].owner != c)
            continue;
        known = known && *a->gpus.v[i].uuid;
        names = sv_arena_printf(arena, "%s%s%s", names, n ? "," : "", a->gpus.v[i].uuid);
        numbers = sv_arena_printf(arena, "%s%s%u", numbers, n ? "," : "", n);
        n++;
    }
    return known ? names : numbers;
}

/* Their places in the node's order, for jobs that mean cards by number: "0,2". */
static const char *device_indexes(const struct nm_assignments *a, const struct nm_container *c,
                                  struct sv_arena *arena)
{
    const char *list = "";

    for (size_t i = 0; list && i < a->gpus.n; i++)
        if (a->gpus.v[i].owner == c)
            list = sv_arena_printf(arena, "%s%s%zu", list, *list ? "," : "", i);
    return list;
}

static void add_cdi_variables(const struct nm_cdi_edits *e, struct nm_variable *list, size_t *n)
{
    for (size_t i = 0; i < e->n_env; i++) {
        size_t k = 0;

        while (k < *n && !sv_streq(list[k].name, e->env_names[i]))
            k++;
        *n += k == *n; /* of two cards' values the later one is taken */
        list[k] = (struct nm_variable){ e->env_names[i], e->env_values[i] };
    }
}

int nm_assign_env(const struct nm_assignments *a, const struct nm_container *c,
                  struct sv_arena *arena, struct nm_variable **ret, size_t *ret_n)
{
    const struct nm_cdi_edits *edits[2];
    struct nm_variable *list;
    size_t room = 3, n = 0;
    const char *devices, *indexes;

    *ret_n = 0;
    if (!a || !c->share.assigned.units)
        return 0;
    for (size_t i = 0; i < a->gpus.n; i++)
        if (a->gpus.v[i].owner == c && nm_gpu_cdi_edits(a->cdi, &a->gpus.v[i], edits))
            room += edits[0]->n_env + edits[1]->n_env;
    list = sv_newn(arena, struct nm_variable, room);
    devices = visible_devices(a, c, arena);
    indexes = device_indexes(a, c, arena);
    if (!list || !devices || !indexes)
        return -ENOMEM;
    for (size_t i = 0; i < a->gpus.n; i++)
        if (a->gpus.v[i].owner == c && nm_gpu_cdi_edits(a->cdi, &a->gpus.v[i], edits))
            for (size_t e = 0; e < 2; e++)
                add_cdi_variables(edits[e], list, &n);
    list[n++] = (struct nm_variable){ "CUDA_VISIBLE_DEVICES", devices };
    list[n++] = (struct nm_variable){ "NVIDIA_VISIBLE_DEVICES", devices };
    list[n++] = (struct nm_variable){ YARN_VARIABLE_GIVEN_GPUS, indexes };
    *ret = list;
    *ret_n = n;
    return 0;
}
