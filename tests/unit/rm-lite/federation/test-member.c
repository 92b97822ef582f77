/* This ResourceManager as a member of a federation: registration, heartbeats, rows of homes,
 * departure; on the store in memory and on an SQLite file. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <jansson.h>

#include "federation/store/member-epoch.h"
#include "federation/store/store.h"
#include "rm-lite/federation/member-internal.h"
#include "rm-lite/web/rest/web-cluster.h"

#define APP(n)                                                                                     \
    {                                                                                              \
        .cluster_ts = 1700000000000, .id = n                                                       \
    }

static char *figures(struct rm *rm)
{
    (void)rm;
    return strdup("{\"clusterMetrics\":{\"availableMB\":7}}");
}

/* ---- One call, waited for ---- */

struct got {
    bool done;
    int error;
    size_t n;
    enum fed_state state;
    char text[FED_NAME_MAX + 1], capability[256];
};

static void on_answer(const struct fed_answer *a, void *userdata)
{
    struct got *got = userdata;

    *got = (struct got){ .done = true, .error = a->error, .n = a->n };
}

static void on_member(const struct fed_answer *a, void *userdata)
{
    struct got *got = userdata;

    on_answer(a, got);
    if (a->n == 0)
        return;
    got->state = a->members[0].state;
    (void)snprintf(got->text, sizeof(got->text), "%s", a->members[0].client);
    (void)snprintf(got->capability, sizeof(got->capability), "%s", a->members[0].capability);
}

static void wait_for(sd_event *event, const bool *done)
{
    for (int i = 0; i < 1000 && !*done; i++)
        assert_true(sd_event_run(event, 10000) >= 0);
    assert_true(*done);
}

static struct got call(sd_event *event, struct fed_store *s, const struct fed_request *q,
                       fed_done done)
{
    struct got got = { 0 };

    assert_int_equal(fed_store_call(s, q, done, &got, NULL), 0);
    wait_for(event, &got.done);
    return got;
}

static struct got member(struct fix *f, struct fed_store *s)
{
    return call(f->event, s, &(struct fed_request){ .op = FED_MEMBER_GET, .member.id = "SC-1" },
                on_member);
}

static void until_state(struct fix *f, struct fed_store *s, enum fed_state state)
{
    for (int i = 0; i < 1000 && member(f, s).state != state; i++)
        assert_true(sd_event_run(f->event, 10000) >= 0);
    assert_int_equal(member(f, s).state, state);
}

/* A member of the store in memory, which the test reads beside it. */
static const char *const keys[][2] = {
    { "yarn.resourcemanager.cluster-id", "SC-1" },
    { "yarn.federation.state-store.heartbeat.initial-delay", "1ms" },
    { "yarn.federation.state-store.heartbeat-interval-secs", "10ms" },
    { NULL, NULL }
};

static struct fed_store *join(struct fix *f)
{
    struct fed_store *s;
    struct sv_error err = { 0 };

    setup_with(f, keys);
    assert_int_equal(fed_store_open_memory(f->event, &s), 0);
    assert_int_equal(rm_member_start_on(f->rm, s, figures, &err), 0);
    return s;
}

/* ---- Cases ---- */

static void registers_and_becomes_active(void **state)
{
    struct fix f = { 0 };
    struct fed_store *s = join(&f);
    char client[64];

    (void)state;
    until_state(&f, s, FED_RUNNING);
    (void)snprintf(client, sizeof(client), "127.0.0.1:%u", f.rm->client_port);
    assert_string_equal(member(&f, s).text, client);
    assert_string_equal(member(&f, s).capability, "{\"clusterMetrics\":{\"availableMB\":7}}");
    teardown(&f);
}

static void is_active_again_after_a_cleaner_was_too_early(void **state)
{
    struct fix f = { 0 };
    struct fed_store *s = join(&f);

    (void)state;
    until_state(&f, s, FED_RUNNING);
    (void)call(f.event, s,
               &(struct fed_request){ .op = FED_MEMBER_DEREGISTER,
                                      .member = { .id = "SC-1", .state = FED_LOST } },
               on_answer);
    until_state(&f, s, FED_RUNNING); /* a Router's cleaner was too early */
    teardown(&f);
}

static void add_home(struct fix *f, struct fed_store *s, int app, const char *home)
{
    const struct fed_request q = { .op = FED_HOME_ADD, .home = { .app = APP(app), .home = home } };

    assert_int_equal(call(f->event, s, &q, on_answer).error, 0);
}

static int home_error(struct fix *f, struct fed_store *s, int app)
{
    return call(f->event, s, &(struct fed_request){ .op = FED_HOME_GET, .home.app = APP(app) },
                on_answer)
        .error;
}

static void rows_of_dropped_applications_are_deleted(void **state)
{
    struct fix f = { 0 };
    struct fed_store *s = join(&f);

    (void)state;
    until_state(&f, s, FED_RUNNING);
    for (int i = 1; i <= 100; i++)
        add_home(&f, s, i, i == 7 ? "SC-2" : "SC-1");
    for (int i = 1; i <= 100; i++)
        rm_member_forget(f.rm, (struct yarn_app_id)APP(i));
    rm_member_forget(f.rm, (struct yarn_app_id)APP(999)); /* no row: never federated */
    for (int i = 0; i < 10000 && f.rm->member->n_homes > 0; i++)
        assert_true(sd_event_run(f.event, 10000) >= 0);
    for (int i = 1; i <= 100; i++)
        assert_int_equal(home_error(&f, s, i), i == 7 ? 0 : -ENOENT);
    teardown(&f);
}

