/* rm-lite/admin/admin-service.c over real connections: a refused request is a
 * YarnException. Hadoop's clients retry a plain IOException for a quarter of an hour. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <stdlib.h>

#include "common/str.h"
#include "common/user-groups.h"
#include "rm-lite/nodes/overcommit.h"
#include "rm-lite/scheduler/scheduler.h"
#include "wire/ipc/ipc-client.h"

struct refused {
    const char *method;
    const ProtobufCMessage *request;
    const ProtobufCMessageDescriptor *answer;
    const char *text;
};

/* The text of the YarnException that answers the call. */
static void exception_of(struct fix *f, uint16_t port, const char *protocol,
                         const struct refused *r, struct sv_error *ret)
{
    const struct ipc_client_config cfg = {
        .host = "127.0.0.1", .port = port, .protocol = protocol, .version = 1, .user = "ann"
    };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const char *class = NULL;
    ProtobufCMessage *m = NULL;
    struct ipc_client *c;

    assert_int_equal(ipc_client_new(f->event, &cfg, &c, NULL), 0);
    assert_int_equal(ipc_client_call_sync(c, r->method, r->request, r->answer, a, &m, &class, ret),
                     -EREMOTEIO);
    assert_string_equal(class, JAVA_YARN_EXCEPTION);
    ipc_client_free(c);
}

static void check_refused(struct fix *f, uint16_t port, const char *protocol,
                          const struct refused *r)
{
    struct sv_error err = { 0 };

    exception_of(f, port, protocol, r, &err);
    if (!strstr(err.text, "java.io.IOException: ") || !strstr(err.text, r->text))
        fail_msg("%s: \"%s\" lacks \"java.io.IOException: \" or \"%s\"", r->method, err.text,
                 r->text);
}

static void test_calls_that_are_off(void **state)
{
    Hadoop__Yarn__RefreshServiceAclsRequestProto acls =
        HADOOP__YARN__REFRESH_SERVICE_ACLS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__AddToClusterNodeLabelsRequestProto labels =
        HADOOP__YARN__ADD_TO_CLUSTER_NODE_LABELS_REQUEST_PROTO__INIT;
    const struct refused rows[] = {
        { "refreshServiceAcls", &acls.base,
          &hadoop__yarn__refresh_service_acls_response_proto__descriptor, "not enabled" },
        { "addToClusterNodeLabels", &labels.base,
          &hadoop__yarn__add_to_cluster_node_labels_response_proto__descriptor,
          "Node-label-based scheduling is disabled" },
    };
    struct fix f;

    (void)state;
    setup(&f);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        check_refused(&f, f.rm->admin_port, YARN_ADMIN_PROTOCOL, &rows[i]);
    teardown(&f);
}

/* As Apache's ResourceManager, in its words and without "java.io.IOException". */
static void test_methods_of_a_router(void **state)
{
    Hadoop__Yarn__DeregisterSubClusterRequestProto member =
        HADOOP__YARN__DEREGISTER_SUB_CLUSTER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__DeleteFederationQueuePoliciesRequestProto queues =
        HADOOP__YARN__DELETE_FEDERATION_QUEUE_POLICIES_REQUEST_PROTO__INIT;
    const struct refused rows[] = {
        { "deregisterSubCluster", &member.base,
          &hadoop__yarn__deregister_sub_cluster_response_proto__descriptor,
          "It is not allowed to call the RM's deregisterSubCluster to set the subCluster(s) state "
          "to SC_LOST, Please call Router's deregisterSubCluster to set." },
        { "deleteFederationPoliciesByQueues", &queues.base,
          &hadoop__yarn__delete_federation_queue_policies_response_proto__descriptor,
          "It is not allowed to call the RM's deleteFederationQueuePoliciesByQueues. Please call "
          "Router's deleteFederationQueuePoliciesByQueues to delete Policies." },
    };
    struct fix f;

    (void)state;
    setup(&f);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct sv_error err = { 0 };

        exception_of(&f, f.rm->admin_port, YARN_ADMIN_PROTOCOL, &rows[i], &err);
        if (!sv_has_suffix(err.text, rows[i].text) || strstr(err.text, "IOException"))
            fail_msg("%s: \"%s\"", rows[i].method, err.text);
    }
    teardown(&f);
}

