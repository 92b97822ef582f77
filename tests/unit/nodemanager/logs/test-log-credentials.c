/* logs/log-credentials.c and log-keep-alive.c: tokens of uploads, which are the application's or
 * renewed ones, and how long the ResourceManager keeps them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "tests/unit/nodemanager/logs/aggregation-fixture.h"
#include "wire/token/token.h"

#define ON_HDFS                                                                                    \
    SET("yarn.nodemanager.remote-app-log-dir=hdfs://ns/logs"), SET("dfs.nameservices=ns"),         \
        SET("dfs.ha.namenodes.ns=a"), SET("dfs.namenode.rpc-address.ns.a=nn:8020")

/* Credentials with a token of HDFS and the AM's. */
static void put_tokens(struct sv_buf *b, const char *alias, const char *password)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_token t = { .id = (const uint8_t *)"id",
                            .id_len = 2,
                            .password = (const uint8_t *)password,
                            .password_len = strlen(password),
                            .kind = YARN_KIND_HDFS_DELEGATION,
                            .service = alias };
    struct yarn_credentials c = { 0 };

    assert_int_equal(yarn_credentials_add(a, &c, alias, &t), 0);
    t.kind = YARN_KIND_AMRM;
    assert_int_equal(yarn_credentials_add(a, &c, "am", &t), 0);
    b->len = 0;
    assert_int_equal(yarn_credentials_write(&c, b), 0);
}

/* The ResourceManager's new credentials of application 1. */
static void renew(const char *alias, const char *password)
{
    Hadoop__Yarn__ApplicationIdProto id;
    Hadoop__Yarn__SystemCredentialsForAppsProto row, *rows[] = { &row };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);

    put_tokens(&b, alias, password);
    hadoop__yarn__application_id_proto__init(&id);
    id.has_id = id.has_cluster_timestamp = true;
    id.id = 1;
    id.cluster_timestamp = 1;
    hadoop__yarn__system_credentials_for_apps_proto__init(&row);
    row.appid = &id;
    row.has_credentialsforapp = true;
    row.credentialsforapp = (ProtobufCBinaryData){ b.len, b.data };
    assert_int_equal(nm_credentials_replace(ctx.credentials, rows, 1), 0);
}

static int count_tokens(const char *key, const void *value, size_t len, void *userdata)
{
    (void)value, (void)len;
    *(unsigned *)userdata +=
        !strncmp(key, NM_UPLOAD_CREDENTIALS_KEY, strlen(NM_UPLOAD_CREDENTIALS_KEY));
    return 0;
}

static unsigned tokens_on_record(void)
{
    unsigned n = 0;

    assert_int_equal(nm_store_each_resource(ctx.store, count_tokens, &n), 0);
    return n;
}

/* The tokens of file systems alone, renewed ones in the place of those of the submission; both are
 * there after a restart, until the upload is over. */
static void tokens(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);
    struct nm_app *a;

    (void)state;
    begin(SETTINGS(ON_HDFS));
    put_tokens(&b, "ha-hdfs:ns", "old");
    a = add_app_with(1, "", "", "", (struct fs_credentials){ b.data, b.len });
    restart(SETTINGS(ON_HDFS));
    renew("other:8020", "new");
    nm_aggregation_app_finished(g, a);
    nm_credentials_app_finished(ctx.credentials, a->text);
    turn(&started, 1);
    assert_string_equal(uploads[0]->tokens, "other:8020=new ha-hdfs:ns=old ");
    assert_non_null(strstr(uploads[0]->request.text[LOGS_SERVERS], "ns@nn:8020"));
    restart(SETTINGS(ON_HDFS));
    turn(&started, 1);
    assert_string_equal(uploads[0]->tokens, "other:8020=new ha-hdfs:ns=old ");
    assert_int_equal(tokens_on_record(), 1);
    answer(0, LOGS_DONE);
    assert_int_equal(tokens_on_record(), 0);
    close_node();
}

/* Every upload of rolled logs takes the newest. */
static void rolled_tokens(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);
    struct nm_app *a;

    (void)state;
    begin(SETTINGS(SET(LOGS "roll-monitoring-interval-seconds=1"), SET(LOGS "debug-enabled=true"),
                   ON_HDFS));
    put_tokens(&b, "ha-hdfs:ns", "one");
    a = add_app_with(1, "", "", "^log\\.", (struct fs_credentials){ b.data, b.len });
    container_done(a, 2, 0);
    turn(&started, 1);
    assert_string_equal(uploads[0]->tokens, "ha-hdfs:ns=one ");
    answer(0, LOGS_DONE);
    renew("ha-hdfs:ns", "two");
    container_done(a, 3, 0);
    turn(&started, 2);
    assert_string_equal(uploads[1]->tokens, "ha-hdfs:ns=two ");
    close_node();
}

