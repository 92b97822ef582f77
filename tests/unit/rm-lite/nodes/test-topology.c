/* Tests rm-lite/nodes/topology.c: racks from the table and from the script, as registering nodes
 * get them. */
#include <sys/wait.h>

#include "tests/unit/rm-lite/rm-fixture.h"

#include "proto/yarn_server.pb-c.h"
#include "rm-lite/nodes/topology-script.h"
#include "rm-lite/nodes/topology.h"
#include "rm-lite/scheduler/scheduler.h"
#include "wire/ipc/ipc-client.h"

#define TABLE "org.apache.hadoop.net.TableMapping"

static void write_text(const char *path, const char *text, mode_t mode)
{
    FILE *out = fopen(path, "we");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void on_registered(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    if (r->status < 0)
        fail_msg("%s", err->text);
    *(bool *)userdata = true;
}

/* Registers 127.0.0.1:port and returns its rack. */
static const char *rack_of(struct fix *f, int port)
{
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeIdProto id = HADOOP__YARN__NODE_ID_PROTO__INIT;
    Hadoop__Yarn__ResourceProto size = HADOOP__YARN__RESOURCE_PROTO__INIT;
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = f->rm->tracker_port,
                                     .protocol = YARN_RESOURCE_TRACKER_PROTOCOL,
                                     .version = 1 };
    struct yarn_node_id node = { .port = port };
    struct ipc_client *client;
    struct sv_error err = { 0 };
    bool answered = false;
    struct rm_node *n;

    q.node_id = &id;
    id.host = (char *)(uintptr_t) "127.0.0.1";
    id.has_port = true;
    id.port = port;
    q.resource = &size;
    size.has_memory = size.has_virtual_cores = true;
    size.memory = 4096;
    size.virtual_cores = 4;
    assert_int_equal(ipc_client_new(f->event, &cfg, &client, &err), 0);
    assert_int_equal(
        ipc_client_call(client, "registerNodeManager", &q.base,
                        &hadoop__yarn__register_node_manager_response_proto__descriptor, 0,
                        on_registered, &answered),
        0);
    while (!answered)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
    ipc_client_free(client);
    (void)snprintf(node.host, sizeof(node.host), "127.0.0.1");
    n = rm_node_find(f->rm, &node);
    assert_non_null(n);
    return n->rack;
}

static void test_valid_racks(void **state)
{
    static const char *const good[] = { "/r", "/default-rack", "/dc1/rack2" };
    static const char *const bad[] = { "", "/", "rack", "/a//b", "/a/", "/a b", "/a\n", "//" };
    char longest[RM_RACK_MAX + 2] = "/";

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(good); i++)
        assert_true(rm_rack_valid(good[i]));
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_false(rm_rack_valid(bad[i]));
    memset(longest + 1, 'x', RM_RACK_MAX - 1);
    assert_true(rm_rack_valid(longest));
    longest[RM_RACK_MAX] = 'x';
    assert_false(rm_rack_valid(longest));
}

static void test_table(void **state)
{
    char path[] = "/tmp/test-topology-XXXXXX";
    const char *const keys[][2] = { { "net.topology.node.switch.mapping.impl", TABLE },
                                    { "net.topology.table.file.name", path },
                                    { NULL, NULL } };
    struct sv_error err = { 0 };
    struct fix f;

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    write_text(path, "# hosts\nelsewhere /dc1/r9\n  127.0.0.1\t/dc1/r1 # this\n", 0644);
    setup_with(&f, keys);
    assert_string_equal(rack_of(&f, 1), "/dc1/r1");
    write_text(path, "127.0.0.1 /dc1/r2\n", 0644);
    assert_string_equal(rack_of(&f, 2), "/dc1/r1");
    assert_int_equal(rm_topology_refresh(f.rm, &err), 0);
    assert_string_equal(rack_of(&f, 3), "/dc1/r2");
    write_text(path, "127.0.0.1 /dc1/r2\n127.0.0.1 rack\n", 0644);
    assert_int_equal(rm_topology_refresh(f.rm, &err), -EINVAL);
    assert_non_null(strstr(err.text, ":2: rack: not a rack"));
    assert_string_equal(rack_of(&f, 4), "/dc1/r2");
    teardown(&f);
    assert_int_equal(unlink(path), 0);
}

