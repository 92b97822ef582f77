/* service/launcher/: lives of frameworks with a ResourceManager of this file: retries, stops,
 * deletes, families, collection, and what masters tell. */
#include "service/engine/exit-table.h"
#include "service/framework/link.h"
#include "service/launcher/internal.h"
#include "tests/unit/service/launcher-fixture.h"

#define STATE(name)                                                                                \
    ({                                                                                             \
        struct svc_framework *f_ = svc_lr_find(&k.l->all, name);                                   \
        f_ ? f_->st.state : 0;                                                                     \
    })
#define WORDS(code, type)                                                                          \
    SVC_FW_DIAGNOSTICS_START "{\"applicationExitCode\":" #code ",\"applicationExitType\":\"" type  \
                             "\"}" SVC_FW_DIAGNOSTICS_END

static void put(struct fake *k, const char *name, const char *body)
{
    char uri[300];

    (void)snprintf(uri, sizeof(uri), "/v1/Frameworks/%s", name);
    if (status_of(k, "PUT", uri, body) != 202)
        fail_msg("PUT %s", name);
    fake_run(k);
}

static void end_app(struct fake *k, int i, int final, const char *words)
{
    k->apps[i].ended = true;
    k->apps[i].final = final;
    k->apps[i].diagnostics = words;
    fake_poll(k);
}

static void runs_to_its_end(void **state)
{
    struct fake k = { 0 };
    const struct svc_framework *f;

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    assert_int_equal(STATE("a"), SVC_LR_LAUNCHED);
    assert_string_equal(k.apps[0].user, "ann");
    fake_poll(&k);
    assert_int_equal(STATE("a"), SVC_LR_APP_WAITING);
    k.apps[0].running = true;
    fake_poll(&k);
    assert_int_equal(STATE("a"), SVC_LR_APP_RUNNING);
    end_app(&k, 0, SVC_LR_FINAL_SUCCEEDED, WORDS(0, "SUCCEEDED"));
    assert_int_equal(STATE("a"), SVC_LR_COMPLETED);
    f = svc_lr_find(&k.l->all, "a");
    assert_int_equal(f->st.exit.code, 0);
    assert_int_equal(f->st.exit.type, SVC_FW_SUCCEEDED);
    assert_true(f->st.completed_ms && f->st.app_completed_ms && f->st.launched_ms);
    fake_stop(&k);
}

static void retries_by_policy(void **state)
{
    static const struct {
        const char *policy, *words;
        int final, state;
    } rows[] = {
        { "", WORDS(-7103, "TRANSIENT_NORMAL"), SVC_LR_FINAL_UNKNOWN, SVC_LR_COMPLETED },
        { "\"retryPolicy\":{\"maxRetryCount\":1},", WORDS(-7103, "TRANSIENT_NORMAL"),
          SVC_LR_FINAL_UNKNOWN, SVC_LR_LAUNCHED },
        { "\"retryPolicy\":{\"fancyRetryPolicy\":true},", WORDS(-7103, "TRANSIENT_NORMAL"),
          SVC_LR_FINAL_UNKNOWN, SVC_LR_LAUNCHED },
        { "\"retryPolicy\":{\"fancyRetryPolicy\":true},", WORDS(-7252, "TRANSIENT_CONFLICT"),
          SVC_LR_FINAL_UNKNOWN, SVC_LR_APP_COMPLETED },
        { "\"retryPolicy\":{\"fancyRetryPolicy\":true},", WORDS(-7251, "NON_TRANSIENT"),
          SVC_LR_FINAL_UNKNOWN, SVC_LR_COMPLETED },
        { "\"retryPolicy\":{\"maxRetryCount\":-1},", WORDS(0, "SUCCEEDED"), SVC_LR_FINAL_SUCCEEDED,
          SVC_LR_COMPLETED },
        { "\"retryPolicy\":{\"maxRetryCount\":-2},", WORDS(0, "SUCCEEDED"), SVC_LR_FINAL_SUCCEEDED,
          SVC_LR_LAUNCHED },
        /* no words, and words that are none */
        { "\"retryPolicy\":{\"fancyRetryPolicy\":true},", "exit code 1", SVC_LR_FINAL_UNKNOWN,
          SVC_LR_LAUNCHED },
        { "\"retryPolicy\":{\"fancyRetryPolicy\":true},", "", SVC_LR_FINAL_UNKNOWN,
          SVC_LR_RETRIEVING },
        { "\"retryPolicy\":{\"fancyRetryPolicy\":true},", "", SVC_LR_FINAL_KILLED,
          SVC_LR_LAUNCHED },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct fake k = { 0 };
        char body[1024];

        fake_start(&k);
        (void)snprintf(body, sizeof(body), "{%s%s", rows[i].policy, &BODY(1, "")[1]);
        put(&k, "a", body);
        end_app(&k, 0, rows[i].final, rows[i].words);
        if (STATE("a") != rows[i].state)
            fail_msg("row %zu: %s", i, svc_lr_state_name(STATE("a")));
        fake_stop(&k);
    }
}

