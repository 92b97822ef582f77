/* Splitting of resource requests by policy; see asks.h. Hostile: the rows. */
#include "federation/amrm/asks.h"

#include <errno.h>

#include "common/str.h"
#include "federation/amrm/locality.h"

static int check_rows(Hadoop__Yarn__ResourceRequestProto *const *rows, size_t n,
                      struct sv_error *err)
{
    char name[FED_NAME_MAX];

    for (size_t i = 0; i < n; i++) {
        if (!rows[i]->resource_name)
            return sv_error_set(err, -EINVAL, "resource request %zu has no resource_name", i);
        if (rows[i]->num_containers >= 0)
            continue;
        sv_escape(name, sizeof(name), rows[i]->resource_name);
        return sv_error_set(err, -EINVAL, "the resource request for %s asks for %d containers",
                            name, rows[i]->num_containers);
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

static int split(const struct fed_asking *in, const struct fed_asks *all, struct sv_arena *a,
                 struct fed_asks *ret, struct sv_error *err)
{
    switch (in->manager->splitting) {
    case FED_SPLIT_BROADCAST:
        return broadcast(in, all, ret, err);
    case FED_SPLIT_HOME:
        return to_home(in, all, ret, err);
    case FED_SPLIT_LOCALITY:
        return fed_locality_split(in, all->rows, all->n, a, ret, err);
    case FED_SPLIT_REJECT:
        break;
    }
    return sv_error_set(err, -EPERM, "the queue takes no resource requests: its policy is %s",
                        in->manager->name);
}

int fed_asks_split(const struct fed_asking *in, Hadoop__Yarn__ResourceRequestProto **rows,
                   size_t n_rows, struct sv_arena *a, struct fed_asks *ret, struct sv_error *err)
{
    const struct fed_asks all = { rows, n_rows };
    int r = check_rows(rows, n_rows, err);

    for (size_t i = 0; i < in->n_targets; i++)
        ret[i] = (struct fed_asks){ 0 };
    if (r == 0)
        r = split(in, &all, a, ret, err);
    if (r == -ENOMEM)
        return sv_error_set(err, r, "resource requests: out of memory");
    if (r == -E2BIG)
        return sv_error_set(err, r, "%zu resource requests are for more than %u places", n_rows,
                            FED_PLACED_MAX);
    return r;
}
