/* Tests localizer/channel.c: round trips; everything else is rejected. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "localizer/channel.h"

static struct loc_msg fetch(void)
{
    struct loc_msg m = { .type = LOC_MSG_FETCH, .request = 7 };

    m.fetch.type = LOC_PATTERN;
    m.fetch.visibility = LOC_APPLICATION;
    m.fetch.dir = 31;
    m.fetch.timestamp = 1700000000250;
    m.fetch.size = -1;
    m.fetch.limits = (struct loc_limits){ 1ull << 40, 1000, 200, 1024, 64, 1024 };
    m.fetch.deadline_ms = 60000;
    m.fetch.io_timeout_ms = 60000;
    m.fetch.failovers = 15;
    m.fetch.failover_base_ms = 500;
    m.fetch.failover_max_ms = 15000;
    m.fetch.options = LOC_OPTION_HOSTNAMES;
    m.fetch.protection = 0xff;
    (void)snprintf(m.fetch.login, sizeof(m.fetch.login), "alice");
    (void)snprintf(m.fetch.servers, sizeof(m.fetch.servers), "nn1:8020,nn2:8020");
    (void)snprintf(m.fetch.region, sizeof(m.fetch.region), "eu-west-1");
    (void)snprintf(m.fetch.access_key, sizeof(m.fetch.access_key), "AKIA");
    (void)snprintf(m.fetch.secret_key, sizeof(m.fetch.secret_key), "secret");
    (void)snprintf(m.fetch.session_token, sizeof(m.fetch.session_token), "token");
    (void)snprintf(m.fetch.url, sizeof(m.fetch.url), "file:///a/job.jar");
    (void)snprintf(m.fetch.pattern, sizeof(m.fetch.pattern), "(?:classes/|lib/).*");
    (void)snprintf(m.fetch.rel, sizeof(m.fetch.rel), "0/z/17");
    (void)snprintf(m.fetch.name, sizeof(m.fetch.name), "job.jar");
    return m;
}

static void round_trip(struct loc_msg m, enum loc_peer from)
{
    uint8_t buf[LOC_MSG_MAX], more[LOC_MSG_MAX + 1];
    struct loc_msg got;
    int n = loc_msg_encode(&m, buf);

    assert_true(n > 0);
    assert_int_equal(loc_msg_decode(buf, (size_t)n, from, &got), 0);
    assert_memory_equal(&m, &got, sizeof(m));
    assert_int_equal(loc_msg_decode(buf, (size_t)n,
                                    from == LOC_PEER_NM ? LOC_PEER_LOCALIZER : LOC_PEER_NM, &got),
                     -EBADMSG);
    for (int i = 0; i < n; i++)
        assert_int_equal(loc_msg_decode(buf, (size_t)i, from, &got), -EBADMSG);
    memcpy(more, buf, (size_t)n);
    more[n] = 0;
    assert_int_equal(loc_msg_decode(more, (size_t)n + 1, from, &got), -EBADMSG);
}

static void test_round_trips(void **state)
{
    struct loc_msg m = { .type = LOC_MSG_PROGRESS, .request = 1, .progress.bytes = UINT64_MAX };

    (void)state;
    round_trip(fetch(), LOC_PEER_NM);
    round_trip((struct loc_msg){ .type = LOC_MSG_CANCEL, .request = UINT64_MAX }, LOC_PEER_NM);
    round_trip(m, LOC_PEER_LOCALIZER);
    m = (struct loc_msg){ .type = LOC_MSG_DONE, .request = 1, .done = { 5, 2, 1 } };
    round_trip(m, LOC_PEER_LOCALIZER);
    m = (struct loc_msg){ .type = LOC_MSG_FAILED, .request = 1, .failed.reason = LOC_FAIL_LAST };
    memset(m.failed.text, 'x', LOC_TEXT_MAX);
    round_trip(m, LOC_PEER_LOCALIZER);
}

static void test_largest_fits(void **state)
{
    struct loc_msg m = fetch();
    uint8_t buf[LOC_MSG_MAX];

    (void)state;
    memset(m.fetch.url, 'u', FS_URL_MAX);
    memset(m.fetch.pattern, 'p', SV_PATTERN_MAX);
    memset(m.fetch.login, 'l', LOC_LOGIN_MAX);
    memset(m.fetch.servers, 's', LOC_SERVERS_MAX);
    memset(m.fetch.region, 'r', LOC_REGION_MAX);
    memset(m.fetch.access_key, 'a', LOC_ACCESS_KEY_MAX);
    memset(m.fetch.secret_key, 'k', LOC_SECRET_KEY_MAX);
    memset(m.fetch.session_token, 't', LOC_SESSION_TOKEN_MAX);
    memset(m.fetch.rel, '1', LOC_REL_MAX);
    memset(m.fetch.name, 'n', FS_NAME_MAX);
    assert_true(loc_msg_encode(&m, buf) > FS_URL_MAX);
    m.fetch.url[FS_URL_MAX] = 'u'; /* no end within the limit */
    assert_int_equal(loc_msg_encode(&m, buf), -EINVAL);
}

