/* amrmproxy/home.c: applications with and without a home in an SQLite store, and no store. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/log.h"
#include "federation/store/store-conf.h"
#include "federation/store/store.h"
#include "nodemanager/amrmproxy/home.h"

#define SQLITE "selvedge.federation.state-store.sqlite.path"

static char dir[] = "/tmp/selvedge-home-XXXXXX";
static const struct yarn_app_id app = { 17, 3 }, stranger = { 17, 4 };

static struct {
    sd_event *event;
    struct sv_conf *conf;
    struct fed_store *store; /* the Router's */
    struct nm_amrm_home *home;
    bool done, unusable;
    int known;
    char why[256];
} w;

static void on_unusable(const char *why, void *userdata)
{
    (void)userdata;
    (void)snprintf(w.why, sizeof(w.why), "%s", why);
    w.unusable = true;
}

static void on_known(int known, const char *why, void *userdata)
{
    assert_ptr_equal(userdata, &w);
    assert_false(w.done);
    w.done = true;
    w.known = known;
    (void)snprintf(w.why, sizeof(w.why), "%s", why);
}

static void wait_for(const bool *done)
{
    while (!*done)
        assert_true(sd_event_run(w.event, UINT64_MAX) > 0);
}

static void on_stored(const struct fed_answer *a, void *userdata)
{
    if (a->error < 0)
        fail_msg("%s", a->reason);
    *(bool *)userdata = true;
}

static void tell(const struct fed_request *q)
{
    bool done = false;

    assert_int_equal(fed_store_call(w.store, q, on_stored, &done, NULL), 0);
    wait_for(&done);
}

static int set_up(void **state)
{
    struct sv_error err = { 0 };
    char path[128];

    (void)state;
    memset(&w, 0, sizeof(w));
    (void)snprintf(path, sizeof(path), "%s/federation.db", dir);
    (void)unlink(path);
    w.conf = sv_conf_new();
    if (sd_event_new(&w.event) < 0 || !w.conf ||
        sv_conf_set(w.conf, "yarn.federation.state-store.class", FED_CLASS_SQLITE) < 0 ||
        sv_conf_set(w.conf, SQLITE, path) < 0)
        return -1;
    if (fed_store_open(w.event, w.conf, &w.store, &err) < 0 ||
        nm_amrm_home_new(w.event, w.conf, on_unusable, NULL, &w.home, &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    w.home = nm_amrm_home_free(w.home);
    w.store = fed_store_free(w.store);
    w.conf = sv_conf_free(w.conf);
    w.event = sd_event_unref(w.event);
    return 0;
}

static void homes(void **state)
{
    (void)state;
    tell(&(struct fed_request){ .op = FED_VERSION_CHECK });
    assert_int_equal(nm_amrm_home_ask(w.home, app, on_known, &w), 0);
    wait_for(&w.done);
    assert_int_equal(w.known, 0);
    tell(&(struct fed_request){ .op = FED_HOME_ADD, .home = { .app = app, .home = "SC-1" } });
    w.done = false; /* that it has none was not kept */
    assert_int_equal(nm_amrm_home_ask(w.home, app, on_known, &w), 0);
    wait_for(&w.done);
    assert_int_equal(w.known, 1);
    w.done = false;
    assert_int_equal(nm_amrm_home_ask(w.home, stranger, on_known, &w), 0);
    wait_for(&w.done);
    assert_int_equal(w.known, 0);
    assert_false(w.unusable);
}

static void ended_in_between(void **state)
{
    (void)state;
    assert_int_equal(nm_amrm_home_ask(w.home, app, on_known, &w), 0);
    w.home = nm_amrm_home_free(w.home);
    assert_true(w.done);
    assert_int_equal(w.known, -ECANCELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(homes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ended_in_between, set_up, tear_down),
    };
    int r, tmp;

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    if (!mkdtemp(dir))
        return 1;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    tmp = open("/tmp", O_PATH | O_CLOEXEC);
    r += sv_remove_tree_at(tmp, strrchr(dir, '/') + 1) < 0;
    sv_close(tmp);
    return r;
}
