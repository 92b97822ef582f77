/* aux-services/aux-data.c with a store: data of applications, over a restart, and its end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nodemanager/aux-services/aux-data.h"
#include "nodemanager/store/state-store.h"

#define APP "application_1_0001"
#define OTHER "application_1_0002"

static char dir[] = "/tmp/selvedge-aux-data-XXXXXX", path[64];
static struct nm_store *store;
static struct nm_aux_data *data;
static sd_event *event;

static void start(void)
{
    struct sv_error err = { 0 };

    if (nm_store_open(event, path, &store, &err) < 0)
        fail_msg("%s", err.text);
    data = nm_aux_data_new(store);
    assert_non_null(data);
    assert_int_equal(nm_aux_data_recover(data), 0);
}

static void stop(void)
{
    data = nm_aux_data_free(data);
    store = nm_store_close(store);
}

static void is(const char *app, const char *service, const char *text)
{
    size_t n = 1000;
    const uint8_t *p = nm_aux_data_get(data, app, service, &n);

    if (!text) {
        assert_null(p);
        return;
    }
    assert_non_null(p);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(p, text, n);
}

static void life(void **state)
{
    static uint8_t big[NM_AUX_DATA_MAX + 1];

    (void)state;
    start();
    assert_int_equal(nm_store_app(store, APP, "u", " ", " "), 0);
    assert_int_equal(nm_store_app(store, OTHER, "u", " ", " "), 0);
    assert_int_equal(nm_aux_data_put(data, APP, "a", "one", 3), 1);
    assert_int_equal(nm_aux_data_put(data, APP, "a", "one", 3), 0);
    assert_int_equal(nm_aux_data_put(data, APP, "a", "two", 3), 1);
    assert_int_equal(nm_aux_data_put(data, APP, "b", NULL, 0), 1);
    assert_int_equal(nm_aux_data_put(data, APP, "b", NULL, 0), 0);
    assert_int_equal(nm_aux_data_put(data, OTHER, "a", "three", 5), 1);
    assert_int_equal(nm_aux_data_put(data, OTHER, "a", big, sizeof(big)), -EMSGSIZE);
    is(APP, "a", "two");
    is(APP, "c", NULL);
    stop();
    start();
    is(APP, "a", "two");
    is(APP, "b", "");
    is(OTHER, "a", "three");
    assert_int_equal(nm_aux_data_put(data, APP, "a", "two", 3), 0);
    nm_aux_data_drop(data, APP);
    is(APP, "a", NULL);
    is(OTHER, "a", "three");
    assert_int_equal(nm_store_app_remove(store, APP), 0); /* with its data */
    stop();
    start();
    is(APP, "a", NULL);
    is(APP, "b", NULL);
    is(OTHER, "a", "three");
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(life) };
    int r;

    if (!mkdtemp(dir) || sd_event_default(&event) < 0)
        return 1;
    snprintf(path, sizeof(path), "%s/state.db", dir);
    r = cmocka_run_group_tests(tests, NULL, NULL);
    r = nm_store_unlink(path) < 0 ? 1 : r;
    (void)rmdir(dir);
    sd_event_unref(event);
    return r;
}