static void waits_before_a_retry(void **state)
{
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, "\"retryPolicy\":{\"fancyRetryPolicy\":true},"));
    end_app(&k, 0, SVC_LR_FINAL_UNKNOWN, WORDS(-7252, "TRANSIENT_CONFLICT"));
    k.wall += 599999;
    svc_lr_tick(k.l);
    assert_int_equal(STATE("a"), SVC_LR_APP_COMPLETED);
    k.wall += 1;
    svc_lr_tick(k.l);
    fake_run(&k);
    assert_int_equal(STATE("a"), SVC_LR_LAUNCHED);
    assert_int_equal(svc_lr_find(&k.l->all, "a")->st.retries.transient_conflict, 1);
    fake_stop(&k);
}

static void diagnostics_never_come(void **state)
{
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    end_app(&k, 0, SVC_LR_FINAL_UNKNOWN, "");
    for (int i = 0; i < 14; i++)
        fake_poll(&k);
    assert_int_equal(STATE("a"), SVC_LR_RETRIEVING);
    fake_poll(&k);
    assert_int_equal(STATE("a"), SVC_LR_COMPLETED);
    assert_int_equal(svc_lr_find(&k.l->all, "a")->st.exit.code, SVC_FW_EXIT_DIAGNOSTICS_LOST);
    fake_stop(&k);
}

static void lost_and_refused(void **state)
{
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "lost", BODY(1, ""));
    k.apps[0].known = false;
    fake_poll(&k); /* too early to say so */
    assert_int_equal(STATE("lost"), SVC_LR_LAUNCHED);
    k.wall += 30000;
    fake_poll(&k);
    assert_int_equal(STATE("lost"), SVC_LR_COMPLETED);
    assert_int_equal(svc_lr_find(&k.l->all, "lost")->st.exit.code, SVC_FW_EXIT_APP_LOST);
    k.submit_code = SVC_FW_EXIT_SUBMIT_REJECTED;
    put(&k, "refused", BODY(1, ""));
    assert_int_equal(STATE("refused"), SVC_LR_COMPLETED);
    assert_int_equal(svc_lr_find(&k.l->all, "refused")->st.exit.code, SVC_FW_EXIT_SUBMIT_REJECTED);
    /* Where nobody answers the same application is submitted again. */
    k.submit_code = SVC_FW_EXIT_SUBMIT_IO;
    put(&k, "away", BODY(1, ""));
    assert_int_equal(STATE("away"), SVC_LR_CREATED);
    k.submit_code = 0;
    svc_lr_tick(k.l);
    fake_run(&k);
    assert_int_equal(STATE("away"), SVC_LR_LAUNCHED);
    assert_int_equal(k.n_apps, 3);
    fake_stop(&k);
}

