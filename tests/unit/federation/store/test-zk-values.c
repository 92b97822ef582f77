/* Tests federation/store/zk-values.c: Hadoop's bytes, and values that break the rules. */
#include "federation/store/zk-values.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct sv_arena *a;

static int set_up(void **state)
{
    (void)state;
    a = sv_arena_new(0);
    return a ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    a = sv_arena_free(a);
    return 0;
}

static struct fed_zk_bytes written(const struct fed_request *q)
{
    struct fed_zk_bytes v = { 0 };
    const char *rule = "";

    if (fed_zk_value_write(a, q, 1700000000123, &v, &rule) < 0)
        fail_msg("%s", rule);
    return v;
}

static union fed_zk_record read_back(enum fed_kind kind, const char *name, struct fed_zk_bytes v)
{
    union fed_zk_record r;
    const char *rule = "";

    memset(&r, 0, sizeof(r));
    if (fed_zk_value_read(a, kind, name, v, &r, &rule) < 0)
        fail_msg("%s", rule);
    return r;
}

static void breaks(enum fed_kind kind, const char *name, const void *p, size_t n, const char *says)
{
    union fed_zk_record r;
    const char *rule = "";

    assert_int_equal(fed_zk_value_read(a, kind, name, (struct fed_zk_bytes){ p, n }, &r, &rule),
                     -EBADMSG);
    if (!strstr(rule, says))
        fail_msg("\"%s\" does not say \"%s\"", rule, says);
}

#define BYTES(text) ((struct fed_zk_bytes){ (const uint8_t *)(text), sizeof(text) - 1 })
#define SAME(v, text)                                                                              \
    do {                                                                                           \
        assert_int_equal((v).n, sizeof(text) - 1);                                                 \
        assert_memory_equal((v).p, text, sizeof(text) - 1);                                        \
    } while (0)

static void test_members(void **state)
{
    struct fed_request q = { .op = FED_MEMBER_REGISTER,
                             .member = { "SC-1", "a:1", "b:2", "c:3", "d:4", FED_NEW, 0, 5,
                                         NULL } };
    struct fed_zk_bytes v = written(&q), changed;
    union fed_zk_record r;
    const char *rule = "";

    (void)state;
    SAME(v, "\x0a\x06\x0a\x04SC-1\x12\x03"
            "a:1\x1a\x03"
            "b:2\x22\x03"
            "c:3\x2a\x03"
            "d:4\x30\xfb\xd0\x95\xff\xbc\x31\x38\x01\x40\x05\x4a\x00");
    r = read_back(FED_MEMBER, "SC-1", v);
    assert_true(r.member.state == FED_NEW && r.member.last_heartbeat_ms == 1700000000123 &&
                r.member.last_start_ms == 5);
    assert_string_equal(r.member.web, "d:4");
    assert_string_equal(r.member.capability, "");
    breaks(FED_MEMBER, "SC-2", v.p, v.n, "is of another member");
    breaks(FED_MEMBER, "SC-1", v.p, v.n - 1, "is no SubClusterInfoProto");
    breaks(FED_MEMBER, "SC-1", "", 0, "is of another member");
    q.op = FED_MEMBER_HEARTBEAT;
    q.member = (struct fed_member){ .id = "SC-1", .state = FED_RUNNING, .capability = "{}" };
    assert_int_equal(fed_zk_value_change(a, &q, 1700000000999, v, &changed, &rule), 0);
    r = read_back(FED_MEMBER, "SC-1", changed);
    assert_true(r.member.state == FED_RUNNING && r.member.last_heartbeat_ms == 1700000000999 &&
                r.member.last_start_ms == 5);
    assert_string_equal(r.member.capability, "{}");
    q.op = FED_MEMBER_DEREGISTER;
    q.member.state = FED_LOST;
    assert_int_equal(fed_zk_value_change(a, &q, 1, changed, &v, &rule), 0);
    r = read_back(FED_MEMBER, "SC-1", v);
    assert_true(r.member.state == FED_LOST && r.member.last_heartbeat_ms == 1700000000999);
    assert_int_equal(fed_zk_value_change(a, &q, 1, BYTES("\xff"), &v, &rule), -EBADMSG);
}

/* A field of a later version survives a heartbeat. */
static void test_unknown_fields(void **state)
{
    struct fed_request q = { .op = FED_MEMBER_HEARTBEAT,
                             .member = { .id = "S", .state = FED_RUNNING, .capability = "{}" } };
    struct fed_zk_bytes changed;
    const char *rule = "";

    (void)state;
    assert_int_equal(
        fed_zk_value_change(a, &q, 7, BYTES("\x0a\x03\x0a\x01S\x78\x09"), &changed, &rule), 0);
    SAME(changed, "\x0a\x03\x0a\x01S\x30\x07\x38\x02\x4a\x02{}\x78\x09");
}

