/* service/server/request.c: a request comes out of its memory file as it was put in; a file that
 * lies about its lengths is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "service/server/request.h"

static void test_there_and_back(void **state)
{
    const struct svc_request q = {
        .user = "alice", .method = "PUT", .uri = "/v1/x?y", .body = "a\0b", .body_len = 3
    };
    _cleanup_close_ int fd = svc_request_put(&q);
    struct svc_request got;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(svc_request_get(fd, &got), 0);
    assert_string_equal(got.user, "alice");
    assert_string_equal(got.method, "PUT");
    assert_string_equal(got.uri, "/v1/x?y");
    assert_int_equal(got.body_len, 3);
    assert_memory_equal(got.body, "a\0b", 4);
}

static void test_no_body(void **state)
{
    const struct svc_request q = { .user = "alice", .method = "GET", .uri = "/" };
    _cleanup_close_ int fd = svc_request_put(&q);
    struct svc_request got;

    (void)state;
    assert_int_equal(svc_request_get(fd, &got), 0);
    assert_int_equal(got.body_len, 0);
    assert_string_equal(got.body, "");
}

static int get(const void *bytes, size_t n)
{
    _cleanup_close_ int fd = memfd_create("x", MFD_CLOEXEC);
    struct svc_request got;

    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    return svc_request_get(fd, &got);
}

static void test_lies(void **state)
{
    const uint32_t huge[] = { 0xffffffff, 0, 0, 0, 0, 0 }, none[] = { 0, 0, 0, 0, 0, 1 },
                   sum[] = { 1, 1, 1, 1, 0, 0, 0 };

    (void)state;
    assert_int_equal(get("", 0), -EBADMSG);
    assert_int_equal(get(huge, 8), -EBADMSG);
    assert_int_equal(get(huge, sizeof(huge)), -EBADMSG);
    assert_int_equal(get(none, 16), -EBADMSG);
    assert_int_equal(get(none, sizeof(none)), -EBADMSG); /* no NUL */
    assert_int_equal(get(sum, sizeof(sum) - 2), -EBADMSG);
    assert_int_equal(get(sum, sizeof(sum)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_there_and_back),
                                        cmocka_unit_test(test_no_body),
                                        cmocka_unit_test(test_lies) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
