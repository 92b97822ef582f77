/* service/launcher/rest.c: every row of the API with its answers, refusals and rights. */
#include "service/engine/exit-table.h"
#include "tests/unit/service/launcher-fixture.h"

#define F "/v1/Frameworks/a"
#define NAME_256                                                                                   \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"                             \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"                             \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"                             \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* In order, on one launcher: a call, its status, and a part of its answer. */
static const struct row {
    const char *method, *uri, *body;
    unsigned status;
    const char *part;
} rows[] = {
    { "GET", "/", NULL, 200, "Active at me: 10.0.0.9" },
    { "GET", "/v1", NULL, 200, "Active at me: 10.0.0.9" },
    { "GET", "/v1/", NULL, 200, "Active at" },
    { "HEAD", "/v1", NULL, 200, NULL },
    { "GET", "/v1/none", NULL, 404, "NotFoundException" },
    { "GET", "/v1/Frameworks/%zz", NULL, 400, "BadRequestException" },
    { "GET", "/v1/Frameworks/%00", NULL, 400, "BadRequestException" },
    { "POST", "/v1/Frameworks", "{}", 400, "WebApplicationException" },
    { "DELETE", "/v1/Frameworks", NULL, 400, "WebApplicationException" },
    { "GET", "/v1/Frameworks", NULL, 200, "{\"summarizedFrameworkInfos\":[]}" },
    /* PUT of a framework */
    { "PUT", F, BODY(1, ""), 202, NULL },
    { "PUT", "/v1/Frameworks/ann~b", BODY(1, ""), 202, NULL },
    { "PUT", "/v1/Frameworks/a%20b", BODY(1, ""), 400, "Name [a b] is not matched with naming" },
    { "PUT", "/v1/Frameworks/a%2Fb", BODY(1, ""), 400, "Name [a/b] is not matched" },
    { "PUT", "/v1/Frameworks/" NAME_256, BODY(1, ""), 202, NULL },
    { "PUT", "/v1/Frameworks/" NAME_256 "x", BODY(1, ""), 400, "is not matched" },
    { "PUT", F, "", 400, "Object is null" },
    { "PUT", F, "{", 400, "JsonParseException" },
    { "PUT", F, "[]", 400, "JsonMappingException" },
    { "PUT", F, "{}", 400, "version: may not be null" },
    { "PUT", F, "{\"version\":1,\"executionType\":7}", 400, "InvalidFormatException" },
    { "PUT", "/v1/Frameworks/a%20b", "{}", 400, "Name [a b]" }, /* the name first */
    { "PUT", F, NULL, 400, "WebApplicationException" },         /* no JSON's type */
    /* its views */
    { "GET", F, NULL, 200, "{\"summarizedFrameworkInfo\":{\"frameworkName\":\"a\"" },
    { "GET", F, NULL, 200, "\"aggregatedFrameworkStatus\":{\"frameworkStatus\":" },
    { "GET", F, NULL, 200, "\"aggregatedTaskRoleStatuses\":{}}}" },
    { "GET", F "/FrameworkStatus", NULL, 200, "\"frameworkState\": \"FRAMEWORK_WAITING\"" },
    { "GET", F "/FrameworkStatus", NULL, 200, "\"frameworkCompletedTimestamp\": null" },
    { "GET", F "/AggregatedFrameworkStatus", NULL, 200, "{\"frameworkStatus\":{" },
    { "GET", F "/FrameworkRequest", NULL, 200, "\"launchClientUserName\":\"UNKNOWN\"" },
    { "GET", F "/FrameworkRequest", NULL, 200, "\"launchClientHostName\":\"10.0.0.1\"" },
    { "GET", F "/FrameworkRequest", NULL, 200, "\"launchClientType\":\"UNKNOWN\"" },
    { "GET", F "/AggregatedFrameworkRequest", NULL, 200, "\"migrateTaskRequests\":null" },
    { "GET", F "/Nothing", NULL, 404, NULL },
    { "GET", "/v1/Frameworks/none", NULL, 404, "NotFoundException" },
    { "GET", "/v1/Frameworks/none/FrameworkStatus", NULL, 404, "NotFoundException" },
    { "GET", "/v1/Frameworks/none/AggregatedFrameworkStatus", NULL, 404, "NotFoundException" },
    { "GET", "/v1/Frameworks/none/FrameworkRequest", NULL, 404, "NotFoundException" },
    { "GET", "/v1/Frameworks/none/AggregatedFrameworkRequest", NULL, 404, "NotFoundException" },
    { "GET", "/v1/Frameworks?UserName=ann", NULL, 200, "\"frameworkName\":\"a\"" },
    { "GET", "/v1/Frameworks?UserName=bob", NULL, 200, "{\"summarizedFrameworkInfos\":[]}" },
    { "GET", "/v1/Frameworks?UserName=a%20b", NULL, 400, "UserName" },
    { "GET", "/v1/Frameworks?LaunchClientType=WEB_UI", NULL, 200,
      "{\"summarizedFrameworkInfos\":[]}" },
    { "GET", "/v1/Frameworks?LaunchClientType=UNKNOWN", NULL, 200, "\"frameworkName\":\"a\"" },
    { "GET", "/v1/Frameworks?LaunchClientType=BAD", NULL, 400, "LaunchClientType" },
    /* its parts */
    { "PUT", F "/TaskRoles/W/TaskNumber", "{\"taskNumber\":7}", 202, NULL },
    { "GET", F "/FrameworkRequest", NULL, 200, "\"taskNumber\":7" },
    { "GET", "/v1/Frameworks", NULL, 200, "\"totalTaskNumber\":7" },
    { "PUT", F "/TaskRoles/W/TaskNumber", "{\"taskNumber\":50001}", 400,
      "taskNumber: must be less than or equal to 50000" },
    { "PUT", F "/TaskRoles/W/TaskNumber", "{\"taskNumber\":-1}", 400, "taskNumber: must be" },
    { "PUT", F "/TaskRoles/W/TaskNumber", "{}", 400, "taskNumber: may not be null" },
    { "PUT", F "/TaskRoles/none/TaskNumber", "{\"taskNumber\":7}", 404, "task role" },
    { "PUT", "/v1/Frameworks/none/TaskRoles/W/TaskNumber", "{\"taskNumber\":7}", 404, NULL },
    { "GET", F "/TaskRoles/W/TaskNumber", NULL, 400, "WebApplicationException" },
    { "PUT", F "/ApplicationProgress", "{\"applicationProgress\":0.5}", 202, NULL },
    { "GET", F "/AggregatedFrameworkRequest", NULL, 200, "\"applicationProgress\":0.5" },
    { "PUT", F "/ApplicationProgress", "{\"applicationProgress\":1.1}", 400,
      "applicationProgress: must be less than or equal to 1.0" },
    { "PUT", F "/ApplicationProgress", "{\"applicationProgress\":-0.1}", 400, "0.0" },
    { "PUT", F "/ApplicationProgress", "{}", 400, "applicationProgress: may not be null" },
    { "PUT", "/v1/Frameworks/none/ApplicationProgress", "{\"applicationProgress\":1}", 404, NULL },
    { "PUT", F "/MigrateTasks/container_1_1_1_1", "{\"antiAffinityLevel\":\"ANY\"}", 202, NULL },
    { "GET", F "/AggregatedFrameworkRequest", NULL, 200, "\"container_1_1_1_1\":{" },
    { "PUT", F "/MigrateTasks/c", "{\"antiAffinityLevel\":\"NODE\"}", 400, "only ANY" },
    { "PUT", F "/MigrateTasks/c", "{\"antiAffinityLevel\":\"X\"}", 400, "InvalidFormat" },
    { "PUT", "/v1/Frameworks/none/MigrateTasks/c", "{}", 404, NULL },
    { "DELETE", F "/MigrateTasks/container_1_1_1_1", NULL, 202, NULL },
    { "GET", F "/AggregatedFrameworkRequest", NULL, 200, "\"migrateTaskRequests\":null" },
    { "DELETE", "/v1/Frameworks/none/MigrateTasks/c", NULL, 202, NULL },
    { "PUT", F "/ExecutionType", "{\"executionType\":\"GO\"}", 400, "executionType: must be one" },
    { "PUT", F "/ExecutionType", "{}", 400, "executionType: may not be null" },
    { "PUT", "/v1/Frameworks/none/ExecutionType", "{\"executionType\":\"STOP\"}", 404, NULL },
    { "PUT", F "/ExecutionType", "{\"executionType\":\"STOP\"}", 202, NULL },
    { "GET", "/v1/Frameworks", NULL, 200, "\"executionType\":\"STOP\"" },
    { "PUT", F "/ExecutionType", "{\"executionType\":0}", 202, NULL },
    /* the launcher's own */
    { "GET", "/v1/LauncherRequest", NULL, 200, "\"launchingDataDeploymentVersion\": null" },
    { "GET", "/v1/LauncherStatus", NULL, 200, "\"serviceRMResyncIntervalSec\": 30" },
    { "GET", "/v1/LauncherStatus", NULL, 200, "\"code\": 193" },
    { "GET", "/v1/LauncherStatus", NULL, 200, "\"frameworkCompletedRetainSec\": 43200" },
    { "GET", "/v1/LauncherStatus", NULL, 200, "\"webServerAclEnable\": false" },
    { "PUT", "/v1/LauncherRequest/DataDeploymentVersion",
      "{\"dataDeploymentVersionType\":\"LAUNCHED\",\"dataDeploymentVersion\":\"v7\"}", 200, NULL },
    { "PUT", "/v1/LauncherRequest/DataDeploymentVersion",
      "{\"dataDeploymentVersionType\":0,\"dataDeploymentVersion\":\"\"}", 400, "may not be empty" },
    { "GET", "/v1/LauncherRequest", NULL, 200, "\"launchedDataDeploymentVersion\": \"v7\"" },
    { "PUT", "/v1/LauncherRequest/ClusterConfiguration", "{\"nodes\":{\"h\":{\"gpuType\":\"K\"}}}",
      202, NULL },
    { "GET", "/v1/LauncherRequest/ClusterConfiguration", NULL, 200, "\"gpuType\": \"K\"" },
    { "PUT", "/v1/LauncherRequest/ClusterConfiguration",
      "{\"nodes\":{\"h\":{\"gpuType\":\"a,b\"}}}", 400, "nodes[h].gpuType: must match" },
    { "PUT", "/v1/LauncherRequest/AclConfiguration",
      "{\"namespaceAcls\":{\"n\":{\"users\":[{\"name\":\"u\"}]}}}", 200, NULL },
    { "GET", "/v1/LauncherRequest/AclConfiguration", NULL, 200, "\"normalAdminUsers\": []" },
    { "PUT", "/v1/LauncherRequest/AclConfiguration", "{\"namespaceAcls\":{\"n s\":{}}}", 400,
      "namespaceAcls: Name [n s]" },
    { "GET", "/v1/Logs", NULL, 200, "[]" },
    { "GET", "/v1/Logs/x", NULL, 404, NULL },
    /* and the end */
    { "DELETE", F, NULL, 202, NULL },
    { "GET", F, NULL, 404, NULL },
    { "DELETE", F, NULL, 202, NULL },
    { "DELETE", "/v1/Frameworks/a%20b", NULL, 400, "Name [a b]" },
};