static void write_file(const struct fix *f, const char *name, const char *text)
{
    char path[128];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_bad_files(void **state)
{
    Hadoop__Yarn__RefreshQueuesRequestProto queues =
        HADOOP__YARN__REFRESH_QUEUES_REQUEST_PROTO__INIT;
    const struct refused bad = { "refreshQueues", &queues.base,
                                 &hadoop__yarn__refresh_queues_response_proto__descriptor,
                                 "Failed to re-init queues : " };
    struct fix f;

    (void)state;
    setup(&f);
    write_file(&f, "yarn-site.xml", "<configuration><property>");
    assert_int_equal(setenv("HADOOP_CONF_DIR", f.dir, 1), 0);
    check_refused(&f, f.rm->admin_port, YARN_ADMIN_PROTOCOL, &bad);
    assert_int_equal(unsetenv("HADOOP_CONF_DIR"), 0);
    teardown(&f);
}

/* The class of the refusal; NULL: it is done. */
static const char *refresh(struct fix *f, const char *user, const char *method)
{
    Hadoop__Yarn__RefreshAdminAclsRequestProto q =
        HADOOP__YARN__REFRESH_ADMIN_ACLS_REQUEST_PROTO__INIT;
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = f->rm->admin_port,
                                           .protocol = YARN_ADMIN_PROTOCOL,
                                           .version = 1,
                                           .user = user };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    const char *class = NULL;
    ProtobufCMessage *m = NULL;
    struct ipc_client *c;
    int r;

    assert_int_equal(ipc_client_new(f->event, &cfg, &c, NULL), 0);
    r = ipc_client_call_sync(c, method, &q.base,
                             &hadoop__yarn__refresh_admin_acls_response_proto__descriptor, a, &m,
                             &class, &err);
    ipc_client_free(c);
    assert_true(r == 0 || r == -EREMOTEIO);
    return r < 0 ? JAVA_YARN_EXCEPTION : NULL;
}

/* Methods without members in request and answer. */
static void test_administrators(void **state)
{
    static const char *const keys[][2] = { { "yarn.acl.enable", "true" },
                                           { "yarn.admin.acl", "boss daemon" },
                                           { NULL, NULL } };
    static const char *const all[][2] = { { "yarn.acl.enable", "true" }, { NULL, NULL } };
    static const char *const names[][2] = { { "yarn.admin.acl", "boss" }, { NULL, NULL } };
    static const char *const nothing[][2] = { { NULL, NULL } };
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    assert_null(refresh(&f, "boss", "refreshUserToGroupsMappings"));
    assert_null(refresh(&f, "root", "refreshUserToGroupsMappings"));
    assert_null(refresh(&f, "daemon", "refreshUserToGroupsMappings")); /* by its group */
    assert_non_null(refresh(&f, "ann", "refreshUserToGroupsMappings"));
    assert_non_null(refresh(&f, "ann", "refreshAdminAcls"));
    write_file(&f, "yarn-site.xml",
               "<configuration><property><name>yarn.admin.acl</name><value>ann</value></property>"
               "</configuration>");
    assert_int_equal(setenv("HADOOP_CONF_DIR", f.dir, 1), 0);
    assert_null(refresh(&f, "boss", "refreshAdminAcls"));
    assert_int_equal(unsetenv("HADOOP_CONF_DIR"), 0);
    assert_non_null(refresh(&f, "boss", "refreshUserToGroupsMappings"));
    assert_null(refresh(&f, "ann", "refreshUserToGroupsMappings"));
    teardown(&f);
    setup_with(&f, all); /* the default list, "*", names nobody */
    assert_non_null(refresh(&f, "ann", "refreshUserToGroupsMappings"));
    teardown(&f);
    setup_with(&f, names); /* without yarn.acl.enable, names count as well */
    assert_null(refresh(&f, "boss", "refreshUserToGroupsMappings"));
    assert_null(refresh(&f, "root", "refreshUserToGroupsMappings"));
    assert_non_null(refresh(&f, "ann", "refreshUserToGroupsMappings"));
    teardown(&f);
    setup_with(&f, nothing);
    assert_null(refresh(&f, "ann", "refreshUserToGroupsMappings"));
    teardown(&f);
}

