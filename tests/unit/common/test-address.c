/* common/address.c, and that it refuses whatever the connect filter refuses by default, whose list
 * is the helper's own: the privileged programs share no code with the daemons. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "common/address.h"

#include "setuid-helper/connect-rules.c" /* the list and its parser */

static bool metadata(const char *text)
{
    struct sockaddr_in in = { .sin_family = AF_INET };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        return sv_address_is_metadata((struct sockaddr *)&in);
    assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
    return sv_address_is_metadata((struct sockaddr *)&in6);
}

static void test_metadata(void **state)
{
    static const char *const all[] = {
        "169.254.169.254",   "169.254.0.0",        "::ffff:169.254.169.254",
        "::169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1",
        "febf::1",           "168.63.129.16",      "::ffff:168.63.129.16",
        "64:ff9b::c000:c0",  "192.0.0.192",        "100.100.100.200",
        "fd00:ec2::254",     "fd00:ec2::23",       "fd20:ce::254",
        "fd00:42::42",
    };
    static const char *const none[] = {
        "169.253.255.255",
        "127.0.0.1",
        "::1",
        "::ffff:10.0.0.1",
        "168.63.129.17",
        "192.0.0.193",
        "fec0::1",
        "fd00:ec2::255",
        "64:ff9b::a00:1",
        "64:ff9b:1::a9fe:a9fe",
        "fd20:ce::253",
        "fd00:42::43",
        "::",
        "100.100.100.201",
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        if (!metadata(all[i]))
            fail_msg("%s", all[i]);
    for (size_t i = 0; i < SV_ARRAY_LEN(none); i++)
        if (metadata(none[i]))
            fail_msg("%s", none[i]);
    assert_false(sv_address_is_metadata(&(struct sockaddr){ .sa_family = AF_UNIX }));
}

/* The first and the last address of each network of the filter. */
static void test_as_the_connect_filter(void **state)
{
    static struct hlp_connect rules;

    (void)state;
    assert_null(hlp_connect_defaults(&rules));
    assert_in_range(rules.refused.n, 1, HLP_CONNECT_MAX);
    for (unsigned i = 0; i < rules.refused.n; i++) {
        struct hlp_network *net = &rules.refused.v[i];
        char text[INET6_ADDRSTRLEN];

        assert_non_null(inet_ntop(net->v6 ? AF_INET6 : AF_INET, net->address, text, sizeof(text)));
        if (!metadata(text))
            fail_msg("%s", text);
        for (unsigned bit = net->prefix; bit < (net->v6 ? 128u : 32u); bit++)
            net->address[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
        assert_non_null(inet_ntop(net->v6 ? AF_INET6 : AF_INET, net->address, text, sizeof(text)));
        if (!metadata(text))
            fail_msg("%s", text);
    }
}

static const char *shown(struct in6_addr (*of)(const struct sockaddr *), const char *text)
{
    static char ret[INET6_ADDRSTRLEN];
    struct sockaddr_in in = { .sin_family = AF_INET };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
    bool four = inet_pton(AF_INET, text, &in.sin_addr) == 1;
    struct in6_addr found;

    if (!four)
        assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
    found = of(four ? (struct sockaddr *)&in : (struct sockaddr *)&in6);
    assert_non_null(inet_ntop(AF_INET6, &found, ret, sizeof(ret)));
    return ret;
}

static void test_clients(void **state)
{
    static const char *const rows[][3] = {
        { "10.1.2.3", "::ffff:10.1.2.3", "::ffff:10.1.2.3" },
        { "::ffff:10.1.2.3", "::ffff:10.1.2.3", "::ffff:10.1.2.3" },
        { "127.9.8.7", "::ffff:127.9.8.7", "::ffff:127.0.0.1" },
        { "::ffff:127.1.1.1", "::ffff:127.1.1.1", "::ffff:127.0.0.1" },
        { "::1", "::", "::ffff:127.0.0.1" },
        { "2001:db8:1:2::1", "2001:db8:1:2::", "2001:db8:1:2::" },
        { "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::", "2001:db8:1:2::" },
        { "2001:db8:1:3::1", "2001:db8:1:3::", "2001:db8:1:3::" },
    };
    struct in6_addr other = sv_address_client(&(struct sockaddr){ .sa_family = AF_UNIX });
    struct in6_addr own = sv_address_client((struct sockaddr *)&(struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT });

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        assert_string_equal(shown(sv_address_network, rows[i][0]), rows[i][1]);
        assert_string_equal(shown(sv_address_client, rows[i][0]), rows[i][2]);
    }
    assert_true(IN6_IS_ADDR_UNSPECIFIED(&other));
    assert_true(sv_address_is_loopback(&own));
    assert_false(sv_address_is_loopback(&other));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_metadata),
                                        cmocka_unit_test(test_as_the_connect_filter),
                                        cmocka_unit_test(test_clients) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
