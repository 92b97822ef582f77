/* common/web/jmx-daemon.c: the process as JvmMetrics, an RPC server, the limit of a cgroup. */
#include "common/web/jmx-daemon.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"

static double real(json_t *b, const char *key)
{
    json_t *v = json_object_get(b, key);

    if (!json_is_number(v))
        fail_msg("%s: not there, or not a number", key);
    return json_number_value(v);
}

static void the_process(void **state)
{
    json_t *b = sv_jmx_process("NodeManager");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(b, "name")),
                        "Hadoop:service=NodeManager,name=JvmMetrics");
    assert_string_equal(json_string_value(json_object_get(b, "tag.ProcessName")), "NodeManager");
    assert_true(real(b, "MemHeapUsedM") > 0);
    assert_true(real(b, "MemNonHeapUsedM") > 0);
    assert_true(real(b, "MemHeapMaxM") > real(b, "MemHeapUsedM"));
    assert_true(real(b, "MemNonHeapMaxM") < 0);
    assert_true(real(b, "ThreadsRunnable") >= 1); /* the one that looks */
    assert_true(real(b, "GcCount") + real(b, "GcTimeMillis") == 0);
    json_decref(b);
}

static void a_server(void **state)
{
    struct sv_rpc_counters n = { .received_bytes = 7, .errors = 1, .dropped = 2 };
    const struct sv_jmx_rpc rpc = {
        .port = 8041, .server = "Echo", .connections = 3, .open_calls = 4, .counters = &n
    };
    json_t *b;

    (void)state;
    sv_clock_set_test(1000000, 0);
    for (int i = 1; i <= 3; i++)
        sv_rate_add(&n.queue, 0, 1000000);
    sv_rate_add(&n.processing, 1, 1000000);
    sv_rate_add(&n.processing, 4, 1000000);
    b = sv_jmx_rpc("NodeManager", &rpc);
    assert_string_equal(json_string_value(json_object_get(b, "name")),
                        "Hadoop:service=NodeManager,name=RpcActivityForPort8041");
    assert_string_equal(json_string_value(json_object_get(b, "tag.port")), "8041");
    assert_true(real(b, "ReceivedBytes") == 7);
    assert_true(real(b, "RpcQueueTimeNumOps") == 3);
    assert_true(real(b, "RpcProcessingTimeNumOps") == 2);
    assert_true(real(b, "RpcProcessingTimeAvgTime") == 2.5);
    assert_true(real(b, "RpcCallSuccesses") == 1);
    assert_true(real(b, "NumDroppedConnections") == 2);
    assert_true(real(b, "NumOpenConnections") == 3);
    assert_true(real(b, "NumInProcessHandler") == 4);
    assert_true(real(b, "CallQueueLength") == 0);
    json_decref(b);
    sv_clock_reset();
}

static void put(const char *dir, const char *path, const char *text)
{
    char file[PATH_MAX];
    int fd;

    (void)snprintf(file, sizeof(file), "%s%s", dir, path);
    fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void limits(void **state)
{
    static const struct {
        const char *own;
        uint64_t max;
    } rows[] = {
        { "0::/a/b\n", 1000 },                   /* of a */
        { "0::/a\n", 1000 },                     /* its own */
        { "0::/a/c\n", 500 },                    /* its own, below a's */
        { "1:name=systemd:/a\n0::/a/c\n", 500 }, /* a hybrid machine */
        { "0::/\n", UINT64_MAX },                /* the root has no such file */
        { "0::/nowhere\n", UINT64_MAX },
        { "1:memory:/a\n", UINT64_MAX }, /* cgroup v1 alone */
        { "", UINT64_MAX },
    };
    static const char *const files[][2] = { { "/a/memory.max", "1000\n" },
                                            { "/a/b/memory.max", "max\n" },
                                            { "/a/c/memory.max", "500\n" } };
    static const char *const dirs[] = { "/a", "/a/b", "/a/c" };
    char dir[] = "/tmp/test-jmx-daemon-XXXXXX", path[PATH_MAX];

    (void)state;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < SV_ARRAY_LEN(dirs); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", dir, dirs[i]);
        assert_int_equal(mkdir(path, 0700), 0);
        put(dir, files[i][0], files[i][1]);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        if (sv_cgroup_memory_max(dir, rows[i].own) != rows[i].max)
            fail_msg("%s", rows[i].own);
    for (size_t i = SV_ARRAY_LEN(dirs); i-- > 0;) {
        (void)snprintf(path, sizeof(path), "%s%s", dir, files[i][0]);
        assert_int_equal(unlink(path), 0);
        (void)snprintf(path, sizeof(path), "%s%s", dir, dirs[i]);
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_process),
        cmocka_unit_test(a_server),
        cmocka_unit_test(limits),
    };

    return cmocka_run_group_tests_name("jmx-daemon", tests, NULL, NULL);
}
