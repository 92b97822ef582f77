/* Merges of what belongs to no application and no queue; see merge.h. */
#include "router/merge.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"
#include "router/names.h"

/* ---- Metrics ---- */

#define METRICS(X)                                                                                 \
    X(num_node_managers)                                                                           \
    X(num_decommissioned_nms)                                                                      \
    X(num_active_nms)                                                                              \
    X(num_lost_nms)                                                                                \
    X(num_unhealthy_nms)                                                                           \
    X(num_rebooted_nms)                                                                            \
    X(num_decommissioning_nms)                                                                     \
    X(num_shutdown_nms)

static int32_t sum(int32_t a, int32_t b)
{
    int32_t s;

    return __builtin_add_overflow(a, b, &s) ? INT32_MAX : s;
}

int rtr_merge_metrics(const struct rtr_answers *in, struct sv_arena *a,
                      const ProtobufCMessage **ret)
{
    Hadoop__Yarn__GetClusterMetricsResponseProto *all =
        sv_new(a, Hadoop__Yarn__GetClusterMetricsResponseProto);
    Hadoop__Yarn__YarnClusterMetricsProto *m = sv_new(a, Hadoop__Yarn__YarnClusterMetricsProto);

    if (!all || !m)
        return -ENOMEM;
    hadoop__yarn__get_cluster_metrics_response_proto__init(all);
    hadoop__yarn__yarn_cluster_metrics_proto__init(m);
    for (size_t i = 0; i < in->n; i++) {
        const Hadoop__Yarn__YarnClusterMetricsProto *one =
            ((Hadoop__Yarn__GetClusterMetricsResponseProto *)in->v[i])->cluster_metrics;
#define ADD(field)                                                                                 \
    m->field = sum(m->field, one->field);                                                          \
    m->has_##field |= one->has_##field;
        if (one) {
            METRICS(ADD)
        }
    }
    all->cluster_metrics = m;
    *ret = &all->base;
    return 0;
}

/* ---- Lists by name: the first member's entry stays, others are joined to it ---- */

struct by_name {
    struct sv_arena *arena;
    struct rtr_names names;
    void **v;
    size_t n, room;
};

static int by_name_new(struct by_name *l, struct sv_arena *a, size_t room)
{
    *l = (struct by_name){ .arena = a, .names = { .arena = a }, .room = room };
    l->v = sv_newn(a, void *, room + 1);
    return l->v ? 0 : -ENOMEM;
}

/* *ret_old: the entry of that name; NULL: `entry` is the first one. */
static int put(struct by_name *l, const char *name, void *entry, void **ret_old)
{
    bool new;
    int i = rtr_names_number(&l->names, name ?: "", &new);

    if (i < 0)
        return i;
    *ret_old = new ? NULL : l->v[i];
    if (new)
        l->v[l->n++] = entry;
    return 0;
}

static int join_acls(struct by_name *l, Hadoop__Yarn__QueueUserACLInfoProto *more)
{
    void *found;
    Hadoop__Yarn__QueueUserACLInfoProto *old;
    int r = put(l, more->queuename, more, &found);
    Hadoop__Yarn__QueueACLProto *acls;

    if (r < 0 || !found)
        return r;
    old = found;
    acls = sv_newn(l->arena, Hadoop__Yarn__QueueACLProto, old->n_useracls + more->n_useracls + 1);
    if (!acls)
        return -ENOMEM;
    for (size_t i = 0; i < old->n_useracls; i++)
        acls[i] = old->useracls[i];
    old->useracls = acls;
    for (size_t i = 0; i < more->n_useracls; i++) {
        bool has = false;

        for (size_t k = 0; k < old->n_useracls && !has; k++)
            has = acls[k] == more->useracls[i];
        if (!has)
            acls[old->n_useracls++] = more->useracls[i];
    }
    return 0;
}

int rtr_merge_acls(const struct rtr_answers *in, struct sv_arena *a, const ProtobufCMessage **ret)
{
    Hadoop__Yarn__GetQueueUserAclsInfoResponseProto *all =
        sv_new(a, Hadoop__Yarn__GetQueueUserAclsInfoResponseProto);
    struct by_name l;
    size_t n = 0;
    int r;

    for (size_t i = 0; i < in->n; i++)
        n += ((Hadoop__Yarn__GetQueueUserAclsInfoResponseProto *)in->v[i])->n_queueuseracls;
    r = all ? by_name_new(&l, a, n) : -ENOMEM;
    if (r < 0)
        return r;
    for (size_t i = 0; i < in->n && r >= 0; i++) {
        Hadoop__Yarn__GetQueueUserAclsInfoResponseProto *one =
            (Hadoop__Yarn__GetQueueUserAclsInfoResponseProto *)in->v[i];

        for (size_t k = 0; k < one->n_queueuseracls && r >= 0; k++)
            r = join_acls(&l, one->queueuseracls[k]);
    }
    rtr_names_clear(&l.names);
    hadoop__yarn__get_queue_user_acls_info_response_proto__init(all);
    all->n_queueuseracls = l.n;
    all->queueuseracls = (Hadoop__Yarn__QueueUserACLInfoProto **)l.v;
    *ret = &all->base;
    return r;
}

