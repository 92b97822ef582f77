/* Tests fs/kms-messages.c: uris of providers, the request for a key, and answers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fs/kms-messages.h"

static struct fs_kms_uri uri;
static struct sv_error err;

static int parse(const char *provider)
{
    memset(&err, 0, sizeof(err));
    return fs_kms_uri_parse(provider, &uri, &err);
}

static void test_uri(void **state)
{
    (void)state;
    assert_int_equal(parse("kms://http@kms.example:9600/kms"), 0);
    assert_true(!uri.secure && uri.port == 9600 && uri.n == 1);
    assert_string_equal(uri.hosts[0], "kms.example");
    assert_string_equal(uri.path, "/kms");
    assert_int_equal(parse("kms://https@a;b.example;10.0.0.3:16000/a/kms-2/"), 0);
    assert_true(uri.secure && uri.port == 16000 && uri.n == 3);
    assert_string_equal(uri.hosts[1], "b.example");
    assert_string_equal(uri.hosts[2], "10.0.0.3");
    assert_string_equal(uri.path, "/a/kms-2");
    assert_int_equal(parse("kms://http@h:1"), 0);
    assert_string_equal(uri.path, "");
    assert_int_equal(parse("kms://http@h:1/"), 0);
    assert_string_equal(uri.path, "");
}

static void test_other_providers(void **state)
{
    (void)state;
    assert_int_equal(parse(""), -EOPNOTSUPP);
    assert_non_null(strstr(err.text, "names no key provider"));
    assert_int_equal(parse("jceks://file/etc/keys\n"), -EOPNOTSUPP);
    assert_non_null(strstr(err.text, "jceks://file/etc/keys\\x0a, which is not supported"));
    assert_int_equal(parse("user:///"), -EOPNOTSUPP);
    assert_int_equal(parse("kmsx://http@h:1/kms"), -EOPNOTSUPP);
}

static void test_bad_uris(void **state)
{
    static const char *const bad[] = {
        "kms:",
        "kms",
        "kms://",
        "kms://http@",
        "kms://http@h",
        "kms://http@h/kms",
        "kms://http@h:/kms",
        "kms://http@:9600/kms",
        "kms://http@h:0/kms",
        "kms://http@h:65536/kms",
        "kms://http@h:9600x/kms",
        "kms://http@h:96:00/kms",
        "kms://ftp@h:9600/kms",
        "kms://h:9600/kms",
        "kms://http@h;:9600/kms",
        "kms://http@;h:9600/kms",
        "kms://http@h;;i:9600/kms",
        "kms://http@u@h:9600/kms",
        "kms://http@h,i:9600/kms",
        "kms://http@[::1]:9600/kms",
        "kms://http@h:9600/kms?a=b",
        "kms://http@h:9600/kms#a",
        "kms://http@h:9600/kms//v",
        "kms://http@h:9600/../kms",
        "kms://http@h:9600/./kms",
        "kms://http@h:9600/kms//",
        "kms://http@h:9600/k%6ds",
        "kms://http@h:9600/kms\r\nHost: x",
        "kms://http@h h:9600/kms",
    };
    char many[4 * FS_KMS_HOSTS_MAX + 100] = "kms://http@h0", longer[600];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        if (parse(bad[i]) != -EINVAL || !err.text[0])
            fail_msg("%s", bad[i]);
    for (size_t i = 1; i < FS_KMS_HOSTS_MAX; i++)
        (void)snprintf(many + strlen(many), sizeof(many) - strlen(many), ";h%zu", i % 10);
    (void)snprintf(longer, sizeof(longer), "%s:9600/kms", many);
    assert_int_equal(parse(longer), 0);
    assert_int_equal(uri.n, FS_KMS_HOSTS_MAX);
    (void)snprintf(longer, sizeof(longer), "%s;x:9600/kms", many);
    assert_int_equal(parse(longer), -EINVAL);
    (void)snprintf(longer, sizeof(longer), "kms://http@%0256d:9600/kms", 0);
    assert_int_equal(parse(longer), -EINVAL);
    (void)snprintf(longer, sizeof(longer), "kms://http@h:9600/%0255d", 0);
    assert_int_equal(parse(longer), -EINVAL);
    (void)snprintf(longer, sizeof(longer), "kms://http@h:9600/%0254d", 0);
    assert_int_equal(parse(longer), 0);
}

static struct hdfs_edek edek(size_t n, const char *name, const char *version)
{
    struct hdfs_edek e = { .n = n, .key = { 0xfb, 0xef, 0xff }, .iv = { 0xff } };

    (void)snprintf(e.name, sizeof(e.name), "%s", name);
    (void)snprintf(e.version, sizeof(e.version), "%s", version);
    return e;
}

static void test_request(void **state)
{
    struct hdfs_edek e = edek(16, "a \"key\"", "a \"key\"@0");
    char url[FS_URL_MAX + 1], *body = NULL;

    (void)state;
    assert_int_equal(parse("kms://https@a;b:9600/kms"), 0);
    assert_int_equal(fs_kms_url(&uri, 1, &e, "", url), 0);
    assert_string_equal(url,
                        "https://b:9600/kms/v1/keyversion/a%20%22key%22%400/_eek?eek_op=decrypt");
    assert_int_equal(fs_kms_url(&uri, 0, &e, "alice & bob", url), 0);
    assert_string_equal(url, "https://a:9600/kms/v1/keyversion/a%20%22key%22%400/_eek?eek_op="
                             "decrypt&user.name=alice%20%26%20bob");
    assert_int_equal(fs_kms_request(&e, &body), 0);
    assert_string_equal(body, "{\"name\":\"a \\\"key\\\"\",\"iv\":\"/wAAAAAAAAAAAAAAAAAAAA==\","
                              "\"material\":\"++//AAAAAAAAAAAAAAAAAA==\"}");
    free(body);
}

/* The longest names fit. */
static void test_long_names(void **state)
{
    char name[HDFS_KEY_NAME_MAX + 1], user[HDFS_USER_MAX + 1], url[FS_URL_MAX + 1];
    struct hdfs_edek e;
    struct fs_url parsed;

    (void)state;
    memset(name, '@', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    memset(user, '@', sizeof(user) - 1);
    user[sizeof(user) - 1] = 0;
    e = edek(32, name, name);
    assert_int_equal(parse("kms://https@a:9600/kms"), 0);
    assert_int_equal(fs_kms_url(&uri, 0, &e, user, url), 0);
    assert_int_equal(fs_url_parse(url, &parsed, NULL), 0);
    assert_string_equal(parsed.name, "_eek");
    assert_int_equal(parsed.port, 9600);
}

static int answer(const char *text, size_t want, uint8_t ret[HDFS_KEY_MAX])
{
    char copy[FS_KMS_ANSWER_MAX + 2];
    size_t n = strlen(text);

    memcpy(copy, text, n + 1);
    return fs_kms_answer(copy, n, want, ret);
}

static void test_answer(void **state)
{
    uint8_t key[HDFS_KEY_MAX] = { 0 };

    (void)state;
    /* of a KMS 3.4.2: URL-safe, without padding */
    assert_int_equal(
        answer("{\"versionName\" : \"EK\",\"material\" : \"--__AAAAAAAAAAAAAAAAAQ\"}", 16, key), 0);
    assert_true(key[0] == 0xfb && key[1] == 0xef && key[2] == 0xff && key[15] == 1);
    assert_int_equal(answer("{\"material\":\"++//AAAAAAAAAAAAAAAAAg==\"}", 16, key), 0);
    assert_int_equal(key[15], 2);
    assert_int_equal(
        answer("{\"material\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\"}", 32, key), 0);
    assert_int_equal(key[31], 1);
}

static void test_bad_answers(void **state)
{
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "null",
        "{\"material\":null}",
        "{\"material\":1}",
        "{\"material\":\"\"}",
        "{\"material\":\"AAAA\"}",
        "{\"material\":\"AAAAAAAAAAAAAAAAAAAAA\"}",   /* 15 bytes and six bits */
        "{\"material\":\"AAAAAAAAAAAAAAAAAAAAAB\"}",  /* bits behind the last byte */
        "{\"material\":\"AAAAAAAAAAAAAAAAAAAAAAA\"}", /* 17 bytes */
        "{\"material\":\"AAAAAAAAAA AAAAAAAAAAA\"}",
        "{\"material\":\"AAAAAAAAAA=AAAAAAAAAAA\"}",
        "{\"material\":\"AAAAAAAAAAAAAAAAAAAAA\\u0000\"}",
        "{\"material\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\"}", /* 32 bytes */
        "{\"material\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
        "{\"material\":\"AAAAAAAAAAAAAAAAAAAAAA\",\"material\":\"AAAAAAAAAAAAAAAAAAAAAA\"}",
        "{\"material\":\"AAAAAAAAAAAAAAAAAAAAAA\"",
        "{\"material\":\"AAAAAAAAAAAAAAAAAAAAAA\"} x",
        "<html>AAAAAAAAAAAAAAAAAAAAAA</html>",
    };
    char longer[FS_KMS_ANSWER_MAX + 2];
    uint8_t key[HDFS_KEY_MAX];

    (void)state;
    memset(key, 9, sizeof(key));
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        if (answer(bad[i], 16, key) != -EBADMSG)
            fail_msg("%s", bad[i]);
    (void)snprintf(longer, sizeof(longer), "%*s", FS_KMS_ANSWER_MAX + 1,
                   "{\"material\":\"AAAAAAAAAAAAAAAAAAAAAA\"}");
    assert_int_equal(answer(longer, 16, key), -EBADMSG);
    assert_true(key[0] == 9 && key[HDFS_KEY_MAX - 1] == 9);
    assert_int_equal(answer(longer + 1, 16, key), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uri),         cmocka_unit_test(test_other_providers),
        cmocka_unit_test(test_bad_uris),    cmocka_unit_test(test_request),
        cmocka_unit_test(test_long_names),  cmocka_unit_test(test_answer),
        cmocka_unit_test(test_bad_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
