/* web/log-server.c: Hadoop's address of a container's aggregated logs, and a request's names in it
 * that would lead elsewhere. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/web/log-server.h"

#define CONTAINER "container_1_0001_01_000002"
#define SERVER "http://history:19888/jobhistory/logs"
#define BASE SERVER "/node1:8041/" CONTAINER "/" CONTAINER

static const struct nm_log_page page = {
    .server = SERVER, .node = "node1:8041", .container = CONTAINER, .user = "alice"
};

static void check(struct nm_log_page p, const char *wanted)
{
    char *url = NULL;

    assert_int_equal(nm_log_server_url(&p, &url), 0);
    assert_string_equal(url, wanted);
    free(url);
}

static void test_addresses(void **state)
{
    struct nm_log_page p = page;

    (void)state;
    check(p, BASE "/alice");
    p.server = SERVER "//";
    check(p, BASE "/alice");
    p.file = "stdout";
    check(p, BASE "/alice/stdout");
    p.start = "-4096";
    check(p, BASE "/alice/stdout?start=-4096");
    p.end = "7";
    check(p, BASE "/alice/stdout?start=-4096&end=7");
}

static void test_hostile(void **state)
{
    struct nm_log_page p = page;

    (void)state;
    p.user = "../a b\r\nX: y";
    p.file = "?a=b#c%2e/\xc3\xbc";
    p.start = "1&user.name=root";
    p.end = "\r\n";
    check(p, BASE "/..%2Fa%20b%0D%0AX:%20y/%3Fa%3Db%23c%252e%2F%C3%BC");
}

static void test_too_long(void **state)
{
    struct nm_log_page p = page;
    char name[4096], *url = NULL;

    (void)state;
    memset(name, '/', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    p.file = name;
    assert_int_equal(nm_log_server_url(&p, &url), -EMSGSIZE);
    assert_null(url);
}

static void service(const char *file, const char *format, const char *wanted)
{
    const struct nm_log_query query[] = {
        { "format", format }, { "size", NULL }, { "redirected_from_node", "true" }, { 0 }
    };
    char *url = NULL;

    assert_int_equal(nm_log_service_url("http://logs:8188/ws/v1/applicationhistory/", CONTAINER,
                                        file, query, &url),
                     0);
    assert_string_equal(url, wanted);
    free(url);
}

static void test_service(void **state)
{
#define LOGS "http://logs:8188/ws/v1/applicationhistory/containers/" CONTAINER "/logs"
    struct nm_log_query many[] = { { "format", NULL }, { 0 } };
    char value[9000], *url = NULL;

    (void)state;
    service(NULL, NULL, LOGS "?redirected_from_node=true");
    service("stdout", "text", LOGS "/stdout?format=text&redirected_from_node=true");
    service("../x?a=b", "1&user.name=root\r\nX: y",
            LOGS "/..%2Fx%3Fa%3Db?format=1%26user.name%3Droot%0D%0AX:%20y"
                 "&redirected_from_node=true");
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = 0;
    many[0].value = value;
    assert_int_equal(nm_log_service_url("http://logs", CONTAINER, NULL, many, &url), -EMSGSIZE);
    assert_null(url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_service),
    };

    return cmocka_run_group_tests_name("log-server", tests, NULL, NULL);
}
