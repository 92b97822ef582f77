/* Tests fs/webhdfs-json.c: accepted and rejected answers of a WebHDFS server. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fs/webhdfs-json.h"

#define FIELDS(name, type, permission)                                                             \
    "{\"pathSuffix\":\"" name "\",\"type\":\"" type "\",\"length\":24930,\"modificationTime\":"    \
    "1320171722771,\"permission\":\"" permission "\"}"
#define LISTING(children, left)                                                                    \
    "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[" children       \
    "]}},\"remainingEntries\":" left "}}"

static int status_of(const char *text, struct webhdfs_status *ret)
{
    return fs_webhdfs_parse_status(text, strlen(text), ret);
}

static void test_status(void **state)
{
    struct webhdfs_status s;

    (void)state;
    assert_int_equal(status_of("{\"FileStatus\":" FIELDS("", "FILE", "1755") "}", &s), 0);
    assert_true(s.file && !s.directory && !s.encrypted && s.length == 24930);
    assert_true(s.mode == 01755 && s.mtime_ms == 1320171722771);
    assert_int_equal(status_of("{\"FileStatus\":" FIELDS("", "DIRECTORY", "0") "}", &s), 0);
    assert_true(s.directory && !s.file && s.mode == 0);
    assert_int_equal(status_of("{\"FileStatus\":" FIELDS("", "FILE", "8") "}", &s), -EBADMSG);
    assert_int_equal(status_of("{\"FileStatus\":" FIELDS("", "FILE", "") "}", &s), -EBADMSG);
    assert_int_equal(status_of("{\"FileStatus\":" FIELDS("", "FILE", "17777") "}", &s), -EBADMSG);
    assert_int_equal(status_of("{}", &s), -EBADMSG);
    assert_int_equal(status_of("", &s), -EBADMSG);
    assert_int_equal(status_of("{\"FileStatus\":{\"type\":\"FILE\",\"length\":-1,"
                               "\"modificationTime\":1,\"permission\":\"644\"}}",
                               &s),
                     -EBADMSG);
}

static int owner_of(const char *fields, struct webhdfs_owner *ret)
{
    char text[1000];
    int n = snprintf(text, sizeof(text), "{\"FileStatus\":{%s}}", fields);

    return fs_webhdfs_parse_owner(text, (size_t)n, ret);
}

static void test_owner(void **state)
{
    char longer[600];
    struct webhdfs_owner o;

    (void)state;
    assert_int_equal(owner_of("\"owner\":\"bob\",\"group\":\"hadoop\"", &o), 0);
    assert_string_equal(o.user, "bob");
    assert_string_equal(o.group, "hadoop");
    assert_false(o.acl);
    assert_int_equal(owner_of("\"owner\":\"bob\",\"group\":\"\",\"aclBit\":true", &o), 0);
    assert_true(o.acl);
    assert_int_equal(owner_of("\"owner\":\"\",\"group\":\"hadoop\"", &o), -EBADMSG);
    assert_int_equal(owner_of("\"owner\":7,\"group\":\"hadoop\"", &o), -EBADMSG);
    assert_int_equal(owner_of("\"owner\":\"bob\"", &o), -EBADMSG);
    assert_int_equal(owner_of("\"owner\":\"b\\u0000b\",\"group\":\"hadoop\"", &o), -EBADMSG);
    (void)snprintf(longer, sizeof(longer), "\"owner\":\"%0256d\",\"group\":\"\"", 1);
    assert_int_equal(owner_of(longer, &o), -EBADMSG);
}

static int listing_of(const char *text, struct webhdfs_listing *ret)
{
    return fs_webhdfs_parse_listing(text, strlen(text), ret);
}

static void test_listing(void **state)
{
    static const char *const bad[] = {
        "[]",
        "{\"DirectoryListing\":[]}",
        LISTING("", "1"), /* for ever */
        LISTING("", "-1"),
        LISTING("", "\"0\""),
        LISTING("{}", "0"),
        LISTING("1", "0"),
        LISTING(FIELDS("", "DIRECTORY", "755"), "0"),
        LISTING(FIELDS("a", "FILE", "644") "," FIELDS("", "FILE", "644"), "0"),
        LISTING(FIELDS("..", "FILE", "644"), "0"),
        LISTING(FIELDS("a/b", "FILE", "644"), "0"),
        LISTING(FIELDS("a\\u0000b", "FILE", "644"), "0"),
        LISTING(FIELDS("a\\u001bb", "FILE", "644"), "0"),
        LISTING(FIELDS("a", "FILE", "644") "," FIELDS("b", "FILE", "x"), "0"),
    };
    struct webhdfs_listing l;

    (void)state;
    assert_int_equal(listing_of(LISTING("", "0"), &l), 0);
    assert_true(l.n == 0 && !l.more);
    free(l.children);
    assert_int_equal(
        listing_of(LISTING(FIELDS("a", "FILE", "644") "," FIELDS("b", "DIRECTORY", "755"), "7"),
                   &l),
        0);
    assert_true(l.n == 2 && l.more && l.children[0].st.file && l.children[1].st.directory);
    assert_string_equal(l.children[1].name, "b");
    free(l.children);
    assert_int_equal(listing_of(LISTING(FIELDS("", "FILE", "644"), "0"), &l), -ENOTDIR);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        if (listing_of(bad[i], &l) != -EBADMSG)
            fail_msg("accepted: %s", bad[i]);
}

static void test_exception(void **state)
{
    static const struct {
        const char *text, *words;
        int code;
    } rows[] = {
        { "{\"RemoteException\":{\"exception\":\"FileAlreadyExistsException\",\"message\":"
          "\"a\\nb\"}}",
          "a", -EEXIST },
        { "{\"RemoteException\":{\"exception\":\"ParentNotDirectoryException\"}}",
          "ParentNotDirectoryException", -ENOTDIR },
        { "{\"RemoteException\":{\"exception\":\"IOException\"}}", "IOException", -EREMOTEIO },
        { "{\"RemoteException\":{\"exception\":7}}", "", -EBADMSG },
        { "", "", -EBADMSG },
    };
    char words[100];

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        assert_int_equal(
            fs_webhdfs_parse_exception(rows[i].text, strlen(rows[i].text), words, sizeof(words)),
            rows[i].code);
        assert_string_equal(words, rows[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exception),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_owner),
        cmocka_unit_test(test_listing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
