/* The federation's state store against a server: store-driver CASE URL [URL of a proxy]. The cases
 * are those of tests/lib/store-cases.h; each makes its own database, from the url's name, or is
 * given "zookeeper://HOST:PORT/ROOT" and a root that does not exist. For test-federation-store of
 * tests/integration/federation (MariaDB) and of tests/interop (ZooKeeper). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "common/zookeeper/zk-conf.h"
#include "federation/store/backends.h"
#include "federation/store/mysql-apply.h"
#include "federation/store/mysql-url.h"
#include "federation/store/store-backend.h"
#include "tests/lib/store-cases.h"

static const char *the_case, *the_url, *the_proxy;
static sd_event *event;

/* "zookeeper://HOST:PORT/ROOT[?SPLIT]"; NULL: the url is another one. */
static struct fed_store *open_zookeeper(const char *text)
{
    static const char scheme[] = "zookeeper://";
    char servers[256], root[256];
    struct sv_zk_settings settings = { .servers = servers, .session_ms = 4000 };
    struct fed_zookeeper_options o = { .settings = &settings, .root = root };
    struct fed_store *s;
    struct sv_error err;

    if (!sv_has_prefix(text, scheme))
        return NULL;
    if (sscanf(text + strlen(scheme), "%255[^/]%255[^?]?%u", servers, root, &o.split) < 2)
        fail_msg("%s: no server and root", text);
    if (fed_store_open_zookeeper(event, &o, &s, &err) < 0)
        fail_msg("%s", err.text);
    return s;
}

static struct fed_store *open_store(const char *text, bool make, unsigned connections)
{
    struct fed_mysql_url url;
    struct fed_mysql_options o = { .url = &url,
                                   .connections = connections,
                                   .connect_ms = make ? 10000 : 1000 };
    struct fed_store *s = open_zookeeper(text);
    struct sv_error err;

    if (s)
        return s;
    if (fed_mysql_url_parse(text, &url, &err) < 0)
        fail_msg("%s", err.text);
    if (make && fed_schema_apply(event, &o, &err) < 0)
        fail_msg("%s", err.text);
    if (fed_store_open_mysql(event, &o, &s, &err) < 0)
        fail_msg("%s", err.text);
    return s;
}

/* A directed case, on a database without tables first. */
static void directed(void (*one)(sd_event *event, struct fed_store *s))
{
    struct fed_store *s = open_store(the_url, true, 1);

    one(event, s);
    fed_store_free(s);
}

static void random_history(void)
{
    struct fed_store *s = open_store(the_url, true, 2), *model;

    assert_int_equal(fed_store_open_memory(event, &model), 0);
    store_case_random(event, s, model, 3000, 7);
    fed_store_free(s);
    fed_store_free(model);
}

static void cut_history(void)
{
    struct fed_store *s, *model;

    fed_store_free(open_store(the_url, true, 1)); /* makes the tables */
    s = open_store(the_proxy, false, 1);
    assert_int_equal(fed_store_open_memory(event, &model), 0);
    store_case_cut(event, s, model, 1500, 11);
    fed_store_free(s);
    fed_store_free(model);
}

/* Calls to a server that is silent, or lies: each is answered in time, whatever the answer. */
static void faulty(unsigned calls, int64_t patience_ms)
{
    struct fed_store *s;
    unsigned silent = 0;

    fed_store_free(open_store(the_url, true, 1)); /* makes the tables */
    s = open_store(the_proxy, false, 1);
    fed_store_patience(s, patience_ms);
    for (unsigned i = 0; i < calls; i++) {
        struct fed_request q = store_random_request();

        const char *answer = store_do(event, s, &q);

        silent += !strcmp(answer, "EHOSTDOWN") || !strcmp(answer, "ECONNRESET");
    }
    fed_store_free(s);
    printf("# %u of the calls had no answer\n", silent);
}

static void stalled(void)
{
    faulty(60, 120);
}

static void flipped(void)
{
    faulty(400, 400);
}

static void schema_twice(void)
{
    fed_store_free(open_store(the_url, true, 1));
    fed_store_free(open_store(the_url, true, 1));
}

