/* Tests wire/depth.c: hostile protobuf is rejected before protobuf-c sees it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/rpc.pb-c.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/depth.h"
#include "wire/frame.h"

#define EXCEPTION (&hadoop__yarn__serialized_exception_proto__descriptor)
#define APP_ID (&hadoop__yarn__application_id_proto__descriptor)
#define URL (&hadoop__yarn__urlproto__descriptor)
#define RESOURCE (&hadoop__yarn__resource_proto__descriptor)
#define RETRY (&hadoop__yarn__container_retry_context_proto__descriptor)

/* `levels` SerializedExceptionProto inside one another by field `cause` (4), built inside out. */
static size_t nested(uint8_t *buf, size_t size, unsigned levels)
{
    size_t at = size;

    for (unsigned i = 1; i < levels; i++) {
        uint8_t head[6];
        size_t len = size - at, n = 0;

        head[n++] = 4 << 3 | 2;
        do {
            head[n++] = (uint8_t)((len & 0x7f) | (len > 0x7f ? 0x80 : 0));
            len >>= 7;
        } while (len);
        assert_true(at >= n);
        at -= n;
        memcpy(buf + at, head, n);
    }
    memmove(buf, buf + at, size - at);
    return size - at;
}

static void test_depth(void **state)
{
    enum { SIZE = 8 << 20 };
    uint8_t *buf = malloc(SIZE);
    size_t n;

    (void)state;
    assert_non_null(buf);
    for (unsigned levels = 1; levels <= IPC_DEPTH_MAX; levels++) {
        Hadoop__Yarn__SerializedExceptionProto *m;

        n = nested(buf, SIZE, levels);
        assert_int_equal(ipc_depth_check(buf, n, EXCEPTION, IPC_DEPTH_MAX), 0);
        assert_int_equal(ipc_depth_check(buf, n, EXCEPTION, levels), 0);
        if (levels > 1)
            assert_int_equal(ipc_depth_check(buf, n, EXCEPTION, levels - 1), -ELOOP);
        m = hadoop__yarn__serialized_exception_proto__unpack(NULL, n, buf);
        assert_non_null(m);
        hadoop__yarn__serialized_exception_proto__free_unpacked(m, NULL);
    }
    n = nested(buf, SIZE, IPC_DEPTH_MAX + 1);
    assert_int_equal(ipc_depth_check(buf, n, EXCEPTION, IPC_DEPTH_MAX), -ELOOP);
    assert_int_equal(ipc_depth_check(buf, n, EXCEPTION, 0), -ELOOP);
    assert_int_equal(ipc_depth_check(buf, n, EXCEPTION, 1000), -ELOOP);
    n = nested(buf, SIZE, 10000);
    assert_int_equal(ipc_depth_check(buf, n, EXCEPTION, IPC_DEPTH_MAX), -ELOOP);
    n = nested(buf, SIZE, 1000000);
    assert_int_equal(ipc_depth_check(buf, n, EXCEPTION, IPC_DEPTH_MAX), -ELOOP);
    free(buf);
}

struct sample {
    const char *bytes;
    size_t n;
    const ProtobufCMessageDescriptor *d;
    int want;
};
#define SAMPLE(text, d, want)                                                                      \
    {                                                                                              \
        text, sizeof(text) - 1, d, want                                                            \
    }

