/* Tests wire/ids.c: text and wire forms of identifiers and resources. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/yarn.pb-c.h"
#include "wire/ids.h"

#define TS INT64_C(1700000000000)

static void test_text(void **state)
{
    char buf[YARN_ID_TEXT_MAX];
    struct yarn_app_id app = { TS, 7 }, big = { INT64_MAX, INT32_MAX };
    struct yarn_container_id c = { { app, 1 }, 3 };
    struct yarn_container_id widest = { { big, INT32_MAX }, INT64_MAX };

    (void)state;
    assert_string_equal(yarn_app_id_text(app, buf), "application_1700000000000_0007");
    assert_string_equal(yarn_app_id_text((struct yarn_app_id){ TS, 12345 }, buf),
                        "application_1700000000000_12345");
    assert_string_equal(yarn_attempt_id_text(c.attempt, buf),
                        "appattempt_1700000000000_0007_000001");
    assert_string_equal(yarn_container_id_text(c, buf), "container_1700000000000_0007_01_000003");
    c.id |= INT64_C(4) << 40;
    assert_string_equal(yarn_container_id_text(c, buf),
                        "container_e04_1700000000000_0007_01_000003");
    c.id = (INT64_C(123) << 40) + 7654321;
    c.attempt.attempt = 1000;
    assert_string_equal(yarn_container_id_text(c, buf),
                        "container_e123_1700000000000_0007_1000_7654321");
    assert_true(strlen(yarn_container_id_text(widest, buf)) < YARN_ID_TEXT_MAX);
    assert_string_equal(buf, "container_e8388607_9223372036854775807_2147483647_2147483647_"
                             "1099511627775");
}

static void test_parse(void **state)
{
    static const char *const bad_apps[] = {
        "",
        "application",
        "application_",
        "application_1",
        "application_1_",
        "application_1_1",
        "application_1_001",
        "application_1_0000",
        "application_-1_0001",
        "application_1_-001",
        "application_1_+001",
        "application_1_0001 ",
        " application_1_0001",
        "application_1_0001_",
        "application_1_0001/..",
        "application__0001",
        "application_1__0001",
        "application_1_2147483648",
        "application_9223372036854775808_0001",
        "application_99999999999999999999999999_0001",
        "Application_1_0001",
        "job_1_0001",
    };
    static const char *const bad_attempts[] = {
        "appattempt_1_0001",  "appattempt_1_0001_1",        "appattempt_1_0001_000000",
        "appattempt_1_0001_", "appattempt_1_0001_0000011x", "application_1_0001_000001"
    };
    static const char *const bad_containers[] = {
        "container_1_0001_01",
        "container_1_0001_1_000001",
        "container_1_0001_01_00001",
        "container_1_0001_00_000001",
        "container_e1_1_0001_01_000001",
        "container_e00_1_0001_01_000001",
        "container_e_1_0001_01_000001",
        "container_ee01_1_0001_01_000001",
        "container_e8388608_1_0001_01_000001",
        "container_1_0001_01_1099511627776",
        "container_1_0001_01_000001\n",
        "container_1_0001_01_000001.sh",
        "container_../1_0001_01_000001",
    };
    struct yarn_app_id app = { 5, 5 };
    struct yarn_attempt_id attempt;
    struct yarn_container_id c;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad_apps); i++)
        if (yarn_app_id_parse(bad_apps[i], &app) != -EINVAL)
            fail_msg("took '%s'", bad_apps[i]);
    assert_int_equal(app.id, 5);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad_attempts); i++)
        if (yarn_attempt_id_parse(bad_attempts[i], &attempt) != -EINVAL)
            fail_msg("took '%s'", bad_attempts[i]);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad_containers); i++)
        if (yarn_container_id_parse(bad_containers[i], &c) != -EINVAL)
            fail_msg("took '%s'", bad_containers[i]);

    assert_int_equal(yarn_app_id_parse("application_1700000000000_0007", &app), 0);
    assert_true(app.cluster_ts == TS && app.id == 7);
    assert_int_equal(yarn_app_id_parse("application_001700000000000_00000012345", &app), 0);
    assert_true(app.cluster_ts == TS && app.id == 12345);
    assert_int_equal(yarn_attempt_id_parse("appattempt_1700000000000_0007_000002", &attempt), 0);
    assert_true(attempt.app.id == 7 && attempt.attempt == 2);
    assert_int_equal(yarn_container_id_parse("container_e04_1700000000000_0007_01_000003", &c), 0);
    assert_true(c.attempt.app.cluster_ts == TS && c.attempt.attempt == 1 &&
                c.id == (INT64_C(4) << 40) + 3);
    assert_int_equal(yarn_container_id_parse("container_1700000000000_0007_01_000000", &c), 0);
    assert_true(c.id == 0);
}

static void test_round_trip(void **state)
{
    static const int64_t ids[] = {
        0, 1, 999999, 1000000, (INT64_C(1) << 40) - 1, INT64_C(1) << 40, INT64_MAX
    };
    char buf[YARN_ID_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(ids); i++) {
        struct yarn_container_id in = { { { TS, INT32_MAX }, 100 }, ids[i] }, out;

        assert_int_equal(yarn_container_id_parse(yarn_container_id_text(in, buf), &out), 0);
        assert_int_equal(yarn_container_id_cmp(in, out), 0);
        assert_int_equal(yarn_attempt_id_parse(yarn_attempt_id_text(in.attempt, buf), &out.attempt),
                         0);
        assert_int_equal(yarn_attempt_id_cmp(in.attempt, out.attempt), 0);
    }
}

static void test_node(void **state)
{
    static const char *const bad[] = { "",         "host",       ":1",      "host:",  "host:65536",
                                       "host:x",   "host:-1",    "a b:1",   "a/b:1",  "a\nb:1",
                                       "ho\"st:1", "\xc3\xa9:1", "host: 1", "host:1 " };
    char buf[264], host[300];
    static const int32_t ports[] = { 0, 9, 10, 65535, INT32_MAX, -1, INT32_MIN };
    struct yarn_node_id node;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        if (yarn_node_id_parse(bad[i], &node) != -EINVAL)
            fail_msg("took '%s'", bad[i]);
    assert_int_equal(yarn_node_id_parse("worker-1.example_x.org:8041", &node), 0);
    assert_string_equal(node.host, "worker-1.example_x.org");
    assert_int_equal(node.port, 8041);
    assert_string_equal(yarn_node_id_text(&node, buf), "worker-1.example_x.org:8041");
    for (size_t i = 0; i < SV_ARRAY_LEN(ports); i++) {
        char want[64];

        node.port = ports[i];
        (void)snprintf(want, sizeof(want), "worker-1.example_x.org:%d", ports[i]);
        assert_string_equal(yarn_node_id_text(&node, buf), want);
    }
    assert_int_equal(yarn_node_id_parse("[::1]:0", &node), 0);
    assert_string_equal(node.host, "[::1]");
    memset(host, 'h', sizeof(host));
    memcpy(host + 255, ":65535", 7);
    assert_int_equal(yarn_node_id_parse(host, &node), 0);
    assert_string_equal(yarn_node_id_text(&node, buf), host);
    memcpy(host + 255, "h:65535", 8);
    assert_int_equal(yarn_node_id_parse(host, &node), -EINVAL);
}

static void test_order(void **state)
{
    struct yarn_container_id v[] = {
        { { { 1, 9 }, 9 }, 9 }, { { { 2, 1 }, 9 }, 9 }, { { { 2, 2 }, 1 }, 9 },
        { { { 2, 2 }, 2 }, 1 }, { { { 2, 2 }, 2 }, 2 }, { { { 2, 2 }, 2 }, INT64_C(1) << 40 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(v); i++)
        for (size_t j = 0; j < SV_ARRAY_LEN(v); j++) {
            int r = yarn_container_id_cmp(v[i], v[j]);

            assert_true(i < j ? r < 0 : i > j ? r > 0 : r == 0);
        }
}

static void test_messages(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_container_id in = { { { TS, 7 }, 2 }, (INT64_C(3) << 40) + 5 }, out;
    struct yarn_node_id node = { "worker", 8041 }, node_out;
    Hadoop__Yarn__ContainerIdProto *c;
    Hadoop__Yarn__NodeIdProto *n;
    uint8_t buf[64];
    size_t len;

    (void)state;
    c = yarn_container_id_to(a, in);
    assert_non_null(c);
    assert_int_equal(yarn_container_id_from(c, &out), 0);
    assert_int_equal(yarn_container_id_cmp(in, out), 0);
    len = hadoop__yarn__container_id_proto__pack(c, buf);
    c = hadoop__yarn__container_id_proto__unpack(sv_arena_protobuf(a), len, buf);
    assert_non_null(c);
    assert_int_equal(yarn_container_id_from(c, &out), 0);
    assert_int_equal(yarn_container_id_cmp(in, out), 0);

    n = yarn_node_id_to(a, &node);
    assert_non_null(n);
    assert_int_equal(yarn_node_id_from(n, &node_out), 0);
    assert_string_equal(node_out.host, "worker");
    assert_int_equal(node_out.port, 8041);
}

static void test_bad_messages(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_container_id good = { { { TS, 7 }, 2 }, 5 }, out;
    struct yarn_node_id node = { "worker", 8041 };
    Hadoop__Yarn__ContainerIdProto *c;
    Hadoop__Yarn__NodeIdProto *n;

    (void)state;
    assert_int_equal(yarn_app_id_from(NULL, &out.attempt.app), -EBADMSG);
    assert_int_equal(yarn_attempt_id_from(NULL, &out.attempt), -EBADMSG);
    assert_int_equal(yarn_container_id_from(NULL, &out), -EBADMSG);
    assert_int_equal(yarn_node_id_from(NULL, &node), -EBADMSG);
#define BROKEN(statement)                                                                          \
    do {                                                                                           \
        c = yarn_container_id_to(a, good);                                                         \
        assert_non_null(c);                                                                        \
        statement;                                                                                 \
        assert_int_equal(yarn_container_id_from(c, &out), -EBADMSG);                               \
    } while (0)
    BROKEN(c->has_id = false);
    BROKEN(c->id = -1);
    BROKEN(c->app_attempt_id = NULL);
    BROKEN(c->app_attempt_id->has_attemptid = false);
    BROKEN(c->app_attempt_id->attemptid = 0);
    BROKEN(c->app_attempt_id->application_id = NULL);
    BROKEN(c->app_attempt_id->application_id->has_id = false);
    BROKEN(c->app_attempt_id->application_id->id = 0);
    BROKEN(c->app_attempt_id->application_id->id = -1);
    BROKEN(c->app_attempt_id->application_id->has_cluster_timestamp = false);
    BROKEN(c->app_attempt_id->application_id->cluster_timestamp = -1);
#define BROKEN_NODE(statement)                                                                     \
    do {                                                                                           \
        n = yarn_node_id_to(a, &(struct yarn_node_id){ "worker", 8041 });                          \
        assert_non_null(n);                                                                        \
        statement;                                                                                 \
        assert_int_equal(yarn_node_id_from(n, &node), -EBADMSG);                                   \
    } while (0)
    BROKEN_NODE(n->host = NULL);
    BROKEN_NODE(n->host = (char *)"");
    BROKEN_NODE(n->host = (char *)"a b");
    BROKEN_NODE(n->host = (char *)"../x");
    BROKEN_NODE(n->has_port = false);
    BROKEN_NODE(n->port = -1);
    BROKEN_NODE(n->port = 65536);
    assert_string_equal(node.host, "worker");
}

struct resource_case {
    int64_t memory; /* -2: field absent */
    int32_t vcores;
    const char *key, *units; /* one map entry, or NULL */
    int64_t value;
    int want;
    int64_t want_memory;
    int32_t want_vcores, want_gpus;
};