static void no_tables(void)
{
    struct fed_store *s = open_store(the_url, false, 1);

    assert_string_equal(store_do(event, s, &(struct fed_request){ .op = FED_VERSION_CHECK }),
                        "EPROTONOSUPPORT");
    if (!strstr(store_reason(), "selvedge federation schema --apply"))
        fail_msg("%s", store_reason());
    fed_store_free(s);
}

static void refused_account(void)
{
    struct fed_store *s = open_store(the_url, false, 1);

    assert_string_equal(store_do(event, s, &(struct fed_request){ .op = FED_VERSION_CHECK }),
                        "EACCES");
    if (!strstr(store_reason(), "sql.username"))
        fail_msg("%s", store_reason());
    fed_store_free(s);
}

/* A server whose certificate is not accepted, or that wants TLS. */
static void unverified(void)
{
    struct fed_store *s = open_store(the_url, false, 1);

    if (store_do(event, s, &(struct fed_request){ .op = FED_MEMBER_LIST })[0] != 'E')
        fail_msg("the server is accepted");
    printf("# %s\n", store_reason());
    fed_store_free(s);
}

static void server_away(void)
{
    struct fed_store *s = open_store(the_url, false, 3);
    const struct fed_request q = { .op = FED_MEMBER_LIST };

    assert_string_equal(store_do(event, s, &q), "EHOSTDOWN");
    if (!strstr(store_reason(), "'127.0.0.1'"))
        fail_msg("%s", store_reason());
    assert_string_equal(store_do(event, s, &q), "EHOSTDOWN");
    fed_store_free(s);
}

/* ---- Many calls while the server is killed ---- */

#define HOMES 400
#define AT_ONCE 16

static struct {
    struct fed_store *s;
    int next, done, away, connections;
} load;

static void add_next(void);

static void on_added(const struct fed_answer *a, void *userdata)
{
    struct fed_home h = { .app = { 1, (int)(intptr_t)userdata }, .home = "SC-1" };

    if (a->error == 0) {
        assert_string_equal(a->homes[0].home, "SC-1");
        if (++load.done % 40 == 0) {
            printf("# %d\n", load.done);
            (void)fflush(stdout);
        }
        add_next();
        return;
    }
    if (!fed_error_away(a->error))
        fail_msg("%s", a->reason);
    load.away++;
    assert_int_equal(fed_store_call(load.s, &(struct fed_request){ .op = FED_HOME_ADD, .home = h },
                                    on_added, userdata, NULL),
                     0);
}

static void add_next(void)
{
    struct fed_home h = { .app = { 1, ++load.next }, .home = "SC-1" };

    if (load.next <= HOMES)
        assert_int_equal(fed_store_call(load.s,
                                        &(struct fed_request){ .op = FED_HOME_ADD, .home = h },
                                        on_added, (void *)(intptr_t)load.next, NULL),
                         0);
}

/* Every application has its row in the end, however often the server was killed. */
static void killed(void)
{
    const char *list, *line;
    int rows = 0;

    load.s = open_store(the_url, true, 4);
    for (int i = 0; i < AT_ONCE; i++)
        add_next();
    while (load.done < HOMES)
        assert_true(sd_event_run(event, 60000000) > 0);
    list = store_do(event, load.s, &(struct fed_request){ .op = FED_HOME_LIST });
    for (line = list; (line = strchr(line, '\n')); line++)
        rows++;
    assert_int_equal(rows, HOMES);
    printf("# %d answers were no answer\n", load.away);
    fed_store_free(load.s);
}

/* ---- Calls that write one row at the same time ---- */

#define RACERS 30

static struct {
    bool seen[RACERS + 2];
    int left;
} race;

static void on_number(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    race.left--;
    if (a->error < 0)
        fail_msg("%s", a->reason);
    assert_in_range(a->sequences[0].value, 2, RACERS + 1);
    assert_false(race.seen[a->sequences[0].value]);
    race.seen[a->sequences[0].value] = true;
}

static void on_written(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    race.left--;
    if (a->error < 0)
        fail_msg("%s", a->reason);
}

