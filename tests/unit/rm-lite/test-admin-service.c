/* rm-lite/admin-service.c and client-rm-service.c over real connections: a refused request is a
 * YarnException. Hadoop's clients retry a plain IOException for a quarter of an hour. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <stdlib.h>

#include "wire/ipc-client.h"

struct refused {
    const char *method;
    const ProtobufCMessage *request;
    const ProtobufCMessageDescriptor *answer;
    const char *text;
};

static void check_refused(struct fix *f, uint16_t port, const char *protocol,
                          const struct refused *r)
{
    const struct ipc_client_config cfg = {
        .host = "127.0.0.1", .port = port, .protocol = protocol, .version = 1, .user = "ann"
    };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    const char *class = NULL;
    ProtobufCMessage *m = NULL;
    struct ipc_client *c;

    assert_int_equal(ipc_client_new(f->event, &cfg, &c, NULL), 0);
    assert_int_equal(ipc_client_call_sync(c, r->method, r->request, r->answer, a, &m, &class, &err),
                     -EREMOTEIO);
    assert_string_equal(class, JAVA_YARN_EXCEPTION);
    if (!strstr(err.text, "java.io.IOException: ") || !strstr(err.text, r->text))
        fail_msg("%s: \"%s\" lacks \"java.io.IOException: \" or \"%s\"", r->method, err.text,
                 r->text);
    ipc_client_free(c);
}

static void test_calls_that_are_off(void **state)
{
    Hadoop__Yarn__RefreshServiceAclsRequestProto acls =
        HADOOP__YARN__REFRESH_SERVICE_ACLS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__AddToClusterNodeLabelsRequestProto labels =
        HADOOP__YARN__ADD_TO_CLUSTER_NODE_LABELS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__RefreshClusterMaxPriorityRequestProto priority =
        HADOOP__YARN__REFRESH_CLUSTER_MAX_PRIORITY_REQUEST_PROTO__INIT;
    const struct refused rows[] = {
        { "refreshServiceAcls", &acls.base,
          &hadoop__yarn__refresh_service_acls_response_proto__descriptor, "not enabled" },
        { "addToClusterNodeLabels", &labels.base,
          &hadoop__yarn__add_to_cluster_node_labels_response_proto__descriptor,
          "Node-label-based scheduling is disabled" },
        { "refreshClusterMaxPriority", &priority.base,
          &hadoop__yarn__refresh_cluster_max_priority_response_proto__descriptor,
          "yarn.cluster.max-application-priority" },
    };
    struct fix f;

    (void)state;
    setup(&f);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        check_refused(&f, f.rm->admin_port, YARN_ADMIN_PROTOCOL, &rows[i]);
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
}

static void test_delegation_tokens(void **state)
{
    Hadoop__Common__GetDelegationTokenRequestProto get =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    const struct refused row = { "getDelegationToken", &get.base,
                                 &hadoop__common__get_delegation_token_response_proto__descriptor,
                                 "only with kerberos authentication" };
    struct fix f;

    (void)state;
    get.renewer = (char *)(uintptr_t) "ann";
    setup(&f);
    check_refused(&f, f.rm->client_port, YARN_APPLICATION_CLIENT_PROTOCOL, &row);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_that_are_off),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_administrators),
        cmocka_unit_test(test_delegation_tokens),
    };

    return cmocka_run_group_tests_name("admin-service", tests, NULL, NULL);
}