static const struct sample samples[] = {
    SAMPLE("", APP_ID, 0),
    SAMPLE("\x08\x01\x10\x80\x01", APP_ID, 0),
    /* varints: cut, ten bytes, eleven bytes */
    SAMPLE("\x08", APP_ID, -EBADMSG),
    SAMPLE("\x08\x80", APP_ID, -EBADMSG),
    SAMPLE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", APP_ID, 0),
    SAMPLE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", APP_ID, -EBADMSG),
    /* field number 0, 2^29 and beyond */
    SAMPLE("\x00\x01", APP_ID, -EBADMSG),
    SAMPLE("\x02\x00", APP_ID, -EBADMSG),
    SAMPLE("\xf8\xff\xff\xff\x0f\x01", APP_ID, 0),
    SAMPLE("\x80\x80\x80\x80\x10\x01", APP_ID, -EBADMSG),
    SAMPLE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", APP_ID, -EBADMSG),
    /* groups, and the two wire types that do not exist */
    SAMPLE("\x23\x24", APP_ID, -EBADMSG),
    SAMPLE("\x24", APP_ID, -EBADMSG),
    SAMPLE("\x0e\x01", APP_ID, -EBADMSG),
    SAMPLE("\x0f\x01", APP_ID, -EBADMSG),
    /* wrong wire types for known fields; unknown ones of every type */
    SAMPLE("\x0a\x01\x01", APP_ID, -EBADMSG),
    SAMPLE("\x0d\x01\x02\x03\x04", APP_ID, -EBADMSG),
    SAMPLE("\x20\x01", EXCEPTION, -EBADMSG),
    SAMPLE("\x78\x01\x79\1\2\3\4\5\6\7\x08\x7a\x02zz\x7d\1\2\3\4", APP_ID, 0),
    SAMPLE("\x79\1\2\3\4\5\6\7", APP_ID, -EBADMSG),
    SAMPLE("\x7d\1\2\3", APP_ID, -EBADMSG),
    /* lengths beyond the end: of the message, and of the parent only */
    SAMPLE("\x7a\x05zz", APP_ID, -EBADMSG),
    SAMPLE("\x7a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", APP_ID, -EBADMSG),
    SAMPLE("\x22\x02\x0a\x05"
           "abcdefgh",
           EXCEPTION, -EBADMSG),
    /* a singular message twice, a singular scalar twice */
    SAMPLE("\x22\x00\x22\x00", EXCEPTION, -EBADMSG),
    SAMPLE("\x22\x02\x22\x00\x22\x00", EXCEPTION, -EBADMSG),
    SAMPLE("\x08\x01\x08\x02", APP_ID, 0),
    /* a repeated message any number of times */
    SAMPLE("\x1a\x03\x0a\x01"
           "a\x1a\x03\x0a\x01"
           "b",
           RESOURCE, 0),
    /* repeated numbers one by one and packed */
    SAMPLE("\x10\x01\x10\x02", RETRY, 0),
    SAMPLE("\x12\x02\x01\x02", RETRY, 0),
    /* text */
    SAMPLE("\x0a\x03"
           "hdf",
           URL, 0),
    SAMPLE("\x0a\x03"
           "h\0f",
           URL, -EILSEQ),
    SAMPLE("\x0a\x02\xc3\xa9", URL, 0),
    SAMPLE("\x0a\x03\xe2\x82\xac", URL, 0),
    SAMPLE("\x0a\x04\xf0\x9f\x98\x80", URL, 0),
    SAMPLE("\x0a\x04\xf4\x8f\xbf\xbf", URL, 0),
    SAMPLE("\x0a\x01\xff", URL, -EILSEQ),
    SAMPLE("\x0a\x01\xc3", URL, -EILSEQ),
    SAMPLE("\x0a\x02\xc0\x80", URL, -EILSEQ),
    SAMPLE("\x0a\x03\xe0\x9f\xbf", URL, -EILSEQ),
    SAMPLE("\x0a\x03\xed\xa0\x80", URL, -EILSEQ),
    SAMPLE("\x0a\x04\xf0\x8f\xbf\xbf", URL, -EILSEQ),
    SAMPLE("\x0a\x04\xf4\x90\x80\x80", URL, -EILSEQ),
    SAMPLE("\x0a\x04\xf5\x80\x80\x80", URL, -EILSEQ),
    SAMPLE("\x0a\x02\x80"
           "a",
           URL, -EILSEQ),
};

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(samples); i++) {
        const struct sample *s = &samples[i];
        uint8_t *exact = malloc(s->n ? s->n : 1); /* lets a sanitizer detect an overread */
        int r;

        assert_non_null(exact);
        memcpy(exact, s->bytes, s->n);
        r = ipc_depth_check(exact, s->n, s->d, IPC_DEPTH_MAX);
        free(exact);
        if (r != s->want)
            fail_msg("sample %zu: %d instead of %d", i, r, s->want);
    }
}