static void send(struct fed_store *s, const struct fed_request *q, fed_done done)
{
    race.left++;
    assert_int_equal(fed_store_call(s, q, done, NULL, NULL), 0);
}

/* Every number is given once; heartbeat, deregistration and registration keep each other's fields,
 * whatever their order. */
static void raced(void)
{
    struct fed_store *s = open_store(the_url, true, 4);
    struct fed_member m = { "SC-1", "a:1", "a:2", "a:3", "a:4", FED_NEW, 0, 7, "{}" };
    struct fed_member later = { "SC-1", "b:1", "b:2", "b:3", "b:4", FED_NEW, 0, 8, "{}" };
    const char *found;

    for (int i = 0; i < RACERS; i++)
        send(s, &(struct fed_request){ .op = FED_SEQUENCE_NEXT }, on_number);
    while (race.left > 0)
        assert_true(sd_event_run(event, 60000000) > 0);
    for (int i = 0; i < 20; i++) {
        (void)store_do(event, s, &(struct fed_request){ .op = FED_MEMBER_REGISTER, .member = m });
        send(s,
             &(struct fed_request){
                 .op = FED_MEMBER_HEARTBEAT,
                 .member = { .id = "SC-1", .state = FED_RUNNING, .capability = "{\"a\":1}" } },
             on_written);
        send(s,
             &(struct fed_request){ .op = FED_MEMBER_DEREGISTER,
                                    .member = { .id = "SC-1", .state = FED_LOST } },
             on_written);
        if (i % 2)
            send(s, &(struct fed_request){ .op = FED_MEMBER_REGISTER, .member = later },
                 on_written);
        while (race.left > 0)
            assert_true(sd_event_run(event, 60000000) > 0);
        found = store_do(event, s,
                         &(struct fed_request){ .op = FED_MEMBER_GET, .member = { .id = "SC-1" } });
        if (!strstr(found, i % 2 ? "b:4 SC_" : "a:4 SC_") || (i % 2 == 0 && !strstr(found, "{\"a")))
            fail_msg("%s", found);
    }
    fed_store_free(s);
}

/* The store is freed in any phase of a call. */
static void freed(void)
{
    for (int turns = 0; turns < 25; turns++) {
        struct fed_store *s = open_store(the_url, turns == 0, 2);

        for (int i = 0; i < 3; i++)
            assert_int_equal(fed_store_call(s, &(struct fed_request){ .op = FED_MEMBER_LIST },
                                            store_ignore, NULL, NULL),
                             0);
        for (int i = 0; i < turns; i++)
            (void)sd_event_run(event, 0); /* whatever happens, ignoring */
        fed_store_free(s);
    }
}

static void run_case(void **state)
{
    static const struct {
        const char *name;
        void (*directed)(sd_event *event, struct fed_store *s);
        void (*other)(void);
    } cases[] = {
        { "members", store_case_members, NULL },
        { "homes", store_case_homes, NULL },
        { "reservations", store_case_reservations, NULL },
        { "policies", store_case_policies, NULL },
        { "router", store_case_router, NULL },
        { "refusals", store_case_refusals, NULL },
        { "random", NULL, random_history },
        { "cut", NULL, cut_history },
        { "stall", NULL, stalled },
        { "flip", NULL, flipped },
        { "schema", NULL, schema_twice },
        { "no-tables", NULL, no_tables },
        { "refused", NULL, refused_account },
        { "unverified", NULL, unverified },
        { "away", NULL, server_away },
        { "killed", NULL, killed },
        { "race", NULL, raced },
        { "freed", NULL, freed },
    };

    (void)state;
    assert_true(sd_event_new(&event) >= 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++)
        if (!strcmp(cases[i].name, the_case)) {
            if (cases[i].directed)
                directed(cases[i].directed);
            else
                cases[i].other();
            sd_event_unref(event);
            return;
        }
    fail_msg("no case %s", the_case);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(run_case) };

    if (argc < 3)
        return 2;
    the_case = argv[1];
    the_url = argv[2];
    the_proxy = argc > 3 ? argv[3] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