/* The name service: a group of every user, changed between two look-ups only. */
static const char *group;

static char **one_group(void *data, const char *user, char *why, size_t why_size)
{
    char **names = calloc(2, sizeof(*names));

    (void)data, (void)why, (void)why_size;
    (void)user;
    assert_non_null(names);
    names[0] = strdup(group);
    return names;
}

static void on_known(void *userdata)
{
    (void)userdata;
}

static const char *group_of(struct fix *f, const char *user)
{
    char *const *names;

    while (sv_groups_of(f->rm->groups, user, &names) == -EAGAIN)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
    assert_non_null(names[0]);
    return names[0];
}

/* A user's changed groups take effect with refreshUserToGroupsMappings. */
static void test_groups_are_asked_again(void **state)
{
    const struct sv_groups_conf conf = { .cache_ms = INT32_MAX,
                                         .negative_ms = INT32_MAX,
                                         .source = { .names = one_group },
                                         .known = on_known };
    struct fix f;

    (void)state;
    setup(&f);
    f.rm->groups = sv_groups_free(f.rm->groups);
    assert_int_equal(sv_groups_new(f.event, &conf, &f.rm->groups), 0);
    group = "staff";
    assert_string_equal(group_of(&f, "bob"), "staff");
    group = "ops";
    assert_string_equal(group_of(&f, "bob"), "staff");
    assert_null(refresh(&f, "ann", "refreshUserToGroupsMappings"));
    assert_string_equal(group_of(&f, "bob"), "ops");
    teardown(&f);
}

/* 0 or -EREMOTEIO with the class and text of the refusal. */
static int call(struct fix *f, const char *protocol, const char *method,
                const ProtobufCMessage *request, const ProtobufCMessageDescriptor *answer,
                struct sv_arena *a, ProtobufCMessage **ret, struct sv_error *err)
{
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = f->rm->admin_port,
                                           .protocol = protocol,
                                           .version = 1,
                                           .user = "ann" };
    const char *class = NULL;
    struct ipc_client *c;
    int r;

    assert_int_equal(ipc_client_new(f->event, &cfg, &c, NULL), 0);
    r = ipc_client_call_sync(c, method, request, answer, a, ret, &class, err);
    ipc_client_free(c);
    assert_true(r == 0 || r == -EREMOTEIO);
    return r;
}

static int resize(struct fix *f, const struct yarn_node_id *id, int64_t memory, int timeout,
                  struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UpdateNodeResourceRequestProto q =
        HADOOP__YARN__UPDATE_NODE_RESOURCE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeResourceMapProto row = HADOOP__YARN__NODE_RESOURCE_MAP_PROTO__INIT;
    Hadoop__Yarn__ResourceOptionProto option = HADOOP__YARN__RESOURCE_OPTION_PROTO__INIT;
    Hadoop__Yarn__NodeResourceMapProto *rows[] = { &row };
    ProtobufCMessage *m;

    row.node_id = yarn_node_id_to(a, id);
    row.resource_option = &option;
    option.resource = yarn_resource_to(a, (struct yarn_resource){ memory, 4 });
    option.has_over_commit_timeout = true;
    option.over_commit_timeout = timeout;
    q.node_resource_map = rows;
    q.n_node_resource_map = 1;
    return call(f, YARN_ADMIN_PROTOCOL, "updateNodeResource", &q.base,
                &hadoop__yarn__update_node_resource_response_proto__descriptor, a, &m, err);
}

