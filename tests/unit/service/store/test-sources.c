/* service/store/sources.c: which names are looked at. What the default file system answers is seen
 * by tests/integration/service/test-services-calls. */
#include "service/store/sources.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NOBODY "webhdfs://127.0.0.1:1" /* no server listens there */

static int look(const char *fs, const char *name)
{
    struct sv_conf *conf = sv_conf_new();
    struct svc_sources *s = NULL;
    struct sv_error err = { 0 };
    int r;

    assert_int_equal(sv_conf_set(conf, "fs.defaultFS", fs), 0);
    assert_int_equal(svc_sources_open(conf, "alice", -1, &s, &err), 0);
    r = svc_sources_look(s, name, &err);
    (void)svc_sources_close(s);
    sv_conf_free(conf);
    return r;
}

/* A definition makes the server call no other server, and tells nothing of its machine's files. */
static void nobody_looks(void **state)
{
    static const char *const names[] = {
        "hdfs://127.0.0.1:1/x",
        "webhdfs://127.0.0.1:2/x",
        "webhdfs://169.254.169.254/latest/",
        "swebhdfs://127.0.0.1:1/x",
        "http://169.254.169.254/latest/",
        "s3a://bucket/x",
        "file:///etc/passwd",
        "gs://bucket/x",
        "relative",
        "",
        "../x",
        "/a/../b",
        "hdfs://u:p@127.0.0.1:1/x",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(look(NOBODY, names[i]), SVC_SOURCE_ELSEWHERE);
    assert_int_equal(look("file:///", "/etc/passwd"), SVC_SOURCE_ELSEWHERE);
    assert_int_equal(look("file:///", "file:///etc/nothing"), SVC_SOURCE_ELSEWHERE);
    assert_int_equal(look("s3a://bucket", "/x"), SVC_SOURCE_ELSEWHERE);
}

/* A file system that is away is an error, not an absent file. */
static void default_is_asked(void **state)
{
    (void)state;
    assert_true(look(NOBODY, "/x") < 0);
    assert_true(look(NOBODY, NOBODY "/x") < 0);
    assert_int_not_equal(look(NOBODY, "/x"), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nobody_looks),
                                        cmocka_unit_test(default_is_asked) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
