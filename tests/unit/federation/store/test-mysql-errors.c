/* Tests federation/store/mysql-errors.c: the server's and the library's numbers as errors. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "federation/store/mysql-errors.h"

static void test_numbers(void **state)
{
    static const struct {
        unsigned code;
        int connecting, executing;
    } cases[] = {
        { 2002, -EHOSTDOWN, -ECONNRESET },            /* no connection */
        { 2013, -EHOSTDOWN, -ECONNRESET },            /* the connection was lost */
        { 5014, -EHOSTDOWN, -ECONNRESET },            /* the library's own */
        { 1927, -EHOSTDOWN, -ECONNRESET },            /* it was killed */
        { 2008, -ENOMEM, -ENOMEM },                   /* no memory */
        { 1045, -EACCES, -EACCES },                   /* a wrong password */
        { 1142, -EACCES, -EACCES },                   /* no privilege for the table */
        { 1146, -EPROTONOSUPPORT, -EPROTONOSUPPORT }, /* no table */
        { 1049, -EPROTONOSUPPORT, -EPROTONOSUPPORT }, /* no database */
        { 1040, -EHOSTDOWN, -EHOSTDOWN },             /* too many connections */
        { 1213, -EHOSTDOWN, -EHOSTDOWN },             /* a deadlock, rolled back */
        { 1064, -EREMOTEIO, -EREMOTEIO },             /* anything else */
        { 0, -EREMOTEIO, -EREMOTEIO },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        assert_int_equal(fed_mysql_error(cases[i].code, true), cases[i].connecting);
        assert_int_equal(fed_mysql_error(cases[i].code, false), cases[i].executing);
    }
}

static void test_remedies(void **state)
{
    (void)state;
    assert_non_null(strstr(fed_mysql_remedy(-EPROTONOSUPPORT), "schema --apply"));
    assert_non_null(strstr(fed_mysql_remedy(-EACCES), "sql.username"));
    assert_string_equal(fed_mysql_remedy(-EHOSTDOWN), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_remedies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
