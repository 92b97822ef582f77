/* Tests federation/store/store.c and the back ends of one machine: every operation in memory and in
 * an SQLite file. tests/integration/federation/test-federation-store has MariaDB. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "federation/store/backends.h"
#include "tests/lib/store-cases.h"

struct bench {
    sd_event *event;
    char dir[64], path[80];
    struct fed_store *memory, *sqlite;
};

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    struct sv_error err;

    assert_non_null(b);
    assert_true(sd_event_new(&b->event) >= 0);
    snprintf(b->dir, sizeof(b->dir), "/tmp/test-store-XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    snprintf(b->path, sizeof(b->path), "%s/store", b->dir);
    assert_int_equal(fed_store_open_memory(b->event, &b->memory), 0);
    if (fed_store_open_sqlite(b->event, b->path, &b->sqlite, &err) < 0)
        fail_msg("%s", err.text);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    static const char *const files[] = { "", "-wal", "-shm" };
    char path[96];

    fed_store_free(b->memory);
    fed_store_free(b->sqlite);
    for (size_t i = 0; i < SV_ARRAY_LEN(files); i++) {
        snprintf(path, sizeof(path), "%s%s", b->path, files[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(b->dir), 0);
    sd_event_unref(b->event);
    free(b);
    return 0;
}

static void both(void **state, void (*one)(sd_event *event, struct fed_store *s))
{
    struct bench *b = *state;

    one(b->event, b->memory);
    one(b->event, b->sqlite);
}

static void test_members(void **state)
{
    both(state, store_case_members);
}

static void test_homes(void **state)
{
    both(state, store_case_homes);
}

static void test_reservations(void **state)
{
    both(state, store_case_reservations);
}

static void test_policies(void **state)
{
    both(state, store_case_policies);
}

static void test_router(void **state)
{
    both(state, store_case_router);
}

static void test_refusals(void **state)
{
    both(state, store_case_refusals);
}

static void test_random(void **state)
{
    struct bench *b = *state;

    store_case_random(b->event, b->sqlite, b->memory, 4000, 1);
}

/* ---- Calls ---- */

struct ends {
    int error, runs;
};

static void on_end(const struct fed_answer *a, void *userdata)
{
    struct ends *e = userdata;

    e->error = a->error;
    e->runs++;
}

static const struct fed_request list = { .op = FED_MEMBER_LIST };

static void test_cancel(void **state)
{
    struct bench *b = *state;
    struct ends one = { 0 }, two = { 0 };
    uint64_t id, other;

    assert_int_equal(fed_store_call(b->memory, &list, on_end, &one, &id), 0);
    assert_int_equal(fed_store_call(b->memory, &list, on_end, &two, &other), 0);
    assert_true(fed_store_cancel(b->memory, id));
    assert_int_equal(one.error, -ECANCELED);
    assert_false(fed_store_cancel(b->memory, id));
    b->memory = fed_store_free(b->memory);
    assert_int_equal(two.error, -ECANCELED);
    assert_true(one.runs == 1 && two.runs == 1);
}

struct chain {
    struct fed_store *s;
    int left;
};

static void on_link(const struct fed_answer *a, void *userdata)
{
    struct chain *c = userdata;

    assert_int_equal(a->error, 0);
    if (--c->left > 0)
        assert_int_equal(fed_store_call(c->s, &list, on_link, c, NULL), 0);
}

/* A call that an answer makes is answered in a later turn: the loop's other sources run, too. */
static void test_call_from_answer(void **state)
{
    struct bench *b = *state;
    struct chain c = { b->memory, 3 };

    assert_int_equal(fed_store_call(b->memory, &list, on_link, &c, NULL), 0);
    for (int turn = 2; turn >= 0; turn--) {
        assert_true(sd_event_run(b->event, 0) > 0);
        assert_int_equal(c.left, turn);
    }
}

/* ---- The file ---- */

static void test_two_processes(void **state)
{
    struct bench *b = *state;
    struct fed_store *other = NULL;
    struct sv_error err;

    if (fed_store_open_sqlite(b->event, b->path, &other, &err) < 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < 20; i++) {
        struct fed_home h = { .app = { 1, i + 1 }, .home = i % 2 ? "SC-1" : "SC-2" };
        struct ends one = { 0 }, two = { 0 };
        struct fed_request q = { .op = FED_HOME_ADD, .home = h };

        assert_int_equal(fed_store_call(b->sqlite, &q, on_end, &one, NULL), 0);
        assert_int_equal(fed_store_call(other, &q, on_end, &two, NULL), 0);
        while (!one.runs || !two.runs)
            assert_true(sd_event_run(b->event, 60000000) > 0);
        assert_true(one.error == 0 && two.error == 0);
    }
    assert_string_equal(
        store_do(b->event, other,
                 &(struct fed_request){ .op = FED_HOME_GET, .home = { .app = { 1, 20 } } }),
        "application_1_0020 SC-1 none\n");
    fed_store_free(other);
}