static void test_unknown(void **state)
{
    enum { N = 1 << 16 };
    uint8_t *buf = malloc(2 * N);

    (void)state;
    assert_non_null(buf);
    for (size_t i = 0; i < N; i++) {
        buf[2 * i] = 15 << 3;
        buf[2 * i + 1] = 1;
    }
    assert_int_equal(ipc_depth_check(buf, 2 * 1024, APP_ID, IPC_DEPTH_MAX), 0);
    assert_int_equal(ipc_depth_check(buf, 2 * 1100, APP_ID, IPC_DEPTH_MAX), -E2BIG);
    assert_int_equal(ipc_depth_check(buf, 2 * N, APP_ID, IPC_DEPTH_MAX), -E2BIG);
    /* a large answer of a newer peer: one unknown field in each of many entries is accepted */
    for (size_t i = 0; i < N / 32; i++) {
        memset(buf + 64 * i, 'x', 64);
        memcpy(buf + 64 * i, "\x1a\x3e\x78\x01\x0a\x3a", 6);
    }
    assert_int_equal(ipc_depth_check(buf, 2 * N, RESOURCE, IPC_DEPTH_MAX), 0);
    free(buf);
}

/* ---- Items ---- */

#define APPS (&hadoop__yarn__get_applications_request_proto__descriptor)
#define STATES "\x12" /* field 2, application_states, packed */

static int look(const void *p, size_t n, const ProtobufCMessageDescriptor *d, size_t max_items)
{
    bool odd;

    return ipc_depth_look(p, n, d, IPC_DEPTH_MAX, max_items, &odd);
}

struct counted {
    const char *bytes;
    size_t n;
    const ProtobufCMessageDescriptor *d;
    size_t items;
};
#define COUNTED(text, d, items)                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1, d, items                                                           \
    }

static const struct counted counted[] = {
    COUNTED("\x10\x05\x10\x06\x10\x07", APPS, 3),           /* enums one by one */
    COUNTED(STATES "\x04\x05\x06\x07\x05", APPS, 4),        /* packed */
    COUNTED(STATES "\x04\x85\x80\x00\x06", APPS, 2),        /* three bytes are one number */
    COUNTED("\x1a\x01u\x1a\x01v", APPS, 2),                 /* texts */
    COUNTED("\x12\x02\x01\x02\x10\x03", RETRY, 3),          /* numbers */
    COUNTED("\x08\x01\x08\x02\x08\x03\x10\x01", APP_ID, 2), /* a singular number thrice */
    COUNTED("\x22\x02\x22\x00", EXCEPTION, 2),              /* messages */
    COUNTED("\x08\x01\x10\x01", APP_ID, 0),
};

static void test_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(counted); i++) {
        const struct counted *c = &counted[i];

        if (look(c->bytes, c->n, c->d, c->items) != 0)
            fail_msg("row %zu: refused with %zu items allowed", i, c->items);
        if (c->items && look(c->bytes, c->n, c->d, c->items - 1) != -EMSGSIZE)
            fail_msg("row %zu: accepted with %zu items allowed", i, c->items - 1);
    }
}

/* 30 MB of states in one packed list: refused before anything is unpacked. */
static void test_packed_flood(void **state)
{
    static const uint8_t head[] = { 0x12, 0x80, 0x87, 0xa7, 0x0e }; /* 30,000,000 bytes */
    enum { N = 30000000 };
    uint8_t *buf = malloc(sizeof(head) + N);

    (void)state;
    assert_non_null(buf);
    memcpy(buf, head, sizeof(head));
    memset(buf + sizeof(head), 5, N);
    assert_int_equal(ipc_depth_check(buf, sizeof(head) + N, APPS, IPC_DEPTH_MAX), 0);
    assert_int_equal(look(buf, sizeof(head) + N, APPS, IPC_REQUEST_ITEMS_MAX), -EMSGSIZE);
    /* the same as a singular number, and as an unknown one */
    for (size_t i = 0; i < N; i += 2)
        memcpy(buf + i, "\x08\x05", 2);
    assert_int_equal(look(buf, N, APP_ID, IPC_REQUEST_ITEMS_MAX), -EMSGSIZE);
    for (size_t i = 0; i < N; i += 2)
        memcpy(buf + i, "\x78\x05", 2);
    assert_int_equal(look(buf, N, APP_ID, IPC_REQUEST_ITEMS_MAX), -E2BIG);
    free(buf);
}