static void test_resource(void **state)
{
    static const struct resource_case cases[] = {
        { -2, -2, NULL, NULL, 0, 0, 0, 0 },
        { 1024, 2, NULL, NULL, 0, 0, 1024, 2 },
        { INT64_MAX, INT32_MAX, NULL, NULL, 0, 0, INT64_MAX, INT32_MAX },
        { -1, 1, NULL, NULL, 0, -EBADMSG, 0, 0 },
        { 1, -1, NULL, NULL, 0, -EBADMSG, 0, 0 },
        { 1, 1, "memory-mb", "Mi", 2048, 0, 2048, 1 },
        { 1, 1, "memory-mb", "", 2048, 0, 2048, 1 },
        { 1, 1, "memory-mb", NULL, 2048, 0, 2048, 1 },
        { 1, 1, "memory-mb", "Gi", 3, 0, 3072, 1 },
        { 1, 1, "memory-mb", "Ki", 2047, 0, 1, 1 },
        { 1, 1, "memory-mb", "M", 1049, 0, 1000, 1 },
        { 1, 1, "memory-mb", "Pi", INT64_C(1) << 32, 0, INT64_MAX / 2 + 1, 1 },
        { 1, 1, "memory-mb", "Pi", INT64_C(1) << 33, -EBADMSG, 0, 0 },
        { 1, 1, "memory-mb", "Pi", INT64_MAX, -EBADMSG, 0, 0 },
        { 1, 1, "memory-mb", "X", 1, -EBADMSG, 0, 0 },
        { 1, 1, "memory-mb", "Mi", -1, -EBADMSG, 0, 0 },
        { 1, 1, "vcores", "", 8, 0, 1, 8 },
        { 1, 1, "vcores", "k", 2, 0, 1, 2000 },
        { 1, 1, "vcores", "m", 2500, 0, 1, 2 },
        { 1, 1, "vcores", "", INT64_C(1) << 40, 0, 1, INT32_MAX },
        { 1, 1, "yarn.io/gpu", "", 3, 0, 1, 1, 3 },
        { 1, 1, "yarn.io/gpu", "", -5, -EBADMSG, 0, 0 },
        { 1, 1, "yarn.io/gpu", "nonsense", 1, -EBADMSG, 0, 0 },
        { 1, 1, "yarn.io/fpga", "nonsense", -5, 0, 1, 1 },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        const struct resource_case *t = &cases[i];
        Hadoop__Yarn__ResourceProto m = HADOOP__YARN__RESOURCE_PROTO__INIT;
        Hadoop__Yarn__ResourceInformationProto e = HADOOP__YARN__RESOURCE_INFORMATION_PROTO__INIT;
        Hadoop__Yarn__ResourceInformationProto *map[] = { &e };
        struct yarn_resource r = { 77, 77 };

        m.has_memory = t->memory != -2;
        m.memory = t->memory;
        m.has_virtual_cores = t->vcores != -2;
        m.virtual_cores = t->vcores;
        if (t->key) {
            e.key = (char *)t->key;
            e.units = (char *)t->units;
            e.has_value = true;
            e.value = t->value;
            m.n_resource_value_map = 1;
            m.resource_value_map = map;
        }
        if (yarn_resource_from(&m, &r) != t->want)
            fail_msg("case %zu", i);
        if (t->want == 0 &&
            (r.memory_mb != t->want_memory || r.vcores != t->want_vcores || r.gpus != t->want_gpus))
            fail_msg("case %zu: %lld MiB, %d vcores", i, (long long)r.memory_mb, r.vcores);
        if (t->want != 0)
            assert_true(r.memory_mb == 77 && r.vcores == 77);
    }
}

