/* service/am/framework/link.c: one request at a time, changes before the wait, new sequences. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/am/framework/link.h"
#include "service/am/framework/post.h"

/* ---- A transport that the test answers ---- */

static struct {
    svc_post_fn fn;
    void *userdata;
    char url[256], header[128];
    json_t *open; /* the request; NULL: none */
    int sent, canceled;
} post;

int __wrap_svc_post_new(sd_event *event, const char *url, const char *header, svc_post_fn fn,
                        void *userdata, struct svc_post **ret, struct sv_error *err);
int __wrap_svc_post_new(sd_event *event, const char *url, const char *header, svc_post_fn fn,
                        void *userdata, struct svc_post **ret, struct sv_error *err)
{
    (void)event;
    (void)err;
    post.fn = fn;
    post.userdata = userdata;
    (void)snprintf(post.url, sizeof(post.url), "%s", url);
    (void)snprintf(post.header, sizeof(post.header), "%s", header);
    *ret = (struct svc_post *)&post;
    return 0;
}

int __wrap_svc_post_set_url(struct svc_post *p, const char *url);
int __wrap_svc_post_set_url(struct svc_post *p, const char *url)
{
    (void)p;
    (void)snprintf(post.url, sizeof(post.url), "%s", url);
    return 0;
}

int __wrap_svc_post_send(struct svc_post *p, char *json, int64_t timeout_ms);
int __wrap_svc_post_send(struct svc_post *p, char *json, int64_t timeout_ms)
{
    (void)p;
    (void)timeout_ms;
    assert_null(post.open);
    post.open = json_loads(json, 0, NULL);
    assert_non_null(post.open);
    post.sent++;
    free(json);
    return 0;
}

void __wrap_svc_post_cancel(struct svc_post *p);
void __wrap_svc_post_cancel(struct svc_post *p)
{
    (void)p;
    assert_non_null(post.open);
    json_decref(post.open);
    post.open = NULL;
    post.canceled++;
}

struct svc_post *__wrap_svc_post_free(struct svc_post *p);
struct svc_post *__wrap_svc_post_free(struct svc_post *p)
{
    (void)p;
    json_decref(post.open);
    post.open = NULL;
    return NULL;
}

/* ---- The master's side ---- */

static struct {
    int to_tell, told, refused, answers, gone;
} master;

static void on_fill(json_t *roles, void *userdata)
{
    (void)userdata;
    for (; master.to_tell > 0; master.to_tell--)
        assert_int_equal(json_object_set_new(roles, "W", json_array()), 0);
}

static void on_told(bool ok, void *userdata)
{
    (void)userdata;
    master.told += ok;
    master.refused += !ok;
    if (!ok)
        master.to_tell++;
}

static bool on_left(void *userdata)
{
    (void)userdata;
    return master.to_tell > 0;
}

static double on_progress(void *userdata)
{
    (void)userdata;
    return 0.5;
}

static void on_answered(const struct svc_answer *a, void *userdata)
{
    (void)a;
    (void)userdata;
    master.answers++;
}

static void on_gone(const char *why, void *userdata)
{
    (void)why;
    (void)userdata;
    master.gone++;
}

static const struct svc_link_ops ops = { on_fill,     on_told,     on_left,
                                         on_progress, on_answered, on_gone };

struct fixture {
    sd_event *event;
    struct svc_link *link;
};

static void open_link(struct fixture *f, const char *launcher)
{
    const struct svc_link_config cfg = {
        .launcher = launcher,
        .framework = "ann~F",
        .application = "application_1700000000000_0001",
        .token = "t0",
        .version = 3,
        .attempt = 1,
        .ops = &ops,
    };
    struct sv_error err = { 0 };

    assert_int_equal(svc_link_new(f->event, &cfg, &f->link, &err), 0);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    memset(&post, 0, sizeof(post));
    memset(&master, 0, sizeof(master));
    assert_int_equal(sd_event_new(&f->event), 0);
    open_link(f, "http://localhost:9191/");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    svc_link_free(f->link);
    sd_event_unref(f->event);
    free(f);
    return 0;
}

static void turn(struct fixture *f)
{
    while (sd_event_run(f->event, 0) > 0)
        ;
}

static void answer(struct fixture *f, int status, const char *body)
{
    json_t *q = post.open;

    assert_non_null(q);
    post.open = NULL;
    post.fn(status, body, strlen(body), status < 0 ? "no connection" : "", post.userdata);
    json_decref(q);
    turn(f);
}

static int64_t number(const char *key)
{
    assert_non_null(post.open);
    return json_integer_value(json_object_get(post.open, key));
}

static bool flag(const char *key)
{
    return json_is_true(json_object_get(post.open, key));
}

static void greet(struct fixture *f)
{
    turn(f);
    answer(f, 200, "{\"revision\": 5}");
}

