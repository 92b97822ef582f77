/* service/launcher/model.c: what one user has of the bounds of all. */
#include "tests/unit/service/launcher-fixture.h"

#define OF_BOB(number)                                                                             \
    "{\"version\":1,\"user\":{\"name\":\"bob\"},\"taskRoles\":{\"W\":{\"taskNumber\":" #number     \
    ",\"taskService\":{\"version\":5,\"entryPoint\":\"run\",\"sourceLocations\":[\"hdfs:///a\"],"  \
    "\"resource\":{\"cpuNumber\":1,\"memoryMB\":64}}}}}"

/* One user cannot take what is there for all: of tasks, of frameworks, of bytes. */
static void limits_of_a_user(void **state)
{
    struct fake k = { .settings = { .max_tasks = 20, .user_share = 30 } }; /* 6 tasks */
    struct svc_lr_user ann;

    (void)state;
    fake_start(&k);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", BODY(1, "")), 202);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/b", BODY(1, "")), 202);
    {
        _cleanup_said_ struct said s = ask(&k, "PUT", "/v1/Frameworks/c", BODY(1, ""));

        assert_int_equal(s.status, 429);
        assert_non_null(strstr(s.body, "ThrottledRequestException"));
        assert_non_null(strstr(s.body, "selvedge.framework.user-share"));
    }
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/a/TaskRoles/W/TaskNumber", "{\"taskNumber\":4}"), 429);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/c", OF_BOB(6)), 202);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/d", OF_BOB(1)), 429);
    /* A framework that becomes another user's counts for that one. */
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", OF_BOB(3)), 429);
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/c", NULL), 202);
    assert_int_equal(svc_lr_user_of(&k.l->all, "bob").tasks, 0);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", OF_BOB(6)), 202);
    ann = svc_lr_user_of(&k.l->all, "ann");
    assert_int_equal(ann.tasks, 3);
    assert_int_equal(ann.frameworks, 1);
    assert_int_equal(ann.request_bytes, strlen(svc_lr_find(&k.l->all, "b")->text));
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/c", BODY(1, "")), 202);
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/c/TaskRoles/W/TaskNumber", "{\"taskNumber\":2}"), 202);
    assert_int_equal(svc_lr_user_of(&k.l->all, "ann").tasks, 5);
    /* The others' bounds, nearly reached. */
    k.l->all.users->request_bytes = (size_t)svc_lr_share(&k.l->all, SVC_LR_REQUESTS_MAX);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/e", BODY(1, "")), 429);
    k.l->all.users->request_bytes = ann.request_bytes * 2;
    k.l->all.users->frameworks = SVC_LR_FRAMEWORKS_MAX * 30 / 100;
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/c/TaskRoles/W/TaskNumber", "{\"taskNumber\":1}"), 202);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/e", BODY(1, "")), 429);
    k.l->all.users->frameworks = 2;
    fake_stop(&k);
}

static void texts_of_a_user(void **state)
{
    struct fake k = { .settings.user_share = 10 };
    struct svc_lr_task t = { .role = "W", .text = strdup("{}") };
    struct svc_framework *f;

    (void)state;
    fake_start(&k);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", BODY(1, "")), 202);
    f = svc_lr_find(&k.l->all, "a");
    k.l->all.users->text_bytes = (size_t)svc_lr_share(&k.l->all, SVC_LR_TEXTS_MAX);
    assert_int_equal(svc_lr_set_task(&k.l->all, f, &t), -EFBIG);
    k.l->all.users->text_bytes = 0;
    assert_int_equal(svc_lr_set_task(&k.l->all, f, &t), 0);
    assert_int_equal(svc_lr_user_of(&k.l->all, "ann").text_bytes, 2);
    fake_stop(&k);
}