#define REFUSED(change)                                                                            \
    do {                                                                                           \
        struct loc_msg m = fetch();                                                                \
        uint8_t buf[LOC_MSG_MAX];                                                                  \
        change;                                                                                    \
        assert_int_equal(loc_msg_encode(&m, buf), -EINVAL);                                        \
    } while (0)

static void test_bad_fields(void **state)
{
    (void)state;
    REFUSED(m.request = 0);
    REFUSED(m.type = 0);
    REFUSED(m.type = 3);
    REFUSED(m.fetch.type = 0);
    REFUSED(m.fetch.type = 4);
    REFUSED(m.fetch.visibility = 0);
    REFUSED(m.fetch.visibility = 4);
    REFUSED(m.fetch.dir = LOC_DIRS_MAX);
    REFUSED(m.fetch.timestamp = -1);
    REFUSED(m.fetch.size = -2);
    REFUSED(m.fetch.limits.bytes = 0);
    REFUSED(m.fetch.limits.bytes = UINT64_MAX);
    REFUSED(m.fetch.limits.entries = 0);
    REFUSED(m.fetch.limits.ratio = 0);
    REFUSED(m.fetch.limits.path = LOC_PATH_MAX + 1);
    REFUSED(m.fetch.limits.depth = LOC_DEPTH_MAX + 1);
    REFUSED(m.fetch.limits.slowest_rate = UINT32_MAX);
    REFUSED(m.fetch.deadline_ms = 0);
    REFUSED(m.fetch.url[0] = 0);
    REFUSED(m.fetch.options = 8);
    REFUSED(m.fetch.secret_key[0] = 0);
    REFUSED(m.fetch.io_timeout_ms = UINT32_MAX);
    REFUSED(m.fetch.failovers = UINT32_MAX);
    REFUSED(m.fetch.failover_base_ms = UINT32_MAX);
    REFUSED(m.fetch.failover_max_ms = UINT32_MAX);
    REFUSED(memset(m.fetch.servers, 's', LOC_SERVERS_MAX + 1));
    REFUSED(m.fetch.type = LOC_FILE); /* has a pattern */
    REFUSED(m.fetch.rel[0] = '.');
    REFUSED(m.fetch.name[0] = '/');
}

static void test_hostile_answers(void **state)
{
    struct loc_msg m = { .type = LOC_MSG_FAILED, .request = 9, .failed.reason = 1 }, got;
    uint8_t buf[LOC_MSG_MAX];
    int n;

    (void)state;
    (void)snprintf(m.failed.text, sizeof(m.failed.text), "a\nb\x1b[2J\x7f");
    n = loc_msg_encode(&m, buf);
    assert_int_equal(loc_msg_decode(buf, (size_t)n, LOC_PEER_LOCALIZER, &got), 0);
    assert_string_equal(got.failed.text, "a?b?[2J?");
    buf[14] = 0; /* reason */
    assert_int_equal(loc_msg_decode(buf, (size_t)n, LOC_PEER_LOCALIZER, &got), -EBADMSG);
    buf[14] = LOC_FAIL_LAST + 1;
    assert_int_equal(loc_msg_decode(buf, (size_t)n, LOC_PEER_LOCALIZER, &got), -EBADMSG);
    buf[14] = 1;
    buf[18] = 0; /* a NUL inside the text */
    assert_int_equal(loc_msg_decode(buf, (size_t)n, LOC_PEER_LOCALIZER, &got), -EBADMSG);
    m = (struct loc_msg){ .type = LOC_MSG_DONE, .request = 1 };
    m.done.size = UINT64_MAX;
    assert_int_equal(loc_msg_encode(&m, buf), -EINVAL);
}

static void test_names(void **state)
{
    static const char *const good_rel[] = { "0", "10", "0/3", "z/9/a/12345" };
    static const char *const bad_rel[] = { "",  "/", "/0",  "0/",  "0//1", "..",   "0/..",
                                           ".", "A", "0/B", "0 1", "a-b",  "0/./1" };
    static const char *const bad_name[] = { "", ".", "..", "a/b", "/", "a\n", "\x7f" };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(good_rel); i++)
        assert_true(loc_rel_valid(good_rel[i]));
    for (size_t i = 0; i < SV_ARRAY_LEN(bad_rel); i++)
        assert_false(loc_rel_valid(bad_rel[i]));
    for (size_t i = 0; i < SV_ARRAY_LEN(bad_name); i++)
        assert_false(fs_name_valid(bad_name[i]));
    assert_true(fs_name_valid("...") && fs_name_valid("-rf") && fs_name_valid("\xe9"));
}

