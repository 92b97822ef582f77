/* Tests shuffle/job-table.c: tokens of MapReduce's ApplicationMaster, replaced and ended jobs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "shuffle/job-table.h"

#define APP "application_1_0002"
#define DIR "usercache/alice/appcache/application_1_0002"
/* identifier, password, kind, service */
#define TOKEN(password) "\x02id\x06" password "\x0dmapreduce.job\x00"

static int add(struct shf_jobs *t, const char *app, const char *dir, const char *token, size_t len)
{
    return shf_jobs_add(t, app, dir, 1000, token, len, NULL);
}

static void test_life(void **state)
{
    struct shf_jobs *t = shf_jobs_new();
    const struct shf_job *first, *second;

    (void)state;
    assert_null(shf_jobs_get(t, "job_1_0002"));
    assert_int_equal(add(t, APP, DIR, TOKEN("secret"), sizeof(TOKEN("secret")) - 1), 0);
    first = shf_jobs_get(t, "job_1_0002");
    assert_non_null(first);
    assert_int_equal(first->secret_len, 6);
    assert_memory_equal(first->secret, "secret", 6);
    assert_string_equal(first->app_dir, DIR);
    assert_int_equal(first->uid, 1000);
    assert_int_equal(add(t, APP, DIR, TOKEN("other!"), sizeof(TOKEN("other!")) - 1), 0);
    assert_int_equal(shf_jobs_count(t), 1);
    second = shf_jobs_get(t, "job_1_0002");
    assert_memory_equal(second->secret, "other!", 6);
    shf_jobs_remove(t, APP);
    shf_jobs_remove(t, APP);
    assert_null(shf_jobs_get(t, "job_1_0002"));
    assert_memory_equal(first->secret, "secret", 6); /* requests go on */
    shf_job_put(first);
    shf_job_put(second);
    shf_job_put(NULL);
    assert_null(shf_jobs_free(t));
}

static void test_refused(void **state)
{
    static const char *const dirs[] = { "",   "/etc", "usercache/../..", "usercache//x", ".", "a/.",
                                        "a/", ".." };
    struct shf_jobs *t = shf_jobs_new();
    const char good[] = TOKEN("secret");

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(dirs); i++)
        assert_int_equal(add(t, APP, dirs[i], good, sizeof(good) - 1), -EINVAL);
    assert_int_equal(add(t, "job_1_0002", DIR, good, sizeof(good) - 1), -EINVAL);
    for (size_t n = 0; n < sizeof(good) - 1; n++)
        assert_int_equal(add(t, APP, DIR, good, n), -EBADMSG);
    assert_int_equal(add(t, APP, DIR, good, sizeof(good)), -EBADMSG); /* a byte too many */
    assert_int_equal(add(t, APP, DIR, "\x02id\x00\x0dmapreduce.job\x00", 19), -EBADMSG);
    assert_int_equal(shf_jobs_count(t), 0);
    assert_null(shf_jobs_free(t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
