/* Reads the queue tree and the scheduler's settings from capacity-scheduler.xml. The configuration
 * is the operator's: wrong values are refused with the key's name, never repaired.
 * queue-key-table.c lists the keys. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "rm-lite/scheduler/queue-keys.h"
#include "rm-lite/scheduler/scheduler-keys.h"

#define CS "yarn.scheduler.capacity."

/* "…capacity.<path>.<what>" of one queue; the row's default when unset. */
static int queue_float(struct sv_conf *c, const char *path, const char *what, double def,
                       bool *ret_set, double *ret, struct sv_error *err)
{
    _cleanup_free_ char *name = NULL;
    struct sv_conf_key k = { .type = SV_CONF_FLOAT };

    if (sv_asprintf(&name, CS "%s.%s", path, what) < 0)
        return -ENOMEM;
    k.name = name;
    *ret_set = sv_conf_raw(c, name) != NULL;
    if (!*ret_set) {
        *ret = def;
        return 0;
    }
    return sv_conf_float(c, &k, ret, err);
}

static int queue_int(struct sv_conf *c, const char *path, const char *what, int64_t def,
                     int64_t *ret, struct sv_error *err)
{
    _cleanup_free_ char *name = NULL;
    struct sv_conf_key k = { .type = SV_CONF_INT };

    if (sv_asprintf(&name, CS "%s.%s", path, what) < 0)
        return -ENOMEM;
    k.name = name;
    if (!sv_conf_raw(c, name)) {
        *ret = def;
        return 0;
    }
    return sv_conf_int(c, &k, ret, err);
}

static const char *queue_raw(struct sv_conf *c, const char *path, const char *what)
{
    _cleanup_free_ char *name = NULL;

    if (sv_asprintf(&name, CS "%s.%s", path, what) < 0)
        return NULL;
    return sv_conf_raw(c, name);
}

/* "[memory=10240,vcores=12]"; memory may carry a unit as in 10g. */
static int parse_amounts(const char *text, const struct rm_types *types, struct rm_res *inout)
{
    _cleanup_strv_ char **parts = NULL;
    struct rm_res r = *inout;

    if (sv_strv_split(text, ',', &parts) < 0)
        return -ENOMEM;
    for (char **p = parts; p && *p; p++) {
        char *eq = strchr(*p, '=');

        if (!eq)
            return -EINVAL;
        *eq = 0;
        if (sv_streq(*p, "memory") || sv_streq(*p, "memory-mb")) {
            if (sv_parse_i64(eq + 1, 0, INT32_MAX, &r.mem) < 0) {
                uint64_t bytes;

                if (sv_parse_size(eq + 1, &bytes) < 0)
                    return -EINVAL;
                r.mem = (int64_t)(bytes >> 20);
            }
        } else if (sv_streq(*p, "vcores")) {
            if (sv_parse_i64(eq + 1, 0, INT32_MAX, &r.vcores) < 0)
                return -EINVAL;
        } else {
            int k = rm_types_index(types, *p);

            if (k < 0 || sv_parse_i64(eq + 1, 0, INT32_MAX, &r.extra[k]) < 0)
                return -EINVAL;
        }
    }
    *inout = r;
    return 0;
}

static int parse_absolute(const char *text, const struct rm_types *types, int64_t not_named,
                          struct rm_res *ret)
{
    _cleanup_free_ char *copy = NULL;
    size_t n = strlen(text);

    if (n < 2 || text[0] != '[' || text[n - 1] != ']')
        return -EINVAL;
    copy = strndup(text + 1, n - 2);
    if (!copy)
        return -ENOMEM;
    *ret = (struct rm_res){ .extra = { not_named, not_named } };
    return parse_amounts(copy, types, ret);
}

static int parse_capacity(struct sv_conf *c, const struct rm_types *types, struct rm_queue *q,
                          struct sv_error *err)
{
    const char *text = queue_raw(c, q->path, "capacity");
    const char *max = queue_raw(c, q->path, "maximum-capacity");
    bool set;
    double v;
    int r;

