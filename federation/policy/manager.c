/* Policy rows; see manager.h. Hostile: class name and parameters. */
#include "federation/policy/manager.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

static const struct kind {
    const char *name;
    enum fed_routing routing;
    enum fed_splitting splitting;
} kinds[] = {
    { "UniformBroadcastPolicyManager", FED_ROUTE_RANDOM, FED_SPLIT_BROADCAST },
    { "HashBroadcastPolicyManager", FED_ROUTE_HASH, FED_SPLIT_BROADCAST },
    { "PriorityBroadcastPolicyManager", FED_ROUTE_PRIORITY, FED_SPLIT_BROADCAST },
    { "WeightedLocalityPolicyManager", FED_ROUTE_LOCALITY, FED_SPLIT_LOCALITY },
    { "HomePolicyManager", FED_ROUTE_RANDOM, FED_SPLIT_HOME },
    { "WeightedHomePolicyManager", FED_ROUTE_WEIGHTED, FED_SPLIT_HOME },
    { "RejectAllPolicyManager", FED_ROUTE_REJECT, FED_SPLIT_REJECT },
};

const char *fed_manager_name(size_t i)
{
    return i < SV_ARRAY_LEN(kinds) ? kinds[i].name : NULL;
}

static const struct kind *find_kind(const char *type)
{
    size_t prefix = strlen(FED_MANAGER_PACKAGE);

    if (strncmp(type, FED_MANAGER_PACKAGE, prefix) != 0)
        return NULL;
    for (size_t i = 0; i < SV_ARRAY_LEN(kinds); i++)
        if (strcmp(type + prefix, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

/* ---- Sides ---- */

static bool router_weighs(const struct fed_manager *m)
{
    return m->routing == FED_ROUTE_PRIORITY || m->routing == FED_ROUTE_WEIGHTED ||
           m->routing == FED_ROUTE_LOCALITY;
}

/* The list that the side's rule needs, NULL if it needs none. */
static const struct fed_weight_list *needed(const struct fed_manager *m, enum fed_side side)
{
    if (side == FED_SIDE_ROUTER)
        return router_weighs(m) ? &m->weights.router : NULL;
    return m->splitting == FED_SPLIT_LOCALITY ? &m->weights.amrm : NULL;
}

static const char *list_name(enum fed_side side)
{
    return side == FED_SIDE_ROUTER ? "routerPolicyWeights" : "amrmPolicyWeights";
}

static bool any_positive(const struct fed_weight_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].value > 0)
            return true;
    return false;
}

/* Java's rules: the Router takes weights of 0, and then has nowhere to submit; the AMRMProxy does
 * not. */
static int check_side(const struct fed_manager *m, enum fed_side side, struct sv_error *err)
{
    const struct fed_weight_list *list = needed(m, side);

    if (!list)
        return 0;
    if (list->n == 0)
        return sv_error_set(err, -EINVAL, "%s has no %s: give each sub-cluster a weight", m->name,
                            list_name(side));
    if (side == FED_SIDE_PROXY && !any_positive(list))
        return sv_error_set(err, -EINVAL,
                            "%s: each of the %s is 0 or less, no container could be requested: "
                            "give one sub-cluster a weight above 0",
                            m->name, list_name(side));
    return 0;
}

static int check_sides(const struct fed_manager *m, unsigned sides, struct sv_error *err)
{
    int r = sides & FED_SIDE_ROUTER ? check_side(m, FED_SIDE_ROUTER, err) : 0;

    return r == 0 && (sides & FED_SIDE_PROXY) ? check_side(m, FED_SIDE_PROXY, err) : r;
}

/* ---- Rows ---- */

static int refuse_type(const char *type, struct sv_error *err)
{
    char shown[FED_NAME_MAX];

    sv_escape(shown, sizeof(shown), type);
    return sv_error_set(err, -EINVAL,
                        "%s is not a policy manager: use " FED_MANAGER_PACKAGE
                        "{UniformBroadcast,HashBroadcast,PriorityBroadcast,WeightedLocality,Home,"
                        "WeightedHome,RejectAll}PolicyManager",
                        shown);
}

static int keep_row(struct fed_manager *m, const struct fed_policy *row)
{
    m->type = sv_arena_strdup(m->arena, row->type);
    m->params_len = row->params ? row->params_len : 0;
    m->params = sv_arena_memdup(m->arena, row->params, m->params_len);
    return m->type && m->params ? 0 : -ENOMEM;
}

/* Weights are read where a rule needs them: Java does not look at the others. */
static int read_row(struct fed_manager *m, const struct fed_policy *row, unsigned sides,
                    struct sv_error *err)
{
    int r = keep_row(m, row);

    if (r < 0)
        return sv_error_set(err, r, "out of memory");
    if (((sides & FED_SIDE_ROUTER) && needed(m, FED_SIDE_ROUTER)) ||
        ((sides & FED_SIDE_PROXY) && needed(m, FED_SIDE_PROXY)))
        r = fed_weights_read(m->arena, m->params, m->params_len, &m->weights, err);
    return r == 0 ? check_sides(m, sides, err) : r;
}

int fed_manager_new(const struct fed_policy *row, unsigned sides, struct fed_manager **ret,
                    struct sv_error *err)
{
    _cleanup_(fed_manager_freep) struct fed_manager *m = calloc(1, sizeof(*m));
    const struct kind *kind = find_kind(row->type);
    char shown[FED_NAME_MAX];
    int r = kind ? 0 : refuse_type(row->type, err);

    if (kind) {
        if (m)
            m->arena = sv_arena_new(FED_WEIGHTS_ARENA);
        if (!m || !m->arena)
            return sv_error_set(err, -ENOMEM, "policy: out of memory");
        m->name = kind->name;
        m->routing = kind->routing;
        m->splitting = kind->splitting;
        r = read_row(m, row, sides, err);
    }
    if (r < 0) {
        sv_escape(shown, sizeof(shown), row->queue ? row->queue : FED_QUEUE_ANY);
        (void)sv_error_wrap(err, "policy of queue %s", shown);
        return r;
    }
    *ret = SV_TAKE(m);
    return 0;
}

static bool is_row_of(const struct fed_manager *m, const struct fed_policy *row)
{
    size_t n = row->params ? row->params_len : 0;

    return strcmp(m->type, row->type) == 0 && m->params_len == n &&
           (n == 0 || memcmp(m->params, row->params, n) == 0);
}

int fed_manager_renew(struct fed_manager **m, const struct fed_policy *row, unsigned sides,
                      struct sv_error *err)
{
    struct fed_manager *fresh;
    int r;

    if (*m && is_row_of(*m, row))
        return 0;
    r = fed_manager_new(row, sides, &fresh, err);
    if (r < 0)
        return r;
    fed_manager_free(*m);
    *m = fresh;
    return 1;
}

struct fed_manager *fed_manager_free(struct fed_manager *m)
{
    if (m)
        sv_arena_free(m->arena);
    free(m);
    return NULL;
}

/* ---- Members ---- */

static bool names_one(const struct fed_weight_list *list, const char *const *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fed_weight_of(list, ids[i]) > 0)
            return true;
    return false;
}

int fed_manager_check_members(const struct fed_manager *m, unsigned sides, const char *const *ids,
                              size_t n, struct sv_error *err)
{
    for (unsigned side = FED_SIDE_ROUTER; side <= FED_SIDE_PROXY; side <<= 1) {
        const struct fed_weight_list *list = sides & side ? needed(m, (enum fed_side)side) : NULL;

        if (list && !names_one(list, ids, n))
            return sv_error_set(err, -EINVAL,
                                "%s: no weight above 0 of the %s is of a member of the federation: "
                                "name one by its yarn.resourcemanager.cluster-id",
                                m->name, list_name((enum fed_side)side));
    }
    return 0;
}
