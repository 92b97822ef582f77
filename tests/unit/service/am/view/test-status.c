/* Tests service/am/view/status.c and status-record.c: Apache's records, built once a change. */
#include "service/am/view/status.h"

#include <errno.h>
#include <jansson.h>

#include "tests/unit/service/am-fixture.h"

#define SHOP                                                                                       \
    "{\"name\":\"shop\",\"version\":\"7\",\"components\":["                                        \
    "{\"name\":\"db\",\"number_of_containers\":1,\"launch_command\":\"db\","                       \
    "\"resource\":{\"cpus\":1,\"memory\":\"64\"}},"                                                \
    "{\"name\":\"web\",\"number_of_containers\":%d,\"launch_command\":\"web\","                    \
    "\"artifact\":{\"type\":\"TARBALL\",\"id\":\"/a/web.tgz\"},"                                   \
    "\"resource\":{\"cpus\":2,\"memory\":\"128\"}}]}"

struct world {
    struct am_fixture f;
    sd_event *event;
    struct svc_status *status;
    unsigned done;
    int result;
};

static void on_done(int status, void *userdata)
{
    struct world *w = userdata;

    w->done++;
    w->result = status;
}

static void begin(struct world *w, int instances)
{
    char json[1024];

    (void)snprintf(json, sizeof(json), SHOP, instances);
    *w = (struct world){ 0 };
    am_fixture_new(&w->f, json);
    assert_int_equal(sd_event_new(&w->event), 0);
    assert_int_equal(
        svc_status_new(w->event, w->f.engine, &w->f.containers, on_done, w, &w->status), 0);
    assert_int_equal(svc_status_definition(w->status, w->f.plan->stored), 0);
}

static void end(struct world *w)
{
    svc_status_free(w->status);
    sd_event_unref(w->event);
    am_fixture_free(&w->f);
}

static json_t *text_of(struct world *w)
{
    const char *text;
    size_t len;
    json_t *j;

    assert_int_equal(svc_status_text(w->status, &text, &len), 0);
    assert_int_equal(strlen(text), len);
    j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(j);
    return j;
}

static const char *member(json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

static void records(void **state)
{
    json_t *j, *web, *containers, *one;
    struct world w;

    (void)state;
    begin(&w, 2);
    j = text_of(&w);
    assert_string_equal(member(j, "name"), "shop");
    assert_string_equal(member(j, "state"), "STABLE");
    assert_string_equal(member(j, "version"), "7");
    assert_int_equal(json_integer_value(json_object_get(j, "number_of_running_containers")), 3);
    assert_int_equal(json_array_size(json_object_get(j, "components")), 2);
    web = json_array_get(json_object_get(j, "components"), 1);
    assert_string_equal(member(web, "name"), "web");
    assert_string_equal(member(web, "launch_command"), "web");
    assert_string_equal(member(web, "state"), "STABLE");
    assert_int_equal(json_integer_value(json_object_get(web, "number_of_containers")), 2);
    containers = json_object_get(web, "containers");
    assert_int_equal(json_array_size(containers), 2);
    one = json_array_get(containers, 1);
    assert_string_equal(member(one, "component_instance_name"), "web-1");
    assert_string_equal(member(one, "state"), "READY");
    assert_string_equal(member(one, "bare_host"), "node1");
    assert_null(json_object_get(one, "localization_statuses"));
    json_decref(j);
    end(&w);
}

static json_t *container_of(struct world *w, const char *instance, json_t **ret)
{
    json_t *web, *one;
    size_t i;

    svc_status_changed(w->status);
    *ret = text_of(w);
    web = json_array_get(json_object_get(*ret, "components"), 1);
    json_array_foreach(json_object_get(web, "containers"), i, one)
    {
        if (!strcmp(member(one, "component_instance_name"), instance))
            return one;
    }
    return NULL;
}

/* A container that has ended is shown until the next one of its instance has started. */
static void ended(void **state)
{
    struct svc_container *c;
    json_t *j, *one, *file;
    struct svc_instance_view v;
    struct world w;

    (void)state;
    begin(&w, 2);
    assert_int_equal(svc_engine_find(w.f.engine, "web-1", &v), 0);
    c = svc_containers_find(&w.f.containers, v.container);
    assert_int_equal(svc_container_name(c, "web-1"), 0);
    c->started_ms = 77;
    svc_containers_localized(&w.f.containers, c,
                             strdup("[{\"dest_file\":\"lib\",\"state\":\"COMPLETED\"}]"));
    one = container_of(&w, "web-1", &j);
    file = json_array_get(json_object_get(one, "localization_statuses"), 0);
    assert_string_equal(member(file, "dest_file"), "lib");
    json_decref(j);
    svc_containers_end(&w.f.containers, v.container, false);
    svc_engine_completed(w.f.engine, 1, v.container, 3, "failed");
    one = container_of(&w, "web-1", &j);
    assert_non_null(one);
    assert_string_equal(member(one, "state"), "FAILED");
    assert_string_equal(member(one, "bare_host"), "node1");
    assert_int_equal(json_integer_value(json_object_get(one, "launch_time")), 77);
    json_decref(j);
    am_fixture_settle(&w.f);
    svc_containers_forget(&w.f.containers, "web-1");
    one = container_of(&w, "web-1", &j);
    assert_string_equal(member(one, "state"), "READY");
    json_decref(j);
    end(&w);
}

static void built_once(void **state)
{
    const char *first, *second;
    struct world w;
    json_t *j;
    size_t len;

    (void)state;
    begin(&w, 2);
    assert_int_equal(svc_status_text(w.status, &first, &len), 0);
    assert_int_equal(svc_status_text(w.status, &second, &len), 0);
    assert_ptr_equal(first, second);
    assert_int_equal(svc_engine_flex(w.f.engine, 1, "web", 0, NULL), 0);
    am_fixture_settle(&w.f);
    svc_status_changed(w.status);
    j = text_of(&w);
    assert_int_equal(json_integer_value(json_object_get(j, "number_of_running_containers")), 1);
    json_decref(j);
    assert_int_equal(w.done, 0); /* nobody had to wait */
    end(&w);
}

/* More instances than one turn has. */
static void built_in_turns(void **state)
{
    int n = 2 * SVC_STATUS_TURN + 10;
    const char *text;
    struct world w;
    size_t len;
    json_t *j;

    (void)state;
    begin(&w, 1);
    for (int have = 1; have < n;) { /* the fixture's list of operations is bounded */
        have = SV_MIN(have + 100, n);
        assert_int_equal(svc_engine_flex(w.f.engine, 1, "web", have, NULL), 0);
        am_fixture_settle(&w.f);
    }
    svc_status_changed(w.status);
    assert_int_equal(svc_status_text(w.status, &text, &len), -EAGAIN);
    assert_int_equal(svc_status_text(w.status, &text, &len), -EAGAIN);
    svc_status_changed(w.status); /* it starts again, and comes to an end */
    while (w.done == 0)
        assert_true(sd_event_run(w.event, 10000000) > 0);
    assert_int_equal(w.result, 0);
    j = text_of(&w);
    assert_int_equal(json_integer_value(json_object_get(j, "number_of_running_containers")), n + 1);
    json_decref(j);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(records), cmocka_unit_test(built_once),
                                        cmocka_unit_test(built_in_turns), cmocka_unit_test(ended) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