    if (!q->parent) {
        q->capacity = q->max_capacity = 1;
        return 0;
    }
    if (text && text[0] == '[') {
        q->mode = RM_MODE_ABSOLUTE;
        if (parse_absolute(text, types, 0, &q->abs_min) < 0)
            return sv_error_set(err, -EINVAL, CS "%s.capacity: \"%s\" is not [memory=MB,vcores=N]",
                                q->path, text);
        if (max && max[0] == '[' && parse_absolute(max, types, -1, &q->abs_max) < 0)
            return sv_error_set(err, -EINVAL,
                                CS "%s.maximum-capacity: \"%s\" is not [memory=MB,vcores=N]",
                                q->path, max);
        q->max_capacity = 1;
        return 0;
    }
    if (text && sv_has_suffix(text, "w")) {
        char *end = NULL;

        q->mode = RM_MODE_WEIGHT;
        q->weight = strtod(text, &end);
        if (end == text || strcmp(end, "w") != 0 || !(q->weight >= 0 && q->weight <= 10000))
            return sv_error_set(err, -EINVAL,
                                CS "%s.capacity: \"%s\" is not a weight between 0w and 10000w",
                                q->path, text);
    } else {
        r = queue_float(c, q->path, "capacity", 0, &set, &v, err);
        if (r < 0)
            return r;
        if (!set)
            return sv_error_set(err, -EINVAL,
                                CS "%s.capacity is not set: the queue has no share of %s", q->path,
                                q->parent->path);
        if (!(v >= 0 && v <= 100))
            return sv_error_set(err, -EINVAL, CS "%s.capacity: %g is not between 0 and 100",
                                q->path, v);
        q->capacity = v / 100;
    }
    r = queue_float(c, q->path, "maximum-capacity", 100, &set, &v, err);
    if (r < 0)
        return r;
    if (v == -1)
        v = 100;
    if (!(v >= 0 && v <= 100))
        return sv_error_set(err, -EINVAL, CS "%s.maximum-capacity: %g is not between 0 and 100",
                            q->path, v);
    q->max_capacity = v / 100;
    if (q->mode == RM_MODE_PERCENT && q->max_capacity < q->capacity)
        return sv_error_set(err, -EINVAL, CS "%s.maximum-capacity %g is below its capacity %g",
                            q->path, v, q->capacity * 100);
    return 0;
}

/* A parent's order of its queues, or a leaf's of its applications. */
static int parse_order(struct sv_conf *c, struct rm_queue *q, bool leaf, struct sv_error *err)
{
    const char *order = queue_raw(c, q->path, "ordering-policy");

    if (!leaf) {
        q->priority_order = q->parent && q->parent->priority_order;
        if (order && !sv_streq(order, "utilization") && !sv_streq(order, "priority-utilization"))
            return sv_error_set(err, -EINVAL,
                                CS "%s.ordering-policy: \"%s\" is neither utilization nor "
                                   "priority-utilization, and the queue has queues",
                                q->path, order);
        if (order)
            q->priority_order = sv_streq(order, "priority-utilization");
        return 0;
    }
    if (order && !sv_streq(order, "fifo") && !sv_streq(order, "fair"))
        return sv_error_set(err, -EINVAL,
                            CS "%s.ordering-policy: \"%s\" is neither fifo nor fair, and the "
                               "queue has applications",
                            q->path, order);
    q->fair = order && sv_streq(order, "fair");
    q->fair_by_size =
        q->fair &&
        sv_streq(queue_raw(c, q->path, "ordering-policy.fair.enable-size-based-weight"), "true");
    return 0;
}

/* Limits on number and lifetime of the queue's applications. Lifetimes are inherited. */
static int parse_apps(struct sv_conf *c, const struct rm_sched_settings *set, struct rm_queue *q,
                      struct sv_error *err)
{
    const char *disabled = queue_raw(c, q->path, "disable_preemption");
    const char *inside = queue_raw(c, q->path, "intra-queue-preemption.disable_preemption");
    int64_t parallel, max, def;
    int r;

    q->preemption_disabled =
        disabled ? sv_streq(disabled, "true") : q->parent && q->parent->preemption_disabled;
    q->inside_disabled =
        inside ? sv_streq(inside, "true") : q->parent && q->parent->inside_disabled;

