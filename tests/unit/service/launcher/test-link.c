/* service/launcher/link.c: what masters tell and are answered, and what is not believed. */
#include "service/framework/link.h"
#include "tests/unit/service/launcher-fixture.h"

#define RUNNING TASK(0, "CONTAINER_RUNNING", CONTAINER)

static struct fake_app *launch(struct fake *k)
{
    fake_start(k);
    assert_int_equal(status_of(k, "PUT", "/v1/Frameworks/a", BODY(1, "")), 202);
    fake_run(k);
    return &k->apps[k->n_apps - 1];
}

static unsigned told(struct fake *k, const struct fake_app *a, int attempt, int sequence,
                     const char *more, char **ret)
{
    _cleanup_free_ char *text = message(a, attempt, sequence, more);
    struct said s = tell(k, a, a->token, text);
    unsigned status = s.status;

    if (ret)
        *ret = SV_TAKE(s.body);
    said_free(&s);
    return status;
}

static json_t *parsed(char *text)
{
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    if (!o)
        fail_msg("%s", text);
    free(text);
    return o;
}

static void tasks_are_told(void **state)
{
    struct fake k = { 0 };
    struct fake_app *a = launch(&k);
    struct svc_framework *f = svc_lr_find(&k.l->all, "a");
    char *text;
    json_t *o;

    (void)state;
    assert_int_equal(told(&k, a, 1, 0, "", &text), 200);
    o = parsed(text);
    assert_true(json_is_object(json_object_get(o, "descriptor")));
    assert_true(json_is_array(json_object_get(o, "migrate")));
    assert_null(json_object_get(o, "statuses"));
    assert_true(json_is_null(json_object_get(o, "exitSpec")));
    json_decref(o);
    assert_int_equal(f->st.state, SVC_LR_APP_RUNNING); /* at once */
    assert_int_equal(
        told(&k, a, 1, 1,
             ",\"progress\":0.5,\"trackingUrl\":\"http://m\",\"taskRoles\":{\"W\":[" RUNNING
             "," TASK(2, "TASK_WAITING", "") "]}",
             NULL),
        200);
    assert_int_equal(f->running, 1);
    assert_int_equal(f->roles[0].n, 3);
    assert_string_equal(f->st.tracking_url, "http://m");
    assert_true(f->st.progress == 0.5);
    /* small steps are not stored, removed tasks go */
    assert_int_equal(
        told(&k, a, 1, 2,
             ",\"progress\":0.55,\"taskRoles\":{\"W\":[{\"taskIndex\":0,\"removed\":true}]}", NULL),
        200);
    assert_true(f->st.progress == 0.5);
    assert_int_equal(f->running, 0);
    assert_null(f->roles[0].tasks[0]);
    fake_stop(&k);
}

/* The cluster's codes reach masters as a text that they read as the file is read. */
static void exit_codes(void **state)
{
    static const char yaml[] = "- code: 7\n  type: NON_TRANSIENT\n"
                               "  description: \"a \\\"quoted\\\" \\x01 text: - [1]\"\n"
                               "- code: 9\n";
    struct fake k = { 0 };
    struct svc_fw_exits *again;
    struct svc_fw_exit x;
    struct fake_app *a;
    char *text;
    json_t *o;

    (void)state;
    assert_int_equal(svc_fw_exits_parse(yaml, sizeof(yaml) - 1, &k.settings.exits, NULL), 0);
    a = launch(&k);
    assert_int_equal(told(&k, a, 1, 0, "", &text), 200);
    o = parsed(text);
    text = json_dumps(json_object_get(o, "exitSpec"), JSON_COMPACT);
    assert_int_equal(svc_fw_exits_parse(text, strlen(text), &again, NULL), 0);
    svc_fw_exit_of_raw(again, 7, NULL, &x);
    assert_int_equal(x.type, SVC_FW_NON_TRANSIENT);
    assert_string_equal(x.description, "a \"quoted\" \001 text: - [1]");
    svc_fw_exit_of_raw(again, 9, NULL, &x);
    assert_int_equal(x.type, SVC_FW_UNKNOWN);
    assert_string_equal(x.description, "");
    svc_fw_exit_of_raw(again, 137, NULL, &x);
    assert_int_equal(x.type, SVC_FW_UNKNOWN);
    svc_fw_exits_free(again);
    json_decref(o);
    free(text);
    fake_stop(&k);
    svc_fw_exits_free(k.settings.exits);
}