static void every_route(void **state)
{
    struct fake k = { 0 };
    int wrong = 0;

    (void)state;
    fake_start(&k);
    (void)snprintf(k.l->host, sizeof(k.l->host), "me");
    (void)snprintf(k.l->ip, sizeof(k.l->ip), "10.0.0.9");
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        const struct row *r = &rows[i];
        _cleanup_said_ struct said s = ask(&k, r->method, r->uri, r->body);
        bool located = strcmp(r->method, "PUT") == 0 && r->status < 300;

        if (s.status == r->status && (!r->part || strstr(s.body, r->part)) &&
            located == (s.location != NULL))
            continue;
        print_error("%zu: %s %.60s: %u %.600s\n", i, r->method, r->uri, s.status, s.body);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    fake_stop(&k);
}

static void answers_are_json(void **state)
{
    static const char *const uris[] = { "/v1/Frameworks",
                                        F,
                                        F "/AggregatedFrameworkStatus",
                                        F "/AggregatedFrameworkRequest",
                                        "/v1/LauncherStatus",
                                        "/v1/LauncherRequest" };
    struct fake k = { 0 };
    _cleanup_free_ char *text = NULL;

    (void)state;
    fake_start(&k);
    assert_int_equal(status_of(&k, "PUT", F, BODY(1, "")), 202);
    fake_run(&k);
    text = message(&k.apps[0], 1, 1,
                   ",\"taskRoles\":{\"W\":[" TASK(0, "CONTAINER_RUNNING",
                                                  CONTAINER) "," TASK(2, "TASK_WAITING", "") "]}");
    {
        _cleanup_said_ struct said s = tell(&k, &k.apps[0], k.apps[0].token, text);

        assert_int_equal(s.status, 200);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(uris); i++) {
        _cleanup_said_ struct said s = ask(&k, "GET", uris[i], NULL);
        json_t *o = json_loads(s.body, JSON_REJECT_DUPLICATES, NULL);

        if (!o)
            fail_msg("%s: %s", uris[i], s.body);
        json_decref(o);
    }
    fake_stop(&k);
}

