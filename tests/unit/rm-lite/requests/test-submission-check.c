/* Limits of submissions and of a master's texts, with a whole ResourceManager: each refusal names
 * the application and the remedy, nothing is kept of what is refused, an application that has ended
 * gives its bytes back, and a store with longer texts is read. */
#include "tests/unit/rm-lite/peer-calls.h"

#include <stdlib.h>

#include "rm-lite/core/name-set.h"
#include "rm-lite/core/submission.h"

static char *text_of(size_t n)
{
    char *s = malloc(n + 1);

    assert_non_null(s);
    memset(s, 'x', n);
    s[n] = 0;
    return s;
}

static void refused(struct fix *f, struct submission *s, const char *user, const char *words)
{
    struct sv_error err = { 0 };
    const char *class = "";
    int64_t before = f->rm->submission_bytes;

    assert_true(rm_app_submit(f->rm, &s->ctx, user, &class, &err) < 0);
    if (!strstr(err.text, words) || !strstr(err.text, "application_"))
        fail_msg("%s", err.text);
    assert_int_equal(f->rm->submission_bytes, before);
}

static int try_submit(struct fix *f, struct submission *s, const char *user)
{
    struct sv_error err = { 0 };
    const char *class;
    int r = rm_app_submit(f->rm, &s->ctx, user, &class, &err);

    settle(f);
    return r;
}

static void test_name_and_type(void **state)
{
    char *longest = text_of(RM_NAME_MAX), *more = text_of(RM_NAME_MAX + 1);
    struct submission s;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    submission_init(&f, &s);
    s.ctx.unmanaged_am = true;
    s.ctx.application_name = more;
    refused(&f, &s, "ann", "its name has 1025 bytes, more than 1024: submit it with a shorter");
    assert_null(rm_app_find(f.rm, s.app_id));
    s.ctx.application_name = longest;
    s.ctx.applicationtype = (char *)(uintptr_t) "1234567890123456789\xc3\xa4 and more";
    app = submit_ctx(&f, &s);
    assert_string_equal(app->name, longest);
    assert_string_equal(app->type, "1234567890123456789"); /* no half of a character */
    teardown(&f);
    free(longest);
    free(more);
}

static void test_parts(void **state)
{
    Hadoop__Yarn__ContainerLaunchContextProto spec =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    char *command[RM_PARTS_MAX + 1];
    struct submission s;
    struct fix f;

    (void)state;
    setup(&f);
    for (size_t i = 0; i < SV_ARRAY_LEN(command); i++)
        command[i] = (char *)(uintptr_t) "x";
    spec.command = command;
    spec.n_command = RM_PARTS_MAX;
    submission_init(&f, &s);
    s.ctx.am_container_spec = &spec;
    assert_int_equal(try_submit(&f, &s, "ann"), 0);
    submission_init(&f, &s);
    s.ctx.am_container_spec = &spec;
    spec.n_command++;
    refused(&f, &s, "ann", "10001 resources, variables, commands and other parts, more than 10000");
    teardown(&f);
}

/* Members of any list are parts, however deep it is. */
static void test_parts_of_resources(void **state)
{
    Hadoop__Yarn__ResourceInformationProto entry = HADOOP__YARN__RESOURCE_INFORMATION_PROTO__INIT;
    Hadoop__Yarn__ResourceInformationProto *entries[RM_PARTS_MAX + 1];
    struct submission s;
    struct fix f;

    (void)state;
    setup(&f);
    entry.key = (char *)(uintptr_t) "memory-mb";
    for (size_t i = 0; i < SV_ARRAY_LEN(entries); i++)
        entries[i] = &entry;
    submission_init(&f, &s);
    s.ctx.resource->resource_value_map = entries;
    s.ctx.resource->n_resource_value_map = SV_ARRAY_LEN(entries);
    refused(&f, &s, "ann", "10001 resources, variables, commands and other parts, more than 10000");
    teardown(&f);
}

static void test_same_id(void **state)
{
    struct submission s;
    struct fix f;

    (void)state;
    setup(&f);
    submission_init(&f, &s);
    s.ctx.unmanaged_am = true;
    assert_non_null(submit_ctx(&f, &s));
    assert_int_equal(try_submit(&f, &s, "ann"), 0);
    refused(&f, &s, "bob", "get a new id (getNewApplication) and submit again");
    teardown(&f);
}