static void test_node_resource(void **state)
{
    struct yarn_node_id nobody = { .host = "nobody", .port = 1 };
    struct sv_error err = { 0 };
    struct rm_node_usage use;
    struct rm_node *n;
    struct fix f;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    assert_int_equal(resize(&f, &n->id, 4096, -1, &err), 0);
    assert_int_equal(n->total.mem, 4096);
    assert_true(n->resize_waits); /* sent to the node with its next heartbeat */
    assert_int_equal(rm_sched_node_usage(f.rm->sched, &n->id, &use), 0);
    assert_int_equal(use.total.mem, 4096);
    assert_int_equal(use.total.vcores, 4);
    assert_int_equal(resize(&f, &nobody, 4096, -1, &err), -EREMOTEIO);
    assert_non_null(strstr(err.text, "unrecognized node: nobody:1"));
    assert_int_equal(resize(&f, &n->id, -1, -1, &err), -EREMOTEIO);
    assert_int_equal(n->total.mem, 4096);
    teardown(&f);
}

/* A master and three containers of 1 GiB that run on a node of 8 GiB. */
static struct rm_app *crowd(struct fix *f, struct rm_node **ret)
{
    struct rm_app *app;

    setup(f);
    *ret = add_node(f, 1);
    app = submit(f, false, 1);
    run_master(f, app);
    ask_containers(f, app, 3);
    while (app->current->fresh)
        rm_container_post(pull_container(app->current), RM_CON_EV_LAUNCHED);
    assert_int_equal(app->n_live, 4);
    return app;
}

/* OvercommitTimeout 0: containers above the new size are preempted at once, the newest first, the
 * master last. */
static void test_overcommit_at_once(void **state)
{
    struct sv_error err = { 0 };
    struct rm_done *d;
    struct rm_app *app;
    struct rm_node *n;
    int64_t last = 0;
    struct fix f;

    (void)state;
    app = crowd(&f, &n);
    assert_int_equal(resize(&f, &n->id, 4096, 0, &err), 0); /* all fit */
    assert_int_equal(app->n_live, 4);
    assert_int_equal(resize(&f, &n->id, 2047, 0, &err), 0);
    assert_int_equal(app->n_live, 1);
    assert_non_null(app->current->master);
    assert_int_equal(app->preempted.containers, 3);
    DL_FOREACH (app->current->done, d) {
        assert_int_equal(d->exit_status, YARN_EXIT_PREEMPTED);
        assert_true(last == 0 || d->id.id < last);
        last = d->id.id;
    }
    assert_int_equal(resize(&f, &n->id, 512, 0, &err), 0); /* the master, too */
    settle(&f);
    assert_int_equal(app->preempted.masters, 1);
    assert_int_equal(app->n_live, 0);
    teardown(&f);
}

/* Above 0: masters are notified now, and the first heartbeat after it preempts. */
static void test_overcommit_later(void **state)
{
    struct sv_error err = { 0 };
    struct rm_app *app;
    struct rm_node *n;
    struct fix f;

    (void)state;
    app = crowd(&f, &n);
    assert_int_equal(resize(&f, &n->id, 3072, -1, &err), 0); /* they stay */
    rm_overcommit_beat(n);
    assert_int_equal(app->n_announced, 0);
    assert_int_equal(resize(&f, &n->id, 2048, 3600000, &err), 0);
    assert_int_equal(app->n_announced, 2);
    assert_int_equal(app->n_live, 4);
    rm_overcommit_beat(n);
    assert_int_equal(app->n_live, 4);
    assert_int_equal(resize(&f, &n->id, 2048, 0, &err),
                     0); /* unchanged size: no effect, as in Apache's */
    assert_int_equal(app->n_live, 4);
    n->overcommit_ms = sv_now_ms(); /* the hour is over */
    rm_overcommit_beat(n);
    assert_int_equal(app->n_live, 2);
    assert_int_equal(app->n_announced, 0);
    assert_int_equal(app->preempted.containers, 2);
    rm_overcommit_beat(n);
    assert_int_equal(app->n_live, 2);
    teardown(&f);
}

static void test_max_priority(void **state)
{
    Hadoop__Yarn__RefreshClusterMaxPriorityRequestProto q =
        HADOOP__YARN__REFRESH_CLUSTER_MAX_PRIORITY_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    ProtobufCMessage *m;
    struct fix f;

    (void)state;
    setup(&f);
    write_file(&f, "yarn-site.xml",
               "<configuration><property><name>yarn.cluster.max-application-priority</name>"
               "<value>7</value></property></configuration>");
    assert_int_equal(setenv("HADOOP_CONF_DIR", f.dir, 1), 0);
    assert_int_equal(call(&f, YARN_ADMIN_PROTOCOL, "refreshClusterMaxPriority", &q.base,
                          &hadoop__yarn__refresh_cluster_max_priority_response_proto__descriptor, a,
                          &m, &err),
                     0);
    assert_int_equal(unsetenv("HADOOP_CONF_DIR"), 0);
    assert_int_equal(f.rm->conf.max_priority, 7);
    teardown(&f);
}