static void rows_of_earlier_lives_are_looked_through(void **state)
{
    struct fix f = { 0 };
    struct fed_store *s = join(&f);

    (void)state;
    add_home(&f, s, 1, "SC-1");
    f.rm->started_ms += RM_HOME_YOUNG_MS + 60000; /* the row is old */
    until_state(&f, s, FED_RUNNING);
    for (int i = 0; i < 1000 && home_error(&f, s, 1) == 0; i++)
        assert_true(sd_event_run(f.event, 10000) >= 0);
    assert_int_equal(home_error(&f, s, 1), -ENOENT);
    add_home(&f, s, 2, "SC-1"); /* submitted since: not looked at */
    assert_int_equal(home_error(&f, s, 2), 0);
    teardown(&f);
}

static void a_young_row_stays(void **state)
{
    struct fix f = { 0 };
    struct fed_store *s = join(&f);

    (void)state;
    add_home(&f, s, 1, "SC-1");
    until_state(&f, s, FED_RUNNING);
    for (int i = 0; i < 1000 && !f.rm->member->homes_listed; i++)
        assert_true(sd_event_run(f.event, 10000) >= 0);
    assert_true(f.rm->member->homes_listed);
    assert_int_equal(home_error(&f, s, 1), 0);
    teardown(&f);
}

/* The keys of yarn-site.xml alone, as in a real daemon: joined, left at the stop. */
static void leaves_when_it_is_stopped(void **state)
{
    char path[80];
    const char *const sqlite[][2] = {
        { "yarn.federation.enabled", "true" },
        { "yarn.am.liveness-monitor.expiry-interval-ms", "900000" },
        { "yarn.federation.state-store.class", "org.selvedge.SqliteStateStore" },
        { "selvedge.federation.state-store.sqlite.path", path },
        { "yarn.resourcemanager.cluster-id", "SC-1" },
        { "yarn.federation.state-store.heartbeat.initial-delay", "1ms" },
        { NULL, NULL }
    };
    struct fix f = { 0 };
    struct sv_error err = { 0 };
    struct fed_store *s;
    char *text;

    (void)state;
    (void)snprintf(path, sizeof(path), "/tmp/test-member.%d", getpid());
    setup_with(&f, sqlite);
    assert_non_null(f.rm->member);
    assert_int_equal(fed_store_open(f.event, f.conf, &s, &err), 0);
    until_state(&f, s, FED_RUNNING);
    assert_non_null(strstr(member(&f, s).capability, "availableMB"));
    text = rm_web_figures(f.rm);
    assert_int_equal(fed_member_epoch(text), f.rm->epoch);
    free(text);
    stop(&f); /* the configuration goes with it */
    assert_int_equal(member(&f, s).state, FED_UNREGISTERED);
    fed_store_free(s);
    start(&f);
    teardown(&f);
    (void)unlink(path);
}

static void refused(const char *const (*with)[2], const char *words)
{
    struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    struct rm_conf c;

    assert_int_equal(sv_conf_set(conf, "yarn.federation.enabled", "true"), 0);
    for (; (*with)[0]; with++)
        assert_int_equal(sv_conf_set(conf, (*with)[0], (*with)[1]), 0);
    assert_int_equal(rm_conf_read(conf, &c, &err), 0);
    assert_int_equal(rm_member_check(&c, &err), -EINVAL);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
    rm_conf_free(&c);
    sv_conf_free(conf);
}

static void contradicting_keys_are_refused(void **state)
{
    static const char *const no_id[][2] = { { NULL, NULL } };
    static const char *const expiry[][2] = { { "yarn.resourcemanager.cluster-id", "SC-1" },
                                             { "yarn.am.liveness-monitor.expiry-interval-ms",
                                               "600000" },
                                             { NULL, NULL } };

    (void)state;
    refused(no_id, "cluster-id is not set");
    refused(expiry, "set it to 900000");
}

static void a_wildcard_is_told_as_an_address(void **state)
{
    const struct rm_address any = { "0.0.0.0", 1 }, one = { "127.0.0.1", 8032 },
                            nothing = { "no.such.host.invalid", 1 };
    struct sv_error err = { 0 };
    char buf[FED_NAME_MAX + 1];

    (void)state;
    assert_int_equal(rm_member_address(&one, 45, buf, sizeof(buf), &err), 0);
    assert_string_equal(buf, "127.0.0.1:45");
    if (rm_member_address(&any, 45, buf, sizeof(buf), &err) == 0) /* the machine's name resolves */
        assert_true(strncmp(buf, "0.0.0.0", 7) != 0 && strchr(buf, ':'));
    assert_int_equal(rm_member_address(&nothing, 45, buf, sizeof(buf), &err), -EINVAL);
    assert_non_null(strstr(err.text, "yarn.resourcemanager.hostname"));
}

static void epochs_follow_their_first(void **state)
{
    static const char *const from_five[][2] = { { "yarn.resourcemanager.epoch", "5" },
                                                { "yarn.resourcemanager.epoch.range", "2" },
                                                { NULL, NULL } };
    struct fix f = { 0 };

    (void)state;
    setup_with(&f, from_five);
    assert_int_equal(f.rm->epoch, 5);
    stop(&f);
    start(&f);
    assert_int_equal(f.rm->epoch, 6);
    stop(&f);
    start(&f);
    assert_int_equal(f.rm->epoch, 5);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_and_becomes_active),
        cmocka_unit_test(is_active_again_after_a_cleaner_was_too_early),
        cmocka_unit_test(rows_of_dropped_applications_are_deleted),
        cmocka_unit_test(rows_of_earlier_lives_are_looked_through),
        cmocka_unit_test(a_young_row_stays),
        cmocka_unit_test(leaves_when_it_is_stopped),
        cmocka_unit_test(contradicting_keys_are_refused),
        cmocka_unit_test(a_wildcard_is_told_as_an_address),
        cmocka_unit_test(epochs_follow_their_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
