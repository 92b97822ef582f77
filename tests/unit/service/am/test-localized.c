/* Tests service/am/localized.c: nodes are asked for the states of files until these are there, a
 * bounded number of them at a time, and what they say becomes JSON of the container. */
#include "tests/unit/service/master-fixture.h"

#include <errno.h>
#include <jansson.h>

#define WEB 1, 0 /* request and priority */
#define SHOP(files)                                                                                \
    "{\"name\":\"shop\",\"version\":\"7\",\"components\":[{\"name\":\"web\","                      \
    "\"number_of_containers\":2,\"launch_command\":\"web\",\"resource\":{\"cpus\":1,"              \
    "\"memory\":\"64\"}" files "}]}"
#define FILES                                                                                      \
    ",\"configuration\":{\"files\":[{\"type\":\"TEMPLATE\",\"dest_file\":\"a.cnf\","               \
    "\"properties\":{\"content\":\"a\"}}]}"

static struct {
    struct yarn_container_id id[512];
    cli_localized_fn fn[512];
    size_t n;
    int result; /* of the call itself */
} asked;

int __wrap_cli_am_localized(struct cli_am *am, struct yarn_container_id id, cli_localized_fn fn,
                            void *userdata);
int __wrap_cli_am_localized(struct cli_am *am, struct yarn_container_id id, cli_localized_fn fn,
                            void *userdata)
{
    (void)am;
    assert_ptr_equal(userdata, &mf.m);
    assert_true(asked.n < SV_ARRAY_LEN(asked.id));
    asked.id[asked.n] = id;
    asked.fn[asked.n++] = fn;
    return asked.result;
}

static void begin(const char *json)
{
    memset(&asked, 0, sizeof(asked));
    mf_new(json);
    mf_registered();
}

/* Gives an answer to the first query that has none. */
static void answer(int status, const struct cli_localized *list, size_t n)
{
    const struct sv_error err = { .code = status, .text = "no" };
    const struct yarn_container_id id = asked.id[0];
    const cli_localized_fn fn = asked.fn[0];

    assert_true(asked.n > 0);
    asked.n--;
    memmove(asked.id, asked.id + 1, asked.n * sizeof(asked.id[0]));
    memmove(asked.fn, asked.fn + 1, asked.n * sizeof(asked.fn[0]));
    fn(NULL, id, status, list, n, &err, &mf.m);
}

/* Does not wait for the second between two turns. */
static void wait_for_query(void)
{
    if (asked.n == 0)
        (void)sd_event_source_set_time_relative(mf.m.localized_timer, 0);
    while (asked.n == 0)
        assert_true(sd_event_run(mf.m.event, UINT64_MAX) >= 0);
}

static const struct svc_container *container(int64_t number)
{
    const struct svc_container *c = svc_containers_find(&mf.m.containers, am_container(number));

    assert_non_null(c);
    return c;
}

static void states(void **state)
{
    const struct cli_localized list[] = {
        { .key = SVC_HOSTS_FILE, .state = "COMPLETED", .diagnostics = "" },
        { .key = "conf/\"a\".cnf", .state = "FAILED", .diagnostics = "disk\n" },
    };
    int64_t number;
    json_t *j;

    (void)state;
    begin(SHOP(FILES));
    number = mf_run(WEB);
    wait_for_query();
    answer(0, list, SV_ARRAY_LEN(list));
    j = json_loads(container(number)->localized, 0, NULL);
    assert_int_equal(json_array_size(j), 1); /* without the hosts file, which no definition has */
    assert_string_equal(json_string_value(json_object_get(json_array_get(j, 0), "dest_file")),
                        "conf/\"a\".cnf");
    assert_string_equal(json_string_value(json_object_get(json_array_get(j, 0), "state")),
                        "FAILED");
    json_decref(j);
    assert_int_equal(container(number)->localizing, 0); /* no file is pending */
    mf_free();
}

/* States that are pending, late or refused are asked for again, but not a node that does not know
 * the call. */
static void repeats(void **state)
{
    const struct cli_localized pending = {
        .key = "conf/a.cnf", .state = "IN_PROGRESS", .diagnostics = "", .pending = true
    };
    int64_t number;
    unsigned left;

    (void)state;
    begin(SHOP(FILES));
    number = mf_run(WEB);
    wait_for_query();
    left = container(number)->localizing;
    assert_true(left > 2);
    answer(0, &pending, 1);
    assert_non_null(strstr(container(number)->localized, "IN_PROGRESS"));
    wait_for_query();
    assert_int_equal(container(number)->localizing, left - 1); /* so it ends */
    answer(-ETIMEDOUT, NULL, 0);
    wait_for_query();
    assert_int_equal(container(number)->localizing, left - 2);
    answer(-EREMOTEIO, NULL, 0);
    assert_int_equal(container(number)->localizing, 0);
    mf_free();
}

/* An answer about a container that has ended meanwhile is nobody's, and opens the next query. */
static void ended(void **state)
{
    const struct cli_localized done = { .key = "a", .state = "COMPLETED", .diagnostics = "" };
    int64_t number;

    (void)state;
    begin(SHOP(FILES));
    number = mf_run(WEB);
    wait_for_query();
    mf_completed(number, 1);
    answer(0, &done, 1);
    assert_int_equal(mf.m.localized_open, 0);
    number = mf_run(WEB);
    wait_for_query();
    answer(-ECANCELED, NULL, 0); /* the master ends */
    assert_null(container(number)->localized);
    mf_free();
}

static void without_files(void **state)
{
    (void)state;
    begin(SHOP(""));
    (void)mf_run(WEB);
    am_turn(mf.m.event);
    assert_int_equal(asked.n, 0);
    mf_free();
}

/* A service of many: a bounded number of queries is open. */
static void few_at_a_time(void **state)
{
    static const struct yarn_resource resource = { .memory_mb = 64, .vcores = 1 };
    static const struct yarn_node_id node = { "node1", 8041 };
    const struct cli_localized done = { .key = "a", .state = "COMPLETED", .diagnostics = "" };
    size_t most;

    (void)state;
    begin(SHOP(FILES));
    (void)mf_run(WEB);
    wait_for_query();
    answer(0, &done, 1);
    for (int64_t i = 1000; i < 1100; i++) {
        struct svc_container *c =
            svc_containers_add(&mf.m.containers, am_container(i), &node, &resource, "");

        assert_non_null(c);
        c->localizing = 1;
    }
    wait_for_query();
    most = asked.n;
    assert_in_range(most, 2, 99);
    am_turn(mf.m.event);
    assert_int_equal(asked.n, most);
    for (size_t left = 100; left > 0; left--) {
        wait_for_query();
        assert_true(asked.n <= most);
        answer(0, &done, 1);
    }
    assert_int_equal(mf.m.localized_open, 0);
    mf_free();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states),        cmocka_unit_test(repeats),       cmocka_unit_test(ended),
        cmocka_unit_test(without_files), cmocka_unit_test(few_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