/* A key of the command line wins over the file that refreshQueues reads. */
static void test_refresh_keeps_the_command_line(void **state)
{
    Hadoop__Yarn__RefreshQueuesRequestProto q = HADOOP__YARN__REFRESH_QUEUES_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct rm_queue_info info;
    ProtobufCMessage *m;
    struct fix f;

    (void)state;
    setup(&f);
    assert_int_equal(
        sv_conf_override(f.conf, "yarn.scheduler.capacity.root.default.user-limit-factor", "3"), 0);
    write_file(&f, "capacity-scheduler.xml",
               "<configuration><property><name>yarn.scheduler.capacity.root.default.capacity</name>"
               "<value>100</value></property><property><name>"
               "yarn.scheduler.capacity.root.default.user-limit-factor</name><value>2</value>"
               "</property><property><name>yarn.scheduler.capacity.root.default."
               "maximum-applications</name><value>7</value></property></configuration>");
    assert_int_equal(setenv("HADOOP_CONF_DIR", f.dir, 1), 0);
    assert_int_equal(call(&f, YARN_ADMIN_PROTOCOL, "refreshQueues", &q.base,
                          &hadoop__yarn__refresh_queues_response_proto__descriptor, a, &m, &err),
                     0);
    assert_int_equal(unsetenv("HADOOP_CONF_DIR"), 0);
    assert_int_equal(rm_sched_queue(f.rm->sched, "default", &info), 0);
    assert_int_equal(info.max_apps, 7);
    assert_true(info.user_limit_factor == 3);
    teardown(&f);
}

static void test_always_active(void **state)
{
    Hadoop__Common__GetServiceStatusRequestProto get =
        HADOOP__COMMON__GET_SERVICE_STATUS_REQUEST_PROTO__INIT;
    Hadoop__Common__TransitionToStandbyRequestProto standby =
        HADOOP__COMMON__TRANSITION_TO_STANDBY_REQUEST_PROTO__INIT;
    Hadoop__Common__HAStateChangeRequestInfoProto by =
        HADOOP__COMMON__HASTATE_CHANGE_REQUEST_INFO_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Common__GetServiceStatusResponseProto *status;
    struct sv_error err = { 0 };
    ProtobufCMessage *m;
    struct fix f;

    (void)state;
    setup(&f);
    standby.reqinfo = &by;
    assert_int_equal(call(&f, HADOOP_HA_SERVICE_PROTOCOL, "getServiceStatus", &get.base,
                          &hadoop__common__get_service_status_response_proto__descriptor, a, &m,
                          &err),
                     0);
    status = (const Hadoop__Common__GetServiceStatusResponseProto *)m;
    assert_int_equal(status->state, HADOOP__COMMON__HASERVICE_STATE_PROTO__ACTIVE);
    assert_int_equal(call(&f, HADOOP_HA_SERVICE_PROTOCOL, "transitionToStandby", &standby.base,
                          &hadoop__common__transition_to_standby_response_proto__descriptor, a, &m,
                          &err),
                     -EREMOTEIO);
    assert_non_null(strstr(err.text, "always active"));
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_that_are_off),
        cmocka_unit_test(test_methods_of_a_router),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_administrators),
        cmocka_unit_test(test_groups_are_asked_again),
        cmocka_unit_test(test_node_resource),
        cmocka_unit_test(test_overcommit_at_once),
        cmocka_unit_test(test_overcommit_later),
        cmocka_unit_test(test_max_priority),
        cmocka_unit_test(test_refresh_keeps_the_command_line),
        cmocka_unit_test(test_always_active),
    };

    return cmocka_run_group_tests_name("admin-service", tests, NULL, NULL);
}