static void lock(const char *path, const char *sql, sqlite3 **db)
{
    if (!*db)
        assert_int_equal(sqlite3_open(path, db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(*db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* Another process writes: calls wait, in order, and the loop runs on. */
static void test_busy(void **state)
{
    struct bench *b = *state;
    struct fed_policy p = { .queue = "a", .type = "org.A" };
    struct ends one = { 0 }, two = { 0 }, gone = { 0 };
    sqlite3 *db = NULL;
    uint64_t id;

    lock(b->path, "BEGIN IMMEDIATE", &db);
    assert_int_equal(fed_store_call(b->sqlite,
                                    &(struct fed_request){ .op = FED_POLICY_SET, .policy = p },
                                    on_end, &one, NULL),
                     0);
    assert_int_equal(fed_store_call(b->sqlite,
                                    &(struct fed_request){ .op = FED_POLICY_DELETE, .policy = p },
                                    on_end, &two, NULL),
                     0);
    assert_int_equal(fed_store_call(b->sqlite, &list, on_end, &gone, &id), 0);
    for (int turns = 0; turns < 3; turns++)
        assert_true(sd_event_run(b->event, 60000000) > 0);
    assert_true(one.runs == 0 && two.runs == 0);
    assert_true(fed_store_cancel(b->sqlite, id));
    lock(b->path, "ROLLBACK", &db);
    while (!two.runs)
        assert_true(sd_event_run(b->event, 60000000) > 0);
    assert_true(one.runs == 1 && one.error == 0 && two.error == 0 && gone.error == -ECANCELED);
    sqlite3_close(db);
}

static void refused_file(struct bench *b, const char *path, int error, const char *says)
{
    struct fed_store *s;
    struct sv_error err;

    assert_int_equal(fed_store_open_sqlite(b->event, path, &s, &err), error);
    if (!strstr(err.text, says))
        fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

static void test_refused_files(void **state)
{
    struct bench *b = *state;
    sqlite3 *db = NULL;

    refused_file(b, "relative", -EINVAL, "must be an absolute path");
    refused_file(b, b->dir, -EPERM, "must be a regular file");
    refused_file(b, "/proc/none/store", -EIO, "unable to open");
    b->sqlite = fed_store_free(b->sqlite);
    lock(b->path, "PRAGMA user_version=2", &db);
    sqlite3_close(db);
    refused_file(b, b->path, -EPROTONOSUPPORT, "layout 2, this program knows 1");
    db = NULL;
    lock(b->path, "PRAGMA user_version=1; PRAGMA application_id=7", &db);
    sqlite3_close(db);
    refused_file(b, b->path, -EBADMSG, "no federation's store");
}

/* Rows that another program has written: the others of a list are answered. */
static void test_broken_rows(void **state)
{
    struct bench *b = *state;
    sqlite3 *db = NULL;

    lock(b->path,
         "INSERT INTO membership VALUES('a','a:1','a:1','a:1','a:1',1,'SC_RUNNING',1,NULL);"
         "INSERT INTO membership VALUES('b','a:1','a:1','a:1','a:1',1,'SC_ODD',2,'');"
         "INSERT INTO membership VALUES('c','a:1','a:1','a:1','a',1,'SC_NEW',3,'');"
         "INSERT INTO membership VALUES('d','a:1','a:1','a:1','a:1','late','SC_NEW',4,'');"
         "INSERT INTO membership VALUES('e','a:1','a:1','a:1','a:1',1,'SC_NEW',5,x'00');"
         "INSERT INTO applicationsHomeSubCluster VALUES('application_1','SC-1',1,NULL);"
         "INSERT INTO applicationsHomeSubCluster VALUES('application_1_0001','SC-1',1,x'ff');"
         "INSERT INTO policies VALUES('q','org.A',zeroblob(32769));"
         "INSERT INTO masterKeys VALUES(1,'AQ=='),(2,'?'),(3,'A_8B_w=='),(4,'BAEB_w==');"
         "INSERT INTO delegationTokens VALUES(1,'____','t',1);"
         "INSERT INTO sequenceTable VALUES('YARN_ROUTER_CURRENT_KEY_ID',1099511627776);"
         "INSERT INTO versions VALUES(x'0802',NULL)",
         &db);
#define SAYS(text, ...)                                                                            \
    assert_string_equal(store_do(b->event, b->sqlite, &(struct fed_request){ __VA_ARGS__ }), text)
    SAYS("a a:1 a:1 a:1 a:1 SC_RUNNING 1 \ne a:1 a:1 a:1 a:1 SC_NEW 5 \n3 broken\n",
         .op = FED_MEMBER_LIST);
    assert_non_null(
        strstr(store_reason(), "list members: member b: its state is none of Hadoop's"));
    SAYS("EBADMSG", .op = FED_MEMBER_GET, .member = { .id = "c" });
    assert_non_null(strstr(store_reason(), "member c: the web address must be host:port"));
    SAYS("application_1_0001 SC-1 none\n1 broken\n", .op = FED_HOME_LIST);
    SAYS("EBADMSG", .op = FED_HOME_GET, .home = { .app = { 1, 1 } });
    SAYS("EBADMSG", .op = FED_POLICY_GET, .policy = { .queue = "q" });
    SAYS("EBADMSG", .op = FED_KEY_GET, .key = { .id = 1 });
    SAYS("EBADMSG", .op = FED_KEY_GET, .key = { .id = 2 });
    SAYS("EBADMSG", .op = FED_KEY_GET, .key = { .id = 3 });
    SAYS("4 1 ff\n", .op = FED_KEY_GET, .key = { .id = 4 });
    SAYS("EBADMSG", .op = FED_TOKEN_GET, .token = { .sequence = 1 });
    SAYS("EBADMSG", .op = FED_SEQUENCE_GET, .sequence = { FED_KEY_SEQUENCE });
    SAYS("EPROTONOSUPPORT", .op = FED_VERSION_CHECK);
    assert_non_null(strstr(store_reason(), "its version is 2.0, this program knows 1.1"));
    sqlite3_close(db);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(members),          CASE(homes),         CASE(reservations), CASE(policies),
        CASE(router),           CASE(refusals),      CASE(random),       CASE(cancel),
        CASE(call_from_answer), CASE(two_processes), CASE(busy),         CASE(refused_files),
        CASE(broken_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
