/* rm-lite/security/service-access.c: with Kerberos 8031 is for nodes alone, without
 * hadoop-policy.xml as well; other ports are for whoever is authenticated. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/security/service-access.h"
#include "wire/ipc/methods.h"

static struct rm rm;

static int ask(const char *principal, const char *protocol, struct sv_error *err)
{
    const struct ipc_peer peer = { .principal = principal,
                                   .full_user = principal,
                                   .user = "yarn",
                                   .token = !principal,
                                   .address = "127.0.0.1:1" };

    return rm_service_access(&rm)(&rm, &peer, protocol, err);
}

static void test_nodes_port(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    rm = (struct rm){ .conf.kerberos = { .own.on = true, .nodes = "nm/_HOST@R" } };
    assert_int_equal(ask("nm/worker1@R", YARN_RESOURCE_TRACKER_PROTOCOL, &err), 0);
    assert_int_equal(ask("yarn/worker1@R", YARN_RESOURCE_TRACKER_PROTOCOL, &err), -EACCES);
    assert_string_equal(err.text, "User yarn/worker1@R (auth:KERBEROS) is not authorized for "
                                  "protocol interface " YARN_RESOURCE_TRACKER_PROTOCOL
                                  ": this service is only accessible by nm/_HOST@R");
    assert_int_equal(ask(NULL, YARN_RESOURCE_TRACKER_PROTOCOL, &err), -EACCES); /* a token */
    assert_int_equal(ask("alice@R", YARN_APPLICATION_CLIENT_PROTOCOL, &err), 0);
    assert_int_equal(ask(NULL, YARN_APPLICATION_MASTER_PROTOCOL, &err), 0);
}

static void test_without_kerberos(void **state)
{
    struct sv_error err = { 0 };

    (void)state;
    rm = (struct rm){ 0 };
    assert_null(rm_service_access(&rm));
    assert_int_equal(rm_service_access_read(&rm, &err), 0);
    assert_null(rm.policy);
    rm.conf.authorization = true;
    assert_non_null(rm_service_access(&rm));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_nodes_port),
                                        cmocka_unit_test(test_without_kerberos) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
