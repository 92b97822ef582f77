/* Tests fs/policy.c and fs/cause.c: urls, redirects and addresses that a caller may reach; what
 * errors mean. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "fs/fs.h"

static int url(const struct fs_policy *p, const char *text)
{
    struct sv_error err = { 0 };
    struct fs_url u;
    int r = fs_url_parse(text, &u, &err);

    return r < 0 ? r : fs_policy_url(p, &u, &err);
}

static void test_urls(void **state)
{
    static const char *const hosts[] = { "a", "b", NULL };
    const struct fs_policy some = { .schemes = 1u << FS_SCHEME_HDFS | 1u << FS_SCHEME_WEBHDFS,
                                    .hosts = hosts };

    (void)state;
    assert_int_equal(url(&fs_policy_jobs, "s3a://bucket/f"), 0);
    assert_int_equal(url(&some, "hdfs://A/f"), 0);
    assert_int_equal(url(&some, "hdfs:///f"), 0); /* of the configuration */
    assert_int_equal(url(&some, "hdfs://c/f"), -EINVAL);
    assert_int_equal(url(&some, "file:///f"), -EINVAL);
    assert_int_equal(url(&some, "swebhdfs://a/f"), -EINVAL);
}

static int redirect(const char *to, enum fs_scheme of, unsigned hops)
{
    static const char *const hosts[] = { "a", "b", NULL };
    const struct fs_policy p = { .hosts = hosts, .redirects = 2 };
    struct sv_error err = { 0 };
    int r = fs_policy_redirect(&p, to, of, hops, &err);

    assert_int_equal(err.code, r);
    return r;
}

static void test_redirects(void **state)
{
    (void)state;
    assert_int_equal(redirect("http://b:1/f?op=OPEN", FS_SCHEME_HTTP, 0), 0);
    assert_int_equal(redirect("https://b/f", FS_SCHEME_HTTPS, 1), 0);
    assert_int_equal(redirect("https://b/f", FS_SCHEME_HTTPS, 2), -ELOOP);
    assert_int_equal(redirect("http://b/f", FS_SCHEME_HTTPS, 0), -EPROTO);
    assert_int_equal(redirect("file:///etc/f", FS_SCHEME_HTTP, 0), -EPROTO);
    assert_int_equal(redirect("http://c/f", FS_SCHEME_HTTP, 0), -EBADMSG);
    assert_int_equal(redirect("http://user@b/f", FS_SCHEME_HTTP, 0), -EINVAL);
    assert_int_equal(redirect("gopher://b/f", FS_SCHEME_HTTP, 0), -EINVAL);
    assert_int_equal(redirect(NULL, FS_SCHEME_HTTP, 0), -EBADMSG);
}

static bool reaches(const struct fs_policy *p, const char *address)
{
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;

    assert_true(is_v4 || inet_pton(AF_INET6, address, &v6.sin6_addr) == 1);
    return fs_policy_address(p,
                             is_v4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6);
}

static void test_addresses(void **state)
{
    const struct fs_policy away = { .no_loopback = true };
    const struct sockaddr local = { .sa_family = AF_UNIX };

    (void)state;
    assert_true(reaches(&fs_policy_jobs, "10.0.0.1") && reaches(&fs_policy_jobs, "127.0.0.1"));
    assert_true(reaches(&fs_policy_jobs, "::1") && reaches(&away, "fd01::1"));
    assert_false(reaches(&fs_policy_jobs, "169.254.169.254"));
    assert_false(reaches(&fs_policy_jobs, "::ffff:169.254.169.254"));
    assert_false(reaches(&away, "127.1.2.3") || reaches(&away, "::1"));
    assert_false(reaches(&away, "::ffff:127.0.0.1"));
    assert_false(fs_policy_address(&fs_policy_jobs, &local));
}

static void test_causes(void **state)
{
    static const int never[] = { -ENOENT,       -EACCES,     -EPERM,  -EDQUOT,
                                 -EKEYREJECTED, -EOPNOTSUPP, -EINVAL, -ENAMETOOLONG,
                                 -EEXIST,       -ENOTDIR,    -EISDIR, -ELOOP },
                     again[] = { -EIO,     -EREMOTEIO, -EROFS,     -ENOSPC, -EHOSTDOWN,   -EILSEQ,
                                 -EBADMSG, -EPROTO,    -ETIMEDOUT, -ESTALE, -ECONNREFUSED };

    (void)state;
    assert_int_equal(fs_cause(-EKEYREJECTED), FS_CAUSE_AUTH);
    for (size_t i = 0; i < SV_ARRAY_LEN(never); i++)
        assert_false(fs_cause_retry(fs_cause(never[i])));
    for (size_t i = 0; i < SV_ARRAY_LEN(again); i++)
        assert_true(fs_cause_retry(fs_cause(again[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_redirects),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_causes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
