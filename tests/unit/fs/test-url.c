/* Tests fs/url.c: accepted and rejected urls. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fs/url.h"

static void good(const char *url, enum fs_scheme scheme, const char *host, int port,
                 const char *path, const char *name)
{
    struct sv_error err = { 0 };
    struct fs_url u;

    assert_int_equal(fs_url_parse(url, &u, &err), 0);
    assert_int_equal(u.scheme, scheme);
    assert_string_equal(u.host, host);
    assert_int_equal(u.port, port);
    assert_string_equal(u.path, path);
    assert_string_equal(u.name, name);
}

static void test_good(void **state)
{
    (void)state;
    good("file:///a/b", FS_SCHEME_FILE, "", 0, "/a/b", "b");
    good("file:/a/b", FS_SCHEME_FILE, "", 0, "/a/b", "b");
    good("FILE:///a", FS_SCHEME_FILE, "", 0, "/a", "a");
    good("file:///a//b", FS_SCHEME_FILE, "", 0, "/a/b", "b");
    good("file:///a%20b/%C3%A9", FS_SCHEME_FILE, "", 0, "/a b/\xc3\xa9", "\xc3\xa9");
    good("file:///a%25b", FS_SCHEME_FILE, "", 0, "/a%b", "a%b");
    good("file:///a/...", FS_SCHEME_FILE, "", 0, "/a/...", "...");
    good("http://h/x", FS_SCHEME_HTTP, "h", 0, "/x", "x");
    good("https://h.example:8443/x/y?q=1&r=/..", FS_SCHEME_HTTPS, "h.example", 8443, "/x/y", "y");
    good("http://[::1]:80/x", FS_SCHEME_HTTP, "::1", 80, "/x", "x");
    good("hdfs://nameservice/x/y%20z", FS_SCHEME_HDFS, "nameservice", 0, "/x/y z", "y z");
    good("hdfs://h:9000/x", FS_SCHEME_HDFS, "h", 9000, "/x", "x");
    good("hdfs:///x", FS_SCHEME_HDFS, "", 0, "/x", "x");
    good("webhdfs://h:9870/x", FS_SCHEME_WEBHDFS, "h", 9870, "/x", "x");
    good("swebhdfs://h/x", FS_SCHEME_SWEBHDFS, "h", 0, "/x", "x");
}

static void test_refused(void **state)
{
    static const char *const urls[] = {
        "",
        "x",
        "/etc/passwd",
        "file:",
        "file://",
        "file:///",
        "file:a",
        "file://host/a",
        "file:////a",
        "file:///a/",
        "file:///a/.",
        "file:///a/..",
        "file:///../a",
        "file:///a/../b",
        "file:///a/%2e%2e/b",
        "file:///%2e%2E",
        "file:///a%2fb",
        "file:///a%00",
        "file:///a%0a",
        "file:///a%7f",
        "file:///a%",
        "file:///a%4",
        "file:///a%zz",
        "file:///a?b",
        "file:///a#b",
        "file:///a b",
        "file:///a\nb",
        "file:///\xc3\xa9",
        "file:///a\\b",
        "file:///a\"b",
        "http:/h/x",
        "http:///x",
        "http://h",
        "http://h/",
        "http://h?x",
        "http://u@h/x",
        "http://u:p@h/x",
        "http://h:/x",
        "http://h:0/x",
        "http://h:65536/x",
        "http://h:-1/x",
        "http://h:8x/x",
        "http://[::1/x",
        "http://[::1%25lo]/x",
        "http://[]/x",
        "http://::1/x",
        "http://h%41/x",
        "http://h/x/../y",
        "http://h/x\r\nHost: y",
        "http://h/x#y",
        "ftp://h/x",
        "hdfs:/x",
        "hdfs://h",
        "hdfs://h/",
        "hdfs://:8020/x",
        "hdfs://a,b/x",
        "hdfs://h/x?op=OPEN",
        "hdfs://u@h/x",
        "webhdfs:///x",
        "webhdfs://h/x?op=DELETE",
        "viewfs://h/x",
        "s3n://b/x",
        "gopher://h/x",
        "jar:file:///a!/b",
        "data:,x",
        "filee:///a",
        "fil:///a",
        "javascript:x",
    };
    char big[70000];
    struct fs_url u;
    struct sv_error err;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(urls); i++) {
        err = (struct sv_error){ 0 };
        if (fs_url_parse(urls[i], &u, &err) != -EINVAL)
            fail_msg("accepted: %s", urls[i]);
        assert_int_equal(err.code, -EINVAL);
        for (const char *p = err.text; *p; p++)
            assert_true((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f);
    }
    memset(big, 'a', sizeof(big) - 1);
    memcpy(big, "file:///", 8);
    big[sizeof(big) - 1] = 0;
    assert_int_equal(fs_url_parse(big, &u, &err), -ENAMETOOLONG);
    big[8 + 256] = 0;
    assert_int_equal(fs_url_parse(big, &u, &err), -ENAMETOOLONG); /* the name */
}