static void test_homes(void **state)
{
    static const char name[] = "application_1700000000000_0001";
    struct fed_request q = { .op = FED_HOME_ADD,
                             .home = { .app = { 1700000000000, 1 },
                                       .home = "SC-1",
                                       .context = (const uint8_t *)"\x12\x01x",
                                       .context_len = 3 } };
    struct fed_zk_bytes v = written(&q), changed;
    union fed_zk_record r = read_back(FED_HOME, name, v);
    const char *rule = "";

    (void)state;
    assert_true(r.home.app.id == 1 && r.home.created_ms == 1700000000123);
    assert_int_equal(r.home.context_len, 3);
    assert_memory_equal(r.home.context, "\x12\x01x", 3);
    breaks(FED_HOME, "application_1700000000000_0002", v.p, v.n, "is of another application");
    breaks(FED_HOME, "application_x", v.p, v.n, "is no application");
    breaks(FED_HOME, name, "\x0a", 1, "is no ApplicationHomeSubClusterProto");
    q.op = FED_HOME_UPDATE;
    q.home.home = "SC-2";
    q.home.context = NULL;
    assert_int_equal(fed_zk_value_change(a, &q, 1, v, &changed, &rule), 0);
    r = read_back(FED_HOME, name, changed);
    assert_string_equal(r.home.home, "SC-2");
    assert_true(!r.home.context && r.home.created_ms == 1700000000123);
    q.home.context = (const uint8_t *)"\xff";
    q.home.context_len = 1;
    assert_int_equal(fed_zk_value_write(a, &q, 1, &v, &rule), -EINVAL);
    assert_non_null(strstr(rule, "submission context"));
}

static void test_others(void **state)
{
    struct fed_request q = { .op = FED_RESERVATION_ADD,
                             .reservation = { "reservation_1_2", "SC-1" } };
    struct fed_zk_bytes v = written(&q);

    (void)state;
    SAME(v, "\x0a\x04SC-1"); /* SubClusterIdProto alone */
    assert_string_equal(read_back(FED_RESERVATION, "reservation_1_2", v).reservation.home, "SC-1");
    q = (struct fed_request){ .op = FED_POLICY_SET,
                              .policy = { "root.a", "T", (const uint8_t *)"{}", 2 } };
    v = written(&q);
    SAME(v, "\x0a\x06root.a\x12\x01T\x1a\x02{}");
    assert_int_equal(read_back(FED_POLICY, "root.a", v).policy.params_len, 2);
    breaks(FED_POLICY, "root.b", v.p, v.n, "is of another queue");
    q.policy.params = NULL;
    q.policy.params_len = 0;
    SAME(written(&q), "\x0a\x06root.a\x12\x01T\x1a\x00");
    q = (struct fed_request){ .op = FED_VERSION_CHECK };
    SAME(written(&q), "\x08\x01\x10\x01");
    assert_int_equal(read_back(FED_VERSION, "0", written(&q)).version.major, 1);
}

static void test_router(void **state)
{
    struct fed_request q = { .op = FED_KEY_ADD,
                             .key = { 300, 1700000000000, (const uint8_t *)"ab", 2 } };
    struct fed_zk_bytes v = written(&q);
    int32_t n;

    (void)state;
    SAME(v, "\x8e\x01\x2c\x8a\x01\x8b\xcf\xe5\x68\x00\x02"
            "ab");
    assert_int_equal(read_back(FED_KEY, "300", v).key.len, 2);
    breaks(FED_KEY, "301", v.p, v.n, "is no DelegationKey of its number");
    breaks(FED_KEY, "300", v.p, v.n - 1, "is no DelegationKey of its number");
    q = (struct fed_request){ .op = FED_TOKEN_ADD,
                              .token = { 7, (const uint8_t *)"\x0a\x01o", 3, "secret", 9 } };
    v = written(&q);
    SAME(v, "\x0a\x03\x0a\x01o\x10\x09\x1a\x06secret");
    assert_int_equal(read_back(FED_TOKEN, "7", v).token.identifier_len, 3);
    breaks(FED_TOKEN, "7", "\x10\x09", 2, "is no RouterStoreTokenProto");
    q = (struct fed_request){ .op = FED_SEQUENCE_SET, .sequence = { FED_KEY_SEQUENCE, 258 } };
    v = written(&q);
    SAME(v, "\x00\x00\x01\x02");
    assert_int_equal(fed_zk_count_read(v, &n), 0);
    assert_int_equal(n, 258);
    assert_int_equal(fed_zk_count_read(BYTES(""), &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(fed_zk_count_read(BYTES("\xff\xff\xff\xff"), &n), -EBADMSG);
    assert_int_equal(fed_zk_count_read(BYTES("\x01"), &n), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members), cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_homes),   cmocka_unit_test(test_others),
        cmocka_unit_test(test_router),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
