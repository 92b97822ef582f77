/* cgroups/file.c: texts of the kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "cgroups/cg.h"
#include "cgroups/file.h"

static void test_value(void **state)
{
    uint64_t v;
    (void)state;
    assert_int_equal(cg_parse_value("123\n", &v), 0);
    assert_int_equal(v, 123);
    assert_int_equal(cg_parse_value("max\n", &v), 0);
    assert_true(v == UINT64_MAX);
    assert_int_equal(cg_parse_value("18446744073709551615\n", &v), 0);
    static const char *const bad[] = { "",
                                       "\n",
                                       "-1\n",
                                       "1x\n",
                                       "maxi\n",
                                       " 1\n",
                                       "1\n2\n",
                                       "18446744073709551616\n",
                                       "99999999999999999999999999\n" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(cg_parse_value(bad[i], &v) < 0);
}

static void test_key(void **state)
{
    static const char text[] = "usage_usec 10\nuser_usec 7\nsystem_usec x\nlast 5";
    uint64_t v;
    (void)state;
    assert_int_equal(cg_parse_key(text, "usage_usec", &v), 0);
    assert_int_equal(v, 10);
    assert_int_equal(cg_parse_key(text, "last", &v), 0);
    assert_int_equal(v, 5);
    assert_int_equal(cg_parse_key(text, "usage", &v), -ENOENT);
    assert_int_equal(cg_parse_key(text, "system_usec", &v), -EBADMSG);
    assert_int_equal(cg_parse_key("", "a", &v), -ENOENT);
}

static void test_controllers(void **state)
{
    char text[CG_FILE_MAX];
    (void)state;
    assert_int_equal(cg_parse_controllers("cpuset cpu io memory hugetlb pids rdma\n"),
                     CG_CPU | CG_MEMORY | CG_PIDS | CG_IO | CG_CPUSET | CG_HUGETLB);
    assert_int_equal(cg_parse_controllers("\n"), 0);
    assert_int_equal(cg_parse_controllers("cpux memor"), 0); /* whole words only */
    cg_format_controllers(CG_CPU | CG_PIDS, "+", text);
    assert_string_equal(text, "+cpu +pids");
    cg_format_controllers(0, "+", text);
    assert_string_equal(text, "");
}

static void test_weight(void **state)
{
    (void)state;
    assert_int_equal(cg_weight_of_vcores(1), 100);
    assert_int_equal(cg_weight_of_vcores(4), 400);
    assert_int_equal(cg_weight_of_vcores(1000), 10000);
    assert_int_equal(cg_weight_of_vcores(0), 100);
    assert_int_equal(cg_weight_of_vcores(-5), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_value), cmocka_unit_test(test_key),
                                        cmocka_unit_test(test_controllers),
                                        cmocka_unit_test(test_weight) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