/* With each script: the rack of two nodes, of which the second is answered from the cache. */
static void test_script(void **state)
{
    static const struct {
        const char *body, *rack;
    } scripts[] = {
        { "for a; do echo /of-$a; done", "/of-127.0.0.1" },
        { "echo /r1; exit 3", RM_DEFAULT_RACK },
        { "kill -9 $$", RM_DEFAULT_RACK },
        { "echo rack", RM_DEFAULT_RACK },
        { "echo /a /b", RM_DEFAULT_RACK },
        { "true", RM_DEFAULT_RACK },
        { "exec >&-; echo never", RM_DEFAULT_RACK },
        { "head -c 400000 /dev/zero", RM_DEFAULT_RACK },
    };
    char path[] = "/tmp/test-topology-XXXXXX", text[128];
    const char *const keys[][2] = { { "net.topology.script.file.name", path }, { NULL, NULL } };
    struct fix f;

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(scripts); i++) {
        (void)snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", scripts[i].body);
        write_text(path, text, 0755);
        setup_with(&f, keys);
        assert_string_equal(rack_of(&f, 1), scripts[i].rack);
        if (strcmp(scripts[i].rack, RM_DEFAULT_RACK) != 0) {
            write_text(path, "#!/bin/sh\necho /changed\n", 0755);
            assert_string_equal(rack_of(&f, 2), scripts[i].rack);
            assert_int_equal(rm_topology_refresh(f.rm, NULL), 0);
            assert_string_equal(rack_of(&f, 3), "/changed");
        }
        teardown(&f);
    }
    assert_int_equal(unlink(path), 0);
}

/* A script that hangs is killed when its time is over; its node is in the default rack, and the
 * next node is answered by a new run. */
static void test_script_that_hangs(void **state)
{
    char path[] = "/tmp/test-topology-XXXXXX";
    const char *const keys[][2] = { { "net.topology.script.file.name", path }, { NULL, NULL } };
    struct fix f;

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    write_text(path, "#!/bin/sh\necho /r1\nexec sleep 1000\n", 0755);
    setup_with(&f, keys);
    rm_topology_set_timeout(f.rm, 50);
    assert_string_equal(rack_of(&f, 1), RM_DEFAULT_RACK);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    rm_topology_set_timeout(f.rm, RM_TOPOLOGY_TIMEOUT_MS);
    write_text(path, "#!/bin/sh\necho /r2\n", 0755);
    assert_string_equal(rack_of(&f, 2), "/r2");
    teardown(&f);
    assert_int_equal(unlink(path), 0);
}

/* The ResourceManager ends while a script hangs: it kills the script and does not wait for it. */
static void test_stop_with_a_script(void **state)
{
    char path[] = "/tmp/test-topology-XXXXXX";
    const char *const keys[][2] = { { "net.topology.script.file.name", path }, { NULL, NULL } };
    struct rm_topology_run *run;
    static const char *const address[] = { "10.0.0.1" };
    struct fix f;

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    write_text(path, "#!/bin/sh\nexec sleep 1000\n", 0755);
    setup_with(&f, keys);
    assert_int_equal(rm_topology_run_start(f.event, path, address, 1, RM_TOPOLOGY_TIMEOUT_MS, NULL,
                                           NULL, &run, NULL),
                     0);
    rm_topology_run_free(run);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    teardown(&f);
    assert_int_equal(unlink(path), 0);
}

static void test_bad_settings(void **state)
{
    static const struct {
        const char *key, *value, *text;
    } rows[] = {
        { "net.topology.node.switch.mapping.impl", "org.example.Mapping",
          "org.example.Mapping: expected" },
        { "net.topology.script.file.name", "/nowhere/script", "/nowhere/script: No such file" },
        { "net.topology.script.file.name", "script", "script: expected an absolute path" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct sv_conf *conf = sv_conf_new();
        struct sv_error err = { 0 };
        struct rm rm = { .xml = conf };

        assert_non_null(conf);
        assert_int_equal(sv_conf_set(conf, rows[i].key, rows[i].value), 0);
        assert_int_equal(rm_conf_read(conf, &rm.conf, &err), 0);
        assert_int_equal(rm_topology_new(&rm, &err), -EINVAL);
        assert_non_null(strstr(err.text, rows[i].text));
        rm_topology_free(&rm);
        rm_conf_free(&rm.conf);
        sv_conf_free(conf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_racks),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_script_that_hangs),
        cmocka_unit_test(test_stop_with_a_script),
        cmocka_unit_test(test_bad_settings),
    };

    return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