static void stops(void **state)
{
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/a/ExecutionType", "{\"executionType\":\"STOP\"}"),
        202);
    fake_run(&k);
    assert_int_equal(STATE("a"), SVC_LR_COMPLETED);
    assert_true(k.apps[0].killed);
    assert_int_equal(svc_lr_find(&k.l->all, "a")->st.exit.code, SVC_FW_EXIT_STOP_REQUESTED);
    /* Before it was launched: an id holds its end, and nothing is submitted. */
    put(&k, "b", BODY(1, "\"executionType\":\"STOP\","));
    assert_int_equal(STATE("b"), SVC_LR_COMPLETED);
    assert_int_equal(svc_lr_find(&k.l->all, "b")->st.app.id, 2);
    assert_false(k.apps[1].submitted);
    /* START of a stopped one changes nothing. */
    put(&k, "a", BODY(1, ""));
    assert_int_equal(STATE("a"), SVC_LR_COMPLETED);
    /* Another version does. */
    put(&k, "a", BODY(2, ""));
    assert_int_equal(STATE("a"), SVC_LR_LAUNCHED);
    fake_stop(&k);
}

static void another_version(void **state)
{
    struct fake k = { 0 };
    _cleanup_free_ char *text = NULL;
    _cleanup_said_ struct said s = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    put(&k, "a", BODY(2, "\"platformSpecificParameters\":{\"queue\":\"other\"},"));
    assert_true(k.apps[0].killed);
    assert_true(k.apps[1].submitted);
    assert_int_equal(k.apps[1].id.id, svc_lr_find(&k.l->all, "a")->st.app.id);
    assert_string_equal(svc_lr_find(&k.l->all, "a")->d->queue, "other");
    /* The first one's master is told to go. */
    text = message(&k.apps[0], 1, 0, "");
    s = tell(&k, &k.apps[0], k.apps[0].token, text);
    assert_int_equal(s.status, 401); /* its token is no longer the framework's */
    fake_stop(&k);
}

/* A version that is put again, also with another policy: the application runs on. */
static void same_version(void **state)
{
    struct fake k = { 0 };
    struct svc_framework *f;

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    k.apps[0].running = true;
    fake_poll(&k);
    put(&k, "a", BODY(1, ""));
    put(&k, "a", BODY(1, "\"retryPolicy\":{\"maxRetryCount\":4},"));
    fake_poll(&k);
    f = svc_lr_find(&k.l->all, "a");
    assert_int_equal(f->st.state, SVC_LR_APP_RUNNING);
    assert_int_equal(f->st.app.id, 1);
    assert_int_equal(k.n_apps, 1);
    assert_false(k.apps[0].killed);
    end_app(&k, 0, SVC_LR_FINAL_UNKNOWN, WORDS(7, "UNKNOWN"));
    assert_int_equal(STATE("a"), SVC_LR_LAUNCHED); /* by the new policy */
    fake_stop(&k);
}

/* Stopped, then deleted: the end of the first kill leaves the second one in the store. */
static void two_kills_of_one(void **state)
{
    struct sv_error err = { 0 };
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/a/ExecutionType", "{\"executionType\":1}"), 202);
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/a", NULL), 202);
    assert_int_equal(k.n_kills, 1); /* one after the other */
    svc_lr_on_killed(k.l, k.kills[0], true);
    svc_lr_clear(k.l);
    assert_int_equal(svc_lr_load(k.l, &err), 0);
    assert_non_null(k.l->kills);
    assert_string_equal(k.l->kills->framework, "a");
    svc_lr_tick(k.l);
    assert_int_equal(k.n_kills, 2);
    assert_string_equal(k.removed[1], "a");
    svc_lr_on_killed(k.l, k.kills[1], true);
    assert_null(k.l->kills);
    fake_stop(&k);
}

/* A ResourceManager that is away is not asked at once again, and several applications are killed at
 * once. */