static void location_is_the_request(void **state)
{
    struct fake k = { 0 };
    _cleanup_said_ struct said s = { 0 };

    (void)state;
    fake_start(&k);
    s = ask(&k, "PUT", F, BODY(1, ""));
    assert_string_equal(s.location, "http://h:1" F);
    assert_string_equal(s.body, "");
    fake_stop(&k);
}

/* With ACLs: who may do what, by the names of callers. */
static void acls(void **state)
{
    static const struct {
        const char *method, *uri, *body, *user;
        unsigned status;
    } calls[] = {
        { "PUT", "/v1/Frameworks/ann~x", BODY(1, ""), "ann", 202 },
        { "PUT", "/v1/Frameworks/ann~x", BODY(1, ""), "bob", 400 }, /* the descriptor's is ann */
        { "PUT", "/v1/Frameworks/team~x", BODY(1, ""), "ann", 403 },
        { "PUT", "/v1/Frameworks/x", BODY(1, ""), "ann", 400 }, /* no namespace */
        { "PUT", "/v1/LauncherRequest/AclConfiguration", "{}", "ann", 403 },
        { "PUT", "/v1/LauncherRequest/AclConfiguration",
          "{\"namespaceAcls\":{\"team\":{\"users\":[{\"name\":\"ann\"}]}},"
          "\"normalAdminUsers\":[{\"name\":\"adm\"}]}",
          "root2", 200 },
        { "PUT", "/v1/Frameworks/team~x", BODY(1, ""), "ann", 202 },
        { "PUT", "/v1/Frameworks/team~x/ExecutionType", "{\"executionType\":1}", "bob", 403 },
        { "PUT", "/v1/Frameworks/team~x/ExecutionType", "{\"executionType\":1}", NULL, 403 },
        { "PUT", "/v1/Frameworks/team~x/TaskRoles/W/TaskNumber", "{\"taskNumber\":1}", "bob", 403 },
        { "PUT", "/v1/Frameworks/team~x/MigrateTasks/c", "{}", "bob", 403 },
        { "PUT", "/v1/Frameworks/team~x/ApplicationProgress", "{\"applicationProgress\":1}", "bob",
          403 },
        { "PUT", "/v1/Frameworks/team~x/ExecutionType", "{\"executionType\":1}", "team", 202 },
        { "PUT", "/v1/Frameworks/team~x/ExecutionType", "{\"executionType\":1}", "adm", 202 },
        { "PUT", "/v1/LauncherRequest/ClusterConfiguration", "{}", "bob", 403 },
        { "PUT", "/v1/LauncherRequest/ClusterConfiguration", "{}", "adm", 202 },
        { "DELETE", "/v1/Frameworks/team~x", NULL, "bob", 403 },
        { "GET", "/v1/Frameworks/team~x", NULL, "bob", 200 },
        { "DELETE", "/v1/Frameworks/team~x", NULL, "root2", 202 },
    };
    char root[] = "root2", *admins[] = { root, NULL };
    struct fake k = { .settings = { .acl = true, .admins = admins } };

    (void)state;
    fake_start(&k);
    for (size_t i = 0; i < SV_ARRAY_LEN(calls); i++) {
        _cleanup_said_ struct said s =
            ask_as(&k, calls[i].method, calls[i].uri, calls[i].body, NULL, calls[i].user);

        if (s.status != calls[i].status)
            fail_msg("%zu: %s %s as %s: %u", i, calls[i].method, calls[i].uri, calls[i].user,
                     s.status);
    }
    k.settings.acl_without_namespace = true;
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/x", BODY(1, "")), 202);
    fake_stop(&k);
}

