/* Tests service/am/registering.c on a directory of this machine: the records of a service's life,
 * of its first attempt and of a later one. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/service/am-fixture.h"

#include "common/fd.h"
#include "registry/record.h"
#include "registry/registry.h"
#include "service/am/master-internal.h"

#define PLACE "/registry/users/ann-b/services/yarn-service/shop"

static struct {
    struct am_fixture f;
    struct svc_master m;
    struct svc_am_options options;
    int32_t attempt;
    char dir[64];
} w;

struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am);

struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am)
{
    (void)am;
    return (struct yarn_attempt_id){ { 1700000000000, 7 }, w.attempt };
}

/* ---- A master ---- */

static void open_master(int32_t attempt)
{
    char url[96];

    w.attempt = attempt;
    w.options.user = "Ann_B";
    w.options.name = "shop";
    w.m = (struct svc_master){ .options = &w.options, .engine = w.f.engine, .plan = w.f.plan };
    w.f.plan->limits.recovery_ms = 0;
    assert_int_equal(sd_event_new(&w.m.event), 0);
    (void)snprintf(url, sizeof(url), "file://%s", w.dir);
    svc_master_registry_open(&w.m, w.f.conf, url);
    assert_int_equal(svc_master_names_new(&w.m, w.f.conf), 0);
    assert_int_equal(svc_master_describe(&w.m, "node1", 40001, "http://node1:40002/"), 0);
}

static void close_master(void)
{
    svc_master_registry_free(&w.m);
    svc_names_free(w.m.names);
    svc_containers_clear(&w.m.containers);
    svc_containers_clear(&w.m.expected);
    sd_event_unref(w.m.event);
}

static int set_up(void **state)
{
    (void)state;
    memset(&w, 0, sizeof(w));
    (void)snprintf(w.dir, sizeof(w.dir), "/tmp/selvedge-registering-XXXXXX");
    assert_non_null(mkdtemp(w.dir));
    am_fixture_new(&w.f, "{\"name\":\"shop\",\"version\":\"7\",\"components\":[{\"name\":\"web\","
                         "\"number_of_containers\":0,\"launch_command\":\"web\","
                         "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}");
    return 0;
}

static int tear_down(void **state)
{
    _cleanup_close_ int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    am_fixture_free(&w.f);
    return sv_remove_tree_at(tmp, w.dir + strlen("/tmp/"));
}

static void settle(void)
{
    while (!reg_idle(w.m.registry) || sd_event_run(w.m.event, 0) > 0)
        if (!reg_idle(w.m.registry))
            assert_true(sd_event_run(w.m.event, 10000000) >= 0);
}

static struct yarn_container_id id_of(int64_t n)
{
    return (struct yarn_container_id){ { { 1700000000000, 7 }, 1 }, n };
}

static struct svc_container *add(struct svc_containers *to, int64_t n, const char *instance)
{
    static const struct yarn_resource resource;
    struct svc_container *c = svc_containers_add(to, id_of(n), &am_node, &resource, "node1:8042");

    assert_non_null(c);
    assert_int_equal(svc_container_name(c, instance), 0);
    return c;
}

static void record(int64_t n, const char *instance)
{
    struct svc_container *c = add(&w.m.containers, n, instance);

    svc_master_record(&w.m, c); /* without an address: nothing */
    assert_true(svc_container_address(c, "10.0.0.7", "host7") > 0);
    svc_master_record(&w.m, c);
}

/* ---- Records on the disk ---- */

static char *text_of(const char *path, char *to, size_t size)
{
    _cleanup_free_ char *text = NULL;
    char file[512];
    size_t len;

    (void)snprintf(file, sizeof(file), "%s" PLACE "%s/_record", w.dir, path);
    if (sv_read_file_at(AT_FDCWD, file, REG_RECORD_MAX, &text, &len) < 0)
        return NULL;
    (void)snprintf(to, size, "%s", text);
    return to;
}

static bool has(int64_t n)
{
    char path[128], text[1024];

    (void)snprintf(path, sizeof(path), "/components/ctr-1700000000000-0007-01-%06lld",
                   (long long)n);
    return text_of(path, text, sizeof(text)) != NULL;
}

static void life(void **state)
{
    char text[1024];

    (void)state;
    open_master(1);
    svc_master_register(&w.m);
    record(2, "web-0");
    record(3, "web-1");
    settle();
    assert_non_null(text_of("", text, sizeof(text)));
    assert_non_null(strstr(text, "\"description\":\"YarnServiceMaster\""));
    assert_non_null(strstr(text, "{\"uri\":\"http://node1:40002/\"}"));
    assert_non_null(strstr(text, "{\"host\":\"node1\",\"port\":\"40001\"}"));
    assert_non_null(strstr(text, "\"yarn:id\":\"application_1700000000000_0007\","
                                 "\"yarn:persistence\":\"application\"}"));
    assert_non_null(text_of("/components/ctr-1700000000000-0007-01-000002", text, sizeof(text)));
    assert_string_equal(text, "{\"type\":\"JSONServiceRecord\",\"description\":\"web-0\","
                              "\"external\":[],\"internal\":[],"
                              "\"yarn:id\":\"container_1700000000000_0007_01_000002\","
                              "\"yarn:persistence\":\"container\",\"yarn:component\":\"web\","
                              "\"yarn:ip\":\"10.0.0.7\",\"yarn:hostname\":\"host7\"}");
    svc_master_unrecord(&w.m, id_of(2));
    settle();
    assert_false(has(2));
    assert_true(has(3));
    svc_master_unregister(&w.m);
    record(4, "web-2"); /* too late */
    settle();
    assert_false(has(3));
    assert_false(has(4));
    assert_null(text_of("", text, sizeof(text)));
    close_master();
}

/* A first attempt of an application finds what another one has left. */
static void first_attempt(void **state)
{
    (void)state;
    open_master(1);
    svc_master_register(&w.m);
    record(2, "web-0");
    settle();
    close_master(); /* killed */
    open_master(1);
    svc_master_register(&w.m);
    settle();
    assert_false(has(2));
    close_master();
}

/* A later attempt keeps what is its own, and what it waits for no longer than the engine does. */
static void later_attempt(void **state)
{
    (void)state;
    open_master(1);
    svc_master_register(&w.m);
    for (int64_t n = 2; n < 5; n++)
        record(n, n == 2 ? "web-0" : n == 3 ? "web-1" : "web-2");
    settle();
    close_master();
    open_master(2);
    (void)add(&w.m.containers, 2, "web-0"); /* handed back; its address is not known yet */
    (void)add(&w.m.expected, 3, "web-1");
    svc_master_register(&w.m);
    settle();
    assert_true(has(2));
    assert_true(has(3));
    assert_false(has(4)); /* it has ended meanwhile */
    while (has(3))
        assert_true(sd_event_run(w.m.event, 10000000) >= 0);
    assert_true(has(2));
    close_master();
}

static void without_a_registry(void **state)
{
    char text[1024];

    (void)state;
    assert_int_equal(sv_conf_set(w.f.conf, "hadoop.registry.zk.quorum", "127.0.0.1"), 0);
    assert_int_equal(sv_conf_set(w.f.conf, "hadoop.registry.secure", "true"), 0);
    open_master(1);
    assert_null(w.m.registry);
    svc_master_register(&w.m);
    record(2, "web-0");
    svc_master_unrecord(&w.m, id_of(2));
    svc_master_unregister(&w.m);
    assert_null(text_of("", text, sizeof(text)));
    close_master();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(life), TEST(first_attempt), TEST(later_attempt),
                                        TEST(without_a_registry) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
