/* See resource-types.h. The configuration is the operator's. */
#include "rm-lite/scheduler/resource-types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "proto/yarn.pb-c.h"

#define KEY "yarn.resource-types"

static int one_value(struct sv_conf *c, const char *type, const char *what, int64_t def,
                     int64_t *ret, struct sv_error *err)
{
    _cleanup_free_ char *name = NULL;
    struct sv_conf_key k = { .type = SV_CONF_INT, .min = 0, .max = INT32_MAX };

    if (sv_asprintf(&name, KEY ".%s.%s", type, what) < 0)
        return -ENOMEM;
    k.name = name;
    if (!sv_conf_raw(c, name)) {
        *ret = def;
        return 0;
    }
    return sv_conf_int(c, &k, ret, err);
}

static int add_type(struct sv_conf *c, const char *name, struct rm_types *t, struct sv_error *err)
{
    _cleanup_free_ char *key = NULL;
    const char *units;
    int r;

    if (sv_streq(name, "memory-mb") || sv_streq(name, "vcores") || rm_types_index(t, name) >= 0)
        return 0;
    if (t->n == RM_RES_EXTRA)
        return sv_error_set(
            err, -E2BIG, KEY ": %.100s: at most %d types beside memory-mb and vcores are supported",
            name, RM_RES_EXTRA);
    if (strlen(name) >= RM_TYPE_NAME_MAX)
        return sv_error_set(err, -EINVAL, KEY ": %.100s: the name has more than %d bytes", name,
                            RM_TYPE_NAME_MAX - 1);
    if (sv_asprintf(&key, KEY ".%s.units", name) < 0)
        return -ENOMEM;
    units = sv_conf_raw(c, key);
    if (units && *units)
        return sv_error_set(err, -EOPNOTSUPP,
                            "%s=%.20s is not supported: types are counted without a "
                            "unit",
                            key, units);
    (void)snprintf(t->names[t->n], RM_TYPE_NAME_MAX, "%s", name);
    if ((r = one_value(c, name, "minimum-allocation", 0, &t->min.extra[t->n], err)) < 0 ||
        (r = one_value(c, name, "maximum-allocation", INT32_MAX, &t->max.extra[t->n], err)) < 0)
        return r;
    if (t->min.extra[t->n] > t->max.extra[t->n])
        return sv_error_set(err, -EINVAL, KEY ".%s.minimum-allocation is above the maximum", name);
    t->n++;
    return 0;
}

int rm_types_parse(struct sv_conf *conf, struct rm_types *ret, struct sv_error *err)
{
    const char *text = sv_conf_raw(conf, KEY);
    _cleanup_strv_ char **names = NULL;
    struct rm_types t = { 0 };

    if (text && sv_strv_split(text, ',', &names) < 0)
        return -ENOMEM;
    for (char **n = names; n && *n; n++) {
        int r = add_type(conf, *n, &t, err);

        if (r < 0)
            return r;
    }
    *ret = t;
    return 0;
}

int rm_types_index(const struct rm_types *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (sv_streq(t->names[i], name))
            return i;
    return -1;
}

bool rm_types_equal(const struct rm_types *a, const struct rm_types *b)
{
    for (int i = 0; i < a->n && i < b->n; i++)
        if (!sv_streq(a->names[i], b->names[i]))
            return false;
    return a->n == b->n;
}

/* -------------------------------------------------------------------------- wire */

static struct rm_types current;

void rm_types_set(const struct rm_types *t)
{
    current = *t;
}

const struct rm_types *rm_types(void)
{
    return &current;
}

const char *rm_res_text(struct rm_res r, char dst[static RM_RES_TEXT_MAX])
{
    const struct rm_types *types = rm_types();
    size_t n = (size_t)snprintf(dst, RM_RES_TEXT_MAX, "<memory:%lld, vCores:%lld", (long long)r.mem,
                                (long long)r.vcores);

    for (int i = 0; i < types->n && n < RM_RES_TEXT_MAX; i++)
        n += (size_t)snprintf(dst + n, RM_RES_TEXT_MAX - n, ", %.90s: %lld", types->names[i],
                              (long long)r.extra[i]);
    if (n < RM_RES_TEXT_MAX)
        (void)snprintf(dst + n, RM_RES_TEXT_MAX - n, ">");
    return dst;
}

int rm_res_from(const Hadoop__Yarn__ResourceProto *m, struct rm_res *ret)
{
    struct yarn_resource base;
    struct rm_res r = { 0 };

    if (yarn_resource_from(m, &base) < 0)
        return -EBADMSG;
    r.mem = base.memory_mb;
    r.vcores = base.vcores;
    for (size_t i = 0; m && i < m->n_resource_value_map; i++) {
        const Hadoop__Yarn__ResourceInformationProto *e = m->resource_value_map[i];
        int k = rm_types_index(&current, e->key);

        if (k < 0 || !e->has_value)
            continue;
        if (e->value < 0 || e->value > INT32_MAX || (e->units && *e->units))
            return -EBADMSG;
        r.extra[k] = e->value;
    }
    *ret = r;
    return 0;
}

void rm_res_unknown(const Hadoop__Yarn__ResourceProto *m, char *dst, size_t size)
{
    *dst = 0;
    for (size_t i = 0; m && i < m->n_resource_value_map && !*dst; i++) {
        const Hadoop__Yarn__ResourceInformationProto *e = m->resource_value_map[i];

        if (e->has_value && e->value > 0 && !sv_streq(e->key, "memory-mb") &&
            !sv_streq(e->key, "vcores") && rm_types_index(&current, e->key) < 0)
            sv_escape(dst, size, e->key);
    }
}

Hadoop__Yarn__ResourceProto *rm_res_to(struct sv_arena *a, struct rm_res r)
{
    int64_t vcores = SV_MAX(SV_MIN(r.vcores, (int64_t)INT32_MAX), (int64_t)INT32_MIN);
    struct yarn_resource base = { .memory_mb = r.mem, .vcores = (int32_t)vcores };
    Hadoop__Yarn__ResourceProto *m = yarn_resource_to(a, base);

    if (!m || current.n == 0)
        return m;
    m->resource_value_map = sv_newn(a, Hadoop__Yarn__ResourceInformationProto *, (size_t)current.n);
    if (!m->resource_value_map)
        return NULL;
    for (int i = 0; i < current.n; i++) {
        Hadoop__Yarn__ResourceInformationProto *e =
            sv_new(a, Hadoop__Yarn__ResourceInformationProto);

        if (!e)
            return NULL;
        hadoop__yarn__resource_information_proto__init(e);
        e->key = current.names[i];
        e->units = (char *)(uintptr_t) "";
        e->has_value = true;
        e->value = r.extra[i];
        m->resource_value_map[m->n_resource_value_map++] = e;
    }
    return m;
}
