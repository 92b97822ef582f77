/* Answers of members, each the same bytes: as applications, queues, ACLs, profiles and metrics they
 * are merged or refused, and what comes out can be packed. */
#include <stdint.h>
#include <stdlib.h>

#include "proto/yarn_service.pb-c.h"
#include "router/merge-apps.h"
#include "router/merge.h"
#include "wire/frame.h"

#define MEMBERS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const ProtobufCMessageDescriptor *message;
    rtr_merge *merge;
} kinds[] = {
    { &hadoop__yarn__get_cluster_metrics_response_proto__descriptor, rtr_merge_metrics },
    { &hadoop__yarn__get_queue_info_response_proto__descriptor, rtr_merge_queue },
    { &hadoop__yarn__get_queue_user_acls_info_response_proto__descriptor, rtr_merge_acls },
    { &hadoop__yarn__get_all_resource_type_info_response_proto__descriptor, rtr_merge_types },
    { &hadoop__yarn__get_all_resource_profiles_response_proto__descriptor, rtr_merge_profiles },
    { &hadoop__yarn__get_resource_profile_response_proto__descriptor, rtr_merge_profile },
};

static void pack(struct sv_arena *a, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *p = sv_arena_alloc(a, n + 1);

    if (p && protobuf_c_message_pack(m, p) != n)
        abort();
}

static void merge(size_t kind, const uint8_t *p, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *v[MEMBERS];
    const ProtobufCMessage *all = NULL;

    for (size_t i = 0; i < MEMBERS; i++)
        if (!a || ipc_unpack(a, kinds[kind].message, p, n, &v[i]) < 0)
            return;
    if (kinds[kind].merge(&(struct rtr_answers){ v, MEMBERS, p[0] & 1 }, a, &all) >= 0)
        pack(a, all);
}

static void merge_apps(const uint8_t *p, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct rtr_apps *apps = rtr_apps_new(p[0] & 1);
    ProtobufCMessage *m;

    for (size_t i = 0; i < MEMBERS && a && apps; i++) {
        const Hadoop__Yarn__GetApplicationsResponseProto *one;

        if (ipc_unpack(a, &hadoop__yarn__get_applications_response_proto__descriptor, p, n, &m) < 0)
            break;
        one = (const Hadoop__Yarn__GetApplicationsResponseProto *)m;
        for (size_t k = 0; k < one->n_applications; k++)
            if (rtr_apps_add(apps, one->applications[k]) < 0)
                abort();
    }
    for (size_t i = 0; apps && i < rtr_apps_count(apps); i++)
        if (a && rtr_apps_at(apps, i))
            pack(a, &rtr_apps_at(apps, i)->base);
    rtr_apps_free(apps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 1u << 16)
        return 0;
    if (data[0] % (sizeof(kinds) / sizeof(*kinds) + 1) == sizeof(kinds) / sizeof(*kinds))
        merge_apps(data + 1, size - 1);
    else
        merge(data[0] % (sizeof(kinds) / sizeof(*kinds) + 1), data + 1, size - 1);
    return 0;
}
