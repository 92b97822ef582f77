/* Settings of single users in capacity-scheduler.xml: QUEUE.user-settings.USER.weight, inherited by
 * the queues below, and user.USER.max-parallel-apps. The file is the operator's; names of users are
 * not checked, as they may be unknown to this machine. */
#include "rm-lite/scheduler/scheduler-impl.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

#define CS "yarn.scheduler.capacity."
#define WEIGHTS ".user-settings."
#define WEIGHT ".weight"
#define USER CS "user."
#define PARALLEL ".max-parallel-apps"

struct reader {
    struct sv_conf *conf;
    struct rm_queue *root;
    struct sv_error *err;
};

static int add(struct rm_user_value **table, const char *name, size_t len, double value)
{
    struct rm_user_value *v = calloc(1, sizeof(*v));

    if (!v)
        return -ENOMEM;
    v->name = strndup(name, len);
    if (!v->name) {
        free(v);
        return -ENOMEM;
    }
    v->value = value;
    HASH_ADD_KEYPTR(hh, *table, v->name, len, v);
    return 0;
}

static int read_weight(struct reader *r, const char *name, const char *user)
{
    _cleanup_free_ char *path =
        strndup(name + strlen(CS), (size_t)(user - name) - strlen(CS WEIGHTS));
    struct sv_conf_key k = { .name = name, .type = SV_CONF_FLOAT };
    struct rm_queue *q;
    double v;
    int e;

    if (!path)
        return -ENOMEM;
    q = rm_queue_find(r->root, path);
    if (!q || !sv_streq(q->path, path))
        return 0; /* the queue does not exist: a note */
    e = sv_conf_float(r->conf, &k, &v, r->err);
    if (e < 0)
        return e;
    if (!(v >= 0 && v <= 100 / q->user_limit))
        return sv_error_set(r->err, -EINVAL,
                            "%s: %g is not between 0 and %g, which is 100 divided by the queue's "
                            "minimum-user-limit-percent",
                            name, v, 100 / q->user_limit);
    return add(&q->weights, user, strlen(user) - strlen(WEIGHT), v);
}

static int each(const char *name, const char *value, void *userdata)
{
    struct reader *r = userdata;
    const char *user;
    int64_t n;
    int e;

    (void)value;
    if (!sv_has_prefix(name, CS))
        return 0;
    user = strstr(name, WEIGHTS);
    if (user && sv_has_suffix(name, WEIGHT) && strlen(user) > strlen(WEIGHTS WEIGHT))
        return read_weight(r, name, user + strlen(WEIGHTS));
    if (sv_has_prefix(name, USER) && sv_has_suffix(name, PARALLEL) &&
        strlen(name) > strlen(USER) + strlen(PARALLEL)) {
        struct sv_conf_key k = { .name = name, .type = SV_CONF_INT, .min = 0, .max = INT32_MAX };

        e = sv_conf_int(r->conf, &k, &n, r->err);
        user = name + strlen(USER);
        return e < 0 ? e
                     : add(&r->root->parallel, user, strlen(user) - strlen(PARALLEL), (double)n);
    }
    return 0;
}

int rm_queue_users_parse(struct sv_conf *conf, struct rm_queue *root, struct sv_error *err)
{
    struct reader r = { conf, root, err };

    return sv_conf_each(conf, each, &r);
}

static double find(struct rm_user_value *table, const char *user, double otherwise)
{
    struct rm_user_value *v;

    HASH_FIND_STR(table, user, v);
    return v ? v->value : otherwise;
}

double rm_user_weight(const struct rm_queue *leaf, const char *user)
{
    for (const struct rm_queue *q = leaf; q; q = q->parent) {
        double w = find(q->weights, user, -1);

        if (w >= 0)
            return w;
    }
    return 1;
}

int32_t rm_user_max_parallel(const struct rm_sched *s, const char *user)
{
    return (int32_t)find(s->root->parallel, user, (double)s->set.user_parallel);
}
