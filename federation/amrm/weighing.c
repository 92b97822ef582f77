/* Members of a split and their weights; see weighing.h. Hostile: what members say of themselves. */
#include "federation/amrm/weighing.h"

#include <errno.h>
#include <string.h>

#include "federation/amrm/target-index.h"

static bool is_excluded(const struct fed_split_conf *conf, const char *id)
{
    for (size_t i = 0; i < conf->n_excluded; i++)
        if (strcmp(conf->excluded[i], id) == 0)
            return true;
    return false;
}

/* ---- Which ---- */

static int none_open(const struct fed_asking *in, struct sv_error *err)
{
    return sv_error_set(err, -EHOSTUNREACH,
                        "%s: no active sub-cluster (SC_RUNNING) has a weight above 0 in the "
                        "amrmPolicyWeights: containers cannot be requested",
                        in->manager->name);
}

/* As fed_weight_of() for each target: the first one of an id counts. */
static void set_weights(struct fed_weighing *w, const struct fed_target_index *index)
{
    const struct fed_weight_list *list = &w->in->manager->weights.amrm;

    for (size_t i = list->n; i-- > 0;) {
        size_t target = fed_target_find(index, list->v[i].id);

        if (target != SIZE_MAX)
            w->policy[target] = list->v[i].value;
    }
}

static void open_by_policy(struct fed_weighing *w)
{
    for (size_t i = 0; i < w->in->n_targets; i++) {
        const struct fed_target *t = &w->in->targets[i];

        w->is_open[i] = t->active && w->policy[i] > 0 && !is_excluded(w->in->conf, t->id);
        w->n_open += w->is_open[i];
    }
}

static void open_all_active(struct fed_weighing *w)
{
    for (size_t i = 0; i < w->in->n_targets; i++) {
        w->is_open[i] = w->in->targets[i].active;
        w->policy[i] = 1;
        w->n_open += w->is_open[i];
    }
}

/* Unless none would be left. */
static void shut_timed_out(struct fed_weighing *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->in->n_targets; i++)
        n += w->is_open[i] && !w->in->targets[i].timed_out;
    if (n == 0)
        return;
    for (size_t i = 0; i < w->in->n_targets; i++)
        w->is_open[i] = w->is_open[i] && !w->in->targets[i].timed_out;
}

static void sum_up(struct fed_weighing *w)
{
    w->n_open = 0;
    for (size_t i = 0; i < w->in->n_targets; i++) {
        const struct fed_target *t = &w->in->targets[i];

        if (!w->is_open[i])
            continue;
        w->open[w->n_open++] = i;
        w->total_policy += w->policy[i];
        w->n_memory += t->has_memory;
        if (t->has_memory && t->memory_mb > 0)
            w->total_memory += (float)t->memory_mb;
    }
}

int fed_weigh(const struct fed_asking *in, struct sv_arena *a, struct fed_weighing *ret,
              struct sv_error *err)
{
    size_t n = in->n_targets + 1;
    struct fed_weighing w = { .in = in,
                              .open = sv_newn(a, size_t, n),
                              .is_open = sv_newn(a, bool, n),
                              .policy = sv_newn(a, float, n),
                              .weights = sv_newn(a, float, n),
                              .counts = sv_newn(a, int32_t, n) };
    struct fed_target_index index;

    if (!w.open || !w.is_open || !w.policy || !w.weights || !w.counts ||
        fed_target_index_make(in, a, &index) < 0)
        return -ENOMEM;
    set_weights(&w, &index);
    open_by_policy(&w);
    if (w.n_open == 0 && !in->conf->fail_on_error)
        open_all_active(&w);
    if (w.n_open == 0)
        return none_open(in, err);
    shut_timed_out(&w);
    sum_up(&w);
    *ret = w;
    return 0;
}

/* ---- How much ---- */

/* Its part of the memory of those that have said, who have their part of all; without figures one
 * part in n. */
static float memory_part(const struct fed_weighing *w, const struct fed_target *t)
{
    float n = (float)w->n_open;

    if (!t->has_memory || !(w->total_memory > 0))
        return 1 / n;
    return t->memory_mb > 0 ? (float)t->memory_mb / w->total_memory * ((float)w->n_memory / n) : 0;
}

float fed_weight_of_target(const struct fed_weighing *w, size_t target)
{
    float alpha = w->in->manager->weights.headroom_alpha;
    float policy = w->policy[target] / w->total_policy;

    return alpha * memory_part(w, &w->in->targets[target]) + (1 - alpha) * policy;
}

/* ---- Load ---- */

/* Pending containers, or those per core in use times the multiplier; -1: unknown. */
static int32_t load_of(const struct fed_split_conf *conf, const struct fed_target *t)
{
    double load;

    if (!t->has_load)
        return -1;
    if (!conf->use_active_cores)
        return t->pending;
    if (t->active_cores <= 0)
        return INT32_MAX;
    load = (double)conf->multiplier * t->pending / t->active_cores;
    return load >= INT32_MAX ? INT32_MAX : load <= 0 ? 0 : (int32_t)load;
}

size_t fed_least_loaded(const struct fed_weighing *w, size_t target)
{
    const struct fed_split_conf *conf = w->in->conf;
    bool is_open = target < w->in->n_targets && w->is_open[target];
    int32_t own = is_open ? load_of(conf, &w->in->targets[target]) : -1;
    int32_t most = SV_MAX(conf->max_pending, 1);

    if (is_open && own < most)
        return target;
    if (own == -1)
        own = INT32_MAX;
    for (size_t i = 0; i < w->n_open; i++) {
        int32_t load = load_of(conf, &w->in->targets[w->open[i]]);

        if (load > own)
            return target; /* another one is loaded more */
        w->weights[i] = load <= most / 2 ? 2 : (float)most / (float)load;
    }
    return w->open[fed_random_weighted(w->in->random, w->weights, w->n_open)];
}
