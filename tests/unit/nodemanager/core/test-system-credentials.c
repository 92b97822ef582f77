/* core/system-credentials.c: the ResourceManager's credentials replace earlier ones; those of
 * running applications are recorded once each. The store and the applications are stubs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/core/context.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/store/state-store.h"

#define HERE "application_1700000000000_0001"
#define LATER "application_1700000000000_0002"

static struct nm_context ctx;
static struct nm_credentials *credentials;
static bool later_is_here;
static char log_of_store[512]; /* "+key=bytes" and "-key" of each call */

struct nm_app *nm_app_find(const struct nm_context *c, const char *text)
{
    (void)c;
    return !strcmp(text, HERE) || (later_is_here && !strcmp(text, LATER)) ? (struct nm_app *)&ctx
                                                                          : NULL;
}

static void note(const char *sign, const char *key, const void *p, size_t n)
{
    size_t used = strlen(log_of_store);

    (void)snprintf(log_of_store + used, sizeof(log_of_store) - used, "%s%s%s%.*s ", sign,
                   key + strlen(NM_CREDENTIALS_KEY), n ? "=" : "", (int)n, (const char *)p);
}

int nm_store_resource(struct nm_store *s, const char *key, const void *value, size_t len)
{
    (void)s;
    note("+", key, value, len);
    return 0;
}

int nm_store_resource_remove(struct nm_store *s, const char *key)
{
    (void)s;
    note("-", key, "", 0);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    ctx = (struct nm_context){ 0 };
    later_is_here = false;
    log_of_store[0] = 0;
    return nm_credentials_new(&ctx, &credentials);
}

static int tear_down(void **state)
{
    (void)state;
    credentials = nm_credentials_free(credentials);
    return 0;
}

/* Sends credentials of application 1 and, unless NULL, 2. */
static int tell(const char *one, const char *two, size_t two_len)
{
    Hadoop__Yarn__ApplicationIdProto ids[2];
    Hadoop__Yarn__SystemCredentialsForAppsProto rows[2], *list[2] = { &rows[0], &rows[1] };

    for (int i = 0; i < 2; i++) {
        hadoop__yarn__application_id_proto__init(&ids[i]);
        ids[i].has_id = ids[i].has_cluster_timestamp = true;
        ids[i].id = i + 1;
        ids[i].cluster_timestamp = 1700000000000;
        hadoop__yarn__system_credentials_for_apps_proto__init(&rows[i]);
        rows[i].appid = &ids[i];
        rows[i].has_credentialsforapp = true;
    }
    rows[0].credentialsforapp = (ProtobufCBinaryData){ strlen(one), (uint8_t *)(uintptr_t)one };
    rows[1].credentialsforapp = (ProtobufCBinaryData){ two_len, (uint8_t *)(uintptr_t)two };
    return nm_credentials_replace(credentials, list, two ? 2 : 1);
}

static const char *of(const char *app)
{
    static char text[64];
    const void *p;
    size_t n;

    if (!nm_credentials_of(credentials, app, &p, &n))
        return NULL;
    (void)snprintf(text, sizeof(text), "%.*s", (int)n, (const char *)p);
    return text;
}

static void expect_stored(const char *what)
{
    assert_string_equal(log_of_store, what);
    log_of_store[0] = 0;
}

static void replaced_whole(void **state)
{
    (void)state;
    assert_null(of(HERE));
    assert_int_equal(tell("a", "b", 1), 0);
    expect_stored("+" HERE "=a "); /* the other one is not here */
    assert_string_equal(of(HERE), "a");
    assert_int_equal(tell("a", NULL, 0), 0); /* unchanged */
    expect_stored("");
    assert_null(of(LATER));
    assert_int_equal(tell("c", NULL, 0), 0);
    expect_stored("+" HERE "=c ");
    assert_int_equal(nm_credentials_replace(credentials, NULL, 0), 0); /* nothing is sent */
    assert_string_equal(of(HERE), "c");
    nm_credentials_app_finished(credentials, HERE);
    expect_stored("-" HERE " ");
    assert_null(of(HERE));
}

static void told_before_the_application(void **state)
{
    (void)state;
    assert_int_equal(tell("a", "b", 1), 0);
    log_of_store[0] = 0;
    later_is_here = true;
    assert_string_equal(of(LATER), "b");
    assert_string_equal(of(LATER), "b");
    expect_stored("+" LATER "=b ");
}

static void recovered(void **state)
{
    (void)state;
    assert_int_equal(nm_credentials_restore(credentials, HERE, "a", 1), 0);
    assert_int_equal(nm_credentials_restore(credentials, LATER, "b", 1), 0); /* it is gone */
    assert_int_equal(nm_credentials_restore(credentials, "application_x", "b", 1), -EBADMSG);
    expect_stored("-" LATER " ");
    assert_string_equal(of(HERE), "a");
    assert_null(of(LATER));
    assert_int_equal(tell("a", NULL, 0), 0);
    expect_stored("");
}

static void too_large(void **state)
{
    char *large = calloc(1, NM_CREDENTIALS_MAX + 1);

    (void)state;
    assert_non_null(large);
    later_is_here = true;
    assert_int_equal(tell("a", large, NM_CREDENTIALS_MAX + 1), 0);
    assert_string_equal(of(HERE), "a");
    assert_null(of(LATER));
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replaced_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(told_before_the_application, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recovered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_large, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
