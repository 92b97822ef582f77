/* Splitting of resource requests by policy; see asks.h. Hostile: the rows. */
#include "federation/amrm/asks.h"

#include <errno.h>

#include "common/str.h"
#include "federation/amrm/locality.h"

struct fed_asks_split {
    struct fed_asking in;
    struct fed_manager manager; /* a copy: the queue's may change meanwhile */
    struct fed_asks all;
    size_t n_checked;
    struct fed_locality *locality; /* NULL: the policy goes by none */
};

static int check_row(const Hadoop__Yarn__ResourceRequestProto *row, size_t i, struct sv_error *err)
{
    char name[FED_NAME_MAX];

    if (!row->resource_name)
        return sv_error_set(err, -EINVAL, "resource request %zu has no resource_name", i);
    if (row->num_containers >= 0)
        return 0;
    sv_escape(name, sizeof(name), row->resource_name);
    return sv_error_set(err, -EINVAL, "the resource request for %s asks for %d containers", name,
                        row->num_containers);
}

static int check_rows(struct fed_asks_split *s, struct fed_budget *b, struct sv_error *err)
{
    for (; s->n_checked < s->all.n; s->n_checked++) {
        int r;

        if (fed_spent(b))
            return FED_MORE;
        r = check_row(s->all.rows[s->n_checked], s->n_checked, err);
        if (r < 0)
            return r;
        if (s->n_checked % 8 == 0) /* a look at it is less than a row's work */
            fed_spend(b, 1);
    }
    return 0;
}

/* The whole list to each active member. */
static int broadcast(const struct fed_asking *in, const struct fed_asks *all, struct fed_asks *ret,
                     struct sv_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < in->n_targets; i++)
        if (in->targets[i].active) {
            ret[i] = *all;
            n++;
        }
    return n ? 0
             : sv_error_set(err, -EHOSTUNREACH,
                            "%s: no sub-cluster is active (SC_RUNNING): containers cannot be "
                            "requested",
                            in->manager->name);
}

static int to_home(const struct fed_asking *in, const struct fed_asks *all, struct fed_asks *ret,
                   struct sv_error *err)
{
    if (!in->targets[in->home].active)
        return sv_error_set(err, -EHOSTUNREACH,
                            "%s: the application's sub-cluster %s is not active (SC_RUNNING): "
                            "containers cannot be requested",
                            in->manager->name, in->targets[in->home].id);
    ret[in->home] = *all;
    return 0;
}

static int split(struct fed_asks_split *s, struct fed_budget *b, struct fed_asks *ret,
                 struct sv_error *err)
{
    const struct fed_asking *in = &s->in;

    switch (in->manager->splitting) {
    case FED_SPLIT_BROADCAST:
        return broadcast(in, &s->all, ret, err);
    case FED_SPLIT_HOME:
        return to_home(in, &s->all, ret, err);
    case FED_SPLIT_LOCALITY:
        return fed_locality_run(s->locality, b, ret);
    case FED_SPLIT_REJECT:
        break;
    }
    return sv_error_set(err, -EPERM, "the queue takes no resource requests: its policy is %s",
                        in->manager->name);
}

static int explain(const struct fed_asks *all, int r, struct sv_error *err)
{
    if (r == -ENOMEM)
        return sv_error_set(err, r, "resource requests: out of memory");
    if (r == -E2BIG)
        return sv_error_set(err, r, "%zu resource requests are for more than %u places", all->n,
                            FED_PLACED_MAX);
    return r;
}

int fed_asks_begin(const struct fed_asking *in, Hadoop__Yarn__ResourceRequestProto **rows,
                   size_t n_rows, struct sv_arena *a, struct fed_asks_split **ret,
                   struct sv_error *err)
{
    struct fed_asks_split *s = sv_new(a, struct fed_asks_split);
    int r = s ? 0 : -ENOMEM;

    if (r == 0) {
        *s = (struct fed_asks_split){ .in = *in, .manager = *in->manager, .all = { rows, n_rows } };
        s->in.manager = &s->manager;
    }
    if (r == 0 && in->manager->splitting == FED_SPLIT_LOCALITY)
        r = fed_locality_begin(&s->in, rows, n_rows, a, &s->locality, err);
    if (r < 0)
        return explain(&(struct fed_asks){ rows, n_rows }, r, err);
    *ret = s;
    return 0;
}

int fed_asks_run(struct fed_asks_split *s, struct fed_budget *b, struct fed_asks *ret,
                 struct sv_error *err)
{
    int r = check_rows(s, b, err);

    if (r != 0)
        return r;
    for (size_t i = 0; i < s->in.n_targets; i++)
        ret[i] = (struct fed_asks){ 0 };
    r = split(s, b, ret, err);
    return r < 0 ? explain(&s->all, r, err) : r;
}

void fed_asks_end(struct fed_asks_split *s)
{
    if (s)
        fed_locality_end(s->locality);
}

int fed_asks_split(const struct fed_asking *in, Hadoop__Yarn__ResourceRequestProto **rows,
                   size_t n_rows, struct sv_arena *a, struct fed_asks *ret, struct sv_error *err)
{
    struct fed_budget all = FED_BUDGET_ALL;
    struct fed_asks_split *s = NULL;
    int r = fed_asks_begin(in, rows, n_rows, a, &s, err);

    if (r == 0)
        r = fed_asks_run(s, &all, ret, err);
    fed_asks_end(s);
    return r;
}
