/* executor/request.c: encoded requests decode to the same; invalid bytes are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "executor/helper-protocol.h"

static struct exe_request launch(void)
{
    return (struct exe_request){ .op = EXE_OP_LAUNCH,
                                 .request_id = 7,
                                 .cluster_ts = 1700000000000,
                                 .app = 3,
                                 .attempt = 1,
                                 .container = (5LL << 40) | 12,
                                 .user = "nobody",
                                 .submitter = "alice",
                                 .local_mask = 5,
                                 .log_mask = 1,
                                 .work_dir = 2,
                                 .profile = EXE_PROFILE_HOST,
                                 .network = EXE_NETWORK_PRIVATE,
                                 .net_index = 7,
                                 .net_rate_kbit = 1000,
                                 .net_ceil_kbit = 2000,
                                 .memory_max = 1 << 30,
                                 .pids_max = 100,
                                 .n_devices = 2,
                                 .devices = { { 195, 0 }, { 195, 255 } },
                                 .categories = { 0, 511, 512, 1023 } };
}

static int round_trip(const struct exe_request *r, struct exe_request *ret)
{
    uint8_t buf[EXE_REQUEST_SIZE];
    int n = exe_request_encode(r, buf, sizeof(buf));
    return n < 0 ? n : exe_request_decode(buf, (size_t)n, ret);
}

static void test_every_operation(void **state)
{
    struct exe_request again = launch(), door = again;
    again.what = EXE_LAUNCH_AGAIN;
    door.what = EXE_LAUNCH_AGAIN | EXE_LAUNCH_DOOR;
    assert_int_equal(exe_request_fds(&again), 3);
    assert_int_equal(exe_request_fds(&door), 4);
    const struct exe_request all[] = {
        again,
        door,
        { .op = EXE_OP_CHECK },
        { .op = EXE_OP_CHECK, .what = EXE_CHECK_REBUILD },
        { .op = EXE_OP_INIT_APP,
          .cluster_ts = 1,
          .app = 1,
          .user = "a",
          .submitter = "b",
          .local_mask = 1,
          .log_mask = 1,
          .categories = { 1, 2, 600, 601 } },
        launch(),
        { .op = EXE_OP_LOCALIZE,
          .what = EXE_VISIBILITY_LOGS,
          .cluster_ts = 1700000000123,
          .app = 42,
          .log_mask = 3,
          .user = "alice" },
        { .op = EXE_OP_LOCALIZE,
          .what = EXE_VISIBILITY_ROLLED_LOGS,
          .cluster_ts = 1700000000123,
          .app = 42,
          .log_mask = 3,
          .user = "alice" },
        { .op = EXE_OP_LOCALIZE, .what = EXE_VISIBILITY_PUBLIC, .local_mask = 3 },
        { .op = EXE_OP_LOCALIZE,
          .what = EXE_VISIBILITY_PRIVATE | EXE_VISIBILITY_APPLICATION,
          .cluster_ts = 1,
          .app = 1,
          .user = "a.b-c_d@E$",
          .submitter = "E@d_c-b.a$",
          .local_mask = 1 },
        { .op = EXE_OP_SIGNAL,
          .cluster_ts = 1,
          .app = 1,
          .attempt = 1,
          .container = 1,
          .user = "a",
          .signal = 15 },
        { .op = EXE_OP_DELETE,
          .what = EXE_DELETE_CONTAINER,
          .cluster_ts = 1,
          .app = 1,
          .attempt = 1,
          .container = 1,
          .user = "a",
          .submitter = "a",
          .local_mask = 1 },
        { .op = EXE_OP_DELETE,
          .what = EXE_DELETE_USER,
          .user = "a",
          .submitter = "b",
          .local_mask = 1 },
        { .op = EXE_OP_DELETE,
          .what = EXE_DELETE_APP_LOGS,
          .cluster_ts = 1,
          .app = 1,
          .user = "a",
          .log_mask = 1 },
        { .op = EXE_OP_DELETE,
          .what = EXE_DELETE_RESOURCE,
          .visibility = EXE_VISIBILITY_PUBLIC,
          .resource_id = 10,
          .resource_dir = 37,
          .local_mask = 1 },
        { .op = EXE_OP_DELETE, .what = EXE_DELETE_PUBLIC, .local_mask = 1 },
        { .op = EXE_OP_LINK,
          .cluster_ts = 1,
          .app = 1,
          .attempt = 1,
          .container = 1,
          .user = "a",
          .submitter = "b",
          .local_mask = 2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct exe_request got;
        memset(&got, 0x5a, sizeof(got));
        assert_int_equal(round_trip(&all[i], &got), 0);
        assert_int_equal(got.op, all[i].op);
        assert_string_equal(got.user, all[i].user);
        got.magic = 0; /* set by encoding */
        got.version = 0;
        assert_memory_equal(&got, &all[i], sizeof(got));
    }
}