static void make(const char *scheme, const char *host, int port, const char *file,
                 const char *wanted)
{
    char url[FS_URL_MAX + 1];

    assert_int_equal(fs_url_make(scheme, host, port, file, url), 0);
    assert_string_equal(url, wanted);
}

static void test_s3(void **state)
{
    struct sv_error err = { 0 };
    struct fs_url u;

    (void)state;
    assert_int_equal(fs_url_parse("s3a://my-bucket/a/b%20c", &u, NULL), 0);
    assert_true(u.scheme == FS_SCHEME_S3);
    assert_string_equal(u.host, "my-bucket");
    assert_string_equal(u.path, "/a/b c");
    assert_string_equal(u.name, "b c");
    assert_int_equal(fs_url_parse("s3://b/x", &u, NULL), 0);
    assert_int_equal(fs_url_parse("s3a:///x", &u, NULL), -EINVAL);
    assert_int_equal(fs_url_parse("s3a://b:80/x", &u, NULL), -EINVAL);
    assert_int_equal(fs_url_parse("s3a://[::1]/x", &u, NULL), -EINVAL);
    assert_int_equal(fs_url_parse("s3a://key:secret@b/x", &u, NULL), -EINVAL);
    assert_int_equal(fs_url_parse("s3a://b/x?versionId=1", &u, NULL), -EINVAL);
    assert_int_equal(fs_url_parse("gs://b/x", &u, &err), -EINVAL);
    assert_non_null(strstr(
        err.text, "scheme is not one of file, http, https, hdfs, webhdfs, swebhdfs, s3a, s3"));
}

static void test_make(void **state)
{
    char url[FS_URL_MAX + 1], file[FS_URL_MAX + 2];
    struct fs_url u;

    (void)state;
    make("file", NULL, -1, "/a b/%41/\xc3\xa9?#", "file:///a%20b/%2541/%C3%A9%3F%23");
    make("file", "", 0, "/a", "file:///a");
    make("http", "h", 8080, "/a", "http://h:8080/a");
    make("http", "h", 0, "/a", "http://h/a");
    assert_int_equal(fs_url_make("file", NULL, 0, "a", url), -EINVAL);
    assert_int_equal(fs_url_make(NULL, NULL, 0, "/a", url), -EINVAL);
    assert_int_equal(fs_url_make("http", "h", 65536, "/a", url), -EINVAL);
    memset(file, ' ', sizeof(file));
    file[0] = '/';
    file[sizeof(file) - 1] = 0;
    assert_int_equal(fs_url_make("file", NULL, 0, file, url), -ENAMETOOLONG);
    for (int c = 0x20; c < 0x100; c++) { /* every byte that a name may have survives both ways */
        char path[] = { '/', 'x', (char)c, 0 };

        if (c == '/' || c == 0x7f)
            continue;
        assert_int_equal(fs_url_make("file", NULL, 0, path, url), 0);
        assert_int_equal(fs_url_parse(url, &u, NULL), 0);
        assert_string_equal(u.path, path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_s3),
        cmocka_unit_test(test_make),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