/* Every prefix of a real message is rejected or harmless, and the whole is accepted. */
static void test_prefixes(void **state)
{
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    Hadoop__Yarn__StringStringMapProto env = HADOOP__YARN__STRING_STRING_MAP_PROTO__INIT;
    Hadoop__Yarn__StringStringMapProto *envs[] = { &env, &env, &env };
    Hadoop__Yarn__StartContainerRequestProto one =
        HADOOP__YARN__START_CONTAINER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__StartContainerRequestProto *list[] = { &one, &one };
    Hadoop__Yarn__StartContainersRequestProto m =
        HADOOP__YARN__START_CONTAINERS_REQUEST_PROTO__INIT;
    char *command[] = { (char *)"date" };
    uint8_t buf[512];
    size_t n;

    (void)state;
    env.key = (char *)"LANG";
    env.value = (char *)"\xe2\x82\xac";
    clc.n_environment = SV_ARRAY_LEN(envs);
    clc.environment = envs;
    clc.n_command = 1;
    clc.command = command;
    one.container_launch_context = &clc;
    m.n_start_container_request = SV_ARRAY_LEN(list);
    m.start_container_request = list;
    n = hadoop__yarn__start_containers_request_proto__get_packed_size(&m);
    assert_true(n < sizeof(buf));
    (void)hadoop__yarn__start_containers_request_proto__pack(&m, buf);
    for (size_t i = 0; i <= n; i++) {
        uint8_t *exact = malloc(i ? i : 1);
        int r;

        assert_non_null(exact);
        memcpy(exact, buf, i);
        r = ipc_depth_check(exact, i, m.base.descriptor, 4);
        free(exact);
        if (i == n)
            assert_int_equal(r, 0);
        else if (r == 0) /* only between two elements */
            assert_true(i == 0 || i == n / 2);
    }
    assert_int_equal(ipc_depth_check(buf, n, m.base.descriptor, 3), -ELOOP);
}

/* Sub-messages and members of lists of texts, at any depth: an allocate of three rows with a
 * capability each, and two names for the blacklist. */
static void test_items(void **state)
{
    Hadoop__Yarn__ResourceProto capability = HADOOP__YARN__RESOURCE_PROTO__INIT;
    Hadoop__Yarn__ResourceRequestProto row = HADOOP__YARN__RESOURCE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ResourceRequestProto *rows[] = { &row, &row, &row };
    Hadoop__Yarn__ResourceBlacklistRequestProto black =
        HADOOP__YARN__RESOURCE_BLACKLIST_REQUEST_PROTO__INIT;
    Hadoop__Yarn__AllocateRequestProto m = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    char *names[] = { (char *)(uintptr_t) "a", (char *)(uintptr_t) "b" };
    uint8_t buf[256];
    size_t n;
    bool odd;

    (void)state;
    row.capability = &capability;
    m.ask = rows;
    m.n_ask = 3;
    m.blacklist_request = &black;
    black.blacklist_additions = names;
    black.n_blacklist_additions = 2;
    n = hadoop__yarn__allocate_request_proto__get_packed_size(&m);
    assert_true(n <= sizeof(buf));
    (void)hadoop__yarn__allocate_request_proto__pack(&m, buf);
    assert_int_equal(ipc_depth_look(buf, n, m.base.descriptor, IPC_DEPTH_MAX, 9, &odd), 0);
    assert_int_equal(ipc_depth_look(buf, n, m.base.descriptor, IPC_DEPTH_MAX, 8, &odd), -EMSGSIZE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth),        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_unknown),      cmocka_unit_test(test_counted),
        cmocka_unit_test(test_packed_flood), cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_items),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