static void not_believed(void **state)
{
    static const struct {
        const char *body;
        unsigned status;
    } rows[] = {
        { "{", 400 },
        { "[]", 400 },
        { "{}", 400 },
        { "{\"version\":1,\"applicationId\":\"x\",\"attempt\":1,\"sequence\":0}", 400 },
        { "{\"version\":1,\"applicationId\":\"application_1700000000000_0002\",\"attempt\":1,"
          "\"sequence\":0}",
          410 },
        { "{\"version\":2,\"applicationId\":\"application_1700000000000_0001\",\"attempt\":1,"
          "\"sequence\":0}",
          410 },
        { "{\"version\":1,\"applicationId\":\"application_1700000000000_0001\",\"attempt\":0,"
          "\"sequence\":0}",
          400 },
        { "{\"version\":1,\"applicationId\":\"application_1700000000000_0001\",\"attempt\":1,"
          "\"sequence\":-1}",
          400 },
        { "{\"version\":1,\"applicationId\":\"application_1700000000000_0001\",\"attempt\":1,"
          "\"sequence\":0,\"progress\":7}",
          400 },
        { "{\"version\":1,\"applicationId\":\"application_1700000000000_0001\",\"attempt\":1,"
          "\"sequence\":0,\"taskRoles\":{\"W\":7}}",
          400 },
        { "{\"version\":1,\"applicationId\":\"application_1700000000000_0001\",\"attempt\":1,"
          "\"sequence\":0,\"taskRoles\":{\"W\":[{}]}}",
          400 },
        /* no such role, no such task */
        { "{\"version\":1,\"applicationId\":\"application_1700000000000_0001\",\"attempt\":1,"
          "\"sequence\":0,\"taskRoles\":{\"X\":[" TASK(0, "TASK_WAITING", "") "]}}",
          400 },
        { "{\"version\":1,\"applicationId\":\"application_1700000000000_0001\",\"attempt\":1,"
          "\"sequence\":0,\"taskRoles\":{\"W\":[" TASK(3, "TASK_WAITING", "") "]}}",
          400 },
    };
    struct fake k = { 0 };
    struct fake_app *a = launch(&k), other = *a;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        _cleanup_said_ struct said s = tell(&k, a, a->token, rows[i].body);

        if (s.status != rows[i].status)
            fail_msg("%zu: %u %s", i, s.status, s.body);
    }
    other.token[3] ^= 1;
    assert_int_equal(told(&k, &other, 1, 0, "", NULL), 401);
    other.token[0] = '\0';
    assert_int_equal(told(&k, &other, 1, 0, "", NULL), 401);
    (void)snprintf(other.framework, sizeof(other.framework), "none");
    assert_int_equal(told(&k, &other, 1, 0, "", NULL), 410);
    assert_int_equal(svc_lr_find(&k.l->all, "a")->n_roles, 0);
    fake_stop(&k);
}

static void sequences(void **state)
{
    struct fake k = { 0 };
    struct fake_app *a = launch(&k);
    struct svc_framework *f = svc_lr_find(&k.l->all, "a");
    char *text;
    json_t *o;

    (void)state;
    assert_int_equal(told(&k, a, 1, 3, ",\"taskRoles\":{\"W\":[" RUNNING "]}", NULL), 200);
    /* repeated: answered, without effect */
    assert_int_equal(
        told(&k, a, 1, 3, ",\"taskRoles\":{\"W\":[{\"taskIndex\":0,\"removed\":true}]}", NULL),
        200);
    assert_int_equal(f->running, 1);
    assert_int_equal(told(&k, a, 1, 2, "", NULL), 400);
    /* The next attempt gets what the first one told; that one is over. */
    assert_int_equal(told(&k, a, 2, 0, "", &text), 200);
    o = parsed(text);
    assert_int_equal(json_array_size(json_object_get(json_object_get(o, "statuses"), "W")), 1);
    json_decref(o);
    assert_int_equal(told(&k, a, 1, 9, "", NULL), 410);
    assert_int_equal(told(&k, a, 2, 1, "", NULL), 200);
    /* all anew */
    assert_int_equal(told(&k, a, 2, 2, ",\"full\":true", NULL), 200);
    assert_int_equal(f->n_roles, 0);
    fake_stop(&k);
}

