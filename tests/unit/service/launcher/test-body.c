/* service/launcher/body.c: which bodies may be long, and calls whose bodies were read before. */
#include "tests/unit/service/launcher-fixture.h"

static void kinds(void **state)
{
    static const struct {
        const char *method, *uri;
        enum svc_lr_body_kind want;
    } rows[] = {
        { "PUT", "/v1/Frameworks/a", SVC_LR_BODY_FRAMEWORK },
        { "PUT", "/v1/Frameworks/a?x=y", SVC_LR_BODY_FRAMEWORK },
        { "POST", "/v1/Frameworks/a", SVC_LR_BODY_SHORT },
        { "PUT", "/v1/Frameworks/a/ExecutionType", SVC_LR_BODY_SHORT },
        { "PUT", "/v1/Frameworks/a/TaskRoles/W/TaskNumber", SVC_LR_BODY_SHORT },
        { "PUT", "/v1/%46rameworks/a", SVC_LR_BODY_SHORT },
        { "PUT", "/v1//Frameworks/a", SVC_LR_BODY_SHORT },
        { "PUT", "/v1/LauncherRequest/ClusterConfiguration", SVC_LR_BODY_CLUSTER },
        { "PUT", "/v1/LauncherRequest/AclConfiguration", SVC_LR_BODY_ACL },
        { "PUT", "/v1/LauncherRequest/DataDeploymentVersion", SVC_LR_BODY_SHORT },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        if (svc_lr_body_kind(rows[i].method, rows[i].uri) != rows[i].want)
            fail_msg("%s %s", rows[i].method, rows[i].uri);
}

static unsigned put_read(struct fake *k, const char *uri, const char *json, const char *caller,
                         size_t read_max, bool read)
{
    struct svc_lr_body b = { 0 };
    struct svc_lr_call c = { .method = "PUT",
                             .uri = uri,
                             .body = read ? "not read again" : json,
                             .body_len = strlen(json),
                             .read_max = read_max,
                             .is_json = true,
                             .caller = caller,
                             .peer = "10.0.0.1" };
    struct svc_lr_answer a;
    unsigned status;

    if (read) {
        svc_lr_body_read(svc_lr_body_kind("PUT", uri), json, strlen(json), true, &b);
        c.read = &b;
    }
    svc_lr_rest(k->l, &c, &a);
    {
        _cleanup_said_ struct said s = say(&a);

        status = s.status;
    }
    svc_lr_body_free(&b);
    return status;
}

static void read_before(void **state)
{
    char nobody[] = BODY(1, ""), *user = strstr(nobody, "\"user\":{\"name\":\"ann\"},");
    struct fake k = { 0 };
    struct svc_framework *f;
    char *want;

    (void)state;
    memset(user, ' ', strlen("\"user\":{\"name\":\"ann\"},"));
    fake_start(&k);
    assert_int_equal(put_read(&k, "/v1/Frameworks/a", nobody, "bob", 10, true), 202);
    f = svc_lr_find(&k.l->all, "a");
    assert_string_equal(f->d->user, "bob");
    want = svc_lr_text_of(f->d);
    assert_string_equal(f->text, want);
    free(want);
    assert_int_equal(put_read(&k, "/v1/Frameworks/b", "{", "bob", 10, true), 400);
    assert_int_equal(put_read(&k, "/v1/Frameworks/b", BODY(1, ""), "bob", 10, true), 403);
    assert_int_equal(put_read(&k, "/v1/Frameworks/a/ExecutionType", "{\"executionType\":\"STOP\"}",
                              "bob", 10, false),
                     400); /* too long to be read here */
    assert_int_equal(put_read(&k, "/v1/Frameworks/a/ExecutionType", "{\"executionType\":\"STOP\"}",
                              "bob", 100, false),
                     202);
    assert_int_equal(
        put_read(&k, "/v1/LauncherRequest/ClusterConfiguration", "{\"nodes\":{}}", NULL, 5, true),
        202);
    assert_true(json_is_object(json_object_get(k.l->cluster, "nodes")));
    assert_int_equal(put_read(&k, "/v1/LauncherRequest/AclConfiguration",
                              "{\"normalAdminUsers\":5}", NULL, 5, true),
                     400);
    fake_stop(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(read_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