/* Malformed renewed ones are not used; a directory of this machine needs none. */
static void without_tokens(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 16);
    struct nm_app *a;

    put_tokens(&b, "ha-hdfs:ns", "old");
    begin(SETTINGS(NULL));
    a = add_app_with(1, "", "", "", (struct fs_credentials){ b.data, b.len });
    nm_aggregation_app_finished(g, a);
    turn(&started, 1);
    assert_false(uploads[0]->request.has_credentials);
    assert_int_equal(tokens_on_record(), 0);
    close_node();

    fresh(state);
    begin(SETTINGS(ON_HDFS));
    a = add_app_with(1, "", "", "", (struct fs_credentials){ b.data, b.len - 2 });
    nm_aggregation_app_finished(g, a);
    turn(&started, 1);
    assert_false(uploads[0]->request.has_credentials);
    close_node();
}

/* Numbers of the applications of the next status, as text; NULL: 16 or more. */
static const char *kept_alive(void)
{
    static char text[16];
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationIdProto **list;
    size_t n;

    list = nm_aggregation_keep_alive(g, a, &n);
    assert_true(list && n < sizeof(text));
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('0' + list[i]->id);
    text[n] = '\0';
    return text;
}

/* Between 70 and 90 % of the interval after the end, again and again, until the upload is over. */
static void keep_alive(void **state)
{
    static char *const interval = SET("yarn.nm.liveness-monitor.expiry-interval-ms=1000");
    struct nm_app *a;
    int64_t t = 1000000;

    (void)state;
    sv_clock_set_test(t, 1);
    ctx.kerberos = (struct sgss_daemon *)&ctx; /* never used */
    begin(SETTINGS(interval));
    a = add_app(1, "", "", "");
    (void)add_app(2, "", "", "");
    sv_clock_set_test(t += 10000, 1);
    assert_string_equal(kept_alive(), ""); /* it runs */
    nm_aggregation_app_ends(g, a->text);
    sv_clock_set_test(t += 699, 1);
    assert_string_equal(kept_alive(), "");
    nm_aggregation_app_finished(g, a);
    nm_aggregation_reports_delivered(g);
    sv_clock_set_test(t += 202, 1);
    for (int lost = 0; lost < 3; lost++)
        assert_string_equal(kept_alive(), "1");
    nm_aggregation_reports_delivered(g);
    for (int round = 0; round < 3; round++) {
        sv_clock_set_test(t += 699, 1);
        assert_string_equal(kept_alive(), "");
        sv_clock_set_test(t += 202, 1);
        assert_string_equal(kept_alive(), "1");
        nm_aggregation_reports_delivered(g);
    }
    restart(SETTINGS(interval));
    assert_string_equal(kept_alive(), "1"); /* who knows when it was told last */
    nm_aggregation_reports_delivered(g);
    turn(&started, 1);
    sv_clock_set_test(t += 901, 1);
    assert_string_equal(kept_alive(), "1");
    answer(0, LOGS_DONE);
    assert_string_equal(kept_alive(), "");
    sv_clock_set_test(t += 901, 1);
    assert_string_equal(kept_alive(), "");
    close_node();
    ctx.kerberos = NULL;
    sv_clock_reset();
}

/* Without Kerberos there are no tokens to keep. */
static void not_secure(void **state)
{
    struct nm_app *a;

    (void)state;
    sv_clock_set_test(1000, 1000);
    begin(SETTINGS(NULL));
    a = add_app(1, "", "", "");
    nm_aggregation_app_ends(g, a->text);
    nm_aggregation_app_finished(g, a);
    sv_clock_set_test(1000000000, 1000);
    assert_string_equal(kept_alive(), "");
    close_node();
    sv_clock_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tokens, fresh),         cmocka_unit_test_setup(rolled_tokens, fresh),
        cmocka_unit_test_setup(without_tokens, fresh), cmocka_unit_test_setup(keep_alive, fresh),
        cmocka_unit_test_setup(not_secure, fresh),
    };

    return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}
