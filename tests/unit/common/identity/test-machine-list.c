/* common/identity/machine-list.c: addresses and networks. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/identity/machine-list.h"

static struct in6_addr address(const char *text)
{
    char mapped[64];
    struct in6_addr ip;

    snprintf(mapped, sizeof(mapped), "%s%s", strchr(text, ':') ? "" : "::ffff:", text);
    assert_int_equal(inet_pton(AF_INET6, mapped, &ip), 1);
    return ip;
}

static void members(void **state)
{
    static const struct {
        const char *list, *ip;
        bool in;
    } cases[] = {
        { "", "10.0.0.1", false },
        { " , ", "10.0.0.1", false },
        { "*", "10.0.0.1", true },
        { " * ", "fd00::1", true },
        { "10.0.0.1", "10.0.0.1", true },
        { "10.0.0.1", "10.0.0.2", false },
        { "10.0.0.1, 10.0.0.2\n", "10.0.0.2", true },
        { "10.1.2.3/8", "10.200.0.1", true },
        { "10.1.2.3/8", "11.0.0.1", false },
        { "192.168.4.0/22", "192.168.7.255", true },
        { "192.168.4.0/22", "192.168.8.0", false },
        { "10.0.0.1/32", "10.0.0.1", true },
        { "10.0.0.1/32", "10.0.0.0", false },
        { "0.0.0.0/0", "8.8.8.8", true },
        { "0.0.0.0/0", "fd00::1", false },
        { "fd00::/16", "fd00::1", true },
        { "fd00::/16", "10.0.0.1", false },
        { "FD00:0::1", "fd00::1", true },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_machine_list *l = NULL;
        struct in6_addr ip = address(cases[i].ip);

        assert_int_equal(sv_machine_list_parse(cases[i].list, &l, NULL), 0);
        if (sv_machine_list_has(l, &ip) != cases[i].in)
            fail_msg("%s, %s", cases[i].list, cases[i].ip);
        sv_machine_list_free(l);
    }
}

static void refused(void **state)
{
    static const struct {
        const char *list, *words;
    } cases[] = {
        { "host.example", "not looked up" }, { "10.0.0.1,host", "not looked up" },
        { "10.0.0", "not looked up" },       { "10.0.0.1/33", "not looked up" },
        { "10.0.0.1/", "not looked up" },    { "10.0.0.1/255.0.0.0", "not looked up" },
        { "fd00::/129", "not looked up" },   { "*,10.0.0.1", "stands alone" },
        { "10.0.0.1,*", "stands alone" },    { "10.0.0.1 10.0.0.2", "not looked up" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_machine_list *l = NULL;
        struct sv_error err = { 0 };

        assert_int_equal(sv_machine_list_parse(cases[i].list, &l, &err), -EINVAL);
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s: %s", cases[i].list, err.text);
    }
}

static void bounds(void **state)
{
    static char text[(SV_MACHINES_MAX + 1) * 8 + 1];
    struct sv_machine_list *l = NULL;
    struct sv_error err = { 0 };

    (void)state;
    for (size_t i = 0; i <= SV_MACHINES_MAX; i++)
        memcpy(text + 8 * i, "1.1.1.1,", 9);
    assert_int_equal(sv_machine_list_parse(text, &l, &err), -EINVAL);
    assert_non_null(strstr(err.text, "more than 4096"));
    text[8 * SV_MACHINES_MAX] = 0;
    assert_int_equal(sv_machine_list_parse(text, &l, &err), 0);
    sv_machine_list_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(members), cmocka_unit_test(refused),
                                        cmocka_unit_test(bounds) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