struct large {
    struct submission s;
    Hadoop__Yarn__ContainerLaunchContextProto clc;
    Hadoop__Yarn__ApplicationACLMapProto view, *acls[1];
    char *commands[1];
};

static void large_init(struct fix *f, struct large *l, char *command)
{
    submission_init(f, &l->s);
    hadoop__yarn__container_launch_context_proto__init(&l->clc);
    hadoop__yarn__application_aclmap_proto__init(&l->view);
    l->view.has_accesstype = true;
    l->view.accesstype = HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_VIEW_APP;
    l->view.acl = (char *)(uintptr_t) "carl";
    l->acls[0] = &l->view;
    l->clc.application_acls = l->acls;
    l->clc.n_application_acls = 1;
    l->commands[0] = command;
    l->clc.command = l->commands;
    l->clc.n_command = 1;
    l->s.ctx.unmanaged_am = true;
    l->s.ctx.am_container_spec = &l->clc;
}

#define ROOM 4096 /* more than the rest of a context has */

static void test_context(void **state)
{
    char *much = text_of(RM_SUBMISSION_MAX), *less = text_of(RM_SUBMISSION_MAX - ROOM);
    struct rm_app *app;
    struct large l;
    struct fix f;

    (void)state;
    setup(&f);
    large_init(&f, &l, much);
    refused(&f, &l.s, "ann", "give large data as a file among its local resources");
    large_init(&f, &l, less);
    app = submit_ctx(&f, &l.s);
    assert_true(app->submission_len > RM_SUBMISSION_MAX - ROOM);
    assert_int_equal(f.rm->submission_bytes, app->submission_len);
    kill_app(&f, app); /* what only an attempt needed is gone, also after a restart */
    assert_int_equal(app->state, RM_APP_ST_KILLED);
    assert_true(app->submission_len < ROOM);
    assert_int_equal(f.rm->submission_bytes, app->submission_len);
    stop(&f);
    start(&f);
    app = rm_app_find(f.rm, l.s.app_id);
    assert_true(app->submission_len < ROOM);
    assert_string_equal(app->view_acl, "carl");
    teardown(&f);
    free(much);
    free(less);
}

/* As many more bytes as other applications would have. */
static void add_bytes(struct fix *f, const char *user, int64_t n)
{
    rm_set_add(&f->rm->submitters, user)->number += n;
    f->rm->submission_bytes += n;
}

static void test_sums(void **state)
{
    char *half = text_of(RM_SUBMISSION_MAX / 2);
    struct rm_app *app;
    struct large l;
    struct fix f;

    (void)state;
    setup(&f);
    add_bytes(&f, "ann", RM_SUBMISSIONS_OF_USER_MAX - RM_SUBMISSION_MAX);
    large_init(&f, &l, half);
    app = submit_ctx(&f, &l.s);
    large_init(&f, &l, half);
    refused(&f, &l.s, "ann", "ApplicationSubmissionContexts of user ann would have more than 128");
    add_bytes(&f, "eve", RM_SUBMISSIONS_MAX - RM_SUBMISSIONS_OF_USER_MAX);
    refused(&f, &l.s, "bob", "all ApplicationSubmissionContexts of the cluster would have more");
    kill_app(&f, app); /* its bytes are free again */
    assert_int_equal(try_submit(&f, &l.s, "ann"), 0);
    teardown(&f);
    free(half);
}

/* A store of an earlier version, which checked none of these. */
static void test_recovery(void **state)
{
    char *much = text_of(RM_SUBMISSION_MAX), *name = text_of(3 * RM_NAME_MAX);
    Hadoop__Yarn__ApplicationSubmissionContextProto ctx;
    struct rm_app *app;
    struct large l;
    struct fix f;

    (void)state;
    setup(&f);
    large_init(&f, &l, (char *)(uintptr_t) "true");
    app = submit_ctx(&f, &l.s);
    ctx = *rm_app_context(app);
    ctx.application_name = name;
    l.commands[0] = much;
    ctx.am_container_spec = &l.clc;
    assert_int_equal(rm_submission_pack(app, &ctx), 0);
    rm_store_app_update(f.rm, app);
    settle(&f);
    stop(&f);
    start(&f);
    app = rm_app_find(f.rm, l.s.app_id);
    assert_non_null(app);
    assert_true(app->submission_len > RM_SUBMISSION_MAX);
    assert_int_equal(strlen(app->name), RM_NAME_MAX);
    teardown(&f);
    free(much);
    free(name);
}