static void test_greeting(void **state)
{
    struct fixture *f = *state;

    turn(f);
    assert_string_equal(post.url, "http://localhost:9191/v1/Masters/ann~F");
    assert_string_equal(post.header, "Selvedge-Master: t0");
    assert_int_equal(number("sequence"), 0);
    assert_int_equal(number("seen"), 0);
    assert_int_equal(number("version"), 3);
    assert_false(flag("wait"));
    answer(f, 200, "{\"revision\": 5}");
    assert_int_equal(master.answers, 1);
    assert_int_equal(number("sequence"), 1);
    assert_int_equal(number("seen"), 5);
    assert_true(flag("wait"));
}

/* A change gives the wait up; what came meanwhile goes with the next request. */
static void test_change(void **state)
{
    struct fixture *f = *state;

    greet(f);
    master.to_tell = 1;
    svc_link_changed(f->link);
    turn(f);
    assert_int_equal(post.canceled, 1);
    assert_int_equal(number("sequence"), 2);
    assert_false(flag("wait"));
    assert_int_equal(json_object_size(json_object_get(post.open, "taskRoles")), 1);
    master.to_tell = 1;
    svc_link_changed(f->link);
    turn(f);
    assert_int_equal(post.canceled, 1); /* it has to be answered first */
    answer(f, 200, "{\"revision\": 5}");
    assert_int_equal(master.told, 2);
    assert_int_equal(number("sequence"), 3);
    assert_false(flag("wait"));
    answer(f, 200, "{\"revision\": 5}");
    assert_true(flag("wait"));
}

/* Without an answer it may have been taken: what is told again has another sequence. */
static void test_failure(void **state)
{
    struct fixture *f = *state;

    greet(f);
    master.to_tell = 1;
    svc_link_changed(f->link);
    turn(f);
    answer(f, -EIO, "");
    assert_int_equal(master.refused, 1);
    assert_null(post.open);
    svc_link_changed(f->link); /* the timer decides */
    turn(f);
    assert_null(post.open);
    while (!post.open)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
    assert_int_equal(number("sequence"), 3);
    answer(f, 200, "nothing");
    assert_int_equal(master.refused, 2);
}

/* A wait that broke off is not waited for again at once: a change of that time would be told at the
 * wait's end, since it has no answer yet. */
static void test_broken_wait(void **state)
{
    struct fixture *f = *state;

    greet(f);
    assert_true(flag("wait"));
    answer(f, -EIO, "");
    while (!post.open)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
    assert_false(flag("wait"));
    master.to_tell = 1;
    svc_link_changed(f->link);
    answer(f, 200, "{\"revision\": 5}");
    assert_int_equal(json_object_size(json_object_get(post.open, "taskRoles")), 1);
    answer(f, 200, "{\"revision\": 5}");
    assert_true(flag("wait"));
}

/* Tasks of an old revision are refused: the new one is asked for before they are told again. */
/* The next of several servers is asked when one does not answer, or is not the active one. */
static void test_servers(void **state)
{
    struct fixture *f = *state;

    turn(f);
    svc_link_free(f->link);
    open_link(f, "http://a:1/,http://b:2");
    greet(f);
    assert_string_equal(post.url, "http://a:1/v1/Masters/ann~F");
    answer(f, -ECONNREFUSED, "");
    assert_string_equal(post.url, "http://b:2/v1/Masters/ann~F");
    while (!post.open)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
    answer(f, 307, "");
    assert_string_equal(post.url, "http://a:1/v1/Masters/ann~F");
    while (!post.open)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
    answer(f, 400, "{\"message\": \"there is no task 3\"}");
    assert_string_equal(post.url, "http://a:1/v1/Masters/ann~F");
    assert_int_equal(master.gone, 0);
}

static void test_refused(void **state)
{
    struct fixture *f = *state;

    greet(f);
    master.to_tell = 1;
    svc_link_changed(f->link);
    turn(f);
    answer(f, 400, "{\"message\": \"there is no task 3\"}");
    while (!post.open)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
    assert_int_equal(json_object_size(json_object_get(post.open, "taskRoles")), 0);
    assert_false(flag("wait"));
    answer(f, 200, "{\"revision\": 6}");
    assert_int_equal(json_object_size(json_object_get(post.open, "taskRoles")), 1);
    assert_int_equal(number("seen"), 6);
}

static void test_end(void **state)
{
    struct fixture *f = *state;

    greet(f);
    svc_link_end(f->link);
    turn(f);
    assert_true(flag("ending"));
    assert_false(flag("wait"));
    assert_false(svc_link_ended(f->link));
    answer(f, 200, "{\"revision\": 5}");
    assert_true(svc_link_ended(f->link));
    assert_true(flag("wait"));
}

static void test_pause(void **state)
{
    struct fixture *f = *state;

    turn(f);
    answer(f, 200, "{\"revision\": 5, \"pauseMs\": 50000}");
    assert_null(post.open);
    master.to_tell = 1;
    svc_link_changed(f->link);
    turn(f);
    assert_non_null(post.open);
}

static void test_gone(void **state)
{
    struct fixture *f = *state;

    greet(f);
    answer(f, 410, "");
    assert_int_equal(master.gone, 1);
    svc_link_changed(f->link);
    turn(f);
    assert_null(post.open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_greeting, setup, teardown),
        cmocka_unit_test_setup_teardown(test_change, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(test_servers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
