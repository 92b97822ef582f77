/* dbus/bus-introspect.c: the installed interfaces are those that the daemon answers with. After a
 * change: BUS_INTERFACES=packaging/org.selvedge.NodeManager1.xml
 * build/tests/unit/…/test-bus-introspect writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/dbus/bus-introspect.h"

#define INSTALLED "packaging/" NM_BUS_NAME ".xml"

static void interfaces_as_installed(void **state)
{
    const char *write_to = getenv("BUS_INTERFACES");
    char *text = NULL, installed[65536] = "";
    size_t size, n;
    FILE *out = open_memstream(&text, &size), *file;

    (void)state;
    assert_non_null(out);
    nm_bus_print_interfaces(out);
    assert_int_equal(fclose(out), 0);
    if (write_to) {
        file = fopen(write_to, "we");
        assert_non_null(file);
        assert_true(fputs(text, file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
    file = fopen(INSTALLED, "re");
    assert_non_null(file);
    n = fread(installed, 1, sizeof(installed) - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_true(n < sizeof(installed) - 1);
    assert_string_equal(text, installed);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(interfaces_as_installed) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