static void waits_for_news(void **state)
{
    struct fake k = { 0 };
    struct fake_app *a = launch(&k);
    _cleanup_free_ char *text = NULL;
    struct svc_lr_call c = { .method = "POST", .uri = "/v1/Masters/a", .is_json = true };
    struct svc_lr_told t = { 0 };
    struct svc_lr_answer answer;
    char more[80];
    _cleanup_said_ struct said s = { 0 };

    (void)state;
    (void)snprintf(more, sizeof(more), ",\"wait\":true,\"seen\":%lld",
                   (long long)svc_lr_find(&k.l->all, "a")->revision);
    text = message(a, 1, 0, more);
    c.body = text;
    c.body_len = strlen(text);
    assert_int_equal(svc_lr_link_take(k.l, &c, a->token, &t, &answer), 0);
    assert_false(svc_lr_link_answer(k.l, &t, false, false, &answer));
    k.changes = 0;
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/a/TaskRoles/W/TaskNumber", "{\"taskNumber\":9}"), 202);
    assert_int_equal(k.changes, 1);
    assert_true(svc_lr_link_answer(k.l, &t, false, false, &answer));
    s = say(&answer);
    assert_non_null(strstr(s.body, "\"taskNumber\":9"));
    said_free(&s);
    /* many wait: it is told to pause */
    t.seen = 1000;
    t.revision = svc_lr_find(&k.l->all, "a")->revision;
    assert_true(svc_lr_link_answer(k.l, &t, false, true, &answer));
    s = say(&answer);
    assert_non_null(strstr(s.body, "\"pauseMs\":5000"));
    assert_null(strstr(s.body, "descriptor"));
    said_free(&s);
    /* deleted meanwhile */
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/a", NULL), 202);
    assert_true(svc_lr_link_answer(k.l, &t, false, false, &answer));
    s = say(&answer);
    assert_int_equal(s.status, 410);
    svc_lr_told_free(&t);
    fake_stop(&k);
}

/* Masters are not woken by what they do not act upon. */
static void wakes_those_concerned(void **state)
{
    static const char cluster[] = "{\"nodes\":{\"h\":{\"gpuType\":\"K80\",\"labels\":null}}}";
    struct fake k = { 0 };
    struct fake_app *a = launch(&k);
    struct svc_framework *f = svc_lr_find(&k.l->all, "a");
    struct svc_lr_told t = { .framework = (char *)"a", .app = a->id, .wait = true };
    struct svc_lr_answer answer;

    (void)state;
    t.seen = t.revision = f->revision;
    assert_false(svc_lr_link_answer(k.l, &t, false, false, &answer));
    k.changes = 0;
    assert_int_equal(status_of(&k, "PUT", "/v1/LauncherRequest/AclConfiguration",
                               "{\"namespaceAcls\":{},\"normalAdminUsers\":[]}"),
                     200);
    assert_int_equal(status_of(&k, "PUT", "/v1/LauncherRequest/DataDeploymentVersion",
                               "{\"dataDeploymentVersionType\":\"LAUNCHING\","
                               "\"dataDeploymentVersion\":\"7\"}"),
                     200);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/b", BODY(1, "")), 202);
    k.changes = 0;
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/b", NULL), 202);
    assert_int_equal(k.changes, 1);
    assert_int_equal(k.changed_all, 0);
    assert_int_equal(status_of(&k, "PUT", "/v1/LauncherRequest/ClusterConfiguration", cluster),
                     202);
    assert_int_equal(k.changed_all, 1);
    assert_false(svc_lr_link_has_news(k.l, &t)); /* it asks for no type of GPUs */
    assert_false(svc_lr_link_answer(k.l, &t, false, false, &answer));
    f->d->roles[0].gpu_type = "K80";
    assert_true(svc_lr_link_has_news(k.l, &t));
    f->d->roles[0].gpu_type = NULL;
    f->d->gpu_type = "K80";
    assert_true(svc_lr_link_answer(k.l, &t, false, false, &answer));
    {
        _cleanup_said_ struct said s = say(&answer);

        assert_non_null(strstr(s.body, "\"gpuType\":\"K80\""));
    }
    f->d->gpu_type = NULL;
    k.l->broken = true; /* nothing of it may be on disk */
    f->revision++;
    assert_false(svc_lr_link_answer(k.l, &t, false, false, &answer));
    k.l->broken = false;
    assert_true(svc_lr_link_has_news(k.l, &t));
    fake_stop(&k);
}