    if ((r = queue_int(c, q->path, "max-parallel-apps", set->parallel, &parallel, err)) < 0 ||
        (r = queue_int(c, q->path, "maximum-application-lifetime",
                       q->parent ? q->parent->max_lifetime_s : -1, &max, err)) < 0 ||
        (r = queue_int(c, q->path, "default-application-lifetime",
                       q->parent ? q->parent->default_lifetime_s : -1, &def, err)) < 0)
        return r;
    if (parallel < 0 || parallel > INT32_MAX)
        return sv_error_set(err, -EINVAL, CS "%s.max-parallel-apps: %lld is below 0 or above %d",
                            q->path, (long long)parallel, INT32_MAX);
    q->max_parallel = (int32_t)parallel;
    q->max_lifetime_s = SV_MAX(max, (int64_t)0);
    q->default_lifetime_s = SV_MAX(def, (int64_t)0);
    if (q->max_lifetime_s > 0 && q->default_lifetime_s > q->max_lifetime_s)
        return sv_error_set(err, -EINVAL,
                            CS "%s.default-application-lifetime: %lld s is above the queue's "
                               "maximum-application-lifetime, %lld s",
                            q->path, (long long)def, (long long)max);
    return 0;
}

/* Hadoop's defaults: everybody at the root, nobody in addition below. */
static int parse_acls(struct sv_conf *c, struct rm_queue *q)
{
    const char *submit = queue_raw(c, q->path, "acl_submit_applications");
    const char *administer = queue_raw(c, q->path, "acl_administer_queue"), *def;

    def = q->parent ? " " : "*";
    q->acl_submit = strdup(submit ? submit : def);
    q->acl_administer = strdup(administer ? administer : def);
    return q->acl_submit && q->acl_administer ? 0 : -ENOMEM;
}

static int parse_limits(struct sv_conf *c, const struct rm_sched_settings *set, struct rm_queue *q,
                        struct sv_error *err)
{
    const char *state = queue_raw(c, q->path, "state"), *text;
    double global_ulp, global_ulf, v;
    int64_t mb, vc, n;
    bool is_set;
    int r;

    if (!state)
        q->state = q->parent ? q->parent->state : RM_QUEUE_RUNNING;
    else if (strcasecmp(state, "RUNNING") == 0)
        q->state = RM_QUEUE_RUNNING;
    else if (strcasecmp(state, "STOPPED") == 0)
        q->state = RM_QUEUE_STOPPED;
    else
        return sv_error_set(err, -EINVAL, CS "%s.state: \"%s\" is neither RUNNING nor STOPPED",
                            q->path, state);
    if (q->parent && q->parent->state != RM_QUEUE_RUNNING && q->state == RM_QUEUE_RUNNING)
        return sv_error_set(err, -EINVAL, CS "%s.state is RUNNING below the stopped queue %s",
                            q->path, q->parent->path);
    if ((r = sv_conf_float(c, &rm_key_user_limit, &global_ulp, err)) < 0 ||
        (r = sv_conf_float(c, &rm_key_user_factor, &global_ulf, err)) < 0 ||
        (r = queue_float(c, q->path, "minimum-user-limit-percent", global_ulp, &is_set,
                         &q->user_limit, err)) < 0 ||
        (r = queue_float(c, q->path, "user-limit-factor", global_ulf, &is_set,
                         &q->user_limit_factor, err)) < 0 ||
        (r = queue_float(c, q->path, "maximum-am-resource-percent", set->am_percent, &is_set, &v,
                         err)) < 0)
        return r;
    q->am_percent = v;
    if (!(q->user_limit > 0 && q->user_limit <= 100))
        return sv_error_set(err, -EINVAL,
                            CS "%s.minimum-user-limit-percent: %g is not between 0 and 100",
                            q->path, q->user_limit);
    if ((r = queue_int(c, q->path, "priority", 0, &n, err)) < 0)
        return r;
    q->priority = (int32_t)n;
    if ((r = queue_int(c, q->path, "default-application-priority", 0, &n, err)) < 0)
        return r;
    q->default_app_priority = (int32_t)n;
    if ((r = queue_int(c, q->path, "maximum-applications", -1, &q->configured_max_apps, err)) < 0 ||
        (r = queue_int(c, q->path, "maximum-allocation-mb", set->max_alloc.mem, &mb, err)) < 0 ||
        (r = queue_int(c, q->path, "maximum-allocation-vcores", set->max_alloc.vcores, &vc, err)) <
            0)
        return r;
    q->max_allocation = set->max_alloc;
    q->max_allocation.mem = mb;
    q->max_allocation.vcores = vc;
    text = queue_raw(c, q->path, "maximum-allocation");
    if (text && parse_amounts(text, &set->types, &q->max_allocation) < 0)
        return sv_error_set(err, -EINVAL,
                            CS "%s.maximum-allocation: \"%.200s\" is not memory-mb=MB,vcores=N and "
                               "types of yarn.resource-types",
                            q->path, text);
    q->max_allocation = rm_res_min(q->max_allocation, set->max_alloc);
    r = parse_apps(c, set, q, err);
    return r < 0 ? r : parse_acls(c, q);
}

