/* federation/amrm/uam-submission.c: what a secondary sub-cluster is told of an application. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "federation/amrm/uam-submission.h"

static void without_context(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct fed_uam_application app = { { 1000, 7 }, "SC-1", "", NULL };
    const Hadoop__Yarn__ApplicationSubmissionContextProto *c =
        fed_uam_submission(a, &app)->application_submission_context;

    (void)state;
    assert_int_equal(c->application_id->id, 7);
    assert_int_equal(c->application_id->cluster_timestamp, 1000);
    assert_string_equal(c->application_name, "UnmanagedAM-SC-1");
    assert_string_equal(c->queue, "default");
    assert_int_equal(c->resource->memory, 1024);
    assert_int_equal(c->resource->virtual_cores, 1);
    assert_true(c->unmanaged_am && c->has_unmanaged_am);
    assert_true(c->keep_containers_across_application_attempts);
    assert_non_null(c->am_container_spec);
    assert_string_equal(c->applicationtype, "YARN");
}

static void with_context(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationSubmissionContextProto context;
    Hadoop__Yarn__PriorityProto priority;
    struct fed_uam_application app = { { 1000, 7 }, "SC-1", "root.a", &context };
    const Hadoop__Yarn__ApplicationSubmissionContextProto *c;
    char *tags[] = { (char[]){ "t" } };

    (void)state;
    hadoop__yarn__application_submission_context_proto__init(&context);
    hadoop__yarn__priority_proto__init(&priority);
    context.application_name = (char[]){ "mine" };
    context.queue = (char[]){ "other" };
    context.applicationtype = (char[]){ "TEZ" };
    context.priority = &priority;
    context.applicationtags = tags;
    context.n_applicationtags = 1;
    context.has_unmanaged_am = true;
    c = fed_uam_submission(a, &app)->application_submission_context;
    assert_string_equal(c->application_name, "UnmanagedAM-SC-1");
    assert_string_equal(c->queue, "root.a");
    assert_string_equal(c->applicationtype, "TEZ");
    assert_ptr_equal(c->priority, &priority);
    assert_int_equal(c->n_applicationtags, 1);
    assert_true(c->unmanaged_am);
}

static void no_memory(void **state)
{
    const struct fed_uam_application app = { { 1000, 7 }, "SC-1", NULL, NULL };

    (void)state;
    for (size_t n = 16; n < 1200; n += 16) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(n);

        if (fed_uam_submission(a, &app))
            return;
    }
    fail_msg("no submission fits 1200 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_context),
        cmocka_unit_test(with_context),
        cmocka_unit_test(no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