static void send_fd(int to, int fd)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(fd))] = { 0 };
    char byte = 'x';
    struct iovec iov = { &byte, 1 };
    struct msghdr h = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    assert_int_equal(sendmsg(to, &h, 0), 1);
}

/* Received with this descriptor: 1 with *ret_fd, or refused with no descriptor left open. */
static int received_with(const struct loc_msg *m, int fd, bool taken)
{
    struct loc_msg got;
    int s[2], given = -1, before = dup(0), r;

    (void)sv_close(before);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
    assert_int_equal(loc_msg_send_with(s[0], m, fd), 0);
    r = taken ? loc_msg_recv_with(s[1], LOC_PEER_NM, &got, &given)
              : loc_msg_recv(s[1], LOC_PEER_NM, &got);
    (void)sv_close(s[0]);
    (void)sv_close(s[1]);
    if (r == 1 && fd >= 0) {
        char text[8] = "";

        assert_int_equal(pread(given, text, sizeof(text), 0), 4);
        assert_string_equal(text, "HDTS");
        (void)sv_close(given);
    } else {
        assert_int_equal(given, -1);
    }
    given = dup(0);
    assert_int_equal(given, before);
    (void)sv_close(given);
    return r;
}

/* Credentials: one sealed memfd, of a bounded size, with a FETCH. */
static void test_credentials(void **state)
{
    static char large[FS_CREDENTIALS_MAX + 1];
    struct loc_msg m = fetch(), public = m, cancel = { .type = LOC_MSG_CANCEL, .request = 1 };
    int sealed = sv_memfd_sealed("credentials", "HDTS", 4), null = open("/dev/null", O_RDONLY);
    int open_ended = memfd_create("credentials", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int too_large = sv_memfd_sealed("credentials", large, sizeof(large));

    (void)state;
    assert_true(sealed >= 0 && null >= 0 && open_ended >= 0 && too_large >= 0);
    m.fetch.visibility = LOC_PRIVATE;
    public.fetch.visibility = LOC_PUBLIC;
    assert_int_equal(received_with(&m, sealed, true), 1);
    assert_int_equal(received_with(&m, -1, true), 1);
    assert_int_equal(received_with(&public, -1, true), 1);
    assert_int_equal(received_with(&m, sealed, false), -EBADMSG);
    assert_int_equal(received_with(&public, sealed, true), 1);
    assert_int_equal(received_with(&cancel, sealed, true), -EBADMSG);
    assert_int_equal(received_with(&m, null, true), -EBADMSG);
    assert_int_equal(write(open_ended, "HDTS", 4), 4);
    assert_int_equal(received_with(&m, open_ended, true), -EBADMSG);
    assert_int_equal(fcntl(open_ended, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    assert_int_equal(received_with(&m, open_ended, true), -EBADMSG); /* it can be written */
    assert_int_equal(received_with(&m, too_large, true), -EBADMSG);
    (void)sv_close(sealed);
    (void)sv_close(null);
    (void)sv_close(open_ended);
    (void)sv_close(too_large);
}

static void test_socket(void **state)
{
    struct loc_msg m = fetch(), got;
    char big[LOC_MSG_MAX + 1] = { 0 };
    int s[2], first;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
    assert_int_equal(loc_msg_recv(s[1], LOC_PEER_NM, &got), -EAGAIN);
    assert_int_equal(loc_msg_send(s[0], &m), 0);
    assert_int_equal(loc_msg_recv(s[1], LOC_PEER_NM, &got), 1);
    assert_memory_equal(&m, &got, sizeof(m));
    assert_int_equal(send(s[0], big, sizeof(big), 0), sizeof(big));
    assert_int_equal(loc_msg_recv(s[1], LOC_PEER_NM, &got), -EBADMSG);
    first = dup(s[0]);
    (void)sv_close(first);
    send_fd(s[0], s[0]); /* unexpected descriptors are closed */
    assert_int_equal(loc_msg_recv(s[1], LOC_PEER_NM, &got), -EBADMSG);
    assert_int_equal(dup(s[0]), first);
    (void)sv_close(first);
    (void)sv_close(s[0]);
    assert_int_equal(loc_msg_recv(s[1], LOC_PEER_NM, &got), 0);
    assert_int_equal(loc_msg_send(s[1], &m), -EPIPE);
    (void)sv_close(s[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_largest_fits),
        cmocka_unit_test(test_bad_fields),  cmocka_unit_test(test_hostile_answers),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_socket),
        cmocka_unit_test(test_credentials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