static int check_children(struct sv_conf *c, const struct rm_queue *q, struct sv_error *err)
{
    bool zero_allowed = sv_streq(queue_raw(c, q->path, "allow-zero-capacity-sum"), "true");
    double sum = 0;

    for (size_t i = 0; i < q->n_children; i++) {
        if (q->children[i]->mode != q->children[0]->mode)
            return sv_error_set(err, -EINVAL,
                                "queue %s: its children mix percentages, weights and absolute "
                                "capacities",
                                q->path);
        sum += q->children[i]->capacity;
    }
    if (q->n_children && q->children[0]->mode == RM_MODE_PERCENT && fabs(sum - 1) > 0.001 &&
        !(zero_allowed && sum == 0))
        return sv_error_set(err, -EINVAL,
                            "queue %s: the capacities of its children sum up to %g, not 100",
                            q->path, sum * 100);
    return 0;
}

static int parse_queue(struct sv_conf *c, const struct rm_sched_settings *set, const char *name,
                       struct rm_queue *parent, int depth, size_t *count, struct rm_queue **ret,
                       struct sv_error *err)
{
    struct rm_queue *q;
    _cleanup_strv_ char **names = NULL;
    const char *children;
    int r = -ENOMEM;

    if (depth > RM_QUEUE_DEPTH_MAX || ++*count > RM_QUEUE_COUNT_MAX)
        return sv_error_set(err, -E2BIG, "queue %s: more than %d levels or %d queues", name,
                            RM_QUEUE_DEPTH_MAX, RM_QUEUE_COUNT_MAX);
    if (strchr(name, '.'))
        return sv_error_set(err, -EINVAL, "queue %s: a name holds no dot", name);
    q = calloc(1, sizeof(*q));
    if (!q)
        return -ENOMEM;
    q->parent = parent;
    q->weight = -1;
    q->number = *count;
    q->name = strdup(name);
    if (!q->name ||
        sv_asprintf(&q->path, "%s%s%s", parent ? parent->path : "", parent ? "." : "", name) < 0)
        goto fail;
    r = parse_capacity(c, &set->types, q, err);
    if (r >= 0)
        r = parse_limits(c, set, q, err);
    if (r < 0)
        goto fail;
    children = queue_raw(c, q->path, "queues");
    if (!children && !parent)
        children = "default";
    if (children && sv_strv_split(children, ',', &names) < 0) {
        r = -ENOMEM;
        goto fail;
    }
    r = parse_order(c, q, sv_strv_len(names) == 0, err); /* children inherit it */
    if (r < 0)
        goto fail;
    q->children = calloc(sv_strv_len(names) + 1, sizeof(struct rm_queue *));
    q->sorted = calloc(sv_strv_len(names) + 1, sizeof(struct rm_queue *));
    r = -ENOMEM;
    if (!q->children || !q->sorted)
        goto fail;
    for (char **n = names; n && *n; n++) {
        r = parse_queue(c, set, *n, q, depth + 1, count, &q->children[q->n_children], err);
        if (r < 0)
            goto fail;
        q->sorted[q->n_children] = q->children[q->n_children];
        q->children[q->n_children]->index = q->n_children;
        q->n_children++;
    }
    r = check_children(c, q, err);
    if (r < 0)
        goto fail;
    *ret = q;
    return 0;
fail:
    rm_queue_free(q);
    return r;
}