#define REFUSED(change)                                                                            \
    do {                                                                                           \
        struct exe_request r = launch(), got;                                                      \
        change;                                                                                    \
        assert_int_equal(round_trip(&r, &got), -EINVAL);                                           \
    } while (0)

static void test_fields_refused(void **state)
{
    (void)state;
    REFUSED(r.op = 0);
    REFUSED(r.op = 7);
    REFUSED(r.op = 8);
    REFUSED(r.app = 0);
    REFUSED(r.app = -1);
    REFUSED(r.cluster_ts = -1);
    REFUSED(r.attempt = 0);
    REFUSED(r.container = -1);
    REFUSED(r.container = 0);
    REFUSED(r.local_mask = 0);
    REFUSED(r.log_mask = 0);
    REFUSED(r.work_dir = 1); /* not in the mask */
    REFUSED(r.work_dir = 32);
    REFUSED(r.profile = 0);
    REFUSED(r.profile = 4);
    REFUSED(r.network = 3);
    REFUSED(r.network = EXE_NETWORK_NONE); /* with an address */
    REFUSED(r.net_ceil_kbit = 999);        /* below the rate */
    REFUSED(r.n_devices = 1);              /* something behind the list */
    REFUSED(r.n_devices = EXE_DEVICES_MAX + 1);
    REFUSED(r.devices[1] = r.devices[0]);
    REFUSED(r.devices[0].minor = 256);
    REFUSED(r.devices[1].minor = 1 << 20);
    REFUSED(r.devices[1].major = 1 << 12);
    REFUSED(r.n_more = 1);           /* not a field of LAUNCH */
    REFUSED(r.categories[0] = 511);  /* not ascending */
    REFUSED(r.categories[1] = 512);  /* a user's among the applications' */
    REFUSED(r.categories[2] = 511);  /* and the other way round */
    REFUSED(r.categories[3] = 1024); /* there is none */
    REFUSED(r.categories[3] = 512);
    REFUSED(r.categories[2] = r.categories[3] = 0); /* half of them */
    REFUSED(r.user[sizeof(r.user) - 1] = 'x');
    REFUSED(r.op = EXE_OP_SIGNAL; r.signal = 15); /* with LAUNCH's fields */
    REFUSED(r.what = 4);                          /* not one of LAUNCH */
    REFUSED(r.what = 1; r.visibility = 1);
    REFUSED(r.signal = 9);
    REFUSED(r.resource_id = 1);
    REFUSED(r.resource_dir = 1);
    /* Where nothing is labelled there are none. */
    REFUSED((r = (struct exe_request){ .op = EXE_OP_LOCALIZE,
                                       .what = EXE_VISIBILITY_PUBLIC,
                                       .local_mask = 3,
                                       .categories = { 1, 2, 600, 601 } }));
    REFUSED((r = (struct exe_request){ .op = EXE_OP_CHECK, .categories = { 1, 2, 600, 601 } }));
}

/* Further containers of a deletion: ascending, in the same epoch, nothing behind them. */
static void test_more_containers(void **state)
{
    struct exe_request r = { .op = EXE_OP_DELETE,
                             .what = EXE_DELETE_CONTAINER,
                             .cluster_ts = 1,
                             .app = 1,
                             .attempt = 1,
                             .container = (5LL << 40) + 7,
                             .user = "a",
                             .submitter = "a",
                             .local_mask = 1,
                             .n_more = EXE_MORE_MAX };
    const struct exe_request good = r;
    struct exe_request got;
    (void)state;
    for (unsigned i = 0; i < EXE_MORE_MAX; i++)
        r.more[i] = i * i + 1;
    assert_int_equal(round_trip(&r, &got), 0);
    assert_memory_equal(got.more, r.more, sizeof(r.more));
    r.n_more = EXE_MORE_MAX + 1;
    assert_int_equal(round_trip(&r, &got), -EINVAL);
    r.n_more = EXE_MORE_MAX - 1; /* one behind the list */
    assert_int_equal(round_trip(&r, &got), -EINVAL);
    r.n_more = EXE_MORE_MAX;
    r.more[4] = r.more[3];
    assert_int_equal(round_trip(&r, &got), -EINVAL);
    r = good; /* the container itself */
    r.n_more = 1;
    assert_int_equal(round_trip(&r, &got), -EINVAL);
    r.more[0] = 3;
    assert_int_equal(round_trip(&r, &got), 0);
    r.container = (6LL << 40) - 3;
    assert_int_equal(round_trip(&r, &got), -EINVAL);
    r.container--;
    assert_int_equal(round_trip(&r, &got), 0);
    r.what = EXE_DELETE_APP;
    assert_int_equal(round_trip(&r, &got), -EINVAL);
}

