/* Tests fs/tokens.c: which of a job's tokens a process gets that handles its files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/arena.h"
#include "fs/tokens.h"
#include "wire/token/token.h"

#define HDFS "HDFS_DELEGATION_TOKEN"

struct row {
    const char *alias, *kind, *service, *password;
};

static struct sv_arena *a;

/* Credentials of the rows and one secret, in the arena. */
static struct fs_credentials credentials(const struct row *rows, size_t n)
{
    struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct yarn_credentials c = { 0 };
    struct fs_credentials ret;

    for (size_t i = 0; i < n; i++) {
        const struct yarn_token t = { .id = (const uint8_t *)"id",
                                      .id_len = 2,
                                      .password = (const uint8_t *)rows[i].password,
                                      .password_len = strlen(rows[i].password),
                                      .kind = rows[i].kind,
                                      .service = rows[i].service };

        assert_int_equal(yarn_credentials_add(a, &c, rows[i].alias, &t), 0);
    }
    assert_int_equal(yarn_credentials_add_secret(a, &c, "job.secret", "hidden", 6), 0);
    assert_int_equal(yarn_credentials_add_secret(a, &c, "dfs-kms-hdfs://ns", "kms://k", 7), 0);
    assert_int_equal(yarn_credentials_write(&c, &b), 0);
    ret = (struct fs_credentials){ sv_arena_memdup(a, b.data, b.len), b.len };
    sv_buf_free(&b);
    return ret;
}

/* "alias=password " of each token that is gathered. */
static const char *gather(const struct fs_credentials *parts, size_t n)
{
    static char text[512];
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct yarn_credentials c;
    size_t used = 0;

    assert_int_equal(fs_tokens_gather(parts, n, &b, NULL), 0);
    assert_int_equal(yarn_credentials_parse(b.data, b.len, a, &c, NULL), 0);
    assert_int_equal(c.n_secrets, c.n_tokens > 0); /* the key server's url */
    assert_true(c.n_secrets == 0 || !strcmp(c.secrets[0].alias, "dfs-kms-hdfs://ns"));
    text[0] = 0;
    for (size_t i = 0; i < c.n_tokens; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s=%.*s ", c.tokens[i].alias,
                                 (int)c.tokens[i].token.password_len,
                                 (const char *)c.tokens[i].token.password);
    return text;
}

static int set_up(void **state)
{
    (void)state;
    a = sv_arena_new(0);
    return a ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    a = sv_arena_wipe(a);
    return 0;
}

static void test_kinds(void **state)
{
    static const struct row rows[] = {
        { "10.0.0.1:8020", HDFS, "10.0.0.1:8020", "one" },
        { "", "YARN_AM_RM_TOKEN", "10.0.0.2:8030", "master" },
        { "job", "mapreduce.job", "job_1", "job" },
        { "ha-hdfs:ns", HDFS, "ha-hdfs:ns", "two" },
        { "web", "WEBHDFS delegation", "nn:9870", "three" },
        { "kms", "kms-dt", "kms:9600", "four" },
    };
    const struct fs_credentials all = credentials(rows, SV_ARRAY_LEN(rows)), none = { NULL, 0 },
                                other = credentials(rows + 1, 2);

    (void)state;
    assert_string_equal(gather(&all, 1), "10.0.0.1:8020=one ha-hdfs:ns=two web=three kms=four ");
    assert_string_equal(gather(&none, 1), "");
    assert_string_equal(gather(&other, 1), "");
    assert_string_equal(gather(NULL, 0), "");
}

/* Later parts come first; a token of the same alias goes. */
static void test_added(void **state)
{
    static const struct row launch[] = { { "ha-hdfs:ns", HDFS, "ha-hdfs:ns", "old" },
                                         { "other:8020", HDFS, "other:8020", "kept" } },
                            renewed[] = { { "ha-hdfs:ns", HDFS, "ha-hdfs:ns", "new" } };
    struct fs_credentials parts[] = { credentials(launch, 2), credentials(renewed, 1) };

    (void)state;
    assert_string_equal(gather(parts, 2), "ha-hdfs:ns=new other:8020=kept ");
    parts[1].n = 0;
    assert_string_equal(gather(parts, 2), "ha-hdfs:ns=old other:8020=kept ");
}

/* The error's text has nothing of the credentials. */
static void expect_refused(const void *p, size_t n, int want, const char *words)
{
    const struct fs_credentials part = { p, n };
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct sv_error err = { 0 };

    assert_int_equal(fs_tokens_gather(&part, 1, &b, &err), want);
    assert_non_null(strstr(err.text, words));
    assert_null(strstr(err.text, "hidden"));
    assert_int_equal(b.len, 0);
}

static void test_refused(void **state)
{
    struct row rows[FS_TOKENS_MAX + 1];
    char aliases[FS_TOKENS_MAX + 1][16], large[4096];
    struct fs_credentials c;

    (void)state;
    memset(large, 'p', sizeof(large) - 1);
    large[sizeof(large) - 1] = 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        snprintf(aliases[i], sizeof(aliases[i]), "nn%zu:8020", i);
        rows[i] = (struct row){ aliases[i], HDFS, aliases[i], "hidden" };
    }
    expect_refused("hidden", 6, -EBADMSG, "HDTS");
    c = credentials(rows, 5);
    expect_refused(c.p, c.n - 10, -EBADMSG, "malformed");
    c = credentials(rows, SV_ARRAY_LEN(rows));
    expect_refused(c.p, c.n, -EMSGSIZE, "more than 256 tokens");
    for (size_t i = 0; i < 100; i++)
        rows[i].password = large;
    c = credentials(rows, 100);
    expect_refused(c.p, c.n, -EMSGSIZE, "more than 262144 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kinds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_added, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