static void kills_wait(void **state)
{
    struct fake k = { 0 };
    int64_t delay = 1000;
    char name[40];

    (void)state;
    fake_start(&k);
    for (int i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof(name), "/v1/Frameworks/f%d", i);
        put(&k, name + 15, BODY(1, ""));
    }
    for (int i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof(name), "/v1/Frameworks/f%d", i);
        assert_int_equal(status_of(&k, "DELETE", name, NULL), 202);
        assert_int_equal(k.n_kills, SV_MIN(i + 1, SVC_LR_KILLS_AT_ONCE));
    }
    for (int i = 0; i < SVC_LR_KILLS_AT_ONCE; i++)
        svc_lr_on_killed(k.l, k.kills[i], false);
    k.n_kills = 0;
    svc_lr_tick(k.l);
    assert_int_equal(k.n_kills, 10 - SVC_LR_KILLS_AT_ONCE); /* those that were not tried yet */
    fake_run(&k);
    for (int i = 0; i < 10; i++) {
        k.wall += delay - 1;
        svc_lr_tick(k.l);
        assert_int_equal(k.n_kills, 0);
        k.wall += 1;
        svc_lr_tick(k.l);
        assert_int_equal(k.n_kills, SVC_LR_KILLS_AT_ONCE);
        for (int n = 0; n < SVC_LR_KILLS_AT_ONCE; n++)
            svc_lr_on_killed(k.l, k.kills[n], false);
        k.n_kills = 0;
        delay = SV_MIN(2 * delay, 60000);
    }
    k.wall -= 1000000; /* the clock is set back */
    svc_lr_tick(k.l);
    fake_run(&k);
    assert_null(k.l->kills);
    fake_stop(&k);
}

/* Where a namespace has several users: one's entry point is not run by another's master. */
static void another_user(void **state)
{
    char body[] = BODY(1, "");
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "a", body);
    memcpy(strstr(body, "\"ann\"") + 1, "bob", 3);
    put(&k, "a", body);
    assert_true(k.apps[0].killed);
    assert_true(k.apps[1].submitted);
    assert_string_equal(k.apps[1].user, "bob");
    put(&k, "a", body);
    assert_int_equal(k.n_apps, 2);
    fake_stop(&k);
}

#define CHILD(rest) BODY(1, "\"parentFramework\":{\"parentFrameworkName\":" rest "},")

static void families(void **state)
{
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/x", CHILD("\"none\",\"deleteOnParentDeleted\":true")),
        400);
    put(&k, "x", CHILD("\"x\",\"deleteOnParentDeleted\":true")); /* its own parent */
    put(&k, "p", BODY(1, ""));
    put(&k, "c", CHILD("\"p\",\"deleteOnParentDeleted\":true,\"stopOnParentStopped\":true"));
    put(&k, "g", CHILD("\"c\",\"deleteOnParentDeleted\":true,\"stopOnParentStopped\":true"));
    put(&k, "o", CHILD("\"p\""));
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/p/ExecutionType", "{\"executionType\":1}"), 202);
    fake_run(&k);
    assert_int_equal(STATE("p"), SVC_LR_COMPLETED);
    assert_int_equal(STATE("c"), SVC_LR_COMPLETED);
    assert_int_equal(STATE("g"), SVC_LR_COMPLETED);
    assert_int_equal(STATE("o"), SVC_LR_LAUNCHED);
    /* One that comes later is stopped, too. */
    put(&k, "n", CHILD("\"p\",\"stopOnParentStopped\":true"));
    assert_int_equal(STATE("n"), SVC_LR_COMPLETED);
    /* The original deleted children with a parent that was absent alone. */
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/p", NULL), 202);
    assert_int_equal(STATE("p") + STATE("c") + STATE("g"), 0);
    assert_int_equal(STATE("o"), SVC_LR_LAUNCHED);
    fake_stop(&k);
}

static void deletes(void **state)
{
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/a", NULL), 202);
    assert_int_equal(status_of(&k, "GET", "/v1/Frameworks/a", NULL), 404);
    assert_int_equal(k.n_kills, 1);
    assert_string_equal(k.removed[0], "a"); /* its files */
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/a", NULL), 202);
    fake_run(&k);
    assert_int_equal(k.l->all.n, 0);
    assert_int_equal(k.l->all.n_tasks, 0);
    assert_null(k.l->kills);
    fake_stop(&k);
}