static void test_resource_to(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_resource r = { 5, 5 };

    (void)state;
    assert_int_equal(yarn_resource_from(NULL, &r), 0);
    assert_true(r.memory_mb == 0 && r.vcores == 0);
    assert_int_equal(yarn_resource_from(yarn_resource_to(a, (struct yarn_resource){ 1536, 3 }), &r),
                     0);
    assert_true(r.memory_mb == 1536 && r.vcores == 3 && r.gpus == 0);
    assert_int_equal(
        yarn_resource_from(yarn_resource_to(a, (struct yarn_resource){ 1536, 3, 2 }), &r), 0);
    assert_true(r.memory_mb == 1536 && r.vcores == 3 && r.gpus == 2);
}

/* An exhausted arena gives NULL at every step, never half a message. */
static void test_exhausted(void **state)
{
    struct yarn_container_id id = { { { TS, 7 }, 2 }, 5 };
    struct yarn_node_id node = { "worker", 8041 };
    bool whole = false, none = false;

    (void)state;
    for (size_t max = 1; max < 1024; max += 8) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(max), *b = sv_arena_new(max);
        Hadoop__Yarn__ContainerIdProto *c;
        Hadoop__Yarn__NodeIdProto *n;
        struct yarn_container_id out;

        if (!a || !b)
            continue;
        c = yarn_container_id_to(a, id);
        n = yarn_node_id_to(b, &node);
        if (c)
            assert_int_equal(yarn_container_id_from(c, &out), 0);
        if (n)
            assert_non_null(n->host);
        *(c ? &whole : &none) = true;
    }
    assert_true(whole && none);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),         cmocka_unit_test(test_parse),
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_node),
        cmocka_unit_test(test_order),        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_bad_messages), cmocka_unit_test(test_resource),
        cmocka_unit_test(test_resource_to),  cmocka_unit_test(test_exhausted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
