/* Tests common/address.c. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "common/address.h"

static bool link_local(const char *text)
{
    struct sockaddr_in in = { .sin_family = AF_INET };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        return sv_address_is_link_local((struct sockaddr *)&in);
    assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
    return sv_address_is_link_local((struct sockaddr *)&in6);
}

static void test_link_local(void **state)
{
    (void)state;
    assert_true(link_local("169.254.169.254"));
    assert_true(link_local("169.254.0.0"));
    assert_true(link_local("::ffff:169.254.169.254"));
    assert_true(link_local("fe80::1"));
    assert_false(link_local("169.253.255.255"));
    assert_false(link_local("127.0.0.1"));
    assert_false(link_local("::1"));
    assert_false(link_local("::ffff:10.0.0.1"));
    assert_false(sv_address_is_link_local(&(struct sockaddr){ .sa_family = AF_UNIX }));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_link_local) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