/* ---- Masters ---- */

static void master_refused(struct fix *f, struct rm_attempt *att, const char *method,
                           const ProtobufCMessage *request,
                           const ProtobufCMessageDescriptor *answer, const char *words)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct yarn_token token;
    const char *class = "";

    assert_int_equal(rm_token_amrm(a, att, &token), 0);
    assert_null(peer_ask(f, a,
                         &(struct peer_call){ .protocol = YARN_APPLICATION_MASTER_PROTOCOL,
                                              .method = method,
                                              .port = f->rm->am_port,
                                              .token = &token,
                                              .request = request,
                                              .answer = answer },
                         &class, &err));
    assert_string_equal(class, JAVA_INVALID_AM_REQUEST);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
}

static void test_master(void **state)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto reg =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__AllocateRequestProto ask = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__FinishApplicationMasterRequestProto end =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    const ProtobufCMessageDescriptor *reg_answer =
        &hadoop__yarn__register_application_master_response_proto__descriptor;
    char *more = text_of(RM_ADDRESS_MAX + 1), *longest = text_of(RM_ADDRESS_MAX);
    char *diagnostics = text_of(3 * RM_DIAGNOSTICS_MAX);
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct rm_attempt *att;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    app = submit(&f, true, 1);
    att = app->current;
    reg.host = more;
    master_refused(&f, att, "registerApplicationMaster", &reg.base, reg_answer,
                   "the host of its ApplicationMaster has 4097 bytes, more than 4096");
    reg.host = longest;
    reg.tracking_url = more;
    master_refused(&f, att, "registerApplicationMaster", &reg.base, reg_answer,
                   "the tracking URL of its ApplicationMaster has 4097 bytes");
    reg.tracking_url = longest;
    (void)master_must(&f, a, att, "registerApplicationMaster", &reg.base, reg_answer);
    settle(&f);
    ask.tracking_url = more;
    ask.has_response_id = true;
    master_refused(&f, att, "allocate", &ask.base,
                   &hadoop__yarn__allocate_response_proto__descriptor, "tracking URL");
    assert_string_equal(att->tracking_url, longest);
    end.tracking_url = more;
    end.has_final_application_status = true;
    master_refused(&f, att, "finishApplicationMaster", &end.base,
                   &hadoop__yarn__finish_application_master_response_proto__descriptor,
                   "tracking URL");
    end.tracking_url = longest;
    end.diagnostics = diagnostics;
    (void)master_must(&f, a, att, "finishApplicationMaster", &end.base,
                      &hadoop__yarn__finish_application_master_response_proto__descriptor);
    settle(&f);
    assert_int_equal(strlen(app->diagnostics), RM_DIAGNOSTICS_MAX);
    teardown(&f);
    free(more);
    free(longest);
    free(diagnostics);
}

/* Statuses that no master fetches. */
static void test_done_texts(void **state)
{
    char *diagnostics = text_of(RM_DIAGNOSTICS_MAX);
    struct rm rm = { .done = NULL };
    int n = (int)(2 * RM_DONE_TEXTS_MAX / RM_DIAGNOSTICS_MAX);
    struct rm_done *d, *tmp;

    (void)state;
    for (int i = 0; i < n; i++) {
        d = calloc(1, sizeof(*d));
        assert_non_null(d);
        d->rm = &rm;
        (void)snprintf(d->id_str, sizeof(d->id_str), "%d", i);
        HASH_ADD_STR(rm.done, id_str, d);
        rm_done_set_text(d, diagnostics);
    }
    assert_true(rm.done_texts < RM_DONE_TEXTS_MAX + RM_DONE_TEXTS_MAX / 8);
    HASH_ITER (hh, rm.done, d, tmp)
        rm_done_free(d);
    assert_int_equal(rm.done_texts, 0);
    free(diagnostics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name_and_type),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_parts_of_resources),
        cmocka_unit_test(test_same_id),
        cmocka_unit_test(test_context),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_master),
        cmocka_unit_test(test_done_texts),
    };

    return cmocka_run_group_tests_name("submission-check", tests, NULL, NULL);
}