static void migrations(void **state)
{
    struct fake k = { 0 };
    struct fake_app *a = launch(&k);
    struct svc_framework *f = svc_lr_find(&k.l->all, "a");
    char *text;
    json_t *o;

    (void)state;
    assert_int_equal(told(&k, a, 1, 0, ",\"taskRoles\":{\"W\":[" RUNNING "]}", NULL), 200);
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/a/MigrateTasks/container_1700000000000_0001_01_000002",
                  "{}"),
        202);
    assert_int_equal(told(&k, a, 1, 1, "", &text), 200);
    o = parsed(text);
    assert_int_equal(json_array_size(json_object_get(o, "migrate")), 1);
    json_decref(o);
    assert_int_equal(f->n_migrates, 1);
    /* Another one, whose id is a part of the text: neither a part nor another text is the id. */
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/a/MigrateTasks/container_1700000000000_0001_01_00000",
                  "{}"),
        202);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a/MigrateTasks/TASK_WAITING", "{}"), 202);
    /* Done: the task has left the container. */
    assert_int_equal(
        told(&k, a, 1, 2, ",\"taskRoles\":{\"W\":[" TASK(0, "TASK_WAITING", "") "]}", NULL), 200);
    assert_int_equal(f->n_migrates, 2);
    assert_string_equal(f->migrates[0], "TASK_WAITING");
    /* The next application has other containers. */
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", BODY(2, "")), 202);
    assert_int_equal(f->n_migrates, 0);
    fake_stop(&k);
}

static int on_framework(void *u, const char *name, const char *request, const char *status,
                        int64_t tasks)
{
    (void)u;
    (void)request;
    (void)status;
    (void)tasks;
    assert_string_equal(name, "a");
    return 0;
}
static int on_dropped(void *u, int64_t tasks)
{
    (void)tasks;
    ++*(int *)u;
    return 0;
}
static int on_task(void *u, const char *name, const char *role, int32_t index, const char *text)
{
    return on_framework(u, name, role, text, index);
}
static int on_kill(void *u, const char *app, const char *user, const char *name)
{
    return on_framework(u, name, app, user, 0);
}
static int on_meta(void *u, const char *key, const char *value)
{
    return on_framework(u, "a", key, value, 0);
}

/* A master that tells all of its tasks each time does not fill the disk with what it told before:
 * each request sweeps as much as it drops. */
static void always_full(void **state)
{
    static const struct svc_lr_rows rows = { on_framework, on_dropped, on_task, on_kill, on_meta };
    struct fake k = { 0 };
    struct fake_app *a = launch(&k);
    struct sv_error err = { 0 };
    int dropped = 0;

    (void)state;
    for (int i = 0; i < 50; i++)
        assert_int_equal(
            told(&k, a, 1, i, ",\"full\":true,\"taskRoles\":{\"W\":[" RUNNING "]}", NULL), 200);
    assert_int_equal(svc_lr_store_load(k.l->store, &rows, &dropped, &err), 0);
    assert_true(dropped <= 1);
    fake_stop(&k);
}

/* The progress that a client gives is the master's to tell. */
static void progress_by_a_client(void **state)
{
    struct fake k = { 0 };
    struct fake_app *a = launch(&k);
    char *text;
    json_t *o;

    (void)state;
    assert_int_equal(told(&k, a, 1, 0, "", &text), 200);
    o = parsed(text);
    assert_true(json_is_null(json_object_get(o, "progress")));
    json_decref(o);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a/ApplicationProgress",
                               "{\"applicationProgress\":0.25}"),
                     202);
    assert_int_equal(told(&k, a, 1, 1, "", &text), 200);
    o = parsed(text);
    assert_true(json_real_value(json_object_get(o, "progress")) == 0.25);
    json_decref(o);
    fake_stop(&k);
}

static void says_that_it_ends(void **state)
{
    struct fake k = { 0 };
    struct fake_app *a = launch(&k);

    (void)state;
    k.polls = 0;
    assert_int_equal(told(&k, a, 1, 0, ",\"ending\":true", NULL), 200);
    assert_int_equal(k.polls, 1);
    a->running = true;
    fake_poll(&k);
    assert_true(k.l->again);
    a->ended = true;
    a->diagnostics = "x";
    fake_poll(&k);
    assert_false(k.l->again);
    assert_int_equal(svc_lr_find(&k.l->all, "a")->st.state, SVC_LR_COMPLETED);
    assert_int_equal(told(&k, a, 1, 1, "", NULL), 410);
    fake_stop(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_told),       cmocka_unit_test(exit_codes),
        cmocka_unit_test(not_believed),         cmocka_unit_test(sequences),
        cmocka_unit_test(waits_for_news),       cmocka_unit_test(migrations),
        cmocka_unit_test(progress_by_a_client), cmocka_unit_test(says_that_it_ends),
        cmocka_unit_test(always_full),          cmocka_unit_test(wakes_those_concerned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