static int read_settings(struct sv_conf *c, struct rm_sched_settings *s, struct sv_error *err)
{
    const char *calc;
    int r;

    if ((r = sv_conf_string(c, &rm_key_calc, &calc, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_max_apps, &s->max_apps, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_queue_max_apps, &s->queue_max_apps, err)) < 0 ||
        (r = sv_conf_float(c, &rm_key_am_percent, &s->am_percent, err)) < 0 ||
        (r = sv_conf_bool(c, &rm_key_override, &s->override_mappings, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_parallel, &s->parallel, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_user_parallel, &s->user_parallel, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_offswitch, &s->offswitch_limit, err)) < 0 ||
        (r = sv_conf_bool(c, &rm_key_multiple, &s->multiple_assignments, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_assignments, &s->assignment_limit, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_node_delay, &s->node_locality_delay, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_rack_delay, &s->rack_additional_delay, err)) < 0 ||
        (r = sv_conf_bool(c, &rm_key_rack_reset, &s->rack_full_reset, err)) < 0 ||
        (r = sv_conf_bool(c, &rm_key_look, &s->continue_look, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_min_mb, &s->min_alloc.mem, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_min_vc, &s->min_alloc.vcores, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_max_mb, &s->max_alloc.mem, err)) < 0 ||
        (r = sv_conf_int(c, &rm_key_max_vc, &s->max_alloc.vcores, err)) < 0)
        return r;
    if ((r = rm_preempt_parse(c, &s->preempt, err)) < 0 ||
        (r = rm_types_parse(c, &s->types, err)) < 0)
        return r;
    memcpy(s->min_alloc.extra, s->types.min.extra, sizeof(s->min_alloc.extra));
    memcpy(s->max_alloc.extra, s->types.max.extra, sizeof(s->max_alloc.extra));
    if (sv_has_suffix(calc, ".DominantResourceCalculator"))
        s->calc = RM_CALC_DOMINANT;
    else if (sv_has_suffix(calc, ".DefaultResourceCalculator"))
        s->calc = RM_CALC_MEMORY;
    else
        return sv_error_set(err, -EINVAL,
                            CS "resource-calculator: \"%s\" is neither DominantResourceCalculator "
                               "nor DefaultResourceCalculator",
                            calc);
    if (s->min_alloc.mem > s->max_alloc.mem || s->min_alloc.vcores > s->max_alloc.vcores)
        return sv_error_set(err, -EINVAL,
                            "yarn.scheduler.minimum-allocation-mb/-vcores are above the maximum");
    return 0;
}

int rm_queues_parse(struct sv_conf *conf, struct rm_sched_settings *ret_set,
                    struct rm_queue **ret_root, struct sv_error *err)
{
    struct rm_sched_settings set = { 0 };
    struct rm_queue *root = NULL;
    size_t count = 0;
    int r = read_settings(conf, &set, err);

    if (r < 0)
        return r;
    if (!sv_conf_raw(conf, CS "root.queues") && !sv_conf_raw(conf, CS "root.default.capacity")) {
        r = sv_conf_set(conf, CS "root.default.capacity", "100");
        if (r < 0)
            return sv_error_errno(err, r, "queue root.default");
    }
    r = parse_queue(conf, &set, "root", NULL, 0, &count, &root, err);
    if (r >= 0)
        r = rm_queue_keys_check(conf, root, err);
    if (r >= 0)
        r = rm_queue_users_parse(conf, root, err);
    if (r >= 0)
        r = rm_mappings_parse(conf, root, err);
    if (r < 0) {
        rm_queue_free(root);
        return r;
    }
    *ret_set = set;
    *ret_root = root;
    return 0;
}