int rtr_merge_types(const struct rtr_answers *in, struct sv_arena *a, const ProtobufCMessage **ret)
{
    Hadoop__Yarn__GetAllResourceTypeInfoResponseProto *all =
        sv_new(a, Hadoop__Yarn__GetAllResourceTypeInfoResponseProto);
    struct by_name l;
    size_t n = 0;
    void *old;
    int r;

    for (size_t i = 0; i < in->n; i++)
        n += ((Hadoop__Yarn__GetAllResourceTypeInfoResponseProto *)in->v[i])->n_resource_type_info;
    r = all ? by_name_new(&l, a, n) : -ENOMEM;
    if (r < 0)
        return r;
    for (size_t i = 0; i < in->n && r >= 0; i++) {
        Hadoop__Yarn__GetAllResourceTypeInfoResponseProto *one =
            (Hadoop__Yarn__GetAllResourceTypeInfoResponseProto *)in->v[i];

        for (size_t k = 0; k < one->n_resource_type_info && r >= 0; k++)
            r = put(&l, one->resource_type_info[k]->name, one->resource_type_info[k], &old);
    }
    rtr_names_clear(&l.names);
    hadoop__yarn__get_all_resource_type_info_response_proto__init(all);
    all->n_resource_type_info = l.n;
    all->resource_type_info = (Hadoop__Yarn__ResourceTypeInfoProto **)l.v;
    *ret = &all->base;
    return r;
}

/* ---- Profiles: what every member grants by that name ---- */

static void smallest(Hadoop__Yarn__ResourceProto *into, const Hadoop__Yarn__ResourceProto *more)
{
    into->memory = SV_MIN(into->memory, more->memory);
    into->virtual_cores = SV_MIN(into->virtual_cores, more->virtual_cores);
    for (size_t i = 0; i < into->n_resource_value_map; i++)
        for (size_t k = 0; k < more->n_resource_value_map; k++) {
            Hadoop__Yarn__ResourceInformationProto *t = into->resource_value_map[i];
            const Hadoop__Yarn__ResourceInformationProto *m = more->resource_value_map[k];

            if (sv_streq(t->key, m->key) && sv_streq(t->units ?: "", m->units ?: ""))
                t->value = SV_MIN(t->value, m->value);
        }
}

int rtr_merge_profile(const struct rtr_answers *in, struct sv_arena *a,
                      const ProtobufCMessage **ret)
{
    Hadoop__Yarn__GetResourceProfileResponseProto *all =
        (Hadoop__Yarn__GetResourceProfileResponseProto *)in->v[0];

    (void)a;
    for (size_t i = 1; i < in->n; i++)
        smallest(all->resources,
                 ((Hadoop__Yarn__GetResourceProfileResponseProto *)in->v[i])->resources);
    *ret = &all->base;
    return 0;
}

static int join_profile(struct by_name *l, Hadoop__Yarn__ResourceProfileEntry *more)
{
    void *old;
    int r = put(l, more->name, more, &old);

    if (r >= 0 && old)
        smallest(((Hadoop__Yarn__ResourceProfileEntry *)old)->resources, more->resources);
    return r;
}

int rtr_merge_profiles(const struct rtr_answers *in, struct sv_arena *a,
                       const ProtobufCMessage **ret)
{
    Hadoop__Yarn__GetAllResourceProfilesResponseProto *all =
        (Hadoop__Yarn__GetAllResourceProfilesResponseProto *)in->v[0];
    struct by_name l;
    size_t n = 0;
    int r;

    for (size_t i = 0; i < in->n; i++)
        n += ((Hadoop__Yarn__GetAllResourceProfilesResponseProto *)in->v[i])
                 ->resource_profiles->n_resource_profiles_map;
    r = by_name_new(&l, a, n);
    if (r < 0)
        return r;
    for (size_t i = 0; i < in->n && r >= 0; i++) {
        const Hadoop__Yarn__ResourceProfilesProto *one =
            ((Hadoop__Yarn__GetAllResourceProfilesResponseProto *)in->v[i])->resource_profiles;

        for (size_t k = 0; k < one->n_resource_profiles_map && r >= 0; k++)
            r = join_profile(&l, one->resource_profiles_map[k]);
    }
    rtr_names_clear(&l.names);
    all->resource_profiles->n_resource_profiles_map = l.n;
    all->resource_profiles->resource_profiles_map = (Hadoop__Yarn__ResourceProfileEntry **)l.v;
    *ret = &all->base;
    return r;
}
