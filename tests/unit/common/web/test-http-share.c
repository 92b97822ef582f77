/* Tests common/web/http-share.c: sums of all and of one client, and whose request is next. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "common/web/http-share.h"

static struct http_shares all;

static struct sockaddr_in address(uint32_t n)
{
    return (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(n) };
}

static struct http_share *join(uint32_t n)
{
    struct sockaddr_in a = address(n);

    return http_share_join(&all, (struct sockaddr *)&a);
}

static bool has_room(uint32_t n)
{
    struct sockaddr_in a = address(n);

    return http_share_has_room(&all, (struct sockaddr *)&a);
}

static void test_connections(void **state)
{
    struct http_share *s = NULL;

    (void)state;
    for (unsigned i = 0; i < HTTP_CONNECTIONS_OF_ADDRESS; i++) {
        assert_true(has_room(0x0a000001));
        s = join(0x0a000001);
    }
    assert_false(has_room(0x0a000001));
    assert_true(has_room(0x0a000002));
    for (unsigned i = 0; i < HTTP_CONNECTIONS_OF_ADDRESS; i++)
        http_share_leave(&all, s);
    for (uint32_t i = 0; i < HTTP_CONNECTIONS_OF_LOOPBACK; i++) {
        assert_true(has_room(0x7f000001));
        s = join(0x7f000001 + i * 7919); /* all of 127.0.0.0/8 is one client */
    }
    assert_false(has_room(0x7f123456));
    for (unsigned i = 0; i < HTTP_CONNECTIONS_OF_LOOPBACK; i++)
        http_share_leave(&all, s);
    assert_null(all.addresses);
}

static void test_bytes(void **state)
{
    struct http_share *s[5];

    (void)state;
    for (uint32_t i = 0; i < SV_ARRAY_LEN(s); i++)
        s[i] = join(0x0a000001 + i);
    assert_int_equal(http_share_hold(&all, s[0], HTTP_ANSWERS, HTTP_ANSWERS_MAX / 2), 0);
    assert_int_equal(http_share_hold(&all, s[0], HTTP_ANSWERS, 1), -EBUSY);
    http_share_drop(&all, s[0], HTTP_ANSWERS, HTTP_ANSWERS_MAX / 2);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(http_share_hold(&all, s[i], HTTP_BODIES, HTTP_BODIES_MAX / 4), 0);
        assert_int_equal(http_share_hold(&all, s[i], HTTP_BODIES, 1), -EBUSY);
    }
    assert_int_equal(http_share_hold(&all, s[4], HTTP_BODIES, 1), -EBUSY);
    assert_int_equal(http_share_hold(&all, s[4], HTTP_BODIES, SIZE_MAX), -EBUSY);
    http_share_drop(&all, s[0], HTTP_BODIES, HTTP_BODIES_MAX / 4);
    assert_int_equal(http_share_hold(&all, s[4], HTTP_BODIES, 1), 0);
    http_share_drop(&all, s[4], HTTP_BODIES, 1);
    for (int i = 1; i < 4; i++)
        http_share_drop(&all, s[i], HTTP_BODIES, HTTP_BODIES_MAX / 4);
    for (size_t i = 0; i < SV_ARRAY_LEN(s); i++)
        http_share_leave(&all, s[i]);
}

/* A client with many requests and two with few: each in turn. */
static void test_turns(void **state)
{
    struct http_share *many = join(0x0a000001), *few = join(0x0a000002), *other = join(0x0a000003);
    struct http_waiting a[4] = { 0 }, b[2] = { 0 }, c = { 0 };
    struct http_waiting *expected[] = { &b[0], &c, &a[0], &b[1], &a[1], &a[2], &a[3], NULL };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(a); i++)
        http_share_wait(&all, many, &a[i], false);
    for (size_t i = 0; i < SV_ARRAY_LEN(b); i++)
        http_share_wait(&all, few, &b[i], false);
    http_share_wait(&all, other, &c, false);
    assert_ptr_equal(http_share_next(&all), &a[0]);
    http_share_wait(&all, many, &a[0], true); /* it could not use its turn */
    for (size_t i = 0; i < SV_ARRAY_LEN(expected); i++)
        assert_ptr_equal(http_share_next(&all), expected[i]);
    http_share_leave(&all, many);
    http_share_leave(&all, few);
    http_share_leave(&all, other);
    assert_null(all.addresses);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_connections),
                                        cmocka_unit_test(test_bytes),
                                        cmocka_unit_test(test_turns) };

    return cmocka_run_group_tests_name("http-share", tests, NULL, NULL);
}
