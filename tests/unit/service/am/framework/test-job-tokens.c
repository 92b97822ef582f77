/* service/am/framework/job-tokens.c: the ResourceManager's token is the master's alone. */
#include "service/am/framework/job-tokens.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "common/arena.h"
#include "wire/token/token.h"

static void add(struct sv_arena *a, struct yarn_credentials *all, const char *kind)
{
    const struct yarn_token t = { .id = (const uint8_t *)"id",
                                  .id_len = 2,
                                  .password = (const uint8_t *)"password",
                                  .password_len = 8,
                                  .kind = kind,
                                  .service = kind };

    assert_int_equal(yarn_credentials_add(a, all, kind, &t), 0);
}

static void test_split(void **state)
{
    static const char *const kinds[] = { YARN_KIND_HDFS_DELEGATION, YARN_KIND_RM_DELEGATION,
                                         "S3A" };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    struct yarn_credentials all = { 0 };
    struct svc_job_tokens t = { 0 };
    struct sv_error err = { 0 };

    (void)state;
    for (size_t i = 0; i < 3; i++)
        add(a, &all, kinds[i]);
    assert_int_equal(yarn_credentials_write(&all, &b), 0);
    assert_int_equal(svc_job_tokens_read(b.data, b.len, &t, &err), 0);
    assert_true(t.of_rm);
    assert_int_equal(yarn_credentials_parse(t.tasks.data, t.tasks.len, a, &all, &err), 0);
    assert_int_equal(all.n_tokens, 2);
    assert_string_equal(all.tokens[0].token.kind, kinds[0]);
    assert_string_equal(all.tokens[1].token.kind, kinds[2]);
    svc_job_tokens_free(&t);
}

static void test_none(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    struct yarn_credentials all = { 0 };
    struct svc_job_tokens t = { 0 };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(svc_job_tokens_read(NULL, 0, &t, &err), 0);
    assert_false(t.of_rm);
    assert_int_equal(t.tasks.len, 0);
    svc_job_tokens_free(&t);
    add(a, &all, YARN_KIND_RM_DELEGATION);
    assert_int_equal(yarn_credentials_write(&all, &b), 0);
    assert_int_equal(svc_job_tokens_read(b.data, b.len, &t, &err), 0);
    assert_true(t.of_rm);
    assert_int_equal(t.tasks.len, 0); /* without one a task has no file */
    svc_job_tokens_free(&t);
    assert_true(svc_job_tokens_read((const uint8_t *)"HDTX", 4, &t, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_split), cmocka_unit_test(test_none) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
