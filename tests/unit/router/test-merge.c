/* Answers of several members as one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"
#include "router/merge.h"

#define NEW(a, type, init)                                                                         \
    ({                                                                                             \
        type *new_m = sv_new(a, type);                                                             \
        assert_non_null(new_m);                                                                    \
        init(new_m);                                                                               \
        new_m;                                                                                     \
    })

static const ProtobufCMessage *merged(rtr_merge *merge, struct sv_arena *a,
                                      ProtobufCMessage *const *v, size_t n)
{
    const ProtobufCMessage *all = NULL;

    assert_true(merge(&(struct rtr_answers){ .v = v, .n = n }, a, &all) >= 0);
    assert_non_null(all);
    return all;
}

static void test_metrics(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *v[3];
    const Hadoop__Yarn__GetClusterMetricsResponseProto *all;

    (void)state;
    for (int i = 0; i < 3; i++) {
        Hadoop__Yarn__GetClusterMetricsResponseProto *m =
            NEW(a, Hadoop__Yarn__GetClusterMetricsResponseProto,
                hadoop__yarn__get_cluster_metrics_response_proto__init);

        v[i] = &m->base;
        if (i == 1)
            continue; /* an answer without figures */
        m->cluster_metrics = NEW(a, Hadoop__Yarn__YarnClusterMetricsProto,
                                 hadoop__yarn__yarn_cluster_metrics_proto__init);
        m->cluster_metrics->has_num_active_nms = true;
        m->cluster_metrics->num_active_nms = i + 1;
        m->cluster_metrics->has_num_lost_nms = true;
        m->cluster_metrics->num_lost_nms = INT32_MAX;
    }
    all = (const Hadoop__Yarn__GetClusterMetricsResponseProto *)merged(rtr_merge_metrics, a, v, 3);
    assert_int_equal(all->cluster_metrics->num_active_nms, 4);
    assert_int_equal(all->cluster_metrics->num_lost_nms, INT32_MAX);
    assert_false(all->cluster_metrics->has_num_shutdown_nms);
}

static Hadoop__Yarn__QueueInfoProto *queue(struct sv_arena *a, const char *name, int64_t running,
                                           size_t n_children)
{
    Hadoop__Yarn__QueueInfoProto *q =
        NEW(a, Hadoop__Yarn__QueueInfoProto, hadoop__yarn__queue_info_proto__init);

    q->queuename = (char *)(uintptr_t)name;
    q->queuestatistics =
        NEW(a, Hadoop__Yarn__QueueStatisticsProto, hadoop__yarn__queue_statistics_proto__init);
    q->queuestatistics->numappsrunning = running;
    q->queuestatistics->has_numappsrunning = true;
    q->minresourcememory = running;
    q->childqueues = sv_newn(a, Hadoop__Yarn__QueueInfoProto *, n_children + 1);
    assert_non_null(q->childqueues);
    return q;
}

static void test_queues(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *v[3];
    const Hadoop__Yarn__QueueInfoProto *all;

    (void)state;
    for (int i = 0; i < 3; i++) {
        Hadoop__Yarn__GetQueueInfoResponseProto *m =
            NEW(a, Hadoop__Yarn__GetQueueInfoResponseProto,
                hadoop__yarn__get_queue_info_response_proto__init);

        v[i] = &m->base;
        if (!i)
            continue; /* a member without that queue */
        m->queueinfo = queue(a, "root", i, 2);
        m->queueinfo->childqueues[m->queueinfo->n_childqueues++] = queue(a, "both", 10 * i, 0);
        m->queueinfo->childqueues[m->queueinfo->n_childqueues++] =
            queue(a, i == 1 ? "first" : "second", 100, 0);
    }
    all = ((const Hadoop__Yarn__GetQueueInfoResponseProto *)merged(rtr_merge_queue, a, v, 3))
              ->queueinfo;
    assert_int_equal(all->queuestatistics->numappsrunning, 3);
    assert_int_equal(all->minresourcememory, 3);
    assert_int_equal(all->n_childqueues, 3);
    assert_string_equal(all->childqueues[0]->queuename, "both");
    assert_int_equal(all->childqueues[0]->queuestatistics->numappsrunning, 30);
    assert_string_equal(all->childqueues[2]->queuename, "second");
}

static void test_profiles(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *v[2];
    const Hadoop__Yarn__ResourceProfilesProto *all;

    (void)state;
    for (int i = 0; i < 2; i++) {
        Hadoop__Yarn__GetAllResourceProfilesResponseProto *m =
            NEW(a, Hadoop__Yarn__GetAllResourceProfilesResponseProto,
                hadoop__yarn__get_all_resource_profiles_response_proto__init);
        Hadoop__Yarn__ResourceProfileEntry *e =
            NEW(a, Hadoop__Yarn__ResourceProfileEntry, hadoop__yarn__resource_profile_entry__init);

        m->resource_profiles = NEW(a, Hadoop__Yarn__ResourceProfilesProto,
                                   hadoop__yarn__resource_profiles_proto__init);
        m->resource_profiles->resource_profiles_map =
            sv_newn(a, Hadoop__Yarn__ResourceProfileEntry *, 1);
        m->resource_profiles->resource_profiles_map[0] = e;
        m->resource_profiles->n_resource_profiles_map = 1;
        e->name = (char *)(uintptr_t) "small";
        e->resources = NEW(a, Hadoop__Yarn__ResourceProto, hadoop__yarn__resource_proto__init);
        e->resources->memory = 2048 - 1024 * i;
        e->resources->virtual_cores = 1 + i;
        v[i] = &m->base;
    }
    all = ((const Hadoop__Yarn__GetAllResourceProfilesResponseProto *)merged(rtr_merge_profiles, a,
                                                                             v, 2))
              ->resource_profiles;
    assert_int_equal(all->n_resource_profiles_map, 1);
    assert_int_equal(all->resource_profiles_map[0]->resources->memory, 1024);
    assert_int_equal(all->resource_profiles_map[0]->resources->virtual_cores, 1);
}

static void test_acls(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    static Hadoop__Yarn__QueueACLProto grants[2][1] = {
        { HADOOP__YARN__QUEUE_ACLPROTO__QACL_SUBMIT_APPLICATIONS },
        { HADOOP__YARN__QUEUE_ACLPROTO__QACL_ADMINISTER_QUEUE },
    };
    ProtobufCMessage *v[3];
    const Hadoop__Yarn__GetQueueUserAclsInfoResponseProto *all;

    (void)state;
    for (int i = 0; i < 3; i++) {
        Hadoop__Yarn__GetQueueUserAclsInfoResponseProto *m =
            NEW(a, Hadoop__Yarn__GetQueueUserAclsInfoResponseProto,
                hadoop__yarn__get_queue_user_acls_info_response_proto__init);
        Hadoop__Yarn__QueueUserACLInfoProto *e = NEW(a, Hadoop__Yarn__QueueUserACLInfoProto,
                                                     hadoop__yarn__queue_user_aclinfo_proto__init);

        e->queuename = (char *)(uintptr_t) "root";
        e->useracls = grants[i % 2];
        e->n_useracls = 1;
        m->queueuseracls = sv_newn(a, Hadoop__Yarn__QueueUserACLInfoProto *, 1);
        m->queueuseracls[0] = e;
        m->n_queueuseracls = 1;
        v[i] = &m->base;
    }
    all = (const Hadoop__Yarn__GetQueueUserAclsInfoResponseProto *)merged(rtr_merge_acls, a, v, 3);
    assert_int_equal(all->n_queueuseracls, 1);
    assert_int_equal(all->queueuseracls[0]->n_useracls, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_queues),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_acls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
