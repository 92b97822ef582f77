/* Tests service/am/view/live.c: lists of a small service as it is now, of a large one in turns. */
#include "service/am/view/live.h"

#include <errno.h>
#include <jansson.h>

#include "common/clock.h"
#include "tests/unit/service/am-fixture.h"

#define SHOP                                                                                       \
    "{\"name\":\"shop\",\"version\":\"7\",\"components\":[{\"name\":\"web\","                      \
    "\"number_of_containers\":%d,\"launch_command\":\"web\","                                      \
    "\"resource\":{\"cpus\":2,\"memory\":\"128\"}}]}"

struct world {
    struct am_fixture f;
    sd_event *event;
    struct svc_live *live;
    unsigned done, views;
};

static void on_view(void *userdata, struct svc_slider_view *ret)
{
    struct world *w = userdata;

    w->views++;
    *ret = (struct svc_slider_view){ w->f.engine, &w->f.containers, w->f.plan->stored,
                                     w->f.plan->resolved, "alice" };
}

static void on_done(void *userdata)
{
    struct world *w = userdata;

    w->done++;
}

static void begin(struct world *w, int instances)
{
    const struct svc_live_config cfg = { on_view, w, on_done, w };
    char json[1024];

    (void)snprintf(json, sizeof(json), SHOP, SV_MIN(instances, 100));
    *w = (struct world){ 0 };
    am_fixture_new(&w->f, json);
    for (int have = 100; have < instances;) { /* the fixture's list of operations is bounded */
        have = SV_MIN(have + 100, instances);
        assert_int_equal(svc_engine_flex(w->f.engine, 1, "web", have, NULL), 0);
        am_fixture_settle(&w->f);
    }
    assert_int_equal(sd_event_new(&w->event), 0);
    assert_int_equal(svc_live_new(w->event, &cfg, &w->live), 0);
}

static void end(struct world *w)
{
    svc_live_free(w->live);
    sd_event_unref(w->event);
    am_fixture_free(&w->f);
}

static size_t size_of(struct world *w, enum svc_live_list which)
{
    const char *text;
    size_t len, n;
    json_t *j;

    assert_int_equal(svc_live_text(w->live, which, NULL, &text, &len), 0);
    j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(j);
    n = which == SVC_LIVE_NODES ? json_array_size(j) : json_object_size(j);
    json_decref(j);
    return n;
}

static int ask(struct world *w, enum svc_live_list which)
{
    const char *text;
    size_t len;

    return svc_live_text(w->live, which, NULL, &text, &len);
}

static void run_turns(struct world *w, unsigned until)
{
    while (w->done < until)
        assert_true(sd_event_run(w->event, UINT64_MAX) >= 0);
}

static void small(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2);
    assert_int_equal(size_of(&w, SVC_LIVE_CONTAINERS), 2);
    assert_int_equal(size_of(&w, SVC_LIVE_NODES), 1);
    assert_int_equal(size_of(&w, SVC_LIVE_CONTAINERS), 2);
    assert_int_equal(w.views, 3); /* as it is now */
    assert_int_equal(w.done, 0);
    end(&w);
    begin(&w, 0);
    assert_int_equal(size_of(&w, SVC_LIVE_CONTAINERS), 0);
    assert_int_equal(size_of(&w, SVC_LIVE_NODES), 0);
    end(&w);
}

static void in_turns(void **state)
{
    int n = 2 * SVC_LIVE_TURN + 10;
    struct world w;

    (void)state;
    begin(&w, n);
    sv_clock_set_test(1000, 1000);
    assert_int_equal(ask(&w, SVC_LIVE_CONTAINERS), -EAGAIN);
    assert_int_equal(ask(&w, SVC_LIVE_NODES), -EAGAIN); /* its turn comes */
    run_turns(&w, 1);
    assert_int_equal(w.views, 3);
    assert_int_equal(size_of(&w, SVC_LIVE_CONTAINERS), n);
    assert_int_equal(ask(&w, SVC_LIVE_NODES), -EAGAIN);
    run_turns(&w, 2);
    assert_int_equal(size_of(&w, SVC_LIVE_NODES), 1);
    w.views = 0;
    assert_int_equal(size_of(&w, SVC_LIVE_NODES), 1); /* kept */
    assert_int_equal(w.views, 0);
    sv_clock_set_test(1000 + SVC_LIVE_FRESH_MS, 1000);
    assert_int_equal(ask(&w, SVC_LIVE_NODES), -EAGAIN);
    sv_clock_reset();
    end(&w); /* while it is being built */
}

static json_t *of_component(struct world *w, enum svc_live_list which, const char *name)
{
    const char *text;
    size_t len;
    json_t *j;

    while (svc_live_text(w->live, which, name, &text, &len) == -EAGAIN)
        assert_true(sd_event_run(w->event, UINT64_MAX) >= 0);
    assert_int_equal(svc_live_text(w->live, which, name, &text, &len), 0);
    j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(j);
    return j;
}

static void component(void **state)
{
    static const int sizes[] = { 0, 2, SVC_LIVE_TURN + 10 };
    char name[SVC_LIVE_NAME_MAX + 1];
    const char *text;
    struct world w;
    size_t len;
    json_t *j;

    (void)state;
    sv_clock_set_test(1000, 1000);
    memset(name, 'a', sizeof(name));
    name[SVC_LIVE_NAME_MAX] = '\0';
    for (size_t i = 0; i < SV_ARRAY_LEN(sizes); i++) {
        begin(&w, sizes[i]);
        j = of_component(&w, SVC_LIVE_COMPONENT, "web");
        assert_int_equal(json_array_size(json_object_get(j, "containers")), sizes[i]);
        assert_int_equal(json_integer_value(json_object_get(j, "actual")), sizes[i]);
        assert_string_equal(json_string_value(json_object_get(j, "name")), "web");
        json_decref(j);
        j = of_component(&w, SVC_LIVE_COMPONENT_IDS, "web");
        assert_int_equal(json_array_size(j), sizes[i]);
        json_decref(j);
        assert_int_equal(svc_live_text(w.live, SVC_LIVE_COMPONENT, "none", &text, &len), -ENOENT);
        assert_int_equal(svc_live_text(w.live, SVC_LIVE_COMPONENT, name, &text, &len), -ENOENT);
        end(&w);
    }
    sv_clock_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small),
        cmocka_unit_test(in_turns),
        cmocka_unit_test(component),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