static void test_user_names(void **state)
{
    static const char *const bad[] = { "",    "-x",  "../x",     "a/b", "a b", ".x", "@x",
                                       "a\n", "a:b", "\xc3\xa9", "a$b", "#0",  "%s" };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct exe_request r = launch(), got;
        memset(r.user, 0, sizeof(r.user));
        memcpy(r.user, bad[i], strlen(bad[i]));
        assert_int_equal(round_trip(&r, &got), -EINVAL);
    }
    REFUSED(memset(r.user, 'a', sizeof(r.user)));
    REFUSED(memset(r.user, 'a', EXE_USER_MAX + 1));
}

/* The name of a directory in usercache: a name and nothing else, zeros behind it, and only where
 * the operation uses that directory. */
static void test_submitter_names(void **state)
{
    static const char *const bad[] = { "",     ".",        "..",  "../x", "a/b",   "/",
                                       "/etc", "a/",       "a b", "a\n",  "a\x7f", "\x01",
                                       ".x",   "\xc3\xa9", "a$b", "-x" };
    struct exe_request longest = launch(), back;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        REFUSED((memset(r.submitter, 0, sizeof(r.submitter)),
                 memcpy(r.submitter, bad[i], strlen(bad[i]))));
        assert_false(exe_name_ok(bad[i], EXE_SUBMITTER_MAX));
    }
    memset(longest.submitter, 'a', EXE_SUBMITTER_MAX);
    assert_int_equal(round_trip(&longest, &back), 0);
    REFUSED(memset(r.submitter, 'a', sizeof(r.submitter))); /* no end */
    REFUSED(r.submitter[sizeof(r.submitter) - 1] = 'x');
    REFUSED(r.submitter[strlen(r.submitter) + 1] = 'x');
    REFUSED((r = (struct exe_request){ .op = EXE_OP_SIGNAL,
                                       .cluster_ts = 1,
                                       .app = 1,
                                       .attempt = 1,
                                       .container = 1,
                                       .user = "a",
                                       .submitter = "a",
                                       .signal = 15 }));
    REFUSED((r = (struct exe_request){ .op = EXE_OP_LOCALIZE,
                                       .what = EXE_VISIBILITY_PUBLIC,
                                       .submitter = "a",
                                       .local_mask = 1 }));
}

static void test_bytes_refused(void **state)
{
    uint8_t buf[EXE_REQUEST_SIZE + 1] = { 0 };
    struct exe_request r = launch(), got;
    int n = exe_request_encode(&r, buf, EXE_REQUEST_SIZE);
    (void)state;
    assert_int_equal(n, EXE_REQUEST_SIZE);
    for (int len = 0; len < n; len++) /* cut anywhere */
        assert_int_equal(exe_request_decode(buf, (size_t)len, &got), -EBADMSG);
    assert_int_equal(exe_request_decode(buf, (size_t)n + 1, &got), -EBADMSG); /* trailing */
    buf[n - 1] = 'e'; /* behind the submitter's end */
    assert_int_equal(exe_request_decode(buf, (size_t)n, &got), -EBADMSG);
    buf[n - 1] = '\0';
    assert_int_equal(exe_request_decode(buf, (size_t)n, &got), 0);
    buf[4] = EXE_PROTOCOL_VERSION + 1;
    assert_int_equal(exe_request_decode(buf, (size_t)n, &got), -EPROTONOSUPPORT);
    assert_int_equal(exe_request_decode(buf, 40, &got), -EPROTONOSUPPORT); /* of any length */
    buf[0] ^= 1;                                                           /* magic comes first */
    assert_int_equal(exe_request_decode(buf, (size_t)n, &got), -EBADMSG);
}

/* The version before is accepted and kept, the two beside them are not. */
static void test_versions(void **state)
{
    uint8_t buf[EXE_REQUEST_SIZE];
    struct exe_request got;
    (void)state;
    for (int v = EXE_PROTOCOL_VERSION - 2; v <= EXE_PROTOCOL_VERSION + 1; v++) {
        const bool known = v == EXE_PROTOCOL_VERSION || v == EXE_PROTOCOL_VERSION - 1;
        struct exe_request r = launch();
        assert_int_equal(exe_request_encode(&r, buf, sizeof(buf)), sizeof(buf));
        buf[4] = (uint8_t)v;
        assert_int_equal(exe_request_decode(buf, sizeof(buf), &got), known ? 0 : -EPROTONOSUPPORT);
        r.version = (uint16_t)v;
        assert_int_equal(exe_request_encode(&r, buf, sizeof(buf)),
                         known ? (int)sizeof(buf) : -EINVAL);
        if (known) {
            assert_int_equal(exe_request_decode(buf, sizeof(buf), &got), 0);
            assert_int_equal(got.version, v);
        }
    }
}

