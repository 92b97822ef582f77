/* One report of each application, whatever order its halves come in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/yarn.pb-c.h"
#include "router/merge-apps.h"

struct one {
    Hadoop__Yarn__ApplicationIdProto id;
    Hadoop__Yarn__ResourceProto used;
    Hadoop__Yarn__ApplicationResourceUsageReportProto usage;
    Hadoop__Yarn__ApplicationReportProto report;
};

static void make(struct one *o, int number, const char *name, bool unmanaged, int containers)
{
    hadoop__yarn__application_id_proto__init(&o->id);
    hadoop__yarn__resource_proto__init(&o->used);
    hadoop__yarn__application_resource_usage_report_proto__init(&o->usage);
    hadoop__yarn__application_report_proto__init(&o->report);
    o->id.has_id = o->id.has_cluster_timestamp = true;
    o->id.id = number;
    o->id.cluster_timestamp = 1;
    o->used.has_memory = true;
    o->used.memory = 1024 * (int64_t)containers;
    o->usage.used_resources = &o->used;
    o->usage.has_num_used_containers = true;
    o->usage.num_used_containers = containers;
    o->report.applicationid = &o->id;
    o->report.name = (char *)(uintptr_t)name;
    o->report.has_unmanaged_application = true;
    o->report.unmanaged_application = unmanaged;
    o->report.app_resource_usage = &o->usage;
}

/* The listed reports of three that are added in the order of `turn`. */
static size_t listed(struct one v[3], const int turn[3], bool orphans, int64_t *ret_memory)
{
    struct rtr_apps *apps = rtr_apps_new(orphans);
    size_t n = 0;

    assert_non_null(apps);
    *ret_memory = 0;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rtr_apps_add(apps, &v[turn[i]].report), 0);
    for (size_t i = 0; i < rtr_apps_count(apps); i++) {
        const Hadoop__Yarn__ApplicationReportProto *r = rtr_apps_at(apps, i);

        if (!r)
            continue;
        n++;
        *ret_memory += r->app_resource_usage->used_resources->memory;
    }
    rtr_apps_free(apps);
    return n;
}

static const int turns[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

static void test_halves(void **state)
{
    int64_t memory;

    (void)state;
    for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
        struct one v[3];

        make(&v[0], 7, "job", false, 1);
        make(&v[1], 7, "UnmanagedAM-SC-1", true, 2);
        make(&v[2], 7, "UnmanagedAM-SC-1", true, 4);
        assert_int_equal(listed(v, turns[i], false, &memory), 1);
        assert_int_equal(memory, 7 * 1024);
        assert_int_equal(v[0].usage.num_used_containers, 7);
    }
}

static void test_orphans(void **state)
{
    struct one v[3];
    int64_t memory;

    (void)state;
    make(&v[0], 1, "UnmanagedAM-SC-1", true, 1); /* its home has not answered */
    make(&v[1], 2, "mine", true, 2);             /* of a user */
    make(&v[2], 3, "UnmanagedAM-x", false, 4);   /* a name is no proof */
    assert_int_equal(listed(v, turns[0], false, &memory), 2);
    assert_int_equal(memory, 6 * 1024);
    assert_int_equal(listed(v, turns[0], true, &memory), 3);
}

/* Sums saturate, missing parts are taken over, and a report without an id is nobody's. */
static void test_hostile(void **state)
{
    struct rtr_apps *apps = rtr_apps_new(false);
    struct one v[3];

    (void)state;
    assert_non_null(apps);
    make(&v[0], 1, "a", false, 1);
    make(&v[1], 1, "UnmanagedAM-SC-1", true, 1);
    make(&v[2], 2, "b", false, 1);
    v[0].used.memory = INT64_MAX;
    v[0].usage.num_used_containers = INT32_MAX;
    v[2].report.applicationid = NULL;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rtr_apps_add(apps, &v[i].report), 0);
    assert_int_equal(rtr_apps_count(apps), 1);
    assert_int_equal(v[0].used.memory, INT64_MAX);
    assert_int_equal(v[0].usage.num_used_containers, INT32_MAX);
    v[0].report.app_resource_usage = NULL;
    assert_int_equal(rtr_apps_add(apps, &v[1].report), 0);
    assert_ptr_equal(rtr_apps_at(apps, 0)->app_resource_usage, &v[1].usage);
    rtr_apps_free(apps);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_halves),
                                        cmocka_unit_test(test_orphans),
                                        cmocka_unit_test(test_hostile) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