static void collects(void **state)
{
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    end_app(&k, 0, SVC_LR_FINAL_SUCCEEDED, WORDS(0, "SUCCEEDED"));
    k.wall += 43200 * 1000;
    svc_lr_tick(k.l);
    assert_int_equal(STATE("a"), SVC_LR_COMPLETED); /* strictly older */
    k.wall++;
    svc_lr_tick(k.l);
    assert_int_equal(STATE("a"), 0);
    assert_int_equal(k.l->counts.collected, 1);
    /* One of a data deployment is kept until it is deleted. */
    put(&k, "d", BODY(1, ""));
    svc_lr_find(&k.l->all, "d")->client = SVC_LR_DATA_DEPLOYMENT;
    end_app(&k, 1, SVC_LR_FINAL_SUCCEEDED, WORDS(0, "SUCCEEDED"));
    k.wall += 86400 * 1000;
    svc_lr_tick(k.l);
    assert_int_equal(STATE("d"), SVC_LR_COMPLETED);
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/d", NULL), 202);
    assert_int_equal(STATE("d"), 0);
    fake_stop(&k);
}

static void limits(void **state)
{
    struct fake k = { .settings.max_tasks = 5 };

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/b", BODY(1, "")), 429);
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/a/TaskRoles/W/TaskNumber", "{\"taskNumber\":5}"), 202);
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/a/TaskRoles/W/TaskNumber", "{\"taskNumber\":6}"), 429);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", BODY(1, "")), 202);
    assert_int_equal(k.l->all.n_tasks, 3);
    fake_stop(&k);
}

/* Tasks that had not ended when the application did. */
static void shown_at_the_end(void **state)
{
    struct fake k = { 0 };
    _cleanup_free_ char *text = NULL;
    _cleanup_said_ struct said s = { 0 }, shown = { 0 };

    (void)state;
    fake_start(&k);
    put(&k, "a", BODY(1, ""));
    text = message(&k.apps[0], 1, 1,
                   ",\"taskRoles\":{\"W\":[" TASK(0, "CONTAINER_RUNNING",
                                                  CONTAINER) "," TASK(1, "TASK_WAITING", "") "]}");
    s = tell(&k, &k.apps[0], k.apps[0].token, text);
    assert_int_equal(s.status, 200);
    shown = ask(&k, "GET", "/v1/Frameworks/a/FrameworkStatus", NULL);
    assert_non_null(strstr(shown.body, "\"APPLICATION_RUNNING\""));
    said_free(&shown);
    end_app(&k, 0, SVC_LR_FINAL_KILLED, "");
    shown = ask(&k, "GET", "/v1/Frameworks/a/AggregatedFrameworkStatus", NULL);
    assert_null(strstr(shown.body, "CONTAINER_RUNNING"));
    assert_non_null(strstr(shown.body, "\"containerExitCode\":-7400"));
    assert_non_null(strstr(shown.body, "\"containerCompletedTimestamp\":1000000"));
    assert_non_null(strstr(shown.body, "\"containerCompletedTimestamp\":null"));
    assert_non_null(strstr(shown.body, "\"applicationExitCode\":-7303"));
    fake_stop(&k);
}

/* A user whose processes hang does not keep others waiting. */
static void users_do_not_wait_for_users(void **state)
{
    static const char of_bob[] =
        "{\"version\":1,\"user\":{\"name\":\"bob\"},\"taskRoles\":{\"W\":{\"taskNumber\":1,"
        "\"taskService\":{\"version\":5,\"entryPoint\":\"r\",\"sourceLocations\":[\"hdfs:///a\"],"
        "\"resource\":{\"cpuNumber\":1,\"memoryMB\":64}}}}}";
    struct fake k = { .busy = "ann" };

    (void)state;
    fake_start(&k);
    put(&k, "a1", BODY(1, ""));
    put(&k, "a2", BODY(1, ""));
    put(&k, "b", of_bob);
    svc_lr_tick(k.l);
    fake_run(&k);
    assert_int_equal(STATE("a1"), SVC_LR_CREATED);
    assert_int_equal(STATE("b"), SVC_LR_LAUNCHED);
    k.busy = NULL;
    svc_lr_tick(k.l);
    fake_run(&k);
    assert_int_equal(STATE("a1"), SVC_LR_LAUNCHED);
    assert_int_equal(STATE("a2"), SVC_LR_LAUNCHED);
    fake_stop(&k);
}

/* A body that is small enough until its defaults are filled in: what is stored is read again after
 * the next start, and by masters. */
