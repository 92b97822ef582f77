/* common/web/conf-dump.c: secrets are hidden, in both forms, by Hadoop's default list and by a
 * configured one; an invalid pattern hides everything. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/web/conf-dump.h"

static struct sv_conf *conf;

static int setup(void **state)
{
    (void)state;
    conf = sv_conf_new();
    return conf && sv_conf_set(conf, "a.password", "s3cr3t") == 0 &&
                   sv_conf_set(conf, "a.password.file", "/x\"<y>&") == 0 &&
                   sv_conf_set(conf, "fs.azure.account.key.h", "s3cr3t") == 0
               ? 0
               : -1;
}

static int teardown(void **state)
{
    (void)state;
    conf = sv_conf_free(conf);
    return 0;
}

static void check(const char *name, bool json, const char *has, const char *lacks)
{
    char *text = NULL;

    assert_int_equal(sv_conf_dump(conf, name, json, &text), 0);
    if (!strstr(text, has))
        fail_msg("\"%s\" lacks \"%s\"", text, has);
    if (strstr(text, lacks))
        fail_msg("\"%s\" has \"%s\"", text, lacks);
    free(text);
}

static void test_forms(void **state)
{
    char *text = NULL;

    (void)state;
    check(NULL, true,
          "{\"properties\":[{\"key\":\"a.password\",\"value\":\"<redacted>\",\"isFinal\":false,"
          "\"resource\":\"command line\"},",
          "s3cr3t");
    check(NULL, true, "\"value\":\"/x\\u0022<y>&\"", "s3cr3t");
    check(NULL, false,
          "<name>a.password.file</name><value>/x\"&lt;y&gt;&amp;</value><final>false</final>",
          "s3cr3t");
    check("a.password", true, "{\"property\":{\"key\":\"a.password\",\"value\":\"<redacted>\"",
          "azure");
    check("a.password", false, "<value>&lt;redacted&gt;</value>", "azure");
    assert_int_equal(sv_conf_dump(conf, "absent", true, &text), -ENOENT);
}

static void test_own_list(void **state)
{
    (void)state;
    assert_int_equal(sv_conf_set(conf, "hadoop.security.sensitive-config-keys", "file$,\n  azure"),
                     0);
    check("a.password", true, "s3cr3t", "<redacted>");
    check("a.password.file", true, "<redacted>", "/x");
    check("fs.azure.account.key.h", true, "<redacted>", "s3cr3t");
    assert_int_equal(sv_conf_set(conf, "hadoop.security.sensitive-config-keys", "a["), 0);
    check("a.password.file", true, "<redacted>", "/x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_forms, setup, teardown),
        cmocka_unit_test_setup_teardown(test_own_list, setup, teardown),
    };

    return cmocka_run_group_tests_name("conf-dump", tests, NULL, NULL);
}