/* Changes of a part are made in the text, and the text is what would be printed. */
static void texts_of_changes(void **state)
{
    static const char body[] =
        "{\"description\":\"\\\"executionType\\\":\\\"START\\\"\",\"version\":1,"
        "\"user\":{\"name\":\"ann\"},\"taskRoles\":{\"W\":{\"taskNumber\":3,\"taskService\":{"
        "\"version\":5,\"entryPoint\":\"\\\"X\\\":{\\\"taskNumber\\\":3,\",\"sourceLocations\":["
        "\"hdfs:///"
        "a\"],\"resource\":{\"cpuNumber\":1,\"memoryMB\":64,\"portDefinitions\":{\"X\":{\"start\":"
        "0,"
        "\"count\":1}}}}},\"X\":{\"taskNumber\":3,\"taskService\":{\"version\":5,\"entryPoint\":"
        "\"r\","
        "\"sourceLocations\":[\"hdfs:///a\"],\"resource\":{\"cpuNumber\":1,\"memoryMB\":64}}}}}";
    struct fake k = { 0 };
    struct svc_framework *f;

    (void)state;
    fake_start(&k);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", body), 202);
    f = svc_lr_find(&k.l->all, "a");
    for (int i = 0; i < 4; i++) {
        _cleanup_free_ char *want = NULL;
        char *before = f->text;

        if (i % 2)
            assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a/TaskRoles/X/TaskNumber",
                                       i == 1 ? "{\"taskNumber\":12}" : "{\"taskNumber\":0}"),
                             202);
        else
            assert_int_equal(
                status_of(&k, "PUT", "/v1/Frameworks/a/ExecutionType",
                          i ? "{\"executionType\":\"START\"}" : "{\"executionType\":\"STOP\"}"),
                202);
        want = svc_lr_text_of(f->d);
        assert_string_equal(f->text, want);
        assert_ptr_not_equal(f->text, before);
        assert_int_equal(k.l->all.request_bytes, strlen(want));
        assert_int_equal(k.l->all.n_tasks, svc_fw_total_tasks(f->d));
    }
    assert_int_equal(f->d->roles[1].tasks, 0);
    /* A text that another version wrote. */
    free(f->text);
    f->text = strdup("{}");
    k.l->all.request_bytes = k.l->all.users->request_bytes = 2;
    assert_int_equal(svc_lr_set_stop(&k.l->all, f, true), 0);
    assert_non_null(strstr(f->text, "\"executionType\":\"STOP\""));
    fake_stop(&k);
}

/* A gang's addresses are in a file of each task. */
static void large_gang(void **state)
{
    _cleanup_free_ char *body = NULL;
    char name[250];
    struct fake k = { 0 };

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    fake_start(&k);
    for (int gang = 1; gang >= 0; gang--) {
        _cleanup_said_ struct said s = { 0 };

        free(body);
        assert_true(
            sv_asprintf(&body,
                        "{\"version\":1,\"platformSpecificParameters\":{\"gangAllocation\":"
                        "%s},\"taskRoles\":{\"%s\":{\"taskNumber\":50000,\"taskService\":{"
                        "\"version\":5,\"entryPoint\":\"run\",\"sourceLocations\":[\"hdfs:///"
                        "a\"],\"resource\":{\"cpuNumber\":1,\"memoryMB\":64,"
                        "\"portDefinitions\":{\"p\":{\"count\":60}}}}}}}",
                        gang ? "true" : "false", name) >= 0);
        s = ask(&k, "PUT", "/v1/Frameworks/a", body);
        assert_int_equal(s.status, gang ? 400 : 202);
        if (gang)
            assert_non_null(strstr(s.body, "platformSpecificParameters.gangAllocation: the addr"));
    }
    svc_lr_find(&k.l->all, "a")->d->gang = true;
    {
        _cleanup_free_ char *uri = NULL;

        assert_true(sv_asprintf(&uri, "/v1/Frameworks/a/TaskRoles/%s/TaskNumber", name) >= 0);
        assert_int_equal(status_of(&k, "PUT", uri, "{\"taskNumber\":10}"), 202);
        assert_int_equal(status_of(&k, "PUT", uri, "{\"taskNumber\":1000}"), 202);
        assert_int_equal(status_of(&k, "PUT", uri, "{\"taskNumber\":50000}"), 400);
    }
    fake_stop(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_a_user),
        cmocka_unit_test(texts_of_a_user),
        cmocka_unit_test(texts_of_changes),
        cmocka_unit_test(large_gang),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
