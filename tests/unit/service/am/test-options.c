/* Tests service/am/options.c: the options of Hadoop's ServiceMaster. */
#include "service/am/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#define WORDS_MAX 16

static int read_words(const char *const *words, struct sv_conf *conf, struct svc_am_options *ret,
                      struct sv_error *err)
{
    char *argv[WORDS_MAX] = { (char *)"selvedge-service-am" };
    int argc = 1;

    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    *err = (struct sv_error){ 0 };
    return svc_am_options_read(argc, argv, conf, ret, err);
}

static void taken(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    const char *const words[] = { "-yarnfile",
                                  "hdfs://nn/s/shop.json",
                                  "-service_name",
                                  "shop",
                                  "-D",
                                  "a.b=c=d",
                                  "-Dx=y",
                                  "-keytab",
                                  "k",
                                  "-principal_name",
                                  "p",
                                  NULL };
    struct svc_am_options o;
    struct sv_error err;

    (void)state;
    if (read_words(words, conf, &o, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(o.yarnfile, "hdfs://nn/s/shop.json");
    assert_string_equal(o.name, "shop");
    assert_string_equal(o.user, "alice");
    assert_string_equal(o.host, "node1");
    assert_string_equal(o.proxy_base, "");
    assert_string_equal(sv_conf_raw(conf, "a.b"), "c=d");
    assert_string_equal(sv_conf_raw(conf, "x"), "y");
}

static void refused(void **state)
{
    static const struct {
        const char *words[8], *text;
    } rows[] = {
        { { NULL }, "usage" },
        { { "-yarnfile", "x", NULL }, "usage" },
        { { "-service_name", "shop", NULL }, "usage" },
        { { "-yarnfile", "x", "-service_name", "Shop", NULL }, "not the name of a service" },
        { { "-yarnfile", "x", "-service_name", "shop", "-D", "a", NULL }, "KEY=VALUE" },
        { { "-yarnfile", "x", "-service_name", "shop", "-x", "a", NULL }, "no such option" },
        { { "-yarnfile", "x", "-service_name", NULL }, "no value" },
        { { "x", NULL }, "usage" },
    };
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    struct svc_am_options o;
    struct sv_error err;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        assert_int_equal(read_words(rows[i].words, conf, &o, &err), -EINVAL);
        if (!strstr(err.text, rows[i].text))
            fail_msg("%zu: %s", i, err.text);
    }
    assert_int_equal(unsetenv("NM_HOST"), 0);
    assert_int_equal(
        read_words((const char *const[]){ "-yarnfile", "x", "-service_name", "shop", NULL }, conf,
                   &o, &err),
        -ENOKEY);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(taken), cmocka_unit_test(refused) };

    if (setenv("HADOOP_USER_NAME", "alice", 1) < 0 || setenv("NM_HOST", "node1", 1) < 0 ||
        unsetenv("APPLICATION_WEB_PROXY_BASE") < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