static void too_large_with_its_defaults(void **state)
{
    static const char role[] =
        "\"taskService\":{\"version\":1,\"sourceLocations\":[\"hdfs:///a\"],\"resource\":{"
        "\"cpuNumber\":1,\"memoryMB\":64},\"entryPoint\":\"";
    struct sv_buf b = SV_BUF_INIT(2 << 20);
    struct fake k = { 0 };
    const struct svc_framework *f;
    unsigned status = 400;
    int longer = 0;

    (void)state;
    fake_start(&k);
    for (int entry = 4000; status == 400 && entry > 2000; entry -= 20, longer++) {
        sv_buf_free(&b);
        b = SV_BUF_INIT(2 << 20);
        assert_int_equal(sv_buf_put_str(&b, "{\"version\":1,\"taskRoles\":{"), 0);
        for (int i = 0; i < 250; i++)
            assert_int_equal(sv_buf_printf(&b, "%s\"r%d\":{\"taskNumber\":1,%s%0*d\"}}",
                                           i ? "," : "", i, role, entry, 1),
                             0);
        assert_int_equal(sv_buf_put(&b, "}}", 3), 0);
        status = status_of(&k, "PUT", "/v1/Frameworks/a", (const char *)b.data);
        longer -= b.len > (1 << 20);
    }
    assert_int_equal(status, 202);
    assert_true(longer > 1); /* bodies that were small enough themselves */
    f = svc_lr_find(&k.l->all, "a");
    assert_true(strlen(f->text) <= SVC_FW_JSON_MAX);
    assert_true(strlen(f->text) > SVC_FW_JSON_MAX - 16384);
    /* Many of them are too much together, and what is not larger than before is taken. */
    assert_int_equal(k.l->all.request_bytes, strlen(f->text));
    k.l->all.request_bytes = SVC_LR_REQUESTS_MAX;
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/b", BODY(1, "")), 429);
    assert_null(svc_lr_find(&k.l->all, "b"));
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", (const char *)b.data), 202);
    assert_int_equal(k.l->all.request_bytes, SVC_LR_REQUESTS_MAX);
    assert_int_equal(
        status_of(&k, "PUT", "/v1/Frameworks/a/TaskRoles/r0/TaskNumber", "{\"taskNumber\":20}"),
        429);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", BODY(1, "")), 202);
    assert_true(k.l->all.request_bytes < SVC_LR_REQUESTS_MAX);
    sv_buf_free(&b);
    fake_stop(&k);
}

/* The ResourceManager takes longer to answer than the time after which an application is lost: one
 * that was submitted behind the question is not in the answer, and is not lost. */
static void a_slow_answer(void **state)
{
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    svc_lr_poll_asked(k.l);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", BODY(1, "")), 202);
    fake_run(&k);
    k.apps[0].known = false;
    k.wall += 60000;
    fake_poll(&k);
    assert_int_equal(STATE("a"), SVC_LR_LAUNCHED);
    svc_lr_poll_asked(k.l);
    fake_poll(&k);
    assert_int_equal(STATE("a"), SVC_LR_COMPLETED);
    assert_int_equal(svc_lr_find(&k.l->all, "a")->st.exit.code, SVC_FW_EXIT_APP_LOST);
    fake_stop(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_to_its_end),
        cmocka_unit_test(retries_by_policy),
        cmocka_unit_test(waits_before_a_retry),
        cmocka_unit_test(diagnostics_never_come),
        cmocka_unit_test(lost_and_refused),
        cmocka_unit_test(stops),
        cmocka_unit_test(another_version),
        cmocka_unit_test(same_version),
        cmocka_unit_test(another_user),
        cmocka_unit_test(two_kills_of_one),
        cmocka_unit_test(kills_wait),
        cmocka_unit_test(families),
        cmocka_unit_test(deletes),
        cmocka_unit_test(collects),
        cmocka_unit_test(limits),
        cmocka_unit_test(a_slow_answer),
        cmocka_unit_test(too_large_with_its_defaults),
        cmocka_unit_test(shown_at_the_end),
        cmocka_unit_test(users_do_not_wait_for_users),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
