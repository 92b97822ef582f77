/* Tests fs/sigv4.c with the example that AWS publishes for a GET of an object with a range.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "fs/sigv4.h"

static const struct fs_sigv4_key key = { "us-east-1", "AKIAIOSFODNN7EXAMPLE",
                                         "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "" };
static const struct fs_sigv4_request request = { "examplebucket.s3.amazonaws.com", "/test.txt",
                                                 "bytes=0-9", 1369353600 };

static void test_published_example(void **state)
{
    struct fs_sigv4 s;

    (void)state;
    assert_int_equal(fs_sigv4_sign(&key, &request, &s), 0);
    assert_string_equal(s.date, "20130524T000000Z");
    assert_string_equal(
        s.authorization,
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/"
        "aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

static void test_bounds(void **state)
{
    struct fs_sigv4_request q = request;
    struct fs_sigv4_key k = key;
    char big[FS_SIGV4_SECRET_MAX + 2];
    struct fs_sigv4 s;

    (void)state;
    memset(big, 'x', sizeof(big));
    big[sizeof(big) - 1] = 0;
    k.secret_key = big;
    assert_int_equal(fs_sigv4_sign(&k, &request, &s), -EINVAL);
    k = key;
    k.region = big;
    assert_int_equal(fs_sigv4_sign(&k, &request, &s), -EINVAL);
    k = key;
    k.session_token = "token";
    q.range = NULL;
    assert_int_equal(fs_sigv4_sign(&k, &q, &s), 0);
    assert_non_null(
        strstr(s.authorization, "=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"));
    q.time_s = INT64_MAX;
    assert_int_equal(fs_sigv4_sign(&key, &q, &s), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_example),
        cmocka_unit_test(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