static void test_identifier_texts(void **state)
{
    struct exe_request r = launch();
    char text[EXE_TEXT_MAX];
    (void)state;
    exe_app_text(&r, text);
    assert_string_equal(text, "application_1700000000000_0003");
    exe_container_text(&r, text);
    assert_string_equal(text, "container_e05_1700000000000_0003_01_000012");
    r.container = 12;
    exe_container_text(&r, text);
    assert_string_equal(text, "container_1700000000000_0003_01_000012");
    r = (struct exe_request){
        .cluster_ts = INT64_MAX, .app = INT32_MAX, .attempt = INT32_MAX, .container = INT64_MAX
    };
    exe_container_text(&r, text);
    assert_true(strlen(text) < EXE_TEXT_MAX - 1);
}

static void test_reply(void **state)
{
    struct exe_reply_head head = {
        EXE_REPLY_MAGIC, EXE_PROTOCOL_VERSION, EXE_STATUS_MOUNT, 9, EPERM, -3, 4, { 0 }
    };
    uint8_t buf[sizeof(struct exe_reply_head) + 4] = { 0 };
    const int n = (int)sizeof(buf);
    struct exe_reply got;
    memcpy(buf, &head, sizeof(head));
    memcpy(buf + sizeof(head), "what", 4);
    (void)state;
    assert_int_equal(exe_reply_decode(buf, (size_t)n, &got), 0);
    assert_true(got.status == EXE_STATUS_MOUNT && got.error == EPERM && got.request_id == 9 &&
                got.pid == -3 && got.text_len == 4 && memcmp(got.text, "what", 4) == 0 &&
                got.version == EXE_PROTOCOL_VERSION);
    buf[4]--; /* the version before */
    assert_int_equal(exe_reply_decode(buf, (size_t)n, &got), 0);
    assert_true(got.status == EXE_STATUS_MOUNT && got.version == EXE_PROTOCOL_VERSION - 1);
    buf[4]++;
    for (int len = 0; len < n; len++)
        assert_int_equal(exe_reply_decode(buf, (size_t)len, &got), -EBADMSG);
    buf[4]++; /* version: its other fields may be anything */
    for (int len = offsetof(struct exe_reply_head, status); len <= n; len++) {
        assert_int_equal(exe_reply_decode(buf, (size_t)len, &got), 0);
        assert_true(got.status == EXE_STATUS_VERSION && got.request_id == 0 && got.pid == 0 &&
                    got.text_len == 0 && got.version == EXE_PROTOCOL_VERSION + 1);
    }
    assert_int_equal(exe_reply_decode(buf, offsetof(struct exe_reply_head, status) - 1, &got),
                     -EBADMSG);
    assert_string_equal(exe_status_text(EXE_STATUS_OK), "done");
    assert_string_equal(exe_status_text(9999), "unknown status");
}

static void test_record(void **state)
{
    uint8_t buf[EXE_RECORD_SIZE];
    struct exe_record r = { .state = EXE_RECORD_EXITED,
                            .cluster_ts = 1,
                            .app = 2,
                            .attempt = 3,
                            .container = 4,
                            .init_pid = 5,
                            .uid = 6,
                            .start_ms = 7,
                            .end_ms = 8,
                            .exit_code = 143,
                            .signal = 9,
                            .utime_us = 10,
                            .stime_us = 11,
                            .maxrss_kib = 12 },
                      got;
    (void)state;
    exe_record_seal(&r);
    memcpy(buf, &r, sizeof(buf));
    assert_int_equal(exe_record_decode(buf, sizeof(buf), &got), 0);
    assert_memory_equal(&got.exit_code, &r.exit_code, sizeof(int32_t));
    assert_true(got.end_ms == 8 && got.maxrss_kib == 12 && got.uid == 6);
    assert_int_equal(exe_record_decode(buf, sizeof(buf) - 1, &got), -EBADMSG);
    for (size_t i = 0; i < sizeof(buf); i++) { /* every flipped bit is seen */
        buf[i] ^= 0x10;
        assert_int_equal(exe_record_decode(buf, sizeof(buf), &got), -EBADMSG);
        buf[i] ^= 0x10;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation), cmocka_unit_test(test_fields_refused),
        cmocka_unit_test(test_more_containers), cmocka_unit_test(test_user_names),
        cmocka_unit_test(test_submitter_names), cmocka_unit_test(test_bytes_refused),
        cmocka_unit_test(test_versions),        cmocka_unit_test(test_identifier_texts),
        cmocka_unit_test(test_reply),           cmocka_unit_test(test_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
