/* Members' figures and their sums; see figures.h. Hostile: the amounts. */
#include "federation/amrm/figures.h"

#include <errno.h>
#include <string.h>

void fed_figures_clear(struct fed_figures *f)
{
    free(f->v);
    *f = (struct fed_figures){ 0 };
}

static int make_room(struct fed_figures *f, size_t n)
{
    struct fed_figure *grown;

    if (n <= f->n)
        return 0;
    grown = reallocarray(f->v, n, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    memset(grown + f->n, 0, (n - f->n) * sizeof(*grown));
    f->v = grown;
    f->n = n;
    return 0;
}

int fed_figures_take(struct fed_figures *f, size_t member,
                     const Hadoop__Yarn__AllocateResponseProto *m)
{
    const Hadoop__Yarn__EnhancedHeadroomProto *load = m->enhanced_headroom;
    struct fed_figure *v;
    int r = make_room(f, member + 1);

    if (r < 0)
        return r;
    v = &f->v[member];
    v->known = true;
    v->nodes = SV_MAX(m->num_cluster_nodes, 0);
    /* An answer without them leaves those of the last one, as Java does. */
    if (m->limit && yarn_resource_from(m->limit, &v->limit) == 0)
        v->has_limit = true;
    if (load) {
        v->has_load = true;
        v->pending = SV_MAX(load->total_pending_count, 0);
        v->active_cores = SV_MAX(load->total_active_cores, 0);
    }
    return 0;
}

void fed_figures_drop(struct fed_figures *f, size_t member)
{
    if (member < f->n)
        f->v[member] = (struct fed_figure){ 0 };
}

const struct fed_figure *fed_figures_of(const struct fed_figures *f, size_t member)
{
    return member < f->n && f->v[member].known ? &f->v[member] : NULL;
}

/* ---- Sums ---- */

static void add64(int64_t *sum, int64_t v)
{
    if (__builtin_add_overflow(*sum, v, sum))
        *sum = v > 0 ? INT64_MAX : INT64_MIN;
}

static void add32(int32_t *sum, int32_t v)
{
    if (__builtin_add_overflow(*sum, v, sum))
        *sum = v > 0 ? INT32_MAX : INT32_MIN;
}

static void add_figure(struct fed_figure *sum, const struct fed_figure *v)
{
    add32(&sum->nodes, v->nodes);
    add32(&sum->pending, v->pending);
    add32(&sum->active_cores, v->active_cores);
    sum->has_load |= v->has_load;
    add64(&sum->limit.memory_mb, v->limit.memory_mb);
    add32(&sum->limit.vcores, v->limit.vcores);
    add32(&sum->limit.gpus, v->limit.gpus);
    for (size_t i = 0; i < YARN_TYPES_MAX; i++)
        add64(&sum->limit.extra[i], v->limit.extra[i]);
}

static int put_load(const struct fed_figure *sum, struct sv_arena *a,
                    Hadoop__Yarn__AllocateResponseProto *m)
{
    if (!sum->has_load)
        return 0;
    m->enhanced_headroom = sv_new(a, Hadoop__Yarn__EnhancedHeadroomProto);
    if (!m->enhanced_headroom)
        return -ENOMEM;
    hadoop__yarn__enhanced_headroom_proto__init(m->enhanced_headroom);
    m->enhanced_headroom->has_total_pending_count = true;
    m->enhanced_headroom->total_pending_count = sum->pending;
    m->enhanced_headroom->has_total_active_cores = true;
    m->enhanced_headroom->total_active_cores = sum->active_cores;
    return 0;
}

int fed_figures_put(const struct fed_figures *f, const bool *silent, size_t n_silent,
                    struct sv_arena *a, Hadoop__Yarn__AllocateResponseProto *m)
{
    struct fed_figure sum = { 0 };

    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].known && !(i < n_silent && silent[i]))
            add_figure(&sum, &f->v[i]);
    m->limit = yarn_resource_to(a, sum.limit);
    if (!m->limit)
        return -ENOMEM;
    m->has_num_cluster_nodes = true;
    m->num_cluster_nodes = sum.nodes;
    return put_load(&sum, a, m);
}