/* Without ACLs the header does not matter: all may change all, the ACLs too. */
static void without_acls(void **state)
{
    static const struct {
        const char *method, *uri, *body, *user;
        unsigned status;
    } calls[] = {
        { "PUT", "/v1/Frameworks/ann~x", BODY(1, ""), "bob", 202 },
        { "PUT", "/v1/Frameworks/x", BODY(1, ""), NULL, 202 },
        { "PUT", "/v1/LauncherRequest/AclConfiguration", "{}", "bob", 200 },
        { "PUT", "/v1/LauncherRequest/ClusterConfiguration", "{}", NULL, 202 },
        { "GET", "/v1/Frameworks/ann~x", NULL, "eve", 200 },
        { "DELETE", "/v1/Frameworks/ann~x", NULL, "eve", 202 },
    };
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    for (size_t i = 0; i < SV_ARRAY_LEN(calls); i++) {
        _cleanup_said_ struct said s =
            ask_as(&k, calls[i].method, calls[i].uri, calls[i].body, NULL, calls[i].user);

        if (s.status != calls[i].status)
            fail_msg("%zu: %u", i, s.status);
    }
    fake_stop(&k);
}

/* Where the cluster says who calls, the header is not believed, and nobody acts as another. */
static void proven_callers(void **state)
{
    static const char no_user[] =
        "{\"version\":1,\"taskRoles\":{\"W\":{\"taskNumber\":1,\"taskService\":{\"version\":5,"
        "\"entryPoint\":\"r\",\"sourceLocations\":[\"hdfs:///a\"],\"resource\":{\"cpuNumber\":1,"
        "\"memoryMB\":64}}}}}";
    static const struct {
        const char *method, *uri, *body, *caller;
        unsigned status;
    } calls[] = {
        { "PUT", F, BODY(1, ""), "bob", 403 },
        { "PUT", F, BODY(1, ""), "ann", 202 },
        { "PUT", F "/ExecutionType", "{\"executionType\":1}", "bob", 403 },
        { "DELETE", F, NULL, "bob", 403 },
        { "PUT", "/v1/LauncherRequest/ClusterConfiguration", "{}", "ann", 403 },
        { "PUT", "/v1/Frameworks/b", no_user, "bob", 202 },
        { "PUT", "/v1/Frameworks/c", no_user, "HOST$", 403 }, /* no name of a user that is read */
        { "DELETE", F, NULL, "ann", 202 },
    };
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    for (size_t i = 0; i < SV_ARRAY_LEN(calls); i++) {
        _cleanup_said_ struct said s =
            ask_as(&k, calls[i].method, calls[i].uri, calls[i].body, calls[i].caller, "root");

        if (s.status != calls[i].status)
            fail_msg("%zu: %u", i, s.status);
    }
    assert_string_equal(svc_lr_find(&k.l->all, "b")->d->user, "bob");
    fake_stop(&k);
}

static void paths(void **state)
{
    (void)state;
    assert_true(svc_lr_takes("/"));
    assert_true(svc_lr_takes("/v1"));
    assert_true(svc_lr_takes("/v1/Frameworks"));
    assert_true(svc_lr_takes("/v1?x"));
    assert_false(svc_lr_takes("/v10"));
    assert_false(svc_lr_takes("/conf"));
    assert_false(svc_lr_takes("/app/v1/services"));
    assert_true(svc_lr_link_takes("/v1/Masters/a"));
    assert_false(svc_lr_link_takes("/v1/Masters"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route),
        cmocka_unit_test(answers_are_json),
        cmocka_unit_test(location_is_the_request),
        cmocka_unit_test(acls),
        cmocka_unit_test(without_acls),
        cmocka_unit_test(proven_callers),
        cmocka_unit_test(paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
