/* ApplicationClientProtocol's methods that change an application, with yarn.acl.enable: a stranger
 * is refused and changes nothing, a user on its MODIFY_APP list may. */
#include "tests/unit/rm-lite/peer-calls.h"

#include "common/user-groups.h"

#define CS "yarn.scheduler.capacity."

static const char *const keys[][2] = {
    { "yarn.acl.enable", "true" },
    { "yarn.cluster.max-application-priority", "10" },
    { CS "root.queues", "default,b" },
    { CS "root.default.capacity", "50" },
    { CS "root.b.capacity", "50" },
    { CS "user-limit-factor", "-1" },
    { NULL, NULL },
};

struct change {
    const char *method;
    ProtobufCMessage *request;
    const ProtobufCMessageDescriptor *answer;
    bool (*done)(struct rm_app *app);
};

static bool has_priority(struct rm_app *app)
{
    return app->priority == 5;
}

static bool has_moved(struct rm_app *app)
{
    return strcmp(app->queue, "root.b") == 0;
}

static bool has_lifetime(struct rm_app *app)
{
    return app->lifetime_s != 0;
}

static bool has_signal(struct rm_app *app)
{
    const struct rm_container *master = app->attempts->master;

    return master && master->node && master->node->to_signal;
}

static bool has_failed(struct rm_app *app)
{
    return app->attempts->state != RM_ATT_ST_RUNNING;
}

/* Its master runs; the group daemon, which each system has, may modify it. */
static struct rm_app *running(struct fix *f)
{
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    Hadoop__Yarn__ApplicationACLMapProto modify = HADOOP__YARN__APPLICATION_ACLMAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationACLMapProto *acls[] = { &modify };
    struct submission s;
    struct rm_app *app;

    modify.has_accesstype = true;
    modify.accesstype = HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP;
    modify.acl = (char *)(uintptr_t) "eve daemon";
    clc.application_acls = acls;
    clc.n_application_acls = 1;
    add_node(f, 1);
    submission_init(f, &s);
    s.ctx.am_container_spec = &clc;
    app = submit_ctx(f, &s);
    run_master(f, app);
    return app;
}

static void refused(struct fix *f, const struct change *c, struct rm_app *app)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    const char *class = "";

    if (peer_ask(f, a,
                 &(struct peer_call){ .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                      .method = c->method,
                                      .port = f->rm->client_port,
                                      .user = "mallory",
                                      .request = c->request,
                                      .answer = c->answer },
                 &class, &err))
        fail_msg("%s: a stranger may", c->method);
    settle(f);
    assert_string_equal(class, JAVA_YARN_EXCEPTION);
    if (!strstr(err.text, "AccessControlException: User mallory cannot perform operation "
                          "MODIFY_APP on application_"))
        fail_msg("%s: %s", c->method, err.text);
    if (c->done(app))
        fail_msg("%s: refused, but done", c->method);
}

static void allowed(struct fix *f, const struct change *c, const char *user, struct rm_app *app)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    (void)peer_must(f, a,
                    &(struct peer_call){ .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                         .method = c->method,
                                         .port = f->rm->client_port,
                                         .user = user,
                                         .request = c->request,
                                         .answer = c->answer });
    settle(f);
    if (!c->done(app))
        fail_msg("%s by %s: answered, but not done", c->method, user);
}

/* Both by name and by a group, which is looked up during each call: the call that waits for it is
 * the one that goes on. */
static void test_changes_by(const char *user)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UpdateApplicationPriorityRequestProto priority =
        HADOOP__YARN__UPDATE_APPLICATION_PRIORITY_REQUEST_PROTO__INIT;
    Hadoop__Yarn__PriorityProto five = HADOOP__YARN__PRIORITY_PROTO__INIT;
    Hadoop__Yarn__MoveApplicationAcrossQueuesRequestProto move =
        HADOOP__YARN__MOVE_APPLICATION_ACROSS_QUEUES_REQUEST_PROTO__INIT;
    Hadoop__Yarn__UpdateApplicationTimeoutsRequestProto timeouts =
        HADOOP__YARN__UPDATE_APPLICATION_TIMEOUTS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ApplicationUpdateTimeoutMapProto row =
        HADOOP__YARN__APPLICATION_UPDATE_TIMEOUT_MAP_PROTO__INIT;
    Hadoop__Yarn__ApplicationUpdateTimeoutMapProto *rows[] = { &row };
    Hadoop__Yarn__SignalContainerRequestProto sig =
        HADOOP__YARN__SIGNAL_CONTAINER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__FailApplicationAttemptRequestProto end =
        HADOOP__YARN__FAIL_APPLICATION_ATTEMPT_REQUEST_PROTO__INIT;
    const struct change changes[] = {
        { "updateApplicationPriority", &priority.base,
          &hadoop__yarn__update_application_priority_response_proto__descriptor, has_priority },
        { "moveApplicationAcrossQueues", &move.base,
          &hadoop__yarn__move_application_across_queues_response_proto__descriptor, has_moved },
        { "updateApplicationTimeouts", &timeouts.base,
          &hadoop__yarn__update_application_timeouts_response_proto__descriptor, has_lifetime },
        { "signalToContainer", &sig.base,
          &hadoop__yarn__signal_container_response_proto__descriptor, has_signal },
        { "failApplicationAttempt", &end.base,
          &hadoop__yarn__fail_application_attempt_response_proto__descriptor, has_failed },
    };
    struct rm_app *app;
    struct fix f;

    setup_with(&f, keys);
    f.rm->hold_until_ms = 0;
    app = running(&f);
    priority.applicationid = move.application_id = timeouts.applicationid =
        yarn_app_id_to(a, app->id);
    five.has_priority = true;
    five.priority = 5;
    priority.applicationpriority = &five;
    move.target_queue = (char *)(uintptr_t) "b";
    row.has_application_timeout_type = true;
    row.application_timeout_type =
        HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME;
    row.expire_time = (char *)(uintptr_t) "2099-01-01T00:00:00.000+0000";
    timeouts.application_timeouts = rows;
    timeouts.n_application_timeouts = 1;
    sig.container_id = yarn_container_id_to(a, app->current->master_id);
    sig.command = HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__OUTPUT_THREAD_DUMP;
    end.application_attempt_id = yarn_attempt_id_to(a, app->current->id);
    for (size_t i = 0; i < SV_ARRAY_LEN(changes); i++) {
        sv_groups_forget(f.rm->groups);
        refused(&f, &changes[i], app);
        allowed(&f, &changes[i], user, app);
    }
    teardown(&f);
}

static void test_by_name(void **state)
{
    (void)state;
    test_changes_by("eve");
}

static void test_by_group(void **state)
{
    (void)state;
    test_changes_by("daemon");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_by_group),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests_name("modify-app", tests, NULL, NULL);
}
